"""The work of finding causes: values of many iterations are read in blocks."""

from __future__ import annotations

import numpy as np

import workbench as wb
from tests.work import Work
from workbench.analysis.slicing.execution import slice_of


@wb.graph
def pole(t, y, c, goal):
    while t < goal:
        t = t + c / y
        y = y / (1.0 - c)
    return t


@wb.graph
def far_wrap(i, step, goal):
    while i != goal:
        i = np.int32(i * step)
    return i


def rests_from(c: float) -> int:
    """The first iteration of :func:`pole` from which on t keeps its value."""
    t, y, k, last = 0.0, 1.0, 0, 0
    while y < 1e300:
        t, y, k, before = t + c / y, y / (1.0 - c), k + 1, t
        last = k if t != before else last
    return last


def test_the_way_to_a_rest_is_read_in_blocks():
    feeds = {"t": 0.0, "y": 1.0, "c": 0.1, "goal": 2.5}
    with wb.Session(pole.graph_for(**feeds), feeds) as session, Work() as work:
        answer = session.termination()
    assert answer.outcome == "never"
    assert answer.first_bad == rests_from(feeds["c"])
    assert answer.details["clause_iteration"] > 100_000
    assert work.calls < 8 * answer.details["clause_iteration"], "each iteration was looked at by itself"


def test_values_that_repeat_for_long_are_compared_in_blocks():
    feeds = {"i": np.int32(3), "step": np.int32(5), "goal": np.int32(2)}
    with wb.Session(far_wrap.graph_for(**feeds), feeds) as session:
        answer = session.termination()
    assert answer.outcome == "never"
    wraps = next(c for c in answer.claims if c.kind == "wraps")
    i, k = 3, 0
    while i * 5 < 2**31:
        i, k = i * 5, k + 1
    assert (wraps.data["iteration"], wraps.data["exact"]) == (k, i * 5)


def test_a_slice_that_began_again_reads_its_values_again():
    feeds = {"t": np.float64(0), "y": np.float64(1), "c": np.float64(0.1), "goal": np.float64(2)}
    with wb.Session(pole.graph_for(**feeds), feeds) as session:
        run = session._run
        path = next(f.path for f in run.plan.layout.frames if f.path)
        runner = slice_of(run.plan.graph, path, run.plan, run.feeds)
        assert runner.align(None)
        merge = run.plan.graph.frames[path].variables[0].merge
        names = runner.values()
        runner.restart()
        assert runner.align(None, {merge: np.float64(1.5)})
        assert {k: float(v) for k, v in runner.values().items()} != {k: float(v) for k, v in names.items()}
