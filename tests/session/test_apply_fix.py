"""Fixes applied to a fork: every kind ends its loop, the values agree with the program fixed by hand, nothing else
changes."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.analysis import Fix
from workbench.errors import SessionError


def built(cond, body, init, **feeds):
    b = wb.GraphBuilder("g")
    given = {k: b.placeholder(k, np.asarray(v).dtype.name, ()) for k, v in feeds.items()}
    out = b.while_loop(lambda **v: cond(b, **given, **v), lambda **v: body(b, **given, **v), init)
    return wb.Session(b.build(out), feeds)


def forgotten():
    start = {"i": np.int64(0), "j": np.int64(1)}
    return built(lambda b, i, j: j < 10, lambda b, i, j: {"i": i + 1, "j": j}, start)


def newton(**more):
    f = np.float32
    return built(
        lambda b, x: b.abs(x * x - f(2)) > f(1e-9), lambda b, x: {"x": (x + f(2) / x) * f(0.5)}, {"x": f(1)}, **more
    )


def kind(session, wanted):
    return next(f for f in session.termination().fix if f.kind == wanted)


def test_a_raised_tolerance():
    with newton() as session:
        text = session.graph.text()
        fork = session.apply_fix(kind(session, "tolerance"))
        assert session.fixed.works and session.fixed.fork is fork and session.fixed.before.outcome == "never"
        assert fork.run().reason.name == "FINISHED" and fork.outputs["x"] == np.float32(2) ** np.float32(0.5)
        assert session.graph.text() == text and session.state == "ready" and fork.graph is not session.graph
        assert "The loop ends now, after 4 iterations." in str(session.fixed)


def test_a_threshold_that_is_an_input_is_fed():
    with built(lambda b, goal, x: x < goal, lambda b, goal, x: {"x": x * 0.5 + 1.0}, {"x": 0.0}, goal=3.0) as session:
        fork = session.apply_fix()
        assert fork.graph == session.graph, "only the feed differs"
        assert session.fixed.works and 1.9 < fork.termination().details["threshold"] < 2.0
        fork.run()
        assert fork.outputs["x"] >= fork.termination().details["threshold"]


def test_a_threshold_with_other_readers_is_changed_for_the_clause_alone():
    with built(
        lambda b, goal, x: x < goal, lambda b, goal, x: {"x": b.minimum(x * 0.5 + 1.0, goal)}, {"x": 0.0}, goal=3.0
    ) as session:
        fork = session.apply_fix()
        assert session.fixed.works and fork.run().reason.name == "FINISHED"
        by_hand = 0.0
        threshold = fork.termination().details["threshold"]
        while by_hand < threshold:
            by_hand = min(by_hand * 0.5 + 1.0, 3.0)
        assert fork.outputs["x"] == by_hand


def test_float64_instead_of_float32():
    with newton() as session:
        fork = session.apply_fix(kind(session, "dtype"))
        fork.run()
        x, steps = 1.0, 0
        while abs(x * x - 2.0) > 1e-9:
            x, steps = (x + 2.0 / x) * 0.5, steps + 1
        assert session.fixed.works and fork.outputs["x"].dtype == np.float64 and fork.outputs["x"] == x
        assert session.fixed.after.remaining == steps


def test_a_dtype_goes_through_branches_and_other_variables():
    f = np.float32

    def body(b, x, last):
        new = b.cond(x > f(1), lambda: x - (x * x - f(2)) / (x * f(2)), lambda: x + f(1))
        return {"x": new, "last": b.abs(new - x) + f(3e-8)}

    with built(lambda b, x, last: last > f(1e-9), body, {"x": f(0.5), "last": f(1)}) as session:
        assert session.termination().reason.slug == "floor"
        fork = session.apply_fix(kind(session, "dtype"))
        assert fork.graph.type_of("x").dtype == fork.graph.type_of("last").dtype == "float64"
        assert session.graph.type_of("x").dtype == "float32"


@pytest.mark.parametrize(("dtype", "start", "limit"), [(np.float32, 2**24 - 9, 2**24 + 90), (np.float16, 2000, 3000)])
def test_a_counter_in_int64(dtype, start, limit):
    with built(
        lambda b, i, total: i < dtype(limit),
        lambda b, i, total: {"i": i + dtype(1), "total": total + i * dtype(0)},
        {"i": dtype(start), "total": dtype(7)},
    ) as session:
        fork = session.apply_fix(kind(session, "dtype"))
        fork.run()
        assert session.fixed.works and session.fixed.after.remaining == limit - start
        assert fork.outputs["i"] == limit and fork.outputs["i"].dtype == np.int64
        assert fork.outputs["total"].dtype == dtype, "what else reads the counter gets its old dtype"


def test_a_capped_loop_makes_exactly_so_many_trips():
    with forgotten() as session:
        assert not session.termination().fix[0].applies
        fork = session.apply_fix()
        assert session.fixed.fix.kind == "cap" and session.fixed.after.remaining == session.fixed.fix.new == 1000
        fork.run()
        assert fork.outputs["i"] == 1000 and fork.outputs["j"] == 1


def test_a_halved_step():
    with built(
        lambda b, rate, x: b.abs(x) > 1e-6, lambda b, rate, x: {"x": x - rate * (x * 4.0)}, {"x": 3.0}, rate=0.5
    ) as session:
        fork = session.apply_fix()
        assert session.fixed.fix.kind == "step" and session.fixed.works
        assert any("0.25 instead of 0.5" in change for change in session.fixed.changes)
        fork.run()
        assert fork.outputs["x"] == 0.0
        for _ in range(3):
            session.next_iteration()
        assert session.value("x", 1) == -3.0, "the first session has kept its own rate"


def test_another_comparison_and_another_sign():
    with built(lambda b, n: b.not_equal(n, 0), lambda b, n: {"n": n - 3}, {"n": np.int32(100)}) as session:
        fork = session.apply_fix()
        fork.run()
        assert session.fixed.works and fork.outputs["n"] == -2
    with built(lambda b, n: 20 > n, lambda b, n: {"n": n - 3}, {"n": np.float64(5)}) as session:
        fork = session.apply_fix(0)
        fork.run()
        assert session.fixed.fix.kind == "sign" and fork.outputs["n"] == 20.0


def test_the_first_number_that_is_not_finite_ends_the_loop():
    with built(lambda b, x: b.not_equal(x, -1.0), lambda b, x: {"x": b.sqrt(x - 2.0)}, {"x": 7.0}) as session:
        fork = session.apply_fix()
        fork.run()
        assert session.fixed.fix.kind == "stop-at-nan" and session.fixed.works and np.isnan(fork.outputs["x"])


def test_the_fork_stands_where_it_is_asked_to():
    with newton() as session:
        for _ in range(4):
            session.next_iteration()
        position = session.position
        fork = session.apply_fix(kind(session, "dtype"), at="here")
        assert fork.position.iteration == position.iteration and session.position == position
        assert np.allclose(fork.value("x"), session.value("x"), rtol=1e-6), fork.position
        assert fork.value("x").dtype == np.float64
        assert session.apply_fix(kind(session, "dtype")).state == "ready"
        with pytest.raises(SessionError) as caught:
            session.apply_fix(at="there")
        assert caught.value.slug == "bad-place"


def test_the_fork_of_a_loop_that_would_have_ended_is_at_its_end():
    with newton() as session:
        for _ in range(30):
            session.next_iteration()
        fork = session.apply_fix(kind(session, "tolerance"), at="here")
        assert fork.state == "finished" and session.state == "paused"


def test_refusals_say_what_to_do_instead():
    with forgotten() as session:
        wrong = ((0, "fix-not-applicable"), (7, "no-fix"), ("x", "no-fix"), (Fix("try harder"), "fix-not-applicable"))
        for given, slug in wrong:
            with pytest.raises(SessionError) as caught:
                session.apply_fix(given)
            assert caught.value.slug == slug and caught.value.fix
        assert session.fixed is None
    with built(lambda b, i: i < 10, lambda b, i: {"i": i + 1}, {"i": np.int64(0)}) as session:
        with pytest.raises(SessionError) as caught:
            session.apply_fix()
        assert caught.value.slug == "no-fix"


def test_a_threshold_that_is_computed_cannot_be_moved():
    with built(
        lambda b, goal, x: x < goal * goal, lambda b, goal, x: {"x": x * 0.5 + 1.0}, {"x": 0.0}, goal=3.0
    ) as session:
        tolerance = kind(session, "tolerance")
        with pytest.raises(SessionError) as caught:
            session.apply_fix(tolerance)
        assert caught.value.slug == "fix-no-constant"


def test_fixes_are_sentences():
    with newton() as session:
        fix = session.termination().fix[0]
        assert isinstance(fix, str) and fix.startswith("raise the threshold") and "abs(" in fix
        assert (fix.kind, fix.applies, fix.new) == ("tolerance", True, 2e-7)
