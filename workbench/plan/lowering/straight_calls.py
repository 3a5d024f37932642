"""The calls of straight runs: from operands to results, as arrays that the executor would leave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.ir.node import Node
from workbench.ir.opspec import OpSpec
from workbench.ir.types import TensorType, numpy_dtype
from workbench.kernels.machine import ArrayCall
from workbench.plan.lowering.arrays import ArrayCode, dims_of
from workbench.plan.memory.storage import Spot, array_bytes

#: combinations of shapes for which the instruction of a node is kept
MOST_SHAPES = 32

#: from operands to results; None where they must be computed by the executor
Call = Callable[[list[Any]], "Sequence[Any] | None"]


def on_arrays(code: ArrayCode, takes: Sequence[TensorType], gives: Sequence[TensorType]) -> Call:
    """The call of a node whose values all have a known shape and stand in rows."""
    sizes = tuple([array_bytes(t) for t in takes])
    parts: list[Callable[[list[Any]], Any]] = []
    for index, type_ in enumerate(gives):
        if index in code.views:
            parts.append(_view(code.views[index], type_))
        else:
            steps = [(s.array, list(s.operands), s.delta, s.constant) for s in code.steps.get(index, ())]
            parts.append(ArrayCall(steps, sizes, numpy_dtype(type_.dtype), dims_of(type_)))
    return lambda given: [part(given) for part in parts]


def shaped(shape: tuple[int, ...]) -> Call:
    return lambda given: [given[0].reshape(shape)]


def _view(delta: int, type_: TensorType) -> Callable[[list[Any]], Any]:
    """``delta`` bytes into the first operand, as an array of this type."""
    dtype, dims = numpy_dtype(type_.dtype), dims_of(type_)
    return lambda given: np.ndarray(dims, dtype, given[0], delta) if given[0].flags.c_contiguous else None


def bare(spec: OpSpec, node: Node) -> Callable[[list[Any]], Sequence[Any]]:
    """The evaluator with attributes that are quick to read."""
    evaluate, attrs = spec.evaluate, dict(node.attrs)
    assert evaluate is not None  # lowering has made code for it
    return lambda arrays: evaluate(arrays, attrs)


def by_shapes(call: Call, resolve: Callable[[list[Any]], Any]) -> Call:
    """The call by an instruction that is set up once for each combination of shapes, where there is one."""
    known: dict[Any, ArrayCall | None] = {}

    def run(given: list[Any]) -> Sequence[Any] | None:
        key = tuple([(a.dtype, a.shape) if a.__class__ is np.ndarray else None for a in given])
        if key not in known:
            plain = all(a.__class__ is np.ndarray and a.flags.c_contiguous and a.flags.aligned for a in given)
            found = resolve([(a.dtype, a.shape, a.strides) for a in given]) if plain else None
            if not plain or len(known) >= MOST_SHAPES:
                return call(given)
            known[key] = None
            if found is not None:
                array, dtype, shape = found
                operands = [(k, 0) for k in range(len(given))]
                sizes = tuple([a.nbytes for a in given])
                known[key] = ArrayCall([(array, operands, 0, None)], sizes, dtype, tuple(shape))
        made = known[key]
        result = None if made is None else made(given)
        return call(given) if result is None else [result]

    return run


def as_in_rows(call: Call, outputs: Sequence[Spot], dynamic: bool) -> Call:
    """The call with its results as the executor leaves them: in C's order where they stand in rows or come from a
    compiled loop, and apart from their operands. What is not of the declared type is left to the executor."""
    wanted = [None if s.dtype is None else (numpy_dtype(s.dtype), s.shape) for s in outputs]

    def checked(given: list[Any]) -> Sequence[Any] | None:
        results = call(given)
        if results is None or len(results) != len(wanted):
            return None
        found = []
        for item, kind in zip(results, wanted, strict=True):
            if kind is not None:
                item = np.asarray(item)
                if item.shape != kind[1] or item.dtype != kind[0]:
                    return None
            elif isinstance(item, np.generic):
                item = np.asarray(item)
            if item.__class__ is np.ndarray:
                flags = item.flags
                if not flags.c_contiguous:
                    if dynamic:
                        return None
                    item = item if kind is None else np.ascontiguousarray(item)
                elif not flags.owndata and any(np.may_share_memory(item, a) for a in given):
                    item = np.array(item)
            found.append(item)
        return found

    return checked
