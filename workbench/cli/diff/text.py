"""A comparison of two runs as text for a terminal: sentences, then the values that differ."""

from __future__ import annotations

from typing import Any

from workbench.cli.layout import table, wrap
from workbench.cli.output import lines

#: maximum number of values in the list
ROWS = 20


def diff_text(found: Any, width: int | None) -> str:
    """Text of a :class:`~workbench.analysis.diff.result.Diff`, wrapped to ``width`` columns; None for a pipe."""
    from workbench.analysis.diff.render import HEAD, OPTIONAL, WIDTH, cells, summary

    text = wrap(lines("\n".join(summary(found))), width) + "\n"
    if found.made and (found.rows or not found.equal):
        head, *rows = found.ranking().cells()
        text += "\n" + table(rows, head, width=width or WIDTH, optional=[8, 1, 7, 6, 4])
    if not found.rows:
        return text
    text += "\n" + table(
        [cells(found, row) for row in found.rows[:ROWS]],
        HEAD,
        width=width or WIDTH,
        optional=[HEAD.index(name) for name in OPTIONAL],
    )
    more = len(found.rows) - ROWS
    return text + (f"and {more:,} more values that differ: workbench diff --json lists them\n" if more > 0 else "")
