"""A region as one CUDA graph: its kernels are recorded once, on separate memory, and launched together.

A launch copies the operands that changed since the last launch into that memory, and all results out of it into fresh
memory at once, as values in a trace must not change with the next iteration. All numbers go to the device in one copy,
and return in one.

Source: CUDA programming guide, "CUDA Graphs"; CuPy reference, ``cupy.cuda.Graph``.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.device.array import DeviceArray, DeviceBlock
from workbench.ir.types import TensorType, numpy_dtype

if TYPE_CHECKING:
    from workbench.device.opened import OpenDevice

#: alignment of arrays, and bytes of each number
ALIGNED, NUMBER = 256, 8
TO_DEVICE, TO_HOST, ON_DEVICE = 1, 2, 3  #: cudaMemcpyKind


class _Pack:
    """Arrays in one block of memory: ``places`` are (index, slice of bytes, shape, dtype)."""

    def __init__(self) -> None:
        self.places: list[tuple[int, slice, tuple[int, ...], np.dtype[Any]]] = []
        self.size = 0

    def add(self, number: int, type_: TensorType, step: int) -> None:
        shape, dtype = tuple(d or 0 for d in type_.shape or ()), numpy_dtype(type_.dtype)
        taken = math.prod(shape) * dtype.itemsize
        self.places.append((number, slice(self.size, self.size + taken), shape, dtype))
        self.size += -(-max(1, taken) // step) * step


class CudaGraph:
    """The graph of ``values``, a function from arrays on the device to arrays on the device.

    ``takes`` and ``gives`` are the types, ``stays`` marks the results that stay on the device; those marked in
    ``apart`` share a block that is freed separately. ``given`` are operands with which it is recorded. Errors of CUDA
    and CuPy are raised if a call cannot be recorded.
    """

    def __init__(
        self,
        home: OpenDevice,
        values: Callable[[Sequence[Any]], list[Any]],
        takes: Sequence[TensorType],
        gives: Sequence[TensorType],
        stays: Sequence[bool],
        apart: Sequence[bool],
        given: Sequence[Any],
    ) -> None:
        self._home, self._cupy = home, import_module("cupy")
        self._runtime = self._cupy.cuda.runtime
        self._count = len(gives)
        self._numbers, self._back, packs = _Pack(), _Pack(), (_Pack(), _Pack())
        for k, type_ in enumerate(takes):
            if type_.shape == ():
                self._numbers.add(k, type_, NUMBER)
        for k, type_ in enumerate(gives):
            if stays[k]:
                packs[apart[k]].add(k, type_, ALIGNED)
            else:
                self._back.add(k, type_, NUMBER)
        self._packs = [p for p in packs if p.places]
        self._memory = {id(p): self._cupy.cuda.alloc(p.size) for p in (self._numbers, self._back, *packs) if p.size}
        self._staged, self._fetched = np.zeros(self._numbers.size, np.uint8), np.empty(self._back.size, np.uint8)
        self._inputs: dict[int, Any] = {}  # arrays, by operand
        operands: list[Any] = [None] * len(takes)
        self._slots = [(k, self._staged[at].view(dtype)) for k, at, _, dtype in self._numbers.places]
        for number, at, shape, dtype in self._numbers.places:
            operands[number] = self._view(self._numbers, at, shape, dtype)
        for k, operand in enumerate(operands):
            if operand is None:
                array = home.operand(given[k])
                self._inputs[k] = operands[k] = self._cupy.array(array, order="C")
        self._same: dict[int, weakref.ref[DeviceArray]] = {}  # operands that are already copied
        self._send(given)
        self._record(values, operands)
        sizes = [a.nbytes for a in self._inputs.values()], [m.mem.size for m in self._memory.values()]
        self._block = DeviceBlock(home.memory, self._pool.total_bytes() + sum(map(sum, sizes)), _no_views)

    def _record(self, values: Callable[[Sequence[Any]], list[Any]], operands: Sequence[Any]) -> None:
        cuda = self._cupy.cuda
        cuda.get_current_stream().synchronize()
        # temporary memory of the calls belongs to the graph, so that nothing else writes to it
        self._pool, stream = cuda.MemoryPool(), cuda.Stream(non_blocking=True)
        with stream, cuda.using_allocator(self._pool.malloc):
            values(operands)  # this compiles the kernels and fills the pool
            stream.synchronize()
            stream.begin_capture()
            try:
                results = values(operands)
                for pack in (*self._packs, self._back):
                    for number, at, shape, dtype in pack.places:
                        self._view(pack, at, shape, dtype)[...] = results[number]
            finally:
                graph = stream.end_capture()
        self._graph = graph

    def _view(self, pack: _Pack, at: slice, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        return self._cupy.ndarray(shape, dtype, self._memory[id(pack)] + at.start)

    def _send(self, given: Sequence[Any]) -> None:
        stream, copy = self._cupy.cuda.get_current_stream().ptr, self._runtime.memcpyAsync
        for k, held in self._inputs.items():
            value = given[k]
            if k in self._same and self._same[k]() is value:
                continue
            array = self._home.operand(value)
            copy(held.data.ptr, array.data.ptr, held.nbytes, ON_DEVICE, stream)
            if isinstance(value, DeviceArray):
                self._same[k] = weakref.ref(value)
        for k, slot in self._slots:
            slot[0] = given[k]
        if self._numbers.size:  # CUDA copies so few bytes before this returns
            to = self._memory[id(self._numbers)].ptr
            copy(to, self._staged.ctypes.data, self._numbers.size, TO_DEVICE, stream)

    def launch(self, given: Sequence[Any]) -> list[Any]:
        """The results for operands: arrays on the device, and host arrays for results that do not stay there."""
        cupy, results = self._cupy, list[Any]([None] * self._count)
        stream = cupy.cuda.get_current_stream()
        fresh = [cupy.cuda.alloc(pack.size) for pack in self._packs]
        self._send(given)
        self._graph.launch(stream)
        for pack, memory in zip(self._packs, fresh, strict=True):
            block = DeviceBlock(self._home.memory, pack.size, _views(cupy, memory))
            self._runtime.memcpyAsync(memory.ptr, self._memory[id(pack)].ptr, pack.size, ON_DEVICE, stream.ptr)
            for number, at, shape, dtype in pack.places:
                results[number] = DeviceArray(None, self._home, shape, dtype, block, at.start)
        if self._back.size:
            source = self._memory[id(self._back)].ptr
            self._runtime.memcpyAsync(self._fetched.ctypes.data, source, self._back.size, TO_HOST, stream.ptr)
            stream.synchronize()
            for number, at, shape, dtype in self._back.places:
                results[number] = self._fetched[at].copy().view(dtype).reshape(shape)
        return results


def _views(cupy: Any, memory: Any) -> Callable[..., Any]:
    return lambda offset, shape, dtype: cupy.ndarray(shape, dtype, memory + offset)


def _no_views(offset: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    raise TypeError("the memory of a graph holds no values of a run")
