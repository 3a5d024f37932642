"""One value of two runs side by side: its lines, a table around the first difference, and the difference in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.analysis.diff import Diff
from workbench.analysis.diff.compare_values import Row
from workbench.errors import WorkbenchError
from workbench.ir.op_names import bare_op
from workbench.text import apart, printable
from workbench.widgets.series.thinning import thin
from workbench.widgets.text.labels import number, value_text

#: rows of the table, and the number of them before the first difference
ROWS, BEFORE = 10, 2


def first_row(diff: Diff) -> int | None:
    """Index of the row of the first difference; for a value set by hand that of the loop variable."""
    for k, row in enumerate(diff.rows):
        if not row.edited:
            break
        if bare_op(row.op) == "Merge":
            return k
    return 0 if diff.rows else None


def first_difference(diff: Diff) -> dict[str, Any] | None:
    """``title``, ``cause``, ``edited`` and ``row`` of the first difference; None if there is none."""
    k = first_row(diff)
    if k is None:
        return None
    row = diff.rows[k]
    name, where = printable(row.name), f" in iteration {row.iteration[-1]}" if row.iteration else ""
    if row.edited:
        a, b = (value_text(v) for v in distinct_values(row))
        cause = f"{name} was set by hand: {a} ({diff.a}), {b} ({diff.b}). No node is to blame."
    elif row.introduces:
        cause = "The inputs of this node agree, its output does not: the difference starts here."
    else:
        cause = row.kind.value
    return {
        "title": f"First difference: {name}{where}",
        "cause": printable(cause),
        "edited": bool(row.edited),
        "row": k,
    }


def distinct_values(row: Row) -> tuple[Any, Any]:
    """The two values of a row; for arrays the items that differ most."""
    index = row.index or ()

    def item(value: Any) -> Any:
        return value[index] if index and isinstance(value, np.ndarray) and value.ndim == len(index) else value

    return item(row.value_a), item(row.value_b)


def beside_model(diff: Diff, position: int | None) -> dict[str, Any] | None:
    """``lines`` (x, y of both runs), ``table`` (strings: where, a, b, difference, kind), ``axis`` and ``edited`` (x of
    the first difference if it was set by hand); None if there are no numbers to draw.
    """
    if position is None or not 0 <= position < len(diff.rows):
        return None
    row = diff.rows[position]
    try:
        both = diff.both(row)
    except WorkbenchError:
        return None
    sides = [(paths, values) for paths, values in (both.a, both.b)]
    if not row.frame or any(v.dtype.kind not in "biuf" or not len(v) for _, v in sides):
        return None
    one = all(paths.shape[1] == 1 for paths, _ in sides)
    lines = []
    for paths, values in sides:
        x = paths[:, -1].astype(np.float64) if one else np.arange(len(values), dtype=np.float64)
        y = values.astype(np.float64)
        known = np.isfinite(y)
        at, thinned = thin(x[known], y[known])
        lines.append({"x": at, "y": thinned})
    item = f"[{', '.join(map(str, both.index))}]" if both.index else ""
    return {
        "name": f"{printable(row.name)}{item}",
        "axis": f"iteration of {printable(row.frame[-1])}" if one else "firing",
        "lines": lines,
        "edited": float(row.iteration[-1]) if one and row.edited and row.iteration else None,
        "table": _table(sides, row),
    }


def _table(sides: list[tuple[np.ndarray, np.ndarray]], row: Row) -> list[dict[str, str]]:
    """The firings around the first difference, each with its value in both runs."""
    mine, theirs = (_near(paths, values, row.iteration) for paths, values in sides)
    order = sorted({*mine, *theirs})
    here = tuple(row.iteration)
    first = order.index(here) if here in order else 0
    start = max(0, min(first - BEFORE, len(order) - ROWS))
    found: list[dict[str, str]] = []
    for path in order[start : start + ROWS]:
        a, b = mine.get(path), theirs.get(path)
        edited = bool(row.edited) and path == tuple(row.iteration)
        texts = apart(a, b, 7, number)
        found.append(
            {
                "where": ", ".join(map(str, path)) + (" edited" if edited else ""),
                "a": "ended" if a is None else texts[0],
                "b": "ended" if b is None else texts[1],
                "difference": _apart(a, b),
                "kind": "edited" if edited else "same" if a == b else "differs",
            }
        )
    return found


def _near(paths: np.ndarray, values: np.ndarray, iteration: tuple[int, ...]) -> dict[tuple[int, ...], Any]:
    """The firings around an iteration, by their paths."""
    depth = paths.shape[1]
    here = (paths == np.array(iteration)).all(axis=1) if len(iteration) == depth else np.zeros(len(paths), bool)
    found: np.ndarray = np.flatnonzero(here)
    at = int(found[0]) if len(found) else len(paths)
    part = slice(max(0, at - ROWS), at + ROWS)
    return dict(zip(map(tuple, paths[part].tolist()), values[part].tolist(), strict=True))


def _apart(a: Any, b: Any) -> str:
    if a is None or b is None:
        return ""
    if a == b or a != a and b != b:
        return "same"
    return number(float(a) - float(b), 3)
