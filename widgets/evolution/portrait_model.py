"""Portraits of a loop variable: x(k + 1) against x(k) as a cobweb, pairs of values, and arrays as a heat map."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.text import ordinal
from workbench.widgets.evolution.evolution_lines import lines_of
from workbench.widgets.series.series_reader import ELEMENTS, width_of
from workbench.widgets.text.labels import short_name
from workbench.widgets.text.numerals import numeral

#: maximum newest values of a portrait, and steps of the path through them
POINTS, PATH = 4000, 80
#: maximum columns and rows of a heat map
COLUMNS, ROWS = 400, 64

FAILED = (KeyError, IndexError, ValueError, TypeError, WorkbenchError)


def newest(series: Any, suffix: str, upto: int | None, most: int = POINTS) -> tuple[np.ndarray, np.ndarray]:
    """Iterations and values of one line of a series, oldest first: the last ``most``, or those around the firing
    ``upto`` in a longer record. Empty if there is no such line.
    """
    count = len(series)
    most = max(2, min(most, ELEMENTS // width_of(series)))
    stop = count if upto is None else min(count, max(most, upto + most // 2))
    iterations, values = series.window(max(0, stop - most), stop)
    y = lines_of(values).get(suffix, np.empty(0))
    return iterations[: len(y), -1].astype(np.float64), y


def cobweb_model(series: Any, suffix: str, moment: int | None = None) -> dict[str, Any]:
    """``x`` and ``y``: each value and its successor; ``path_x`` and ``path_y``: the path over the diagonal, up to the
    iteration ``moment``; ``at``: the point of that moment; ``k``: iterations of the points.
    """
    k, v = newest(series, suffix, moment)
    follows = np.diff(k) == 1
    x, y, number = v[:-1][follows], v[1:][follows], k[:-1][follows]
    stop = len(x) if moment is None else int(np.searchsorted(number, moment, side="right"))
    start = max(0, stop - PATH)
    px, py = np.empty(2 * (stop - start)), np.empty(2 * (stop - start))
    px[0::2], px[1::2] = x[start:stop], x[start:stop]
    py[0::2], py[1::2] = x[start:stop], y[start:stop]  # up or down to the curve, then across to the diagonal
    if stop > start:
        px, py = np.append(px, y[stop - 1]), np.append(py, y[stop - 1])
    at = None if stop == start else (float(x[stop - 1]), float(y[stop - 1]))
    name = short_name(series.name) + suffix
    return {
        "kind": "cobweb",
        "x": x,
        "y": y,
        "k": number,
        "path_x": px,
        "path_y": py,
        "at": at,
        "x_title": f"{name} in iteration k",
        "y_title": f"{name} in iteration k + 1",
        "all": len(series),
    }


def phase_model(
    series: Any, suffix: str, other: Any = None, other_suffix: str = "", moment: int | None = None
) -> dict[str, Any]:
    """One line against another of the same loop, by iteration; without ``other`` its change to the next iteration
    against its value. Keys as in :func:`cobweb_model`.
    """
    k, v = newest(series, suffix, moment)
    name = short_name(series.name) + suffix
    if other is None:
        follows = np.diff(k) == 1
        x, number = v[:-1][follows], k[:-1][follows]
        with np.errstate(all="ignore"):
            y, title = np.diff(v)[follows], f"change of {name}"
    else:
        k2, w = newest(other, other_suffix, moment)
        number, mine, theirs = np.intersect1d(k, k2, return_indices=True)
        x, y, title = v[mine], w[theirs], short_name(other.name) + other_suffix
    stop = len(x) if moment is None else int(np.searchsorted(number, moment, side="right"))
    start = max(0, stop - (PATH if other is None else POINTS))
    at = None if stop == start else (float(x[stop - 1]), float(y[stop - 1]))
    return {
        "kind": "phase",
        "x": x,
        "y": y,
        "k": number,
        "path_x": x[start:stop],
        "path_y": y[start:stop],
        "at": at,
        "x_title": name,
        "y_title": title,
        "all": len(series),
    }


def moving_most(flat: np.ndarray, most: int) -> np.ndarray:
    """Indices of the ``most`` columns with the largest range of finite values, ascending."""
    if flat.shape[1] <= most:
        return np.arange(flat.shape[1])
    good = np.isfinite(flat)
    with np.errstate(over="ignore", invalid="ignore"):
        moved = np.where(good, flat, -np.inf).max(axis=0) - np.where(good, flat, np.inf).min(axis=0)
    moved = np.where(good.all(axis=0), moved, np.inf)  # NaN is never left out
    return np.sort(np.argsort(-moved, kind="stable")[:most])


def heat_model(series: Any, log: bool = False, zoom: tuple[float, float] | None = None) -> dict[str, Any] | None:
    """Components over iterations: ``z`` (rows, columns), ``x`` (iterations), ``rows`` (names of components), ``bad`` (x
    and row of cells that are NaN or infinite), ``note`` (the omitted part). None for a value that is not an array of
    numbers.

    Of more than ``COLUMNS`` iterations an even sample is shown, of more than ``ROWS`` components those that change
    most.
    """
    count = len(series)
    if not count:
        return None
    width = width_of(series)
    first, last = 0, count
    if zoom is not None:
        known = int(series.window(0, 1)[0][0, -1])
        first, last = max(0, int(zoom[0]) - known), min(count, int(np.ceil(zoom[1])) - known + 1)
        if first >= last:
            first, last = 0, count
    most = max(8, min(COLUMNS, 4 * ELEMENTS // width))
    step = max(1, -(-(last - first) // most))
    iterations, values = series.window(first, last, step)
    values = np.asarray(values)
    if values.dtype.kind not in "biufc" or values.ndim < 2 or not values.size:
        return None
    flat = values.reshape(len(values), -1)
    flat = (np.abs(flat) if flat.dtype.kind == "c" else flat).astype(np.float64)
    places = moving_most(flat, ROWS)
    z = flat[:, places].T
    x = iterations[:, -1].astype(np.float64)
    rows = [f"[{','.join(map(str, p))}]" for p in zip(*np.unravel_index(places, values.shape[1:]), strict=True)]
    bad = np.argwhere(~np.isfinite(z))[:200]
    notes = []
    if step > 1:
        notes.append(f"every {ordinal(step, numeral(step))} iteration")
    if len(places) < flat.shape[1]:
        notes.append(f"{len(places)} of {numeral(flat.shape[1])} components, those that change most")
    with np.errstate(all="ignore"):
        z = np.log10(np.abs(z)) if log else z
    return {
        "kind": "heat",
        "z": np.where(np.isfinite(z), z, np.nan),
        "x": x,
        "rows": rows,
        "log": log,
        "bad": [(float(x[c]), int(r)) for r, c in bad],
        "note": ", ".join(notes),
        "name": short_name(series.name),
    }
