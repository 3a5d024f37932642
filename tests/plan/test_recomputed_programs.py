"""Arrays that are computed again, against programs that record them; ``python -m tests.plan.recomputed_programs`` runs
as many as one likes."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import workbench as wb
from tests.plan.recomputed_programs import COMPUTED, check_program, computed_again, opened
from workbench.errors import TraceError
from workbench.session import values


@pytest.mark.parametrize("seed", [100_009, 100_010])
def test_recomputed_values_are_the_recorded_ones(seed):
    counts = check_program(seed)
    assert counts["values"] > 100 and counts["replays"]


@pytest.mark.slow
def test_many_programs():
    counts = Counter[str]()
    for seed in range(200_000, 200_030):
        counts += check_program(seed)
    assert counts["programs"] >= 8 and counts["edits"] >= 10


@pytest.mark.parametrize("trace", ["all", "carried", "off"])
def test_an_edit_in_the_last_row_of_a_loop_stays_when_the_loop_is_left(trace):
    """The loop ends in the iteration of the edit, so that no next one comes."""
    b = wb.GraphBuilder("last row")
    x = b.placeholder("x", "float64", (20,))
    final = b.while_loop(
        lambda v: b.op("any", b.alias("small", v < 10.0)), lambda v: b.alias("twice", v * 2.0), {"v": x}, name="loop"
    )
    graph = b.build({"v": final["v"]})
    with opened(graph, {"x": np.ones(20)}, COMPUTED, trace) as session:
        assert computed_again(session)
        session.run_to("small", 1)
        session.step()
        session.set_value("small", np.zeros(20, bool))
        session.run()
        assert session.outputs["v"].tolist() == [2.0] * 20
        assert not session.value("small", 1).any() and session.value("small", 0).all()
        session.step_back(2)
        session.run()
        assert not session.value("small", 1).any()


def test_an_invariant_of_a_loop_that_is_never_started_is_found_in_dropped_rows(monkeypatch):
    """In the last turn of the middle loop it fires once in iteration 0 of the inner frame, which has no rows then."""
    b = wb.GraphBuilder("not started")
    n = b.placeholder("n", "int64")

    def middle(j: wb.Value, t: wb.Value) -> tuple[wb.Value, wb.Value]:
        inner = b.while_loop(lambda k, u: k < 2, lambda k, u: (k + 1, u + n), {"k": 0, "u": t}, name="inner")
        return j + 1, inner["u"]

    def outer(i: wb.Value, s: wb.Value) -> tuple[wb.Value, wb.Value]:
        return i + 1, b.while_loop(lambda j, t: j < 2, middle, {"j": 0, "t": s}, name="middle")["t"]

    out = b.while_loop(lambda i, s: i < 60, outer, {"i": 0, "s": 0}, name="outer")
    graph = b.build({"s": out["s"]})
    enter = next(
        n.name
        for n in graph.nodes.values()
        if n.op == "Enter" and graph.frame_of(n.name)[-1:] == ("inner",) and n.attrs["is_constant"]
    )
    with wb.Session(graph, {"n": 3}) as whole, wb.Session(graph, {"n": 3}, memory_budget=1 << 12) as session:
        whole.run(), session.run()
        assert session.trace.dropped
        assert [session.value(enter, (5, j, 0)) for j in range(3)] == [3, 3, 3]
        assert whole.trace[enter].at((5, 2, 0)) == 3  # the middle loop ends there
        last = (60, 0, 0)  # here neither of the two inner loops is started
        assert session.value(enter, last) == whole.trace[enter].at(last) == 3
        monkeypatch.setattr(values, "full_replay", lambda _run: pytest.fail("replayed for what never happened"))
        for never in ((5, 2, 1), (61, 0, 0), (60, 1, 0), (5, 2, 40)):
            with pytest.raises(TraceError, match="no record"):
                session.value(enter, never)
