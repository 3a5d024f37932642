"""Divides a region: nodes with results that differ when onnxruntime fuses them with neighbours run alone, the stretches
between them as one call each.

The first call determines these ops: every stretch returns all of its values, and the op of the first value that differs
in a bit from that of the single node runs alone from then on, in the whole region.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.frontends.onnx.foreign.joined import JoinedNodes, in_order
from workbench.frontends.onnx.foreign.session import arrays_at
from workbench.ir.node import Ref
from workbench.ir.types import TensorType
from workbench.kernels.machine import same_bits
from workbench.ops.foreign import NodeByNode, RegionStep

#: limits: ops that run alone in a region, and bytes of its values, which are all held while it is divided
MOST_OPS, MOST_BYTES = 4, 64 << 20

#: (steps, their outputs) -> one call, and the types of its inputs by value
Join = Callable[[Sequence[RegionStep], Sequence[Ref]], "tuple[JoinedNodes, Mapping[Ref, TensorType]]"]


@dataclass(frozen=True, slots=True)
class RegionPart:
    """Steps that run together, or one that runs alone (``joined`` None)."""

    steps: tuple[RegionStep, ...]
    joined: JoinedNodes | None
    takes: Mapping[Ref, TensorType]
    gives: Mapping[Ref, TensorType]
    ends: tuple[Ref, ...]  # values that no later part reads


class DividedRegion:
    """The steps of a region in consecutive parts; it has the inputs and outputs of a single call."""

    def __init__(
        self,
        parts: Sequence[RegionPart],
        alone: NodeByNode,
        inputs: Sequence[Ref],
        outputs: Sequence[Ref],
        orders: Mapping,
    ) -> None:
        self.parts, self._objects = tuple(parts), alone.objects
        self._inputs, self._outputs = tuple(inputs), tuple(outputs)
        self._orders: Mapping[Ref, tuple[int, ...]] = orders

    def run(
        self,
        operands: Sequence[Any],
        takes: Sequence[TensorType],
        addresses: Sequence[int | None],
        gives: Sequence[TensorType],
    ) -> list[Any]:
        """Run the parts; returns the outputs without an address as arrays, None for the others."""
        values: dict[Ref, Any] = dict(zip(self._inputs, operands, strict=True))
        where = {r: a for r, a in zip(self._outputs, addresses, strict=True) if a is not None}
        for part in self.parts:
            if part.joined is None:
                self._run_alone(part, values, where)
            else:
                refs = list(part.gives)
                found = part.joined.run(
                    [values[r] for r in part.takes],
                    list(part.takes.values()),
                    [where.get(r) for r in refs],
                    list(part.gives.values()),
                )
                for ref, value in zip(refs, found, strict=True):
                    values[ref] = where[ref] if ref in where else self._ordered(ref, value)
            for ref in part.ends:
                values.pop(ref, None)
        return [None if a is not None else values[r] for r, a in zip(self._outputs, addresses, strict=True)]

    def _ordered(self, ref: Ref, value: np.ndarray) -> np.ndarray:
        """A value with the strides that its node gives it, because later sums run in memory order."""
        strides = self._orders.get(ref)
        return value if strides is None or len(strides) != value.ndim else in_order(value, strides)

    def _run_alone(self, part: RegionPart, values: dict[Ref, Any], where: Mapping[Ref, int]) -> None:
        step = part.steps[0]
        given = [
            c if c is not None else arrays_at([values[r]], [t])[0] if values[r].__class__ is int else values[r]
            for r, t, c in zip(step.inputs, step.takes, step.constants, strict=True)
        ]
        for ref, value in zip(step.outputs, step.evaluate(given), strict=True):
            if ref in where:
                arrays_at([where[ref]], [part.gives[ref]])[0][...] = value
                values[ref] = where[ref]
            else:  # a copy, because it may be a view of a row's memory
                copy = np.array(value, order="K" if ref in self._objects else "C")
                values[ref] = self._ordered(ref, copy)


def divided(join: Join, alone: NodeByNode, inputs: Sequence[Ref], outputs: Sequence[Ref]) -> DividedRegion | None:
    """The parts of a region whose single call differs in bits from its steps; None if too many ops differ."""
    dense: dict[Ref, np.ndarray] = {}
    orders: dict[Ref, tuple[int, ...]] = {}
    size = 0
    for _, ref, value, plain in alone.results(keep=True):
        dense[ref] = plain
        size += plain.nbytes
        if size > MOST_BYTES:
            return None
        if ref in alone.objects and value.strides != plain.strides and value.size > 1:
            orders[ref] = value.strides
    apart: set[str] = set()
    while len(apart) <= MOST_OPS:
        stretches = list(_stretches(alone.steps, apart))
        if sum(len(s) for s in stretches if len(s) > 1) * 2 < len(alone.steps):
            return None
        odd = next((op for s in stretches if len(s) > 1 and (op := _odd_one(join, s, alone, dense))), None)
        if odd is None:
            return DividedRegion(_parts(join, stretches, alone, dense, outputs), alone, inputs, outputs, orders)
        apart.add(odd)
    return None


def _stretches(steps: Sequence[RegionStep], apart: Collection[str]) -> Iterator[list[RegionStep]]:
    open_: list[RegionStep] = []
    for step in steps:
        if step.op not in apart:
            open_.append(step)
            continue
        if open_:
            yield open_
        yield [step]
        open_ = []
    if open_:
        yield open_


def _odd_one(join: Join, steps: Sequence[RegionStep], alone: NodeByNode, dense: Mapping[Ref, np.ndarray]) -> str | None:
    """The op of the first of these steps whose result differs in the joint call; None if none does."""
    outputs = [r for s in steps for r in s.outputs]
    joined, takes = join(steps, outputs)
    made = dict(zip(outputs, _run(joined, takes, outputs, steps, alone), strict=True))
    return next((s.op for s in steps if any(not same_bits(dense[r], made[r]) for r in s.outputs)), None)


def _run(
    joined: JoinedNodes,
    takes: Mapping[Ref, TensorType],
    outputs: Sequence[Ref],
    steps: Sequence[RegionStep],
    alone: NodeByNode,
) -> list[Any]:
    gives = {r: t for s in steps for r, t in zip(s.outputs, s.gives, strict=True)}
    return joined.run(
        [alone.values[r] for r in takes], list(takes.values()), [None] * len(outputs), [gives[r] for r in outputs]
    )


def _parts(
    join: Join,
    stretches: Sequence[Sequence[RegionStep]],
    alone: NodeByNode,
    dense: Mapping[Ref, np.ndarray],
    outputs: Collection[Ref],
) -> list[RegionPart]:
    last = {r: k for k, stretch in enumerate(stretches) for s in stretch for r in s.inputs}
    found = []
    for number, steps in enumerate(stretches):
        gives = {r: t for s in steps for r, t in zip(s.outputs, s.gives, strict=True)}
        joined, takes = None, {r: t for s in steps for r, t in zip(s.inputs, s.takes, strict=True)}
        if len(steps) > 1:
            needed = [r for r in gives if r in outputs or last.get(r, -1) > number]
            joined, takes = join(steps, needed)
            made = _run(joined, takes, needed, steps, alone)
            if all(same_bits(dense[r], m) for r, m in zip(needed, made, strict=True)):
                gives = {r: gives[r] for r in needed}
            else:  # requesting fewer results changed the fusions: request all
                joined, takes = join(steps, list(gives))
        ends = {r for s in steps for r in (*s.inputs, *s.outputs) if last.get(r, -1) <= number and r not in outputs}
        found.append(RegionPart(tuple(steps), joined, takes, gives, tuple(ends)))
    return found
