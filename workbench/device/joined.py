"""Regions on a device: sequences of nodes with a rule that become one call, with the same results as the separate
nodes.

Values that only these nodes read are neither kept nor counted, views stay views, and a number passed between two of
them is not copied to the host. On CUDA a region that runs often becomes a graph (cuda_graph) with one launch.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from workbench.device.opened import OpenDevice
from workbench.device.rules import Rule
from workbench.device.rules.elementwise import FUNCTIONS
from workbench.device.rules.moving import MOVING
from workbench.device.rules.reducing import POSITIONS, REDUCTIONS
from workbench.ir.node import Ref
from workbench.ir.types import TensorType, numpy_dtype
from workbench.kernels.machine import same_bits
from workbench.ops.foreign import RegionCall, RegionStep
from workbench.threads import Lock

#: ops that read their arrays element by element; their operands may be views with any strides
BY_ELEMENT = frozenset((*FUNCTIONS, "cast", "where", *MOVING))
#: ops of regions: they read no index on the host, and call no library that a CUDA graph cannot capture
JOINED = (BY_ELEMENT | frozenset(REDUCTIONS) | POSITIONS) - {"gather", "roll"}
#: calls of a region before it becomes a graph; and maximum bytes of its inputs and outputs, which a graph copies: per
#: node, as many as take about as long as the call that is saved, and in total, as the plan keeps their memory
CALLS_BEFORE, COPIED_FOR_EACH, MOST_COPIED = 8, 1 << 23, 1 << 28


class DeviceJoiner:
    """Joins nodes of a plan that run on one device. ``read_later`` has the outputs of the next region that nodes
    outside it read.
    """

    def __init__(self, home: OpenDevice) -> None:
        self.home = home
        self.read_later: Collection[Ref] = frozenset()

    def evaluator(self, rule: Rule) -> Callable[[Sequence[Any]], Sequence[Any]]:
        """A rule as a function of the operands alone."""
        return lambda arrays: rule(self.home.xp, arrays)

    def version_of(self, steps: Sequence[RegionStep]) -> int:
        """Rules have no versions: 0."""
        return 0

    def takes(self, step: RegionStep, version: int) -> bool:
        """Return whether a node can be a part of a region."""
        return step.op in JOINED

    def gains(self, steps: Sequence[RegionStep]) -> bool:
        """Return whether one call is faster than the nodes: there are several, or a result is copied to the host."""
        return len(steps) > 1 or any(not self.home.holds(t) for t in steps[0].gives)

    def join(
        self,
        steps: Sequence[RegionStep],
        inputs: Sequence[Ref],
        outputs: Sequence[Ref],
        objects: Collection[Ref],
        most: int | None = None,
    ) -> RegionCall | None:
        """The call of the nodes from ``inputs`` to ``outputs``; ``most`` bounds regions whose shapes may change."""
        return DeviceRegion(self.home, steps, inputs, outputs, self.read_later)


class DeviceRegion:
    """A region as the machine calls it. Thread-safe."""

    def __init__(
        self,
        home: OpenDevice,
        steps: Sequence[RegionStep],
        inputs: Sequence[Ref],
        outputs: Sequence[Ref],
        read_later: Collection[Ref],
    ) -> None:
        self._home, self._steps, self._inputs, self._outputs = home, tuple(steps), tuple(inputs), tuple(outputs)
        types = {r: t for s in steps for r, t in zip(s.inputs, s.takes, strict=True)}
        self._takes = [types[r] for r in inputs]
        gives = {r: t for s in steps for r, t in zip(s.outputs, s.gives, strict=True)}
        self._gives = [gives[r] for r in outputs]
        self._kept = [home.keeper(t) if home.holds(t) else home.fetch for t in self._gives]
        self._constants = [[None if c is None else home.operand(c) for c in s.constants] for s in steps]
        self._dense = {r for s in steps if s.op not in BY_ELEMENT for r in s.inputs} | set(outputs)
        self._wanted = set(outputs)
        last = {r: k for k, s in enumerate(steps) for r in s.inputs}
        self._ends = [[r for r in dict.fromkeys(s.inputs) if last[r] == k] for k, s in enumerate(steps)]
        #: outputs that only the trace keeps; they share memory that is freed with the last of them
        self._apart = [r not in read_later for r in outputs]
        self._lock = Lock()
        self._calls = 0
        self._graph: Any = None
        self.refused = self._why_no_graph()

    def _why_no_graph(self) -> str:
        if self._home.space.capture is None:
            return "the device's library has no graphs"
        copied = sum(_bytes(t) for t in (*self._takes, *self._gives))
        if copied > min(MOST_COPIED, COPIED_FOR_EACH * len(self._steps)):
            return f"its inputs and outputs take {copied:,} bytes, which cost more to copy than the calls"
        return ""

    def __call__(self, operands: Sequence[Any], addresses: Sequence[int | None]) -> list[Any] | None:
        home = self._home
        try:
            with home.space.active():
                given = [_at(o, t) if o.__class__ is int else o for o, t in zip(operands, self._takes, strict=True)]
                results = self._launched(given) if not self.refused else None
                if results is None:
                    made = self._values([home.operand(g) for g in given])
                    results = [end(v) for end, v in zip(self._kept, made, strict=True)]
        except Exception:  # the failing node raises its error when it runs alone
            return None
        found = list[Any]()
        for result, address, type_ in zip(results, addresses, self._gives, strict=True):
            if address is not None:
                _at(address, type_)[...] = result
            found.append(result if address is None else None)
        return found

    def _values(self, given: Sequence[Any]) -> list[Any]:
        """The outputs as arrays of the library, from operands of the library."""
        contiguous = self._home.space.contiguous
        values = dict(zip(self._inputs, given, strict=True))
        for step, constants, ends in zip(self._steps, self._constants, self._ends, strict=True):
            arrays = [c if c is not None else values[r] for r, c in zip(step.inputs, constants, strict=True)]
            for ref, result, type_ in zip(step.outputs, step.evaluate(arrays), step.gives, strict=True):
                self._home.checked(result, type_)
                values[ref] = contiguous(result) if ref in self._dense and type_.shape else result
            for ref in ends:
                if ref not in self._wanted:
                    values.pop(ref, None)
        return [values[r] for r in self._outputs]

    # -- as a graph ---------------------------------------------------------------------------------------------------
    def _launched(self, given: Sequence[Any]) -> list[Any] | None:
        """The results of one launch; None before there is a graph, and if there can be none."""
        with self._lock:
            self._calls += 1
            if self._calls <= CALLS_BEFORE:
                return None
            if self._graph is None and not self._captured(given):
                return None
            results: list[Any] = self._graph.launch(given)
            return results

    def _captured(self, given: Sequence[Any]) -> bool:
        """Make the graph, and compare its results with those of the calls."""
        capture = self._home.space.capture
        assert capture is not None
        stays = [self._home.holds(t) for t in self._gives]
        try:
            self._graph = capture(self._home, self._values, self._takes, self._gives, stays, self._apart, given)
            expected = [self._home.fetch(v) for v in self._values([self._home.operand(g) for g in given])]
            found = [np.asarray(r) for r in self._graph.launch(given)]
        except Exception as error:
            self._graph, self.refused = None, f"CUDA does not take these calls as a graph: {error}"
            return False
        if not all(same_bits(a, b) for a, b in zip(found, expected, strict=True)):
            self._graph, self.refused = None, "the graph's results differ from those of the calls"
        return self._graph is not None


def _at(address: int, type_: TensorType) -> np.ndarray:
    """The array at an address in a row."""
    dtype = numpy_dtype(type_.dtype)
    shape = tuple(d or 0 for d in type_.shape or ())
    memory: Any = (ctypes.c_char * _bytes(type_)).from_address(address)
    return np.frombuffer(memory, dtype).reshape(shape)


def _bytes(type_: TensorType) -> int:
    size = numpy_dtype(type_.dtype).itemsize
    for dim in type_.shape or ():
        size *= dim or 0
    return size
