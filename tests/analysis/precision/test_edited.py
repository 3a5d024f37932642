"""A NaN or an infinity that a user wrote into a run: the edit is the origin, not a node that passed it on."""

from __future__ import annotations

import math

import numpy as np
import pytest

import workbench as wb

MODES = (
    "all",
    "carried",
    "stats",
    "off",
    wb.Retention("none"),
    wb.Retention("carried"),
    wb.Retention("window", window=2),
    wb.Retention("statistics"),
    wb.Retention("all", memory=20_000),
)
FEEDS = {"limit": 40.0, "step": 1.0, "scale": 0.25}


def invariants() -> wb.Graph:
    """A loop that reads a computed limit, an input and a computed factor of the outside; one more loop inside of it."""
    b = wb.GraphBuilder("invariants")
    limit, step, scale = (b.placeholder(name) for name in FEEDS)
    bound, factor = b.add(limit, 0.0, name="bound"), b.multiply(scale, 2.0, name="factor")

    def body(i, x):
        inner = b.while_loop(
            lambda j, z: j < 2.0,
            lambda j, z: (j + 1.0, z + factor * 0.0),
            (b.constant(0.0), b.constant(0.0)),
            name="inner",
        )[1]
        return i + 1.0, x * factor + step + inner

    out = b.while_loop(lambda i, x: i < bound, body, {"i": b.constant(0.0), "x": b.constant(1.0)}, name="outer")
    return b.build({"x": out["x"]})


def edited(session: wb.Session, name: str, value: float, iteration: int = 3) -> None:
    """A value written after a number of iterations, before the body."""
    session.next_iteration(1 + iteration)
    session.run_to("outer/x/Switch")
    session.set_value(name, value)


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("name", ["factor", "step", "x", "bound"])
def test_the_edit_is_the_origin(mode, value, name):
    with wb.Session(invariants(), FEEDS, trace=mode) as session:
        edited(session, name, value)
        session.next_iteration(4)
        for source in (session, session.trace):
            found = wb.nan_origin(source, kind="nan" if math.isnan(value) else "inf")
            assert found is not None and found.edited and found.name.removesuffix(":0") == name and found.operands == ()
            assert "edit" in found.text() and found.to_data()["edited"]
            assert found.iteration == ((3,) if name == "x" else ())


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_what_went_bad_before_the_edit_is_still_found(mode):
    """The invariant that is edited later was finite when a node that reads it gave the first NaN."""
    b = wb.GraphBuilder("before")
    factor = b.multiply(b.placeholder("scale"), 2.0, name="factor")
    out = b.while_loop(
        lambda i, x: i < 40.0,
        lambda i, x: (i + 1.0, b.sqrt(3.0 - i, name="root") * factor + x * 0.5),
        {"i": b.constant(0.0), "x": b.constant(1.0)},
        name="outer",
    )
    with wb.Session(b.build({"x": out["x"]}), {"scale": 1.0}, trace=mode) as session:
        session.next_iteration(8)
        session.run_to("outer/x/Switch")
        session.set_value("factor", math.nan)
        session.next_iteration(2)
        found = wb.nan_origin(session)
        assert found is not None and not found.edited and found.op == "sqrt" and found.iteration == (4,)


def test_an_infinity_behind_a_nan_is_the_edit():
    with wb.Session(invariants(), FEEDS) as session:
        edited(session, "factor", math.inf)
        session.next_iteration(3)
        found = wb.nan_origin(session, kind="nan")
        assert not found.edited and found.because is not None and found.because.edited
        assert found.because.node == "factor"


def test_steps_back_in_front_of_the_edit_take_it_back():
    with wb.Session(invariants(), FEEDS) as session:
        edited(session, "factor", math.nan)
        session.next_iteration(2)
        assert wb.nan_origin(session).edited
        session.previous_iteration()
        session.previous_iteration()
        session.previous_iteration()
        assert wb.nan_origin(session) is None


def test_an_edit_that_was_written_over_at_once_is_none():
    with wb.Session(invariants(), FEEDS) as session:
        edited(session, "factor", math.nan)
        session.set_value("factor", 0.5)
        session.next_iteration(2)
        assert wb.nan_origin(session) is None


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize(("limit", "ends"), [(20.0, 20), (-1.0, 3), (5.0, 5)])
def test_the_clause_shows_the_invariant_as_it_was_edited(mode, limit, ends):
    """The explanation of an answer looks ahead with the edits, as the answer itself does."""
    with wb.Session(invariants(), FEEDS, trace=mode) as session:
        session.next_iteration(4)
        session.set_value("bound", limit)
        answer = session.termination()
        assert answer.remaining == max(ends - 3, 0)
        assert f"({float(max(ends, 3))} < {limit})" in answer.blocking_clause
        assert answer.gap is None or np.isclose(answer.gap.values[0], abs(limit - answer.gap.iterations[0]))


def test_a_loop_that_hangs_by_an_edited_invariant_names_the_edit():
    b = wb.GraphBuilder("hangs")
    step = b.add(b.placeholder("step"), 0.0, name="step_")
    out = b.while_loop(lambda x: b.logical_not(x >= 9.0), lambda x: x + step, {"x": b.constant(0.0)}, name="outer")
    with wb.Session(b.build({"x": out["x"]}), {"step": 1.0}) as session:
        session.next_iteration(3)
        session.set_value("step_", math.nan)
        answer = session.termination()
        assert (answer.outcome, answer.reason.slug) == ("never", "nan"), str(answer)
        assert answer.details["origin"] == "step_" and "edited" in answer.details["origin_text"]
