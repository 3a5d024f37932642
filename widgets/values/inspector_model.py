"""One value as a number, image, line, table or histogram, with statistics; the output is bounded however large the
value is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.widgets.series.thinning import thin
from workbench.widgets.text.labels import number, shorten, value_text
from workbench.widgets.text.numerals import numeral
from workbench.widgets.values.images.reduced import FLAT, is_image, matrix, real
from workbench.widgets.values.slices import Index, Picked, as_key, resolve
from workbench.widgets.values.statistics_model import largest, one_number, sampled, statistics

MAX_ROWS = 16
MAX_COLS = 8
MAX_BINS = 40
#: maximum points of a line that are read, and drawn
MAX_LINE = 4_000_000
MAX_POINTS = 1200
DISPLAYS = ("auto", "image", "line", "table", "histogram")


def inspector_model(
    value: Any,
    name: str = "",
    index: tuple[Index, ...] = (),
    display: str = "auto",
    *,
    steps: Sequence[tuple[int, ...]] = (),
    differs: bool = False,
) -> dict[str, Any]:
    """The shown content of ``value[index]``. Nothing is escaped.

    ``kind`` (none, scalar, table, object), ``header`` (dtype, shape, strides, bytes) and ``short`` (shape and dtype),
    ``text``, ``cells`` (rows of text), ``rows`` and ``columns`` (their labels, below ``corner``), ``bad`` (row and
    column of items that are not finite), ``more`` (the omitted part), ``statistics`` (label -> text), ``display``,
    ``first`` (the display of "auto"), and for the figure ``image`` (its numbers, 2-D), ``line`` (x, y) or ``histogram``
    (edges, counts, omitted items). ``origin`` holds the axes and indices of the table's rows and columns. With
    ``steps`` the first axis is time, and each step an iteration path; ``index`` then refers to the other axes.
    WorkbenchError for an index that does not fit.
    """
    model: dict[str, Any] = {
        "name": name,
        "kind": "none",
        "header": "",
        "short": "",
        "text": "no value yet",
        "cells": [],
        "rows": [],
        "columns": [],
        "corner": "",
        "bad": [],
        "more": "",
        "statistics": {},
        "display": "none",
        "first": "none",
        "image": None,
        "line": None,
        "histogram": None,
        "origin": None,
        "differs": differs,
        "time": bool(steps),
    }
    if value is None:
        return model
    try:
        array = np.asarray(value)
    except ValueError:
        return {**model, "kind": "object", "header": type(value).__name__, "text": shorten(repr(value), 200)}
    if array.dtype == object:
        text = shorten(str(array[()]) if array.ndim == 0 else f"{array.size} objects", 200)
        return {**model, "kind": "object", "header": f"object[{_shape(array)}]", "text": text}
    picked = resolve((slice(None), *index) if steps else index, array.shape)
    header, short = _header(array), _short(array)
    part = array[as_key(picked)] if picked else array
    if index and part.shape != array.shape:
        header, short = (f"{words}, of which [{_shape(part)}] is shown" for words in (header, short))
    if part.ndim == 0:
        facts = one_number(part) | (largest(part) if differs and array.ndim else {})
        return {
            **model,
            "kind": "scalar",
            "first": "scalar",
            "header": header,
            "short": short,
            "text": number(part[()], 17),
            "statistics": facts,
            "origin": {"picked": picked, "row": None, "column": None},
        }
    chosen = _display(part, display)
    facts = statistics(part) | (largest(part) if differs else {})
    return {
        **model,
        **_table(part, picked, steps),
        "kind": "table",
        "header": header,
        "short": short,
        "text": value_text(part),
        "statistics": facts,
        "display": chosen,
        "first": _display(part, "auto"),
        "image": matrix(part) if chosen == "image" else None,
        "line": _line(part, steps) if chosen == "line" else None,
        "histogram": _histogram(part) if chosen == "histogram" else None,
    }


def place_of(origin: dict[str, Any], row: int, column: int) -> tuple[int, ...]:
    """The index, in the whole value, of a cell of the table (0, 0 for a single number)."""
    place: list[int] = []
    for axis, picked in enumerate(origin["picked"]):
        if isinstance(picked, int):
            place.append(picked)
        elif axis == origin["row"]:
            place.append(picked[row])
        elif axis == origin["column"]:
            place.append(picked[column])
        else:
            place.append(picked[0])
    return tuple(place)


def _header(array: np.ndarray) -> str:
    if array.ndim == 0:
        return str(array.dtype) + "[]"
    strides = ", ".join(map(str, array.strides))
    return f"{array.dtype}[{_shape(array)}], strides {strides}, {numeral(array.nbytes)} bytes"


def _short(array: np.ndarray) -> str:
    return " ".join((" \u00d7 ".join(map(str, array.shape)), str(array.dtype))).strip()


def _display(part: np.ndarray, wish: str) -> str:
    """The requested display, or the first suitable one."""
    if part.dtype.kind not in "biufc" or part.size < 2:
        return "table"
    if wish == "line" and part.ndim > 2:
        raise WorkbenchError(
            f"A line chart needs 1 or 2 axes, got {part.ndim}.",
            slug="bad-display",
            fix="select a vector with an index such as [0, :].",
        )
    if wish in DISPLAYS[1:]:
        return wish
    if is_image(part.shape):
        return "image"
    return "table" if part.ndim > 2 or lines_of(part) is None else "line"


def lines_of(part: np.ndarray) -> np.ndarray | None:
    """The part with its long axis first and the lines to draw along it as columns; None if it has too many axes."""
    view = part.reshape([n for n in part.shape if n > 1] or [part.size])
    if view.ndim > 2 or not view.size:
        return None
    return view.T if view.ndim == 2 and view.shape[0] <= FLAT < view.shape[1] else view


def _table(part: np.ndarray, picked: Sequence[Picked], steps: Sequence[tuple[int, ...]]) -> dict[str, Any]:
    """The first rows and columns of the last two axes, at index 0 of all others."""
    axes = [k for k, p in enumerate(picked) if not isinstance(p, int)]
    view, row, column = part, axes[-2] if len(axes) > 1 else axes[-1], axes[-1] if len(axes) > 1 else None
    if steps and len(axes) > 2:  # rows are time; of matrices the first row is shown
        row = axes[0]
        first: tuple[Any, ...] = (slice(None), *[0] * (len(axes) - 2), slice(None))
        view = part.reshape(0, 0) if 0 in part.shape else part[first]
    while view.ndim > 2:
        view = view[0] if view.shape[0] else view.reshape(0, 0)
    if view.ndim == 1:
        view = view[:, None]
    shown = view[:MAX_ROWS, :MAX_COLS]
    if steps and view.shape[0] > MAX_ROWS:  # the newest ones
        shown = view[-MAX_ROWS:, :MAX_COLS]
    skipped = view.shape[0] - len(shown) if steps else 0
    more = []
    hidden = part.ndim - 2
    if hidden > 0:
        inner = ", ".join(["0"] * hidden)
        more.append(f"slice [:, {inner}, :]" if steps else f"slice [{inner}, :, :]")
    if view.shape[0] > MAX_ROWS:
        more.append(f"{numeral(view.shape[0] - MAX_ROWS)} {'earlier' if steps else 'more'} rows")
    if view.shape[1] > MAX_COLS:
        more.append(f"{numeral(view.shape[1] - MAX_COLS)} more columns")
    places = picked[row]
    labels = [str(places[i]) for i in range(len(shown))] if isinstance(places, range) else []
    if steps:
        labels = [", ".join(map(str, steps[skipped + i])) for i in range(len(shown))]
    across = picked[column] if column is not None else None
    columns = [str(across[j]) for j in range(shown.shape[1])] if isinstance(across, range) else ["value"]
    wild = shown.dtype.kind in "fc" and ~np.isfinite(shown)
    return {
        "cells": [[number(v) for v in cells] for cells in shown],
        "rows": labels,
        "columns": columns,
        "corner": "iteration" if steps else f"axis {row}" if column is None else f"axis {row} \\ {column}",
        "bad": [[int(i), int(j)] for i, j in np.argwhere(wild)] if wild is not False else [],
        "more": ", ".join(more),
        "origin": None if steps else {"picked": picked, "row": row, "column": column},
    }


def _lines(part: np.ndarray) -> np.ndarray:
    found = lines_of(part)
    return part if found is None else found


def _line(part: np.ndarray, steps: Sequence[tuple[int, ...]]) -> dict[str, Any]:
    """Columns against the rows (the iterations if the rows are time), each thinned with its extremes kept."""
    view = real(part if steps or part.ndim < 2 else _lines(part))
    view = view[:, None] if view.ndim == 1 else view
    numbers = [s[-1] if s else k for k, s in enumerate(steps)]
    ascending = all(a < b for a, b in zip(numbers, numbers[1:], strict=False))
    x = np.asarray(numbers if steps and ascending else range(len(view)), dtype=np.float64)
    every = -(-len(x) // MAX_LINE)
    lines = []
    for column in range(min(view.shape[1], MAX_COLS)):
        y = np.asarray(view[::every, column] if every > 1 else view[:, column], dtype=np.float64)
        lines.append(thin(x[:: max(1, every)], y, MAX_POINTS))
    title = "element" if not steps else "iteration" if ascending else "firing"
    return {"lines": lines, "title": title}


def _histogram(part: np.ndarray) -> dict[str, Any]:
    flat = real(sampled(part, MAX_LINE)).astype(np.float64)
    finite = flat[np.isfinite(flat)]
    left_out = len(flat) - len(finite)
    if not len(finite):
        return {"edges": np.zeros(1), "counts": np.zeros(0), "left_out": left_out}
    low, high = float(finite.min()), float(finite.max())
    if not np.isfinite(high - low):  # halves, or the width of the bins overflows
        finite, low, high = finite / 2, low / 2, high / 2
        counts, edges = np.histogram(finite, bins=MAX_BINS)
        return {"edges": edges * 2, "counts": counts.astype(np.float64), "left_out": left_out}
    try:
        counts, edges = np.histogram(finite, bins=MAX_BINS if len(finite) > 30 else 10)
    except ValueError:  # too close together for so many bins
        counts, edges = np.array([len(finite)]), np.array([low, high])
    return {"edges": edges, "counts": counts.astype(np.float64), "left_out": left_out}


def _shape(array: np.ndarray) -> str:
    return ",".join(map(str, array.shape))
