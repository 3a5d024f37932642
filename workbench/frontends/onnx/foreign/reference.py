"""The onnx library's reference evaluator, one instance for each distinct node."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from workbench.errors import ExecutionError
from workbench.frontends.onnx.foreign.nodes import Opsets, node_of, present
from workbench.frontends.onnx.library import onnx
from workbench.frontends.onnx.tensors import NUMBERS
from workbench.ir.types import OPAQUE, TensorType, dtype_name


@functools.lru_cache(maxsize=4096)
def knows(node: bytes, opsets: Opsets) -> bool:
    """True if the library has an evaluator for a node; cached with failures too, because the check is slow."""
    try:
        _evaluator(node, opsets, ())
    except Exception:  # the library raises many kinds of exceptions, also RuntimeError
        return False
    return True


@functools.lru_cache(maxsize=4096)
def _evaluator(node: bytes, opsets: Opsets, dtypes: tuple[str | None, ...]) -> tuple[Any, tuple[str, ...]]:
    """(evaluator, names of its inputs), cached for each node; the evaluator keeps no state between evaluations.

    ``dtypes`` are those of the inputs: some ops are functions whose body depends on them.
    """
    library = onnx()
    from onnx.reference import ReferenceEvaluator

    proto = node_of(node)
    names = tuple(dict.fromkeys(n for n in proto.input if n))
    graph = library.GraphProto(name="node")
    graph.node.append(proto)
    for name, dtype in zip_longest(names, dtypes):
        graph.input.add().name = name
        if dtype is not None:
            graph.input[-1].type.tensor_type.elem_type = NUMBERS[dtype]
    for name in proto.output:
        if name:
            graph.output.add().name = name
    return ReferenceEvaluator(graph, opsets=dict(opsets)), names


def evaluate(arrays: Sequence[Any], attrs: Mapping[str, Any]) -> tuple[Any, ...]:
    """Evaluate a node; raises ExecutionError."""
    feeds = dict(zip(present(attrs["node"]), arrays, strict=True))
    dtypes = tuple(dtype_of_value(a) for a in feeds.values())
    try:
        evaluator, names = _evaluator(attrs["node"], attrs["opsets"], dtypes)
        results = evaluator.run(None, {n: feeds[n] for n in names})
    except Exception as error:
        raise ExecutionError(
            f"The onnx reference evaluator failed: {type(error).__name__}: {error}.", slug="foreign-op-failed"
        ) from error
    return tuple(_owned(r, t) for r, t in zip(results, attrs["types"], strict=True))


def dtype_of_value(value: Any) -> str | None:
    """dtype name of an array; None for a list, or a dtype that only the framework has."""
    try:
        return dtype_name(value.dtype)
    except (AttributeError, TypeError):
        return None


def _owned(result: Any, declared: TensorType) -> Any:
    if declared.dtype == OPAQUE or isinstance(result, (list, dict)) or result is None:
        return result
    array = np.asarray(result)
    if array.dtype.kind in "UST":
        return array.astype(object)
    widened = array.dtype == np.float64 and declared.dtype == "float32"  # Adam computes with Python's numbers
    return array.astype(np.float32) if widened else array
