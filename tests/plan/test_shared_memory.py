"""Random programs with loops and branches whose arrays at the outermost level share memory, against the same programs
without."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, reject, settings
from hypothesis import strategies as st

from tests.plan.checks import same
from tests.plan.random_arrays import ArrayMaker
from workbench.debugger.replay import step_back
from workbench.errors import FrameError, WorkbenchError
from workbench.execution import Run, prepare_feeds
from workbench.ir import Graph, Ref
from workbench.ir.types import TensorType
from workbench.plan import make_plan, signature_of
from workbench.plan.memory import liveness

SETTINGS = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)


def run_of(graph: Graph, feeds: dict[str, np.ndarray], least: int, whole: bool = True) -> Run:
    arrays = prepare_feeds(graph, feeds)
    signature = signature_of(graph, {n: TensorType.of(a) for n, a in arrays.items()})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(liveness, "LEAST_BYTES", 1)
        patch.setattr(liveness, "LEAST_TOTAL", least)
        plan = make_plan(graph, graph.outputs, signature, statistics=True)
    run = Run(plan, arrays, 1 << 28)
    while whole and run.go() != "halt":
        pass
    return run


@pytest.mark.slow
@SETTINGS
@given(seed=st.integers(0, 1 << 32))
def test_random_programs(seed: int) -> None:
    graph, feeds = ArrayMaker(seed).make()
    note(graph.text())
    try:
        apart = run_of(graph, feeds, 1 << 60)
    except (FrameError, WorkbenchError):
        reject()
    shared = run_of(graph, feeds, 0)
    stepped = run_of(graph, feeds, 0, whole=False)
    while stepped.go(stepped.event + 1, exact=True) != "halt":
        pass
    for key, layout in apart.plan.layout.values.items():
        ref = Ref(*key)
        wanted = apart.trace[ref].firings()
        for run in (shared, stepped):
            found = run.trace[ref].firings()
            place = run.plan.layout.values[key].place
            if len(found) < len(wanted):
                assert layout.frame == 0 and place is not None and place.until >= 0, ref
                found = [step_back.recompute(run, ref, ())]
            assert len(found) == len(wanted), ref
            assert all(same(a, b) for a, b in zip(found, wanted, strict=True) if isinstance(b, np.ndarray)), ref
            if layout.statistics is not None:
                assert same(run.trace[ref].statistics, apart.trace[ref].statistics), ref


def test_there_are_programs_that_share() -> None:
    """Else the test above would show nothing."""
    count = 0
    for seed in range(30):
        graph, feeds = ArrayMaker(seed).make()
        try:
            run = run_of(graph, feeds, 0)
        except WorkbenchError:
            continue
        count += sum(v.place is not None and v.place.until >= 0 for v in run.plan.layout.values.values())
    assert count > 50
