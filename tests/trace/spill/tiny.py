"""Chunks of two rows, so that short programs spill. A module that imports ``tiny_chunks`` has them in all sessions."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.ir import Graph
from workbench.ir.types import TensorType
from workbench.kernels import machine
from workbench.plan import make_plan, signature_of
from workbench.plan.lowering import emit


class TinyChunks:
    """In place of the machine's module where programs are made: frames in chunks of two rows."""

    @staticmethod
    def Program(instructions: Any, literals: Any, frames: Any, *rest: Any, **named: Any) -> machine.Program:
        frames = [(size, parent, 2 if parent >= 0 else n, offsets) for size, parent, n, offsets in frames]
        return machine.Program(instructions, literals, frames, *rest, **named)


@pytest.fixture(scope="module", autouse=True)
def tiny_chunks():
    """Every session of this module has chunks of two rows, so that short programs spill; no plan is kept for others."""

    def plan_for(
        graph: Graph, feeds: Any, outputs: Any, statistics: bool = False, lean: bool = False, device: Any = None
    ) -> Any:
        signature = signature_of(graph, {n: TensorType.of(a) for n, a in feeds.items()})
        return make_plan(graph, outputs or graph.outputs, signature, statistics, lean, device)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(emit, "machine", TinyChunks)
        patch.setattr("workbench.session.run_setup.plan_for", plan_for)
        yield
