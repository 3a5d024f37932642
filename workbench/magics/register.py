"""Registers the magics in an IPython shell, with a text for ``%%watch?`` and ``%wb?``."""

from __future__ import annotations

from typing import Any

_REGISTERED = "_workbench_watched_cells"


def register(shell: Any) -> None:
    """Register ``%%watch``, ``%wb`` and ``%%wb``; twice does no harm."""
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
    pass of its ``for`` and ``while`` loops, those of its functions included. Each part may be left out:

    names
        Variables to record, with commas between them; without names all numbers and arrays that a loop assigns.
    until ...
        The end that the loop waits for: comparisons of a variable by <, <=, >, >= with a number or a variable, joined
        by "and". It changes nothing of the loop; forecasts and the gap to the tolerance come from it.
    as NAME
        A variable that gets the watch (a list of watches of several loops one after another). ``_watch`` always has it.

    A loop in a loop is a nested watch. An interrupt, an error and ``await`` are those of the cell.
    """
    from IPython.core.error import UsageError

    raise UsageError("%%watch must be the first line of a cell that is run")


def _wb(shell: Any) -> Any:
    def wb(line: str, cell: str | None = None) -> Any:
        """Show a Python function as a graph: ``%wb graph f(2.0)``; open the panel on it: ``%wb debug f(2.0)``.

        The function is captured with the types of these arguments and its loops and branches become those of the graph
        (see :func:`workbench.graph`). It may be decorated with ``@wb.graph`` or not. As the first line of a cell,
        ``%%wb f(2.0)`` runs the cell, which defines ``f``, and then opens the panel; ``%%wb graph f(2.0)`` shows the
        graph.
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
