"""Feeds as users give them, made into arrays that nobody else can change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.errors import FeedError
from workbench.execution.memory.buffers import Handle
from workbench.frontends.onnx.collect import ArrayList
from workbench.frontends.onnx.sequences import Nothing, to_graph
from workbench.graph.graph import Graph
from workbench.graph.types import ANY, OPAQUE, STRING, UNKNOWN, TensorType, numpy_dtype


def prepare_feeds(graph: Graph, feeds: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Arrays by input name. Python numbers and lists take the declared dtype where they fit it exactly.

    Names may leave out a trailing ``:0``, or have one.

    Raises FeedError for unknown names and for values that do not fit.
    """
    ready: dict[str, np.ndarray] = {}
    if not isinstance(graph, Graph):
        raise FeedError(
            f"A run needs a graph, but a {type(graph).__name__} came.", slug="not-a-graph",
            fix="build one with GraphBuilder, or read one with workbench.load.",
        )  # fmt: skip
    if not isinstance(feeds, Mapping):
        raise FeedError(
            f"The feeds are a mapping of input names to values, but a {type(feeds).__name__} came.", slug="feeds-type",
            fix='write something like {"x": 1.0}.',
        )  # fmt: skip
    for given, value in feeds.items():
        name = next((n for n in (given, f"{given}:0", str(given).removesuffix(":0")) if n in graph.inputs), given)
        if name not in graph.inputs:
            raise FeedError(
                f"{given!r} is no input of graph {graph.name!r}.", slug="unknown-feed",
                fix=f"its inputs are {', '.join(map(repr, graph.inputs)) or 'none'}.",
            )  # fmt: skip
        if name in ready:
            raise FeedError(f"The input {name!r} was fed twice, also as {given!r}.", slug="fed-twice")
        ready[name] = _array(name, graph.type_of(graph.inputs[name]), value)
    return ready


def _array(name: str, declared: TensorType, value: Any) -> Any:
    if isinstance(value, Handle):
        value = np.asarray(value)
    if value is None or isinstance(value, (ArrayList, Nothing)) or declared.dtype == OPAQUE:
        return _opaque(name, declared, value)
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise FeedError(f"The value for {name!r} is no array: {error}.", slug="feed-type") from error
    if declared.dtype == STRING or array.dtype.kind in "US":
        array = array.astype(object)
    elif declared.dtype not in (ANY, OPAQUE) and not isinstance(value, np.ndarray | np.generic):
        array = _weak(name, declared, array)
    if array.dtype.kind in "mMV" and array.dtype.isbuiltin != 2:  # those of ml_dtypes are of kind V too
        raise FeedError(f"The input {name!r} takes {declared}, but {array.dtype} came.", slug="feed-type")
    copy = np.array(array, copy=True)
    copy.flags.writeable = False
    return copy


def _opaque(name: str, declared: TensorType, value: Any) -> Any:
    """What stands for a list, or for None, in a graph."""
    fits = value is None or isinstance(value, (list, tuple, ArrayList, Nothing))
    if declared.dtype not in (ANY, OPAQUE) or not fits:
        wanted = "a list of arrays" if declared.dtype == OPAQUE else str(declared)
        raise FeedError(
            f"The input {name!r} takes {wanted}, but a {type(value).__name__} came.", slug="feed-type",
            fix="feed an array, a list of arrays for a sequence, or None for an optional without a value.",
        )  # fmt: skip
    return to_graph([_array(name, UNKNOWN, v) for v in value] if isinstance(value, (list, tuple)) else value)


def _weak(name: str, declared: TensorType, array: np.ndarray) -> np.ndarray:
    """Python numbers carry no width: 2 may feed a float32, but 2.5 may not feed an int32."""
    target = numpy_dtype(declared.dtype)
    if array.dtype == object:
        raise FeedError(f"The input {name!r} takes {declared}, but {array.dtype} came.", slug="feed-type")
    rank = "biufc".find
    lossy = rank(array.dtype.kind) > max(rank(target.kind), 2 if target.kind in "iu" else 0)
    if array.size and (lossy and target.kind != "V" or target.kind == "V" and array.dtype.kind == "c"):
        raise FeedError(
            f"The input {name!r} takes {declared}, but {array.dtype} was fed.", slug="feed-type",
            fix="round the value, or cast it explicitly.",
        )  # fmt: skip
    if target.kind in "iu" and array.dtype.kind in "iu" and array.size:
        limits = np.iinfo(target)
        if int(array.min()) < limits.min or int(array.max()) > limits.max:
            raise FeedError(f"The value for {name!r} does not fit {declared.dtype}.", slug="feed-type")
    with np.errstate(over="ignore"):
        fitted = array.astype(target)
    if target.kind == "f" and bool((np.isinf(fitted) & ~np.isinf(array)).any()):
        raise FeedError(f"The value for {name!r} does not fit {declared.dtype}.", slug="feed-type")
    return fitted
