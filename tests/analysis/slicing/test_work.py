"""Budgets are counted in work: the same question has the same answer, however busy the machine is."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import workbench as wb
from workbench.analysis.slicing import execution, work
from workbench.analysis.slicing.protocol import SliceTimeout
from workbench.execution.one_shot import plan_for


def undecided():
    """A sum that reaches its threshold after e^39 iterations: no look-ahead gets there, and no argument proves it."""
    b = wb.GraphBuilder("harmonic")
    end = b.while_loop(
        lambda s, k: s < 40.0,
        lambda s, k: {"s": s + 1.0 / k, "k": k + 1.0},
        {"s": b.placeholder("s", "float64", ()), "k": 1.0},
    )
    return b.build({"s": end["s"]})


def answer():
    with wb.Session(undecided(), {"s": np.float64(0.0)}) as session:
        session.next_iteration(2)
        found = session.termination()
        return str(found), found.table()


def test_a_slow_clock_and_a_fast_one_give_the_same_answer(monkeypatch):
    wanted = answer()
    real = time.perf_counter
    for factor in (0.0, 10.0):
        monkeypatch.setattr(execution.time, "perf_counter", lambda f=factor: f * real())
        assert answer() == wanted
        monkeypatch.undo()


def test_work_is_counted_per_thread():
    begin = work.now()
    other = threading.Thread(target=lambda: work.charge(100.0))
    other.start()
    other.join()
    assert work.now() == begin
    work.charge(0.5)
    assert work.now() == pytest.approx(begin + 0.5)


def test_foreign_and_large_nodes_cost_more_than_scalars():
    b = wb.GraphBuilder("costs")
    large = b.placeholder("a", "float64", (1000, 1000))
    small = b.placeholder("x", "float64", ())
    end = b.while_loop(lambda x: x < 10.0, lambda x: x + 1.0, {"x": small}, name="small")
    other = b.while_loop(lambda a: np.sum(a) < 1e9, lambda a: a * 2.0, {"a": large}, name="large")
    graph = b.build({"x": end["x"], "a": other["a"]})
    plan = plan_for(graph, {"a": np.ones((1000, 1000)), "x": np.float64(0)}, None, False, False)
    scalar, array = (work.event_seconds(plan, (name,)) for name in ("small", "large"))
    assert 1e-9 < scalar < 1e-8 and 1e-5 < array < 1e-2


def test_little_work_that_takes_long_ends_the_look_ahead(monkeypatch):
    """A node that waits charges next to nothing: measured time ends it."""
    monkeypatch.setattr(work, "LEAST_PATIENCE", 0.0)
    monkeypatch.setattr(work, "PATIENCE", 0.0)
    graph, feeds = undecided(), {"s": np.array(0.0)}
    plan = plan_for(graph, feeds, None, False, False)
    runner = execution.slice_of(graph, ("while",), plan, feeds)
    runner.patience = 1e9
    assert runner.align(None)
    with pytest.raises(SliceTimeout, match="did not get to the condition"):
        runner.advance(10_000_000)
