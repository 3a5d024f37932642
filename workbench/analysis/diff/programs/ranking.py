"""The sources of the error: values of two programs, ranked by the own error of the second."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from workbench.analysis.diff.compare_values import Row
from workbench.errors import TraceError
from workbench.libraries import needed
from workbench.text import harmless, printable

_HEAD = ("where the error is made", "op", "line", "own", "allowed", "own / largest", "all / largest", "SQNR", "")
#: maximum characters of a name, and of a bar
_WIDTH, _BAR = 38, 16
#: number of decades that a bar of text spans
_DECADES = 8


@dataclass(frozen=True)
class Ranking:
    """Values of a comparison, ranked by the factor by which the own error exceeds its bound for rounding.

    ``own`` is the error of b at a value on the inputs that *a* has there; "all" is the largest distance between the two
    runs, including inherited errors. Iterate over it for the rows; ``row.own`` has the numbers.

    Examples
    --------
    >>> len(wb.diff(graph, graph, {"a": 2.0}).ranking())
    0
    """

    a: str
    b: str
    made: tuple[Row, ...]
    most: int = 20

    @property
    def rows(self) -> list[Row]:
        return sorted(self.made, key=_factor, reverse=True)

    def __len__(self) -> int:
        return len(self.made)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def table(self) -> list[dict[str, Any]]:
        """Return the rows as plain values."""
        return [
            {
                "name": r.name,
                "other": r.other,
                "op": r.op,
                "other_op": r.other_op,
                "source": None if r.source is None else str(r.source),
                "other_source": None if r.other_source is None else str(r.other_source),
                "frame": "/".join(r.frame),
                "iteration": list(r.own.path),
                "own": _plain(r.own.own),
                "allowed": _plain(r.own.allowed),
                "in_float64": _plain(r.own.function),
                "own_share": _plain(r.own.share),
                "total": _plain(total(r)),
                "total_share": _plain(_share(r)),
                "sqnr": _plain(r.own.sqnr),
                "fault": r.own.fault,
            }
            for r in self.rows
        ]

    def to_pandas(self) -> Any:
        """Return :meth:`table` as a pandas DataFrame; TraceError with the slug ``missing-library`` without pandas."""
        return needed("pandas", error=TraceError).DataFrame(self.table())

    def cells(self) -> list[tuple[str, ...]]:
        """The rows as strings, below a header."""
        return [_HEAD, *(_cells(r) for r in self.rows[: self.most])]

    @harmless
    def __str__(self) -> str:
        if not self.made:
            return "No value differs whose own error is known."
        table = self.cells()
        widths = [max(len(row[k]) for row in table) for k in range(len(_HEAD))]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in table]
        more = len(self.made) - self.most
        return "\n".join(lines + ([f"... and {more:,} more values"] if more > 0 else []))

    @harmless
    def __repr__(self) -> str:
        faults = sum(bool(r.own.fault) for r in self.made)
        return f"<Ranking of {len(self.made)} values: {faults} err by themselves>"

    @harmless
    def _repr_html_(self) -> str:
        if not self.made:
            return f"<p>{html.escape(str(self))}</p>"
        head, *rows = self.cells()
        cell = "<td style='text-align:left'>{}</td>"
        body = "".join("<tr>" + "".join(cell.format(html.escape(c)) for c in row) + "</tr>" for row in rows)
        heads = "".join(f"<th scope='col' style='text-align:left'>{html.escape(c)}</th>" for c in head)
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"

    def figure(self) -> Any:
        """Return bars of plotly in the order of execution: the own error of each value, and the distance between the
        two runs, relative to its largest number.
        """
        go = needed("plotly.graph_objects", error=TraceError)
        rows = self.made[: 4 * self.most]
        names = [f"{k + 1} {printable(r.name, 40)}" for k, r in enumerate(rows)]
        own, apart = ([_drawn(v) for v in each] for each in ([r.own.share for r in rows], [_share(r) for r in rows]))
        figure = go.Figure()
        figure.add_bar(y=names, x=apart, orientation="h", name="all, with what was inherited", marker_color="#B0B7C3")
        for words, colour, errs in (("made here", "#0072B2", False), ("made here, beyond rounding", "#D55E00", True)):
            bars = [v if bool(r.own.fault) == errs else None for v, r in zip(own, rows, strict=True)]
            figure.add_bar(y=names, x=bars, orientation="h", name=words, marker_color=colour, width=0.45)
        drawn = [v for v in (*own, *apart) if v is not None]
        low, high = min(drawn, default=1e-6), max(drawn, default=1.0)
        figure.update_xaxes(
            type="log",
            exponentformat="power",
            dtick=1,
            range=[math.floor(math.log10(low) - 0.5), math.ceil(math.log10(high) + 0.1)],
            title_text="error / largest number of the value",
        )
        figure.update_yaxes(autorange="reversed", automargin=True)
        figure.update_layout(
            barmode="overlay",
            height=160 + 24 * len(rows),
            margin={"l": 10, "r": 10, "t": 40, "b": 50},
            legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        )
        return figure


def _factor(row: Row) -> tuple[bool, float]:
    """The ratio of an own error to its bound; faults come first."""
    error = row.own.function if row.own.fault == "function" else row.own.own
    return bool(row.own.fault), error / row.own.allowed if row.own.allowed else math.inf if error else 0.0


def total(row: Row) -> float:
    """The largest distance between the two runs, inherited errors included."""
    return float(row.own.total if row.worst_abs is None else row.worst_abs)


def _share(row: Row) -> float | None:
    return total(row) / row.own.size if row.own.size > 0 else None


def _cells(row: Row) -> tuple[str, ...]:
    own, share = row.own, row.own.share
    where = f" [{', '.join(map(str, own.path))}]" if own.path else ""
    op = row.op if row.other_op in ("", row.op) else f"{row.op} | {row.other_op}"
    line = row.source or row.other_source
    return (
        printable(row.name, _WIDTH) + where,
        printable(op, _WIDTH),
        "" if line is None else printable(line.place, _WIDTH),
        f"{own.function if own.fault == 'function' else own.own:.3g}",
        f"{own.allowed:.3g}",
        "" if share is None else f"{share:.2g}",
        "" if (apart := _share(row)) is None else f"{apart:.2g}",
        "" if own.sqnr is None else f"{own.sqnr:.0f} dB",
        _bar(share, bool(own.fault)),
    )


def _bar(share: float | None, fault: bool) -> str:
    """A bar on a logarithmic scale from 1e-8 to 1."""
    if not share or not share > 0:
        return ""
    length = (math.log10(min(share, 1.0)) + _DECADES) / _DECADES * _BAR if math.isfinite(share) else _BAR
    return ("#" if fault else "-") * max(1, round(length))


def _drawn(value: float | None) -> float | None:
    return None if value is None or not value > 0 else min(value, 1e3)


def _plain(value: float | None) -> float | str | None:
    return value if value is None or math.isfinite(value) else str(value)


__all__ = ["Ranking"]
