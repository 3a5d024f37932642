"""Only what the required outputs need is computed; what is asked for later is computed then, from what is there."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.errors import DeadValueError, TraceError, WorkbenchError
from workbench.ir import Ref


def sides() -> wb.Graph:
    b = wb.GraphBuilder("sides")
    x, unused = b.placeholder("x", "float64", (4,)), b.placeholder("unused", "float64", ())
    y = b.multiply(x, 2.0, name="y")
    b.sum(b.add(y, 1.0, name="side"), name="far")
    b.add(y, unused, name="needs_more")
    b.add(y, b.random_normal(np.array([4]), seed=3, name="drawn"), name="noisy")
    return b.build({"y": y})


def test_what_is_not_required_is_not_computed():
    with wb.Session(sides(), {"x": np.arange(4.0)}) as session:
        session.run()
        fired = {t.node for t in session.trace.events()}
        assert "y" in fired and not fired & {"side", "far", "needs_more", "noisy", "drawn"}


def test_it_is_computed_when_asked_for():
    with wb.Session(sides(), {"x": np.arange(4.0)}) as session:
        session.run()
        np.testing.assert_array_equal(session.value("side"), np.arange(4.0) * 2 + 1)
        assert session.value("far") == 16
        with pytest.raises(TraceError, match="needs the input 'unused'") as caught:
            session.value("needs_more")
        assert caught.value.slug == "not-computed" and caught.value.node == "needs_more"
    with wb.Session(sides(), {"x": np.arange(4.0), "unused": 5.0}) as session:
        session.run()
        np.testing.assert_array_equal(session.value("needs_more"), np.arange(4.0) * 2 + 5)
        with wb.Session(sides(), {"x": np.arange(4.0)}, outputs=["noisy"]) as whole:
            whole.run()
            np.testing.assert_array_equal(session.value("noisy"), whole.value("noisy"))


def test_edits_count():
    with wb.Session(sides(), {"x": np.arange(4.0)}) as session:
        session.run_to("y")
        session.step()
        session.set_value("y", np.ones(4))
        np.testing.assert_array_equal(session.value("side"), np.full(4, 2.0))


def test_what_it_is_made_of_must_be_there():
    with wb.Session(sides(), {"x": np.arange(4.0)}) as session, pytest.raises(DeadValueError) as caught:
        session.value("side")
    assert caught.value.slug == "not-fired"


@pytest.mark.parametrize("trace", ["all", "stats", "off"])
def test_beside_a_loop(trace):
    b = wb.GraphBuilder("loop")
    n = b.placeholder("n", "int64")

    def body(x, i):
        b.multiply(b.add(x, 1.0), b.cast(i, dtype="float64"), name="seen")
        return x * 0.5, i + 1

    x, i = b.while_loop(lambda x, i: i < n, body, [8.0, 0], name="loop")
    b.sqrt(b.abs(x), name="root")
    doubled, _ = b.while_loop(lambda d, k: k < 3, lambda d, k: (d * 2.0, k + 1), [x, 0], name="second")
    b.add(doubled, 0.0, name="doubled")
    graph = b.build({"x": x})
    seen = next(k for k in graph.nodes if k.endswith("seen"))
    with wb.Session(graph, {"n": 2000}, trace=trace) as session:
        session.run()
        assert session.value("root") == np.sqrt(8.0 * 0.5**2000)
        assert session.value("doubled") == 8.0 * 0.5**2000 * 8
        assert session.value(seen, 3) == (1.0 + 1.0) * 3
        assert session.value(seen) == (8.0 * 0.5**1999 + 1.0) * 1999
        assert not {n.name for n in session.plan.layout.nodes} & {seen, "root", "doubled"}
        session.restart()
        with pytest.raises(TraceError) as caught:
            session.value("doubled")
        assert caught.value.slug == "not-computed" and "not finished" in caught.value.message


@pytest.mark.parametrize("taken", [True, False])
def test_a_side_that_is_not_taken_computes_nothing(taken):
    b = wb.GraphBuilder("branch")
    p, x = b.placeholder("p", "bool"), b.placeholder("x", "float64", (3,))
    y = b.cond(p, lambda: b.sin(x, name="yes"), lambda: b.cos(x, name="no"), name="if")
    graph = b.build({"y": y})
    for trace in ("all", "stats", "off"):
        with wb.Session(graph, {"p": taken, "x": np.ones(3)}, trace=trace) as session:
            session.run()
            fired = {t.node.rpartition("/")[2] for t in session.trace.events()}
            assert ("yes" in fired, "no" in fired) == (taken, not taken)


def test_unknown_names_stay_errors():
    with wb.Session(sides(), {"x": np.arange(4.0)}) as session:
        session.run()
        with pytest.raises(WorkbenchError) as caught:
            session.value("sidee")
        assert caught.value.slug == "unknown-value"
        with pytest.raises(WorkbenchError) as caught:
            session.value(Ref("nobody"))
        assert caught.value.slug == "unknown-value"
