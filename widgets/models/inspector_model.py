"""One value for reading: table, heat map or single number, with statistics; bounded however large the array is."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.widgets.models.labels import count_text, number, shorten, value_text

MAX_ROWS = 12
MAX_COLS = 8
MAX_HEAT = 64
#: statistics of larger arrays are taken from an even sample, and say so
MAX_STATISTICS = 4_000_000


def inspector_model(value: Any, name: str = "") -> dict[str, Any]:
    """``kind`` (none, scalar, table, object), ``header``, ``cells`` (rows of text), ``more`` (what is not shown),
    ``statistics`` (label -> text) and ``heat`` (2-D float64 at most 64 x 64, or None). Nothing is escaped."""
    empty: dict[str, Any] = {
        "name": name, "kind": "none", "header": "", "text": "no value yet", "cells": [], "more": "",
        "statistics": {}, "heat": None,
    }  # fmt: skip
    if value is None:
        return empty
    try:
        array = np.asarray(value)
    except ValueError:
        return {**empty, "kind": "object", "header": type(value).__name__, "text": shorten(repr(value), 200)}
    if array.dtype == object:
        text = shorten(str(array[()]) if array.ndim == 0 else f"{array.size} objects", 200)
        return {**empty, "kind": "object", "header": f"object[{_shape(array)}]", "text": text}
    header = f"{array.dtype}[{_shape(array)}]"
    if array.ndim == 0:
        return {**empty, "kind": "scalar", "header": header, "text": number(array[()], 17), "statistics": _bits(array)}
    cells, more = _cells(array)
    return {
        "name": name, "kind": "table", "header": header, "text": value_text(array), "cells": cells, "more": more,
        "statistics": statistics(array), "heat": _heat(array),
    }  # fmt: skip


def statistics(array: np.ndarray) -> dict[str, str]:
    """Count, NaN and Inf counts, smallest, largest, mean, standard deviation, 2-norm; of finite values only."""
    flat = array.reshape(-1)
    if array.dtype.kind not in "biufc" or not flat.size:
        return {"elements": count_text(flat.size)}
    out = {"elements": count_text(flat.size)}
    if flat.size > MAX_STATISTICS:
        flat = flat[:: -(-flat.size // MAX_STATISTICS)]
        out["sample"] = f"{count_text(flat.size)} elements"
    if array.dtype.kind == "b":
        return {**out, "true": count_text(int(flat.sum())), "false": count_text(int(flat.size - flat.sum()))}
    real = np.abs(flat) if array.dtype.kind == "c" else flat
    real = real.astype(np.float64)
    finite = real[np.isfinite(real)]
    nan, inf = int(np.isnan(real).sum()), int(np.isinf(real).sum())
    if nan:
        out["NaN"] = count_text(nan)
    if inf:
        out["Inf"] = count_text(inf)
    if finite.size:
        with np.errstate(over="ignore", invalid="ignore"):
            numbers = {"min": finite.min(), "max": finite.max(), "mean": finite.mean(), "std": finite.std(),
                       "2-norm": np.sqrt((finite * finite).sum())}  # fmt: skip
        out |= {label: number(v) for label, v in numbers.items()}
    return out


def _bits(array: np.ndarray) -> dict[str, str]:
    if array.dtype.kind != "f":
        return {}
    value = array[()]
    if not np.isfinite(value):
        return {"health": "NaN" if np.isnan(value) else "infinite"}
    return {"spacing": number(np.spacing(np.abs(value)))}


def _cells(array: np.ndarray) -> tuple[list[list[str]], str]:
    """The first rows and columns of the last two axes, at index 0 of all others."""
    view = array
    while view.ndim > 2:
        view = view[0] if view.shape[0] else view.reshape(0, 0)
    if view.ndim == 1:
        view = view[:, None]
    part = view[:MAX_ROWS, :MAX_COLS]
    more = []
    if array.ndim > 2:
        more.append(f"slice [{'0, ' * (array.ndim - 2)}:, :]")
    if view.shape[0] > MAX_ROWS:
        more.append(f"{count_text(view.shape[0] - MAX_ROWS)} more rows")
    if view.shape[1] > MAX_COLS:
        more.append(f"{count_text(view.shape[1] - MAX_COLS)} more columns")
    return [[number(v) for v in row] for row in part], ", ".join(more)


def _heat(array: np.ndarray) -> np.ndarray | None:
    """A picture of a matrix or longer vector: every k-th element, so that extremes may be missed in large ones."""
    if array.dtype.kind not in "biuf" or array.size < 2:
        return None
    view = array
    while view.ndim > 2:
        if not view.shape[0]:
            return None
        view = view[0]
    if view.ndim == 1:
        view = view[None, :]
    if not view.size:
        return None
    rows, cols = (max(1, -(-n // MAX_HEAT)) for n in view.shape)
    return np.ascontiguousarray(view[::rows, ::cols], dtype=np.float64)


def _shape(array: np.ndarray) -> str:
    return ",".join(map(str, array.shape))
