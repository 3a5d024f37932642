"""After a long look-ahead: the nearest approach at both its ends, and no end that is told to be a few steps beyond."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.evaluation.heldout.machines import graph
from workbench.analysis.proof.lookahead_floor import nearest


def orbit(x, v):
    return {"x": x + 0.05 * v, "v": v + 0.05 * ((1.0 - x * x) * v - x)}


@pytest.mark.parametrize("iterations", [0, 19])
def test_a_limit_cycle_stays_away_from_the_origin(iterations):
    built, feeds = graph({"x": 0.1, "v": 0.0}, lambda x, v: abs(x) + abs(v) > 0.05, orbit)()
    with wb.Session(built, feeds) as session:
        for _ in range(iterations):
            session.next_iteration()
        answer = session.termination()
    assert (answer.status.name, answer.outcome) == ("PREDICTED", "never"), answer


def test_a_slow_orbit_is_seen_at_larger_strides():
    """Predators and prey, some 310 iterations a turn: a law of the first twenty ends where the look-ahead has been."""

    def hunted(x, y):
        u = x + 0.02 * x * (1.0 - y)
        return {"x": u, "y": y + 0.02 * y * (u - 1.0)}

    built, feeds = graph({"x": 1.5, "y": 1.0}, lambda x, y: x > 0.05, hunted)()
    with wb.Session(built, feeds) as session:
        session.next_iteration(20)
        answer = session.termination()
    assert (answer.status.name, answer.outcome) == ("PREDICTED", "never"), answer
    assert "in about" not in answer.reason.sentence and "as near as 0.57" in answer.reason.sentence


@pytest.mark.slow
@pytest.mark.parametrize("iterations", [0, 7, 19])
def test_what_did_not_happen_in_millions_of_iterations_is_not_told_to_be_next(iterations):
    """Newton's method without a root: an orbit of bursts, each of which falls as if it went on falling."""
    step = lambda x: {"x": x - (x * x + 1.0) / (2.0 * x)}  # noqa: E731
    built, feeds = graph({"x": 0.7}, lambda x: x * x + 1.0 > 0.5, step)()
    with wb.Session(built, feeds) as session:
        for _ in range(iterations):
            session.next_iteration()
        assert session.termination().outcome != "terminates"


def clause(values, threshold=0.0):
    return [(float(value), threshold) for value in values]


def test_only_what_turns_and_comes_as_near_in_both_stretches_has_a_floor():
    k = np.arange(400)
    wave = 2.0 + np.cos(0.3 * k)
    assert nearest(clause(wave), clause(wave[::-1])) == pytest.approx(1.0, abs=0.01)
    assert nearest(clause(wave), clause(0.5 + 0.3 * np.cos(0.3 * k))) is None  # it comes nearer
    assert nearest(clause(2 + 0.99**k), clause(2 + 0.99**k)) is None  # it does not turn
    assert nearest(clause(np.cos(0.3 * k)), clause(np.cos(0.3 * k))) is None  # it has crossed
    assert nearest(clause(wave[:40]), clause(wave[:40])) is None  # too few


def test_a_slow_drift_is_no_floor():
    """A rotation in float32 whose radius grows by rounding: in millions of iterations it comes nearer by 7 percent."""
    c, s = np.float32(0.7648422), np.float32(0.64421767)

    def turned(x, y):
        return {"x": c * x - s * y, "y": s * x + c * y}

    built, feeds = graph(
        {"x": np.float32(1), "y": np.float32(0)}, lambda x, y: x * x + y * y < np.float32(1.5), turned
    )()
    with wb.Session(built, feeds) as session:
        assert session.termination().outcome != "never"
    k = np.arange(400)
    wave = 0.5 + 1e-6 * np.cos(0.3 * k)
    assert nearest(clause(wave), clause(wave - 0.03)) is None and nearest(clause(wave), clause(wave)) is not None
