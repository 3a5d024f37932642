"""Several nodes as one onnxruntime session."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.frontends.onnx.foreign.region_nodes import RegionGraph
from workbench.frontends.onnx.foreign.runtime import EVERYTHING, Runtime
from workbench.frontends.onnx.foreign.session import tensor_of
from workbench.frontends.onnx.foreign.values import contiguous
from workbench.ir.types import TensorType, numpy_dtype
from workbench.kernels.ort_calls import SessionCall


class JoinedNodes:
    """A session of several nodes; ``without`` names the rewritings that onnxruntime must not apply."""

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
        self._names = [n.encode() for n in (*graph.inputs, *graph.fed)], [n.encode() for n in graph.outputs]
        self._call: SessionCall | None = None

    def run(
        self,
        operands: Sequence[Any],
        takes: Sequence[TensorType],
        addresses: Sequence[int | None],
        gives: Sequence[TensorType],
    ) -> list[Any]:
        """Run the nodes; returns the outputs without an address as arrays, None for the others. The types must be the
        same in every call.
        """
        call = self._call
        if call is None:
            kinds = [*takes, *gives, *[None] * (len(self._names[1]) - len(gives))]
            call = self._call = self._runtime.call(self._session, *self._names, kinds, self._fed)
        given = [o if o.__class__ is int else contiguous(o) for o in operands]
        into: list[Any] = list(addresses)
        for place, (address, type_) in enumerate(zip(addresses, gives, strict=True)):
            if address is None and type_.is_static and 0 not in (type_.shape or ()):
                into[place] = np.empty([d or 0 for d in type_.shape or ()], numpy_dtype(type_.dtype))
        made = call(given, into)
        return [
            None if address is not None else m if m is not None else array
            for address, m, array in zip(addresses, made, into, strict=True)
        ]


def in_order(result: np.ndarray, strides: tuple[int, ...]) -> np.ndarray:
    """A copy with these strides, because later sums run in memory order."""
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
