"""A comparison of two runs as plain data: its sentences, its rows, and the curve of one row."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.analysis.diff import Diff, Kind, Row
from workbench.analysis.diff.render import WORDS, summary
from workbench.errors import WorkbenchError
from workbench.ir.op_names import bare_op
from workbench.text import printable
from workbench.widgets.series.thinning import thin
from workbench.widgets.text.labels import number, shorten, value_text
from workbench.widgets.text.numerals import numeral, spaced

#: maximum rows sent to a browser
MAX_ROWS = 300
#: a mark beside the word, so that kinds differ not only in colour
MARKS = {
    Kind.VALUE: "\u2260",
    Kind.NAN: "\u26a0",
    Kind.INF: "\u221e",
    Kind.SHAPE: "\u25a6",
    Kind.DTYPE: "\u03c4",
    Kind.OTHER: "\u2260",
    Kind.BRANCH: "\u21c4",
    Kind.ONLY_A: "a",
    Kind.ONLY_B: "b",
    Kind.LENGTH: "\u21bb",
}


def diff_model(diff: Diff, chosen: int | None, selected: str | None) -> dict[str, Any]:
    """``lines`` (sentences), ``rows`` (strings by column), ``more`` (number of rows left out), ``chosen`` (index of the
    row whose curve is shown), ``equal``. Nothing is escaped. ``selected`` is the node that other views have selected.
    """
    rows = [diff_row(diff.rows[k], k) for k in range(min(len(diff.rows), MAX_ROWS))]
    for row in rows:
        row["same"] = selected is not None and selected in (row["node"], row["name"])
    return {
        "lines": [spaced(line) for line in summary(diff)],
        "rows": rows,
        "more": len(diff.rows) - len(rows),
        "chosen": chosen,
        "a": diff.a,
        "b": diff.b,
        "equal": diff.equal,
    }


def diff_row(row: Row, position: int) -> dict[str, Any]:
    """One row as strings; ``frame`` and ``iteration`` as lists."""
    name = row.name if row.other in ("", row.name) else f"{row.name} | {row.other}"
    a, b = (_shown(v, row.index) for v in (row.value_a, row.value_b))
    if row.dtypes[0] != row.dtypes[1]:
        a, b = (f"{shown} {dtype}" for shown, dtype in zip((a, b), row.dtypes, strict=True))
    return {
        "number": position,
        "name": row.name,
        "shown": shorten(printable(name), 48),
        "node": row.node,
        "op": printable(bare_op(row.op)),
        "kind": row.kind.name.lower(),
        "mark": MARKS[row.kind],
        "word": "edited" if row.edited else WORDS[row.kind],
        "sentence": f"The value was {row.edited}." if row.edited else row.kind.value,
        "frame": list(row.frame),
        "iteration": list(row.iteration),
        "where": printable(row.where),
        "a": a,
        "b": b,
        "abs": _text(row.max_abs),
        "rel": _text(row.max_rel),
        "ulp": "" if row.ulp is None else number(row.ulp, 3),
        "at": "" if not row.index else str(list(row.index)),
        "count": f"{numeral(row.differing)} of {numeral(row.compared)}",
        "source": bool(row.introduces) and not row.edited,
        "line": "" if row.source is None else printable(row.source.place),
    }


def _shown(value: Any, index: tuple[int, ...] | None) -> str:
    """A value; of an array the item with the largest difference."""
    if index and isinstance(value, np.ndarray) and value.size > 1 and len(index) == value.ndim:
        return number(value[index])
    return value_text(value)


def _text(value: float | None) -> str:
    return "" if value is None else number(value, 3)


def curve_model(diff: Diff, position: int | None) -> dict[str, Any] | None:
    """The distances of one row: ``x``, ``lines`` (name, x, y, differing), ``axis``, ``name``; None if there are none.

    For a value that fires several times x counts iterations (firings, in nested loops); for one array its items. Long
    series are thinned, with every extreme kept.
    """
    if position is None or not 0 <= position < len(diff.rows):
        return None
    row = diff.rows[position]
    try:
        curve = diff.curve(row)
    except WorkbenchError:
        return None
    if len(curve) > 1 or row.frame:
        depth = curve.iterations.shape[1]
        x = curve.iterations[:, -1] if depth == 1 else np.arange(len(curve))
        axis = f"iteration of {row.frame[-1]}" if depth == 1 and row.frame else "firing"
        columns = {"absolute": curve.absolute, "relative": curve.relative, "ulp": curve.ulp}
        first = np.flatnonzero(curve.differs)
    else:
        apart = _items(row)
        if apart is None:
            return None
        x, axis, columns, first = np.arange(len(apart)), "item", {"absolute": apart}, np.flatnonzero(apart > 0)
    lines = []
    for name, y in columns.items():
        known = ~np.isnan(y)
        if known.any():
            at, thinned = thin(x[known].astype(np.float64), y[known].astype(np.float64))
            lines.append({"name": name, "x": at, "y": thinned})
    return {
        "name": row.name,
        "axis": axis,
        "lines": lines,
        "first": float(x[first[0]]) if len(first) else None,
        "differing": len(first),
        "count": len(x),
    }


def _items(row: Row) -> np.ndarray | None:
    """Distances of the items of one pair of arrays."""
    a, b = row.value_a, row.value_b
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)) or a.shape != b.shape or a.size < 2:
        return None
    if a.dtype.kind not in "biuf" or b.dtype.kind not in "biuf":
        return None
    with np.errstate(all="ignore"):
        return np.abs(a.astype(np.float64) - b.astype(np.float64)).reshape(-1)
