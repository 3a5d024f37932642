"""The calls of straight runs: from operands to results, as the same arrays that the executor would return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.ir.node import Node
from workbench.ir.opspec import OpSpec
from workbench.ir.types import numpy_dtype
from workbench.kernels.machine import CALL_OUTPUT, ArrayCall
from workbench.ops.foreign import NodeByNode
from workbench.plan.lowering.regions import LoweredRegion
from workbench.plan.memory.storage import Spot

#: maximum number of combinations of shapes for which the instruction of a node is kept
MOST_SHAPES = 32

#: from operands to results; None if the executor must compute them
Call = Callable[[list[Any]], "Sequence[Any] | None"]


def bare(spec: OpSpec, node: Node) -> Callable[[list[Any]], Sequence[Any]]:
    """The evaluator with attributes in a form that is fast to read."""
    evaluate, attrs = spec.evaluate, dict(node.attrs)
    assert evaluate is not None  # lowering has made code for it
    return lambda arrays: evaluate(arrays, attrs)


def by_shapes(call: Call, resolve: Callable[[list[Any]], Any]) -> Call:
    """The call by an instruction that is set up once per combination of shapes, if there is one."""
    known: dict[Any, ArrayCall | None] = {}

    def run(given: list[Any]) -> Sequence[Any] | None:
        key = tuple([(a.dtype, a.shape) if a.__class__ is np.ndarray else None for a in given])
        if key not in known:
            plain = all(a.__class__ is np.ndarray and a.flags.aligned for a in given)
            if not plain or len(known) >= MOST_SHAPES:
                return call(given)
            # operands not in C order are copied, which does not change elementwise results
            found, dense = resolve([(a.dtype, a.shape, a.strides) for a in given]), None
            if found is not None:
                dense = resolve([(a.dtype, a.shape, np.empty(a.shape, a.dtype).strides) for a in given])
            known[key] = None
            if dense is not None:
                array, dtype, shape = dense
                operands = [(k, 0) for k in range(len(given))]
                sizes = tuple([a.nbytes for a in given])
                known[key] = ArrayCall([(array, operands, (CALL_OUTPUT, 0), None)], sizes, [(dtype, tuple(shape))])
        made = known[key]
        result = None if made is None else made(given)
        return call(given) if result is None else result

    return run


def together_or_alone(region: LoweredRegion) -> Call:
    """The single call of a region, or its nodes one by one if that is refused."""
    nothing = [None] * len(region.leaves)

    def call(given: list[Any]) -> Sequence[Any]:
        results = region.function(given, nothing)
        if results is not None:
            return results
        alone = NodeByNode(region.steps, dict(zip(region.takes, given, strict=True)), region.objects)
        made = {ref: alone.values[ref] for _, ref, _, _ in alone.results()}
        return [made[r] for r in region.leaves]

    return call


def side_taken(ways: Sequence[Sequence[tuple[int, bool]]], decisions: int) -> Call:
    """From the decisions and the value of each side to the value of the side taken, whose decisions all hold."""

    def call(given: list[Any]) -> Sequence[Any] | None:
        for value, way in zip(given[decisions:], ways, strict=True):
            if all(bool(given[k]) is wanted for k, wanted in way):
                return (value,)
        return None

    return call


def as_in_rows(call: Call, outputs: Sequence[Spot], dynamic: bool) -> Call:
    """The call with its results as the executor returns them: in C order if they are in rows or from a compiled loop,
    and never sharing memory with operands. Values that are not of the declared type are left to the executor.
    """
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
