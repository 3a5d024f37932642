"""Figures as plain data: their properties by dotted names, and their arrays as binary buffers for the browser.

``figure_data.js`` is the counterpart.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np
import plotly.graph_objects as go

from workbench.widgets.base.spec import Spec

#: dtypes sent as binary: JavaScript has typed arrays of them, which plotly.js draws
TYPED = frozenset(("float64", "float32", "int32", "int16", "int8", "uint32", "uint16", "uint8"))
#: types of list items that JSON represents directly
_JSON = frozenset((str, int, bool, type(None)))


def plain(figure: go.Figure | Spec) -> Spec:
    """A figure or a specification as new dictionaries; arrays and lists are shared. The template is left out, because
    the browser sets the one of its theme.
    """
    if isinstance(figure, go.Figure):
        figure = {"data": [t.to_plotly_json() for t in figure.data], "layout": figure.layout.to_plotly_json()}
    layout = _copied(figure["layout"])
    layout.pop("template", None)
    return {"data": [_copied(trace) for trace in figure["data"]], "layout": layout}


def _copied(tree: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _copied(value) if isinstance(value, Mapping) else value for key, value in tree.items()}


def put(tree: dict[str, Any], name: str, value: Any) -> None:
    """Set a property by its dotted name (``"marker.color"``); None removes it."""
    *path, last = name.split(".")
    for key in path:
        inner = tree.get(key)
        if not isinstance(inner, dict):
            if value is None:
                return
            inner = tree[key] = {}
        tree = inner
    if value is None:
        tree.pop(last, None)
    else:
        tree[last] = value


def pack(value: Any, buffers: list[memoryview]) -> Any:
    """A value as JSON. Numeric arrays are appended to ``buffers`` and replaced by ``{"buffer", "dtype", "shape"}``;
    numbers that JSON lacks (NaN, infinities) become null, which plotly.js draws as gaps.
    """
    if isinstance(value, np.ndarray):
        return _packed(value, buffers)
    if isinstance(value, Mapping):
        return {str(key): pack(item, buffers) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return list(value) if _JSON.issuperset(map(type, value)) else [pack(item, buffers) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not isfinite(value) else value


def _packed(array: np.ndarray, buffers: list[memoryview]) -> Any:
    if array.dtype.kind in "Mm":
        array = array.astype(str)
    elif array.dtype.kind in "iu" and array.dtype.itemsize == 8:  # JavaScript has 64-bit numbers only as floats
        small = not array.size or (array.min() >= -(2**31) and array.max() < 2**31)
        array = array.astype(np.int32 if small else np.float64)
    elif array.dtype.kind == "f" and array.dtype.name not in TYPED:
        array = array.astype(np.float64)
    if array.dtype.name not in TYPED or not array.ndim or not array.size:
        return pack(array.tolist(), buffers)
    array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    buffers.append(array.data.cast("B"))
    return {"buffer": len(buffers) - 1, "dtype": array.dtype.name, "shape": list(array.shape)}
