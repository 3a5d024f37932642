"""A small table with a form as text, as columns, and as HTML for notebooks."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import Any

from workbench.libraries import needed
from workbench.text import harmless

#: maximum number of rows that the text and HTML forms show; they then say how many more there are
SHOWN = 200


class Listing(Sequence[Any]):
    """Rows (frozen dataclasses or tuples) and how they are shown.

    ``cells(row)`` returns one string per column of ``headers``. The rows themselves are the data: iterate, index,
    filter.
    """

    def __init__(self, title: str, headers: Sequence[str], rows: Sequence[Any], cells: Any) -> None:
        self.title, self.headers, self.rows, self._cells = title, tuple(headers), tuple(rows), cells

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)

    def columns(self) -> dict[str, list[str]]:
        """The table as lists of strings by column."""
        table = [self._cells(row) for row in self.rows]
        return {header: [cells[i] for cells in table] for i, header in enumerate(self.headers)}

    def to_pandas(self) -> Any:
        """A pandas DataFrame; WorkbenchError with slug ``missing-library`` without pandas."""
        return needed("pandas").DataFrame(self.columns())

    @harmless
    def text(self) -> str:
        """The table for a terminal, columns aligned."""
        table = [self.headers, *(self._cells(row) for row in self.rows[:SHOWN])]
        widths = [max(len(cells[i]) for cells in table) for i in range(len(self.headers))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip() for cells in table
        ]
        return "\n".join([self.title, *lines, *self._more()])

    __str__ = text

    @harmless
    def __repr__(self) -> str:
        return f"<{self.title}: {len(self)} rows>"

    def _more(self) -> list[str]:
        return [f"... and {len(self.rows) - SHOWN} more"] if len(self.rows) > SHOWN else []

    @harmless
    def _repr_html_(self) -> str:
        def row(cells: Sequence[str], kind: str) -> str:
            return "<tr>" + "".join(f"<{kind}>{html.escape(cell)}</{kind}>" for cell in cells) + "</tr>"

        body = "".join(row(self._cells(r), "td") for r in self.rows[:SHOWN])
        more = "".join(f"<p>{html.escape(line)}</p>" for line in self._more())
        title = html.escape(self.title)
        return f"<table><caption>{title}</caption><thead>{row(self.headers, 'th')}</thead>{body}</table>{more}"
