"""Rays of small arrays: exact ends, stalls far ahead told from the firings there, and nothing that is not so."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb

f32, i64 = np.float32, np.int64


def asked(function, *values):
    graph = wb.graph(function).graph_for(*values)
    with wb.Session(graph, dict(zip(graph.inputs, values, strict=True))) as session:
        return session.termination()


def stalls_in_one_item(low, goal):
    x = np.array([low, 1], dtype=np.float32)
    while x.sum() < goal:
        x = x + np.float32(1)
    return x


@pytest.mark.parametrize(("low", "goal"), [(-5e7, 10.0), (-6e7, 10.0), (-5e7, -3e7)])
def test_an_array_that_stalls_is_told_from_the_iteration_in_which_it_does(low, goal):
    answer = asked(stalls_in_one_item, low, goal)
    assert (answer.status.name, answer.outcome) == ("PROVED", "never"), answer
    assert answer.first_bad == 2**24 - 1
    rests = next(c for c in answer.claims if c.kind == "rests")
    assert rests.value == f32(low) + f32(2**24) and str(float(rests.value)) in answer.reason.sentence
    assert any(c.kind == "absorbed" for c in answer.claims) and all(c.check() for c in answer.claims)
    assert "147,5" not in str(answer)


def counts_in_items(goal):
    x = np.array([0, 5])
    while x.sum() < goal:
        x = x + np.array([1, 2])
    return x


def counts_behind_a_mask(goal):
    x = np.array([0, 0, 0])
    while np.max(x) < goal:
        x = np.where(x < 7, x + 2, x + np.array([1, 0, 3]))
    return x


def counts_in_a_row(goal):
    x = np.array([[0, 1], [2, 3]])
    while x[0, 0] < goal:
        x = np.concatenate([x[1:], x[:1] + 1])
    return x


def counts_in_one_place(goal):
    x = np.zeros(3)
    while x[1] < goal:
        x[1] += 0.5
    return x


@pytest.mark.parametrize("loop", [counts_in_items, counts_behind_a_mask, counts_in_a_row, counts_in_one_place])
def test_the_end_of_an_array_is_exact_however_far_it_is(loop):
    def trips(goal):
        graph = wb.graph(loop).graph_for(goal)
        with wb.Session(graph, {"goal": goal}) as session:
            answer = session.termination()
            assert (answer.status.name, answer.outcome) == ("PROVED", "terminates"), answer
            if goal < 1000:
                session.run()
                assert session.termination().end.iterations == answer.remaining
        return answer.remaining

    near = [trips(goal) for goal in (100, 106, 112)]
    slope = (near[2] - near[0]) / 12
    assert abs(trips(6 * 10**8) - (near[0] + slope * (6 * 10**8 - 100))) <= 3


def rounds_in_a_sum(goal):
    x = np.array([0.1, 0.2, 0.3], dtype=np.float32)
    while x.sum() < goal:
        x = x + np.float32(0.1)
    return x


def test_sums_that_are_rounded_in_the_order_of_their_terms_are_not_followed():
    """Three items: another order of the additions gives another sum, so only what was run is told."""
    with wb.Session(wb.graph(rounds_in_a_sum).graph_for(30.0), {"goal": 30.0}) as session:
        answer = session.termination()
        session.run()
        assert answer.remaining == session.termination().end.iterations


def slow_clock(limit):
    time = 0.0
    while time <= limit:
        time += 1.0
    return time


@pytest.mark.parametrize("limit", [1e17, 3e16, 1e300])
def test_a_counter_that_stalls_far_ahead_is_shown_where_it_stalls(limit):
    answer = asked(slow_clock, limit)
    assert (answer.status.name, answer.outcome, answer.first_bad) == ("PROVED", "never", 2**53), answer
    assert "147,520" not in str(answer) and "147520" not in str(answer)
    assert answer.details["clause_iteration"] >= 2**53
    assert {"rests", "absorbed", "period"} <= {c.kind for c in answer.claims} and all(c.check() for c in answer.claims)


def test_the_iterations_of_a_stall_far_ahead_are_the_same_from_the_middle_of_the_run():
    with wb.Session(wb.graph(slow_clock).graph_for(1e17), {"limit": 1e17}) as session:
        session.next_iteration(30)
        answer = session.termination()
    assert answer.first_bad == 2**53
    (period,) = [c for c in answer.claims if c.kind == "period"]
    assert (period.since, period.n) == (2**53, 1)


def passes(step):
    x = np.float32(0)
    while x != np.float32(9.3):
        x = x + step
    return x


def test_what_passes_its_one_goal_is_not_told_to_stall_behind_it():
    answer = asked(passes, f32(0.3))
    assert (answer.status.name, answer.outcome, answer.reason.slug) == ("PROVED", "never", "steps-over"), answer
