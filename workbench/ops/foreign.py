"""Foreign ops: ops named ``prefix:Name`` that their own framework evaluates, node by node.

A frontend registers one resolver for its prefix; the resolver creates the :class:`OpSpec` of an op from its full name
and the attrs of the node.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from workbench.errors import UnknownOpError
from workbench.ir.node import Ref
from workbench.ir.opspec import REGISTRY, Bound, OpSpec
from workbench.ir.types import TensorType

Resolver = Callable[[str, Mapping[str, Any]], OpSpec]
#: (addresses of the inputs or arrays, addresses of the outputs or None) -> the outputs without an address, or None
#: (kernels: Program, regions)
RegionCall = Callable[[Sequence[Any], Sequence[int | None]], "list[Any] | None"]


@dataclass(frozen=True, slots=True)
class RegionStep:
    """One node of a region, which is a stretch of nodes that a framework can compute in one call.

    ``takes`` and ``gives`` are the types of its inputs and outputs, ``constants`` the inputs whose value never changes;
    ``evaluate`` computes the single node from all of its inputs.
    """

    op: str
    attrs: Mapping[str, Any]
    inputs: tuple[Ref, ...]
    outputs: tuple[Ref, ...]
    takes: tuple[TensorType, ...]
    gives: tuple[TensorType, ...]
    constants: tuple[np.ndarray | None, ...]
    bound: Bound | None
    evaluate: Callable[[Sequence[Any]], Sequence[Any]]


class NodeByNode:
    """Computes the steps of a region one by one; ``values`` are stored as between separate nodes."""

    def __init__(self, steps: Sequence[RegionStep], given: Mapping[Ref, Any], objects: Collection[Ref]) -> None:
        self.steps, self.objects = steps, objects
        self.values: dict[Ref, Any] = dict(given)
        self._last = {r: k for k, s in enumerate(steps) for r in s.inputs}

    def results(self, keep: bool = False) -> Iterator[tuple[RegionStep, Ref, np.ndarray, np.ndarray]]:
        """Yields (step, name, value, the value in C order) for every value; with ``keep`` all values are retained."""
        for number, step in enumerate(self.steps):
            given = [c if c is not None else self.values[r] for r, c in zip(step.inputs, step.constants, strict=True)]
            for ref, value in zip(step.outputs, step.evaluate(given), strict=True):
                one = np.asarray(value)
                dense = one.copy(order="C")
                self.values[ref] = value if ref in self.objects else dense  # in rows all arrays are in C order
                yield step, ref, one, dense
            for ref in () if keep else step.inputs:
                if self._last[ref] == number:
                    self.values.pop(ref, None)


class Joiner(Protocol):
    """A framework that computes stretches of nodes in one call, with the same results as node by node."""

    def version_of(self, steps: Sequence[RegionStep]) -> int:
        """The version of the framework's ops for regions of these nodes."""

    def takes(self, step: RegionStep, version: int) -> bool:
        """Return whether a node can be part of a region of this version."""

    def join(
        self,
        steps: Sequence[RegionStep],
        inputs: Sequence[Ref],
        outputs: Sequence[Ref],
        objects: Collection[Ref],
        most: int | None = None,
    ) -> RegionCall | None:
        """The call from ``inputs``, the values from outside, to ``outputs``; None if there is no such call. ``objects``
        are the values of the steps that are separate arrays; others are in rows, in C order. A call whose outputs would
        take more than ``most`` bytes together does not run.
        """


_PREFIXES: set[str] = set()
_JOINERS: dict[str, Joiner] = {}


def register(prefix: str, resolver: Resolver, joiner: Joiner | None = None) -> None:
    """Use ``resolver("prefix:Name", attrs)`` for the ops of a prefix. A later call replaces the first.

    The resolver raises :class:`workbench.errors.UnknownOpError` for names that its framework does not know. ``joiner``
    joins several nodes into one call.
    """
    if not prefix or ":" in prefix:
        raise ValueError(f"prefix {prefix!r} is empty or holds a colon")
    _PREFIXES.add(prefix)
    REGISTRY.add_resolver(prefix, resolver)
    if joiner is not None:
        _JOINERS[prefix] = joiner


def joiner_of(op_name: str) -> Joiner | None:
    """The joiner of this op and others, if its framework has one."""
    return _JOINERS.get(op_name.partition(":")[0]) if is_foreign(op_name) else None


def is_foreign(op_name: str) -> bool:
    return ":" in op_name


def resolve(op_name: str, attrs: Mapping[str, Any] | None = None) -> OpSpec:
    """The entry of the foreign op ``prefix:Name``; raises UnknownOpError if no frontend is registered for the
    prefix.
    """
    try:
        return REGISTRY.lookup(op_name, attrs)
    except UnknownOpError:
        prefix = op_name.partition(":")[0]
        if prefix in _PREFIXES:
            raise
    known = ", ".join(sorted(_PREFIXES)) or "none"
    raise UnknownOpError(
        f"The op {op_name!r} belongs to {prefix!r}, for which no frontend is loaded (loaded: {known}).",
        fix=f"Import the frontend that evaluates {prefix!r} ops before you use the graph.",
    )
