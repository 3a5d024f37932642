"""Converts feeds from users to read-only arrays of the declared types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.arrays.buffers import Handle
from workbench.errors import ExecutionError, FeedError
from workbench.ir.graph import Graph
from workbench.ir.node import FRAME_OPS
from workbench.ir.opspec import REGISTRY
from workbench.ir.types import ANY, OPAQUE, STRING, UNKNOWN, TensorType, numpy_dtype
from workbench.ir.values import ArrayList, Nothing, to_graph
from workbench.ops.result_size import need_room


def prepare_feeds(graph: Graph, feeds: Mapping[str, Any], copy: bool = True) -> dict[str, np.ndarray]:
    """Arrays by input name. Python numbers and lists are converted to the declared dtype if they fit it exactly.

    A trailing ``:0`` of a name is optional. Without ``copy``, dense arrays of numbers are used uncopied. Raises
    FeedError for unknown names and for values that do not fit.
    """
    ready: dict[str, np.ndarray] = {}
    if not isinstance(graph, Graph):
        raise FeedError(
            f"run: expected a graph, got a {type(graph).__name__}.",
            slug="not-a-graph",
            fix="build a graph with GraphBuilder, or read one with workbench.load.",
        )
    if not isinstance(feeds, Mapping):
        raise FeedError(
            f"feeds: expected a mapping of input names to values, got a {type(feeds).__name__}.",
            slug="feeds-type",
            fix='pass something like {"x": 1.0}.',
        )
    for given, value in feeds.items():
        name = given
        if given not in graph.inputs:
            name = next((n for n in (f"{given}:0", str(given).removesuffix(":0")) if n in graph.inputs), given)
        if name not in graph.inputs:
            raise FeedError(
                f"Graph {graph.name!r} has no input {given!r}.",
                slug="unknown-feed",
                fix=f"its inputs are {', '.join(map(repr, graph.inputs)) or 'none'}.",
            )
        if name in ready:
            raise FeedError(f"The input {name!r} was fed twice, also as {given!r}.", slug="fed-twice")
        if isinstance(value, Mapping) and not _takes_maps(graph, graph.inputs[name].node):
            raise FeedError(
                f"The input {name!r} takes {graph.type_of(graph.inputs[name])}, got a dict.",
                slug="feed-type",
                fix="feed an array, or a list of arrays for a sequence; dicts go to inputs that are maps.",
            )
        declared = graph.type_of(graph.inputs[name])
        mine = not copy and type(value) is np.ndarray and value.dtype.kind in "biufc" and declared.dtype != OPAQUE
        dense = mine and value.flags.c_contiguous and value.flags.aligned and value.dtype.isnative
        ready[name] = value if dense else _array(name, declared, value)
    return ready


def _takes_maps(graph: Graph, name: str) -> bool:
    """True if the readers of an input may take a dict: no registered op does, but nodes of other libraries do."""
    readers = {graph.nodes[reader].op for reader in graph.consumers(name)}
    return not any(op in REGISTRY for op in readers - {*FRAME_OPS, "Identity"})  # these forward any value


def _array(name: str, declared: TensorType, value: Any) -> Any:
    if isinstance(value, Handle):
        value = np.asarray(value)
    if value is None or isinstance(value, (ArrayList, Nothing)) or declared.dtype == OPAQUE:
        return _opaque(name, declared, value)
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise FeedError(
            f"The value for {name!r} cannot be converted to an array: {error}.", slug="feed-type"
        ) from error
    if declared.dtype == STRING or array.dtype.kind in "US":
        array = array.astype(object)
    elif declared.dtype not in (ANY, OPAQUE) and not isinstance(value, np.ndarray | np.generic):
        array = _weak(name, declared, array)
    if array.dtype.kind in "mMV" and array.dtype.isbuiltin != 2:  # the dtypes of ml_dtypes are also of kind V
        raise FeedError(f"The input {name!r} takes {declared.words} ({declared}), got {array.dtype}.", slug="feed-type")
    try:
        need_room(TensorType.of(array))
        copy = np.array(array, copy=True)
    except ExecutionError as error:
        raise FeedError(
            f"The value for {name!r} is too large to copy: {error.message.replace('result', 'value')}",
            slug="too-large",
            fix="pass a smaller array.",
        ) from None
    except MemoryError as error:
        raise FeedError(
            f"Not enough memory to copy the value for {name!r}: {error}.", slug="too-large", fix="pass a smaller array."
        ) from error
    copy.flags.writeable = False
    return copy


def _opaque(name: str, declared: TensorType, value: Any) -> Any:
    """Convert a list, a dict or None to the graph's own value types."""
    if isinstance(value, Mapping) and declared.dtype == OPAQUE:
        return dict(value)  # the node that reads it checks its keys and values
    fits = value is None or isinstance(value, (list, tuple, ArrayList, Nothing))
    if declared.dtype not in (ANY, OPAQUE) or not fits:
        wanted = "a list of arrays or a dict" if declared.dtype == OPAQUE else str(declared)
        raise FeedError(
            f"The input {name!r} takes {wanted}, got a {type(value).__name__}.",
            slug="feed-type",
            fix="feed an array, a list of arrays for a sequence, a dict for a map, None for an empty optional.",
        )
    return to_graph([_array(name, UNKNOWN, v) for v in value] if isinstance(value, (list, tuple)) else value)


def _weak(name: str, declared: TensorType, array: np.ndarray) -> np.ndarray:
    """Convert Python numbers, which have no width: 2 can feed a float32, but 2.5 cannot feed an int32."""
    target = numpy_dtype(declared.dtype)
    if array.dtype == object:
        raise FeedError(f"The input {name!r} takes {declared.words} ({declared}), got {array.dtype}.", slug="feed-type")
    rank = "biufc".find
    lossy = rank(array.dtype.kind) > max(rank(target.kind), 2 if target.kind in "iu" else 0)
    if array.size and (lossy and target.kind != "V" or target.kind == "V" and array.dtype.kind == "c"):
        raise FeedError(
            f"The input {name!r} takes {declared.words} ({declared}), got {array.dtype}.",
            slug="feed-type",
            fix="round the value, or cast it explicitly.",
        )
    if target.kind in "iu" and array.dtype.kind in "iu" and array.size:
        limits = np.iinfo(target)
        if int(array.min()) < limits.min or int(array.max()) > limits.max:
            raise FeedError(f"The value for {name!r} does not fit {declared.dtype}.", slug="feed-type")
    with np.errstate(over="ignore"):
        fitted = array.astype(target)
    if target.kind == "f" and bool((np.isinf(fitted) & ~np.isinf(array)).any()):
        raise FeedError(f"The value for {name!r} does not fit {declared.dtype}.", slug="feed-type")
    return fitted
