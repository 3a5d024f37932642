"""An edit keeps the whole run without it, holds for whatever fires next, and can be undone."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.ir.programs import failing
from tests.session.test_edits import by_hand, newton
from workbench import StopReason as R
from workbench.errors import SessionError


def test_an_edit_after_a_step_back_keeps_the_whole_old_run():
    with wb.Session(newton(), {"a": 2.0}) as session:
        session.run()
        session.previous_iteration(4)
        at = session.position.event
        session.set_value("x", 10.0)
        session.run()
        (history,) = session.histories
        assert history.name == "before edit 1" and history.event > at
        assert history.trace["x"].values.tolist() == by_hand(2.0, 6, {})
        assert session.trace["x"].values.tolist() == by_hand(2.0, 6, {3: 10.0})
        found = wb.diff(session, history, labels=("this run", history.name))
        assert found["x"].iteration == (3,) and found["x"].value_b == by_hand(2.0, 6, {})[3]
        assert "set by hand" in str(found)


def test_a_restart_keeps_what_was_computed_before_it():
    with wb.Session(newton(), {"a": 2.0}) as session:
        session.run()
        session.restart()
        session.run_to("x", iteration=3)
        session.set_value("x", 10.0)
        session.run()
        session.restart()
        session.run_to("x", iteration=1)
        session.set_value("x", 5.0)
        first, second = session.histories
        assert first.trace["x"].values.tolist() == second.trace["x"].values.tolist() == by_hand(2.0, 6, {})
        assert second.name == "before edit 2"


def test_new_inputs_keep_the_run_as_far_as_it_had_come():
    with wb.Session(newton(), {"a": 2.0}) as session:
        session.run()
        session.previous_iteration(4)
        session.update(a=3.0)
        (history,) = session.histories
        assert history.trace["x"].values.tolist() == by_hand(2.0, 6, {}) and history.name == "earlier inputs 1"
        session.previous_iteration(5)
        session.set_value("x", 9.0)
        assert session.histories[1].trace["x"].values.tolist() == by_hand(3.0, 6, {})


@pytest.mark.parametrize("iteration", [0, 1, 5])
def test_a_loop_variable_takes_an_edit_before_its_merge_has_fired(iteration):
    wanted = by_hand(2.0, 6, {iteration: 10.0})
    with wb.Session(newton(), {"a": 2.0}) as session:
        session.run_to("x", iteration=iteration)
        stop = session.set_value("x", 10.0)
        assert stop.reason is R.EDITED and session.position.iteration == (iteration,)
        assert session.value("x") == 10.0 and session.trace["x"].values.tolist() == wanted[: iteration + 1]
        session.run()
        assert session.trace["x"].values.tolist() == wanted
        session.step_back(9)
        session.run()
        assert session.trace["x"].values.tolist() == wanted
        (edit,) = session.trace.edits()
        assert edit.before == by_hand(2.0, 6, {})[iteration]


def test_what_a_variable_will_be_next_stands_for_the_variable():
    """In the next iteration the body's result has not fired yet; its value on the screen is that of the variable."""
    with wb.Session(newton(), {"a": 2.0}) as session:
        session.run_to("while/divide", iteration=3)
        with pytest.raises(SessionError) as caught:
            session.set_value("while/divide", 1.0)
        assert caught.value.slug == "not-fired" and "computed again" in str(caught.value)
        session.set_value("while/multiply", 10.0)
        session.run()
        assert session.trace["x"].values.tolist() == by_hand(2.0, 6, {3: 10.0})


def test_undo_goes_back_to_the_run_without_the_edit():
    with wb.Session(newton(), {"a": 2.0}) as session:
        session.run()
        session.previous_iteration(4)
        here, before = session.position, session.termination()
        assert not session.can_undo
        session.set_value("x", 10.0)
        assert session.can_undo
        session.run()
        stop = session.undo_edit()
        assert stop.reason is R.UNDONE and "x is 1.41421" in stop.detail
        assert session.position == here and session.histories == () and session.trace.edits() == []
        assert not session.can_undo and str(session.termination()) == str(before)
        session.run()
        assert session.trace["x"].values.tolist() == by_hand(2.0, 6, {})
        session.previous_iteration(5)
        session.set_value("x", 7.0)
        assert session.histories[0].trace["x"].values.tolist() == by_hand(2.0, 6, {})


