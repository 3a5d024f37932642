"""A condition that depends on random numbers gets a probability; never a proof, and never "never"."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.analysis import Status


def waiting(chance: float) -> wb.Graph:
    """A loop that each iteration leaves with this chance."""
    b = wb.GraphBuilder("waiting")
    shape = b.constant(np.array([], np.int32))

    def go_on(i):
        return b.random_uniform(shape, dtype="float64") >= chance

    return b.build(b.while_loop(go_on, lambda i: i + 1, {"i": b.constant(0, "int64")}))


def walking() -> wb.Graph:
    """A walk of normal steps, until it is 10 away."""
    b = wb.GraphBuilder("walking")
    shape = b.constant(np.array([], np.int32))
    step = lambda x: x + b.random_normal(shape, dtype="float64")  # noqa: E731
    return b.build(b.while_loop(lambda x: abs(x) < 10.0, step, {"x": b.constant(0.0)}))


def test_the_median_and_range_of_a_geometric_number():
    with wb.Session(waiting(0.05)) as session:
        answer = session.termination()
        assert (answer.status, answer.outcome, answer.reason.slug) == (Status.PREDICTED, "terminates", "draws")
        low, high = answer.interval
        # exact: median 13, 5 % and 95 % quantiles 1 and 58
        assert 8 <= answer.remaining <= 19 and low <= 3 and 35 <= high <= 90, str(answer)
        assert answer.confidence > 0.9 and answer.details["probability"] == answer.confidence
        assert "random_uniform" in answer.reason.sentence


def test_the_same_question_gets_the_same_answer():
    with wb.Session(waiting(0.1)) as one, wb.Session(waiting(0.1)) as other:
        assert str(one.termination()) == str(other.termination())


def test_the_run_itself_draws_as_before():
    """A simulation during the run does not change the run's draws."""
    with wb.Session(walking()) as asked, wb.Session(walking()) as plain:
        for _ in range(5):
            asked.next_iteration()
            asked.termination()
        asked.run()
        plain.run()
        assert asked.trace["x"].values.tobytes() == plain.trace["x"].values.tobytes()


def test_the_present_state_counts():
    """Within a walk the answer starts from its current position; after a true condition, at least one is left."""
    with wb.Session(walking()) as session:
        start = session.termination()
        assert 30 <= start.remaining <= 200, str(start)  # about 10² / 1²
        session.run_to("x", 3)
        session.step_over()
        assert session.termination().status is Status.PREDICTED


@pytest.mark.parametrize("chance", [0.0, 1e-7])
def test_what_never_ended_gets_a_bound(chance):
    with wb.Session(waiting(chance)) as session:
        answer = session.termination()
        assert answer.status is Status.UNKNOWN and answer.outcome is None and answer.reason.slug == "draws"
        assert "at most" in answer.reason.sentence, answer.reason


@pytest.mark.slow
def test_intervals_hold_for_runs_that_were_not_simulated():
    """Of runs with other seeds, about nine of ten end within the interval."""
    inside = 0
    for seed in range(30):
        b = wb.GraphBuilder("waiting")
        shape = b.constant(np.array([], np.int32))
        go_on = lambda i: b.random_uniform(shape, dtype="float64", seed=1 + seed, seed2=7) >= 0.1  # noqa: B023, E731
        with wb.Session(b.build(b.while_loop(go_on, lambda i: i + 1, {"i": b.constant(0, "int64")}))) as session:
            low, high = session.termination().interval
            session.run()
            inside += low <= int(session.outputs["i"]) <= high
    assert 24 <= inside <= 30
