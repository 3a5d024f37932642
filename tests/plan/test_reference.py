"""Plans, executor and trace against the token interpreter, on random graphs; a failing graph is printed as text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from tests.plan.checks import check_against_reference, run_of, same
from tests.plan.house import check_steps
from tests.plan.random_graphs import Maker
from tests.plan.reference import Reference
from workbench.errors import DeadValueError
from workbench.ir import Graph, Ref

SETTINGS = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)


def drawn(seed: int) -> tuple[Graph, dict[str, np.ndarray]]:
    graph, feeds = Maker(seed).make()
    note(graph.text())
    return graph, feeds


@SETTINGS
@given(seed=st.integers(0, 1 << 32))
def test_random_graphs(seed: int) -> None:
    graph, feeds = drawn(seed)
    reference = Reference(graph, feeds, list(graph.outputs.values())).run()
    run = run_of(graph, feeds)
    while run.go() != "halt":
        pass
    check_against_reference(run, reference)
    expected = {name: reference.firings[ref] for name, ref in graph.outputs.items()}
    if all(expected.values()):
        given = run.outputs()
        assert all(same(given[name], firings[-1][1]) for name, firings in expected.items())
    else:
        with pytest.raises(DeadValueError) as caught:
            run.outputs()
        assert caught.value.slug == "dead-value"


@SETTINGS
@given(seed=st.integers(0, 1 << 32))
def test_stepping_is_running(seed: int) -> None:
    """Event by event gives the same trace and the same events, in the same order, as at full speed."""
    graph, feeds = drawn(seed)
    fast = run_of(graph, feeds)
    while fast.go() != "halt":
        pass
    assert check_steps(fast, graph, feeds).event == fast.event


@pytest.mark.slow
@SETTINGS
@given(seed=st.integers(0, 1 << 32), where=st.floats(0, 1))
def test_replay_is_exact(seed: int, where: float) -> None:
    """Any earlier state, reached by replay, has the trace that it had."""
    graph, feeds = drawn(seed)
    run, fresh = run_of(graph, feeds), run_of(graph, feeds)
    while run.go() != "halt":
        pass
    target = int(where * run.event)
    run.seek(target)
    fresh.to_event(target)
    assert run.event == fresh.event == target and run.position() == fresh.position()
    for key in run.plan.layout.values:
        for a, b in zip(run.trace[Ref(*key)].firings(), fresh.trace[Ref(*key)].firings(), strict=True):
            assert same(a, b)
