"""Logs as tables: CSV and TSV, as Lightning's CSVLogger, Keras' CSVLogger and W&B's export write them."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator

from workbench.recorder.logs.rows import LogRows, number

#: separators that are searched in the first line
SEPARATORS = ",\t;"
#: maximum number of cells of a line
MAX_CELLS = 16_384


def read_table(lines: Iterable[str], rows: LogRows) -> None:
    """Add the rows of a table whose first line has the names; without such a line, columns are numbered.

    Empty cells are values that were not logged in that row; text cells are left out.
    """
    lines = iter(lines)
    first = next(lines, "")
    separator = max(SEPARATORS, key=first.count)
    names: list[str] | None = None
    try:
        for cells in csv.reader(_again(first, lines), delimiter=separator, skipinitialspace=True):
            if len(cells) > MAX_CELLS:
                raise rows.error(
                    f"has {len(cells):,} columns, at most {MAX_CELLS:,} are read", "too-large", "select some."
                )
            if names is None:
                given = [cell.strip() for cell in cells]
                if any(number(name) is None for name in given):
                    names = [name or f"column {k}" for k, name in enumerate(given, 1)]
                    continue
                names = [f"column {k}" for k in range(1, len(cells) + 1)]
            rows.add(dict(zip(names, cells, strict=False)))
    except csv.Error as error:
        raise rows.error(f"is not a table: {error}", "bad-log", "save it as CSV with a line of names.") from error


def _again(first: str, lines: Iterator[str]) -> Iterator[str]:
    yield first
    yield from lines
