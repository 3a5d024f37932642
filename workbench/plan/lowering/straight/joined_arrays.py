"""Nodes of straight runs whose values all have a known shape: consecutive ones become one call (kernels: ArrayCall).

A value that only they read is in memory of that call, and a value that is a view of another takes no time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.ir.types import TensorType, numpy_dtype
from workbench.kernels.machine import CALL_CONSTANT, CALL_OUTPUT, CALL_SCRATCH, ArrayCall
from workbench.plan.lowering.array_layout import OWN, ArrayCode, ArrayInstruction, dims_of
from workbench.plan.lowering.arrays import whole_copy
from workbench.plan.memory.allocation import MemoryRange, place
from workbench.plan.memory.storage import array_bytes

#: maximum bytes of the values of one call
MOST_TOGETHER = 4 << 20

#: when a step runs: places of decisions, and the value that each must have
Guarded = tuple[tuple[int, bool], ...]


@dataclass(frozen=True, slots=True)
class ArrayNode:
    """A node as instructions on arrays, with the places of its operands and results in the list of values."""

    code: ArrayCode
    takes: tuple[int, ...]
    gives: tuple[int, ...]
    given: tuple[TensorType, ...]
    made: tuple[TensorType, ...]
    guard: Guarded = ()

    def bytes(self) -> int:
        return sum(map(array_bytes, self.made))


@dataclass(slots=True)
class _Piece:
    """Memory of one value: from the step that writes it to the last that reads it; ``output`` if it is a result."""

    size: int
    first: int
    last: int
    output: int | None = None
    offset: int = 0


#: an input (its index) or a piece, and the byte in it at which a value begins
_Where = tuple["int | _Piece", int]
_Step = tuple[dict[str, Any], list[_Where | None], _Where, Any]


@dataclass(slots=True)
class _Joining:
    """Collects the steps of consecutive nodes."""

    inputs: dict[int, int] = field(default_factory=dict)  # place -> index of the input
    sizes: list[int] = field(default_factory=list)
    where: dict[int, _Where] = field(default_factory=dict)
    types: dict[int, TensorType] = field(default_factory=dict)
    steps: list[_Step] = field(default_factory=list)

    def add(self, node: ArrayNode) -> None:
        for k, (place_, type_) in enumerate(zip(node.gives, node.made, strict=True)):
            self.types[place_] = type_
            if k in node.code.views:
                base, offset = self._operand(node, 0)
                self.where[place_] = base, offset + node.code.views[k]
                continue
            piece = _Piece(array_bytes(type_), len(self.steps), len(self.steps))
            self.where[place_] = piece, 0
            for step in node.code.steps.get(k, ()):
                self._add_step(step, node, piece)

    def _operand(self, node: ArrayNode, number: int) -> _Where:
        place_ = node.takes[number]
        if place_ not in self.where:
            self.where[place_] = self.inputs.setdefault(place_, len(self.inputs)), 0
            self.sizes.append(array_bytes(node.given[number]))
        return self.where[place_]

    def _add_step(self, step: ArrayInstruction, node: ArrayNode, piece: _Piece) -> None:
        found: list[_Where | None] = []
        for number, offset in step.operands:
            base, at = (piece, 0) if number == OWN else (None, 0) if number < 0 else self._operand(node, number)
            found.append(None if base is None else (base, at + offset))
            if isinstance(base, _Piece):
                base.last = len(self.steps)
        piece.last = len(self.steps)
        self.steps.append((step.array, found, (piece, step.delta), step.constant))

    def call(self, leaves: Sequence[int]) -> ArrayCall:
        """From the inputs to the values in these places, each in separate memory."""
        for number, place_ in enumerate(leaves):
            base, offset = self.where[place_]
            type_ = self.types[place_]
            if not isinstance(base, _Piece) or base.output is not None or offset or base.size != array_bytes(type_):
                source, base = (base, offset), _Piece(array_bytes(type_), len(self.steps), len(self.steps))
                if isinstance(source[0], _Piece):
                    source[0].last = len(self.steps)
                self.steps.append((whole_copy(type_).array, [source], (base, 0), None))
            base.output = number
        pieces = {id(to): to for _, _, (to, _), _ in self.steps if isinstance(to, _Piece) and to.output is None}
        ranges = [MemoryRange([], max(1, p.size), 0, p.first, p.last) for p in pieces.values()]
        scratch = place(ranges)
        for piece, range_ in zip(pieces.values(), ranges, strict=True):
            piece.offset = range_.offset
        steps = [
            (array, [(CALL_CONSTANT, 0) if w is None else _at(w) for w in operands], _at(to), constant)
            for array, operands, to, constant in self.steps
        ]
        kinds = [(numpy_dtype(self.types[p].dtype), dims_of(self.types[p])) for p in leaves]
        return ArrayCall(steps, tuple(self.sizes), kinds, scratch)


def _at(where: _Where) -> tuple[int, int]:
    base, offset = where
    if not isinstance(base, _Piece):
        return base, offset
    return (CALL_SCRATCH, base.offset + offset) if base.output is None else (CALL_OUTPUT - base.output, offset)


def joined(
    nodes: Sequence[ArrayNode], read: Collection[int]
) -> tuple[Callable[[list[Any]], list[np.ndarray] | None], tuple[int, ...], tuple[int, ...]]:
    """One call of these nodes, with the places of its operands, and of its results that are in ``read``."""
    joining = _Joining()
    for node in nodes:
        joining.add(node)
    leaves = [k for node in nodes for k in node.gives if k in read]
    return joining.call(leaves), tuple(joining.inputs), tuple(leaves)


def stretches(steps: Sequence[Any]) -> list[Any]:
    """The steps in an order in which they can run, with lists of the nodes on arrays that can run together.

    A node joins the last list if all its operands are computed before the end of that list, and if the list runs under
    the same decisions.
    """
    found: list[Any] = []
    open_: list[ArrayNode] | None = None
    behind: set[int] = set()  # results of the steps after the open list
    size = 0
    for step in steps:
        if not isinstance(step, ArrayNode):
            found.append(step)
            behind.update(step.gives)
            continue
        size += step.bytes()
        apart = open_ is not None and open_[0].guard != step.guard
        if open_ is None or apart or size > MOST_TOGETHER or not behind.isdisjoint(step.takes):
            open_, size = [], step.bytes()
            found.append(open_)
            behind.clear()
        open_.append(step)
    return found
