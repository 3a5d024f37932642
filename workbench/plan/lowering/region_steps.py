"""Nodes as steps of a region, computed alone or together with others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.device import DeviceJoiner
from workbench.ir.node import Node, Ref
from workbench.ir.opspec import REGISTRY
from workbench.ops.foreign import RegionStep
from workbench.plan.lowering.kernel_choice import evaluator, resolver
from workbench.plan.lowering.lowering_state import LoweringState
from workbench.plan.lowering.node_facts import NodeFacts


class RegionSteps:
    """Creates steps: with ``device`` for the nodes that run there, else for pure functions on the host."""

    def __init__(self, state: LoweringState, facts: NodeFacts, device: DeviceJoiner | None) -> None:
        self._state, self._facts, self._device = state, facts, device

    def step(self, node: Node) -> RegionStep | None:
        if self._device is not None:
            return self._device_step(self._device, node)
        spec = REGISTRY.get(node.op) if ":" not in node.op else REGISTRY.lookup(node.op, node.attrs)
        gives = self._state.types[node.name]
        if spec is None or spec.evaluate is None or not spec.pure or spec.draws or not gives:
            return None
        bound = self._facts.bound(node)
        if bound is not None and bound.joins is None:
            return None
        inputs = tuple([self.source(r) for r in node.inputs])
        dtypes = [self._facts.type_of(r).dtype for r in node.inputs]
        resolve = resolver(node, dtypes, gives[0].dtype) if bound is None and len(gives) == 1 else None
        evaluate: Callable[[Sequence[Any]], Sequence[Any]] = _alone(evaluator(spec, node), resolve)
        if bound is not None:
            takes, call = bound.takes, bound.evaluate
            evaluate = lambda arrays: call([arrays[k] for k in takes])  # noqa: E731
        return RegionStep(
            node.op,
            node.attrs,
            inputs,
            tuple([node.ref(k) for k in range(len(gives))]),
            tuple([self._facts.type_of(r) for r in inputs]),
            gives,
            tuple([self._facts.constant_of(r) for r in inputs]),
            bound,
            evaluate,
        )

    def _device_step(self, device: DeviceJoiner, node: Node) -> RegionStep | None:
        placed = self._facts.placed(node)
        if placed is None or placed.rule is None:
            return None
        gives, inputs = self._state.types[node.name], tuple([self.source(r) for r in node.inputs])
        return RegionStep(
            REGISTRY.lookup(node.op, node.attrs).name,
            node.attrs,
            inputs,
            tuple([node.ref(k) for k in range(len(gives))]),
            tuple([self._facts.type_of(r) for r in inputs]),
            gives,
            tuple([self._facts.constant_of(r) for r in inputs]),
            None,
            device.evaluator(placed.rule),
        )

    def source(self, ref: Ref) -> Ref:
        """The value of which ``ref`` is an alias."""
        while self._state.graph.nodes[ref.node].op == "Identity":
            ref = self._state.graph.nodes[ref.node].inputs[0]
        return ref


def _alone(
    evaluate: Callable[[Sequence[Any]], Sequence[Any]], resolve: Callable[[list[Any]], Any] | None
) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """A node's results with the same memory layout as from the machine: compiled loops fill new arrays in C order, and
    results that share memory with an operand are copied (kernels: object_calls, windows).
    """

    def call(arrays: Sequence[Any]) -> Sequence[Any]:
        results = evaluate(arrays)
        if resolve is not None and resolve([(a.dtype, a.shape, a.strides) for a in arrays]) is not None:
            return [np.asarray(r).copy(order="C") for r in results]
        return [
            np.array(r) if not r.flags.owndata and any(np.may_share_memory(r, a) for a in arrays) else r
            for r in map(np.asarray, results)
        ]

    return call
