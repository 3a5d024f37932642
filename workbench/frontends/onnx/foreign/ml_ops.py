"""ONNX operators for machine learning that are computed here, because strings and dicts are slow to exchange with
onnxruntime.

ZipMap, the last node of most classifiers of scikit-learn, gives a dict from labels to numbers for each row of an array.
onnxruntime returns a tensor of keys and one of values for each row, and reading each takes several calls; here it is
one pass. OneHotEncoder on strings: passing a few strings to onnxruntime takes 20 us, looking them up takes 2 us.
Source: https://onnx.ai/onnx/operators/index.html, ai.onnx.ml.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.frontends.onnx.foreign.nodes import node_of
from workbench.ir.types import STRING, TensorType

DOMAIN = "ai.onnx.ml"


def zip_map(node: bytes, types: Sequence[TensorType]) -> Callable[[Sequence[Any]], tuple[Any, ...]] | None:
    """The function of a ZipMap node on float32 with labels of one kind; None for any other node."""
    proto = node_of(node)
    if proto.op_type != "ZipMap" or proto.domain != DOMAIN or [t.dtype for t in types] != ["float32"]:
        return None
    given = {a.name: a for a in proto.attribute}
    numbers = list(given["classlabels_int64s"].ints) if "classlabels_int64s" in given else []
    texts = list(given["classlabels_strings"].strings) if "classlabels_strings" in given else []
    if bool(numbers) == bool(texts):
        return None
    labels: list[Any] = numbers or [t.decode("utf-8", "replace") for t in texts]
    if len(set(labels)) < len(labels):
        return None
    places = sorted(range(len(labels)), key=(numbers or texts).__getitem__)  # a C++ map is ordered by its keys
    keys = [labels[k] for k in places]

    def evaluate(arrays: Sequence[Any]) -> tuple[Any, ...]:
        rows = np.atleast_2d(arrays[0])
        if rows.ndim != 2 or rows.shape[1] != len(keys):
            raise ValueError(f"ZipMap has {len(keys)} labels, got an array of shape {np.shape(arrays[0])}")
        return ([dict(zip(keys, row, strict=True)) for row in rows[:, places].tolist()],)

    return evaluate


def one_hot(node: bytes, types: Sequence[TensorType]) -> Callable[[Sequence[Any]], tuple[Any, ...]] | None:
    """The function of a OneHotEncoder node on strings; None for any other node."""
    proto = node_of(node)
    if proto.op_type != "OneHotEncoder" or proto.domain != DOMAIN or [t.dtype for t in types] != [STRING]:
        return None
    given = {a.name: a for a in proto.attribute}
    if set(given) - {"cats_strings", "zeros"} or "cats_strings" not in given:
        return None
    lenient = "zeros" not in given or bool(given["zeros"].i)
    names = [t.decode("utf-8", "surrogateescape") for t in given["cats_strings"].strings]
    if len(set(names)) < len(names):
        return None
    rows = np.vstack([np.eye(len(names), dtype=np.float32), np.zeros((1, len(names)), np.float32)])
    places = {name: k for k, name in enumerate(names)}

    def evaluate(arrays: Sequence[Any]) -> tuple[Any, ...]:
        texts = arrays[0]
        items = texts.reshape(-1).tolist()
        found = [places.get(text, len(names)) for text in items]
        if not lenient and len(names) in found:
            other = items[found.index(len(names))]
            raise ValueError(f"OneHotEncoder has the categories {', '.join(map(repr, names))}, got {other!r}")
        return (rows[found].reshape(*texts.shape, len(names)),)

    return evaluate