def test_edits_are_undone_one_by_one_also_those_at_one_place_and_those_ahead():
    with wb.Session(newton(), {"a": 2.0}) as session:
        session.run_to("x", iteration=4)
        session.set_value("x", 10.0)
        session.set_value("x", 11.0)
        session.run()
        session.run_to("x", iteration=1)
        session.set_value("x", 5.0)  # drops the two
        session.run()
        assert session.trace["x"].values.tolist() == by_hand(2.0, 6, {1: 5.0})
        session.undo_edit()
        session.run()
        assert session.trace["x"].values.tolist() == by_hand(2.0, 6, {4: 11.0})
        session.undo_edit()
        session.run()
        assert session.trace["x"].values.tolist() == by_hand(2.0, 6, {4: 10.0})
        session.undo_edit()
        session.run()
        assert session.trace["x"].values.tolist() == by_hand(2.0, 6, {})
        with pytest.raises(SessionError) as caught:
            session.undo_edit()
        assert caught.value.slug == "no-edit"


@pytest.mark.parametrize("drop", ["restart", "update"])
def test_what_drops_the_edits_leaves_none_to_undo(drop):
    with wb.Session(newton(), {"a": 2.0}) as session:
        session.run_to("x", iteration=2)
        session.set_value("x", 10.0)
        session.restart() if drop == "restart" else session.update(a=3.0)
        assert not session.can_undo
        with pytest.raises(SessionError, match="no edit to undo"):
            session.undo_edit()


def test_an_edit_of_an_input_is_undone():
    with wb.Session(newton(), {"a": 2.0}) as session:
        session.step()
        session.set_value("a", 9.0)
        session.run()
        assert session.trace["x"].values.tolist() == by_hand(9.0, 6, {})
        session.undo_edit()
        session.run()
        assert session.trace["x"].values.tolist() == by_hand(2.0, 6, {})


def test_a_run_that_failed_is_kept_up_to_the_node_that_failed():
    graph = failing()
    with wb.Session(graph, {"data": np.arange(6.0)}) as session:
        stop = session.run()
        assert stop.reason is R.FAILED
        kept, event = [repr(session.trace[n].firings()) for n in session.trace.names()], session.position.event
        session.step_back(4)
        name = next(n for n in session.trace.names() if _editable(session, n))
        assert session.histories[-1].event == event, name
        trace = session.histories[-1].trace
        assert [repr(trace[n].firings()) for n in trace.names()] == kept


def _editable(session: wb.Session, name: str) -> bool:
    try:
        session.set_value(name, np.asarray(session.value(name)) + 1)
    except wb.WorkbenchError:
        return False
    return True


def test_only_the_newest_histories_hold_their_values():
    with wb.Session(newton(), {"a": 2.0}) as session:
        for k in range(1, 9):
            session.run_to("x", iteration=3)
            session.set_value("x", float(k))
            assert len(session.histories[-1].trace["x"]) >= 3
        held = [h for h in session.histories if h._run is not None]
        assert len(held) <= 6
        assert session.histories[0].trace["x"].values.tolist() == by_hand(2.0, 3, {})[:3]


@pytest.mark.parametrize("iteration", [0, 3])
def test_the_place_of_an_edit_can_be_gone_to_from_both_sides(iteration):
    """The edit was made at the first node of an iteration: the run stops there, and does not pass it."""
    with wb.Session(newton(), {"a": 2.0}) as session:
        session.run_to("x", iteration=iteration)
        here = session.position
        session.set_value("x", 10.0)
        session.run()
        for _ in range(2):
            assert session.run_to("x", iteration=iteration).reason is R.TARGET and session.position == here
            assert session.next_iteration().position.iteration == (iteration + 1,)
            assert session.previous_iteration().position == here or iteration == 0
            session.run_to("x", iteration=5)
            assert session.run_to("x", iteration=iteration).position == here
            session.previous_iteration()
            assert session.run_to("x", iteration=iteration).reason is R.TARGET and session.position == here
        session.run()
        assert session.trace["x"].values.tolist() == by_hand(2.0, 6, {iteration: 10.0})
        assert session.value("x", iteration) == 10.0
