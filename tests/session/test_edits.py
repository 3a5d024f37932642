"""Editing a value where a session stands: a fork that every replay repeats, with the first history kept."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.ir.programs import failing
from workbench import StopReason as R
from workbench.errors import SessionError


def newton() -> wb.Graph:
    b = wb.GraphBuilder("newton")
    a = b.placeholder("a")
    x = b.while_loop(lambda x, n: n < 6, lambda x, n: ((x + a / x) * 0.5, n + 1), {"x": a, "n": b.constant(0)})
    return b.build({"x": x["x"]})


def by_hand(a: float, steps: int, edits: dict[int, float]) -> list[float]:
    """The series of x; an edit replaces x in its iteration."""
    x, found = a, []
    for k in range(steps + 1):
        x = edits.get(k, x)
        found.append(x)
        x = (x + a / x) * 0.5
    return found


def test_the_run_goes_on_with_the_edited_value():
    with wb.Session(newton(), {"a": 2.0}) as session:
        session.run_to("x", 3)
        session.step()  # past the Merge of x
        stop = session.set_value("x", 10.0)
        assert stop.reason is R.EDITED and "x = 10.0" in stop.detail and "1.41421" in stop.detail
        assert session.state == "paused" and session.value("x", 3) == 10.0
        assert session.resume().reason is R.FINISHED
        assert session.trace["x"].values.tolist() == by_hand(2.0, 6, {3: 10.0})
        assert session.outputs["x"] == by_hand(2.0, 6, {3: 10.0})[-1]


def test_every_replay_has_the_edit_and_the_first_history_is_kept():
    with wb.Session(newton(), {"a": 2.0}) as session:
        session.run_to("x", 3)
        session.step()
        session.set_value("x", 10.0)
        session.run()
        wanted = by_hand(2.0, 6, {3: 10.0})
        for _ in range(12):
            session.step_back()
        session.run_to("x", 1)
        assert session.trace["x"].values.tolist() == wanted[: len(session.trace["x"])]
        session.run_to("x", 5)
        session.run()
        assert session.trace["x"].values.tolist() == wanted
        (history,) = session.histories
        assert history.trace["x"].values.tolist() == by_hand(2.0, 3, {}) and "10.0" in repr(history)


def test_a_second_edit_further_back_drops_the_first():
    with wb.Session(newton(), {"a": 2.0}) as session:
        for at, value in ((4, 10.0), (2, 5.0)):
            session.run_to("x", at)
            session.step()
            session.set_value("x", value)
        session.run()
        assert session.trace["x"].values.tolist() == by_hand(2.0, 6, {2: 5.0})
        assert len(session.histories) == 2
        assert session.histories[1].trace["x"].values.tolist() == by_hand(2.0, 4, {4: 10.0})  # with the first


def test_restart_begins_without_the_edits():
    with wb.Session(newton(), {"a": 2.0}) as session:
        session.step()  # the loop has not begun, so that both its variables' starts come from the edit
        session.set_value("a", 9.0)
        session.run()
        assert session.trace["x"].values.tolist() == by_hand(9.0, 6, {})
        assert session.restart().reason is R.STARTED
        session.run()
        assert session.trace["x"].values.tolist() == by_hand(2.0, 6, {})


def vectors() -> wb.Graph:
    b = wb.GraphBuilder("vectors")
    a, step = b.placeholder("a", "float64", (3,)), b.placeholder("step", "float64", (3,))
    x = b.while_loop(lambda x, n: n < 40, lambda x, n: (x + step, n + 1), {"x": a, "n": b.constant(0)})
    return b.build({"x": x["x"]})


def test_an_edited_array_of_the_outermost_level_is_undone_behind_its_place():
    """Replays from in front of the edit compute with the old value up to it."""
    with wb.Session(vectors(), {"a": np.zeros(3), "step": np.ones(3)}) as session:
        session.run_to("x", 10)
        session.step()
        session.set_value("step", [10.0, 10.0, 10.0])
        session.run()
        wanted = [float(k) if k <= 10 else 10.0 + 10.0 * (k - 10) for k in range(41)]
        assert session.trace["x"].values[:, 0].tolist() == wanted
        session.run_to("x", 5)
        assert session.trace["x"].values[:, 0].tolist() == wanted[:5]
        session.run()
        assert session.trace["x"].values[:, 0].tolist() == wanted


def test_a_failing_run_goes_on_after_an_edit():
    """Step back, edit, go on: the report of the failure says so."""
    with wb.Session(failing(), {"data": np.arange(6.0)}) as session:
        stop = session.run()
        assert stop.reason is R.FAILED and "session.set_value" in str(stop.error.report)
        before = session.trace["s"].values.tolist()
        session.set_value("while/stack:0", [2, 3])
        assert session.step().reason is R.STEP and session.trace["s"].values.tolist() == before
        assert session.value("while/reshape:0").shape == (2, 3)


def branch() -> wb.Graph:
    b = wb.GraphBuilder("branch")
    a, p = b.placeholder("a"), b.placeholder("p", "bool")
    return b.build({"y": b.cond(p, lambda: a + 1.0, lambda: a - 1.0) * 2.0})


def test_an_edit_in_front_of_a_merge_reaches_it():
    """Values that were copied ahead for the node that comes next are edited too."""
    with wb.Session(branch(), {"a": 1.0, "p": True}) as session:
        session.run_to("cond/Merge")
        session.set_value("cond/add", 7.0)
        session.run()
        assert session.outputs["y"] == 14.0
        session.restart()
        session.run_to("cond/Merge")
        session.step()
        session.set_value("cond/add", 7.0)  # the Merge has taken the old value on
        session.run()
        assert session.outputs["y"] == 4.0


PREDICATES = ["p", "cond/p/Switch:1", "cond/switch_t", "cond/p/Switch"]


@pytest.mark.parametrize("name", PREDICATES)
def test_a_predicate_cannot_change_once_its_switch_has_decided(name):
    """The Merge would take the side that was never computed."""
    with wb.Session(branch(), {"a": 1.0, "p": True}) as session:
        session.run_to("cond/Merge")
        for _ in range(3):
            try:
                session.set_value(name, False)
            except SessionError as error:
                assert error.slug in ("already-decided", "dead-value", "not-fired")
                assert error.slug != "already-decided" or "cond/a/Switch" in str(error) and "step back" in error.fix
            else:
                raise AssertionError("an edit after the decision was taken")
            session.step_back()
        assert session.run().reason is R.FINISHED and session.outputs["y"] == 4.0 and not session.histories
        session.restart()
        session.run_to("cond/a/Switch")
        session.set_value("p", False)  # nothing has been decided by it
        session.run()
        assert session.outputs["y"] == 0.0 and session.trace["cond/add"].values.tolist() == []


def test_the_same_predicate_may_be_written_again():
    with wb.Session(branch(), {"a": 1.0, "p": True}) as session:
        session.run_to("cond/Merge")
        assert session.set_value("p", True).reason is R.EDITED
        session.run()
        assert session.outputs["y"] == 4.0


def test_a_loop_condition_cannot_change_once_its_switches_have_fired():
    with wb.Session(newton(), {"a": 2.0}) as session:
        session.run_to("while/divide", 2)
        with pytest.raises(SessionError) as caught:
            session.set_value("while/less", False)
        assert caught.value.slug == "already-decided"
        session.run_to("while/LoopCond", 2)
        session.set_value("while/less", False)
        session.run()
        assert session.trace["x"].values.tolist() == by_hand(2.0, 2, {})
        assert session.outputs["x"] == by_hand(2.0, 2, {})[-1]


@pytest.mark.parametrize(
    ("name", "value", "slug"),
    [
        ("x", "text", "bad-edit"),
        ("x", [1.0, 2.0], "bad-edit"),
        ("x", 1j, "bad-edit"),
        ("n", 2.5, "bad-edit"),
        ("while/Const", 1, "not-editable"),
        ("while/divide", 1.0, "not-fired"),
    ],
)
def test_what_cannot_be_edited_says_why(name, value, slug):
    with wb.Session(newton(), {"a": 2.0}) as session:
        session.run_to("while/n/Switch", 2)
        session.step()
        with pytest.raises(SessionError) as caught:
            session.set_value(name, value)
        assert caught.value.slug == slug
        session.run()
        assert session.trace["x"].values.tolist() == by_hand(2.0, 6, {}) and not session.histories


def test_a_value_of_a_loop_that_is_over_cannot_be_edited():
    with wb.Session(newton(), {"a": 2.0}) as session:
        session.run()
        with pytest.raises(SessionError) as caught:
            session.set_value("while/divide", 1.0)
        assert caught.value.slug == "not-editable" and "not open" in str(caught.value)
