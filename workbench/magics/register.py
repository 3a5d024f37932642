"""Registers the magics in an IPython shell, with help for ``%%watch?`` and ``%wb?``."""

from __future__ import annotations

from typing import Any

_REGISTERED = "_workbench_watched_cells"


def register(shell: Any) -> None:
    """Register ``%%watch``, ``%wb`` and ``%%wb``; repeated calls have no effect."""
    if getattr(shell, _REGISTERED, None) is not None:
        return
    from workbench.magics.cell import WatchedCells

    cells = WatchedCells(shell)
    cells.install()
    setattr(shell, _REGISTERED, cells)
    shell.register_magic_function(_watch_help, "cell", "watch")
    shell.register_magic_function(_wb(shell), "line_cell", "wb")


def _watch_help(line: str, cell: str) -> None:
    """Record the loops of this cell: ``%%watch x, residual until residual < 1e-8 as run``.

    The cell runs as it would without this line; a call that records the named variables is inserted at the end of each
    iteration of its ``for`` and ``while`` loops, including those in its functions. Each part is optional:

    names
        Variables to record, separated by commas; without names, all numbers and arrays that a loop assigns.
    until ...
        The goal of the loop: comparisons of a variable by <, <=, >, >= with a number or a variable, joined by "and".
        The loop does not change; the goal is used for forecasts and for the distance to the tolerance.
    as NAME
        A variable to which the watch is assigned (a list of watches for several loops in sequence). ``_watch`` is
        always assigned.

    An inner loop becomes a nested watch. Interrupts, errors and ``await`` behave as in any cell.
    """
    from IPython.core.error import UsageError

    raise UsageError("%%watch must be the first line of a cell that is run")


def _wb(shell: Any) -> Any:
    def wb(line: str, cell: str | None = None) -> Any:
        """Show a Python function as a graph: ``%wb graph f(2.0)``; open the panel on it: ``%wb debug f(2.0)``.

        The function is captured with the types of these arguments, and its loops and branches become those of the graph
        (see :func:`workbench.graph`). It may be decorated with ``@wb.graph``, but need not be. As the first line of a
        cell, ``%%wb f(2.0)`` runs the cell, which defines ``f``, and then opens the panel; ``%%wb graph f(2.0)`` shows
        the graph.
        """
        from IPython.core.error import UsageError

        from workbench.magics.graph_line import read_line, shown

        if cell is not None:
            raise UsageError("%%wb must be the first line of a cell that is run")
        try:
            arguments = read_line(line)
        except SyntaxError as error:
            raise UsageError(str(error)) from None
        return shown(arguments, shell.user_ns)

    return wb
