"""Several nodes as one session of onnxruntime."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from ctypes import c_char_p, c_void_p
from typing import Any

import numpy as np

from workbench.frontends.onnx.foreign.region_nodes import RegionGraph
from workbench.frontends.onnx.foreign.runtime import EVERYTHING, Runtime
from workbench.frontends.onnx.foreign.session import tensor_of
from workbench.frontends.onnx.foreign.values import array, contiguous
from workbench.ir.types import TensorType, numpy_dtype


class JoinedNodes:
    """A session of several nodes; ``without`` names the rewritings that onnxruntime may not make."""

    def __init__(self, found: Runtime, model: bytes, graph: RegionGraph, without: str) -> None:
        self._runtime = found
        self._kept = [*graph.initializers.values(), *graph.fed.values()]
        large = {n: tensor_of(found, a) for n, a in graph.initializers.items()}
        try:
            self._session = found.session(model, large, EVERYTHING, None, without)
        finally:
            for value in large.values():
                found.ReleaseValue(value)
        weakref.finalize(self, found.ReleaseSession, self._session)
        self._fed = [tensor_of(found, a) for a in graph.fed.values()]
        for value in self._fed:
            weakref.finalize(self, found.ReleaseValue, value)
        names = [*graph.inputs, *graph.fed]
        self._names = (c_char_p * len(names))(*(n.encode() for n in names))
        self._results = (c_char_p * len(graph.outputs))(*(n.encode() for n in graph.outputs))

    def run(
        self,
        operands: Sequence[Any],
        takes: Sequence[TensorType],
        addresses: Sequence[int | None],
        gives: Sequence[TensorType],
    ) -> list[Any]:
        """The outputs that have no address, as arrays; None for the others."""
        found, made, out = self._runtime, list[c_void_p](), list[c_void_p]()
        results: list[Any] = []
        kept = []
        count = len(self._results)
        table = (c_void_p * count)()
        try:
            for operand, type_ in zip(operands, takes, strict=True):
                if operand.__class__ is int:
                    made.append(tensor_of(found, None, type_, operand))
                else:
                    kept.append(contiguous(operand))
                    made.append(tensor_of(found, kept[-1]))
            values = (c_void_p * len(self._names))(*(v.value for v in (*made, *self._fed)))
            for place, (address, type_) in enumerate(zip(addresses, gives, strict=True)):
                result: np.ndarray | None = None
                if type_.is_static and (address is not None or 0 not in (type_.shape or ())):
                    if address is None:
                        result = np.empty([d or 0 for d in type_.shape or ()], numpy_dtype(type_.dtype))
                    out.append(tensor_of(found, result, type_, address))
                    table[place] = out[-1].value
                results.append(result)
            ours = [bool(table[k]) for k in range(count)]
            found.Run(self._session, None, self._names, values, len(self._names), self._results, count, table)
            for place, mine in enumerate(ours):
                if not mine:
                    out.append(c_void_p(table[place]))
                    if place < len(results):
                        results[place] = array(found, out[-1])
        finally:
            for value in (*made, *out):
                found.ReleaseValue(value)
        return results


def in_order(result: np.ndarray, strides: tuple[int, ...]) -> np.ndarray:
    """The same with other strides: later sums go through memory in its order."""
    if result.strides == strides:
        return result
    if result.flags.c_contiguous and all(
        d == 1 or s == r for d, s, r in zip(result.shape, strides, result.strides, strict=True)
    ):
        return np.ndarray(result.shape, result.dtype, result, 0, strides)
    ends = [(d - 1) * s for d, s in zip(result.shape, strides, strict=True)]
    size, first = sum(map(abs, ends)) + result.itemsize, -sum(e for e in ends if e < 0)
    found = np.ndarray(result.shape, result.dtype, np.empty(size, np.uint8), first, strides)
    found[...] = result
    return found
