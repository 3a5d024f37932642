"""Claims of proofs: they hold when they are recomputed, and not when a number of theirs is another one."""

from dataclasses import replace

import pytest

import workbench as wb
from tests.analysis.proof.fresh_loops import FRESH
from tests.analysis.proof.public_loops import PUBLIC

LOOPS = {f.__name__: f for f in (*FRESH.never, *PUBLIC.never, *(f for f, _ in (*FRESH.counted, *PUBLIC.counted)))}


def claims(name):
    with wb.Session(wb.graph(LOOPS[name]).graph_for(), {}) as session:
        return {c.kind: c for c in session.termination().claims}


@pytest.mark.parametrize("name", ["chased", "growing_swing", "late_turn", "sweeps_to_the_end"])
def test_a_ray_holds_and_another_one_does_not(name):
    ray = claims(name)["ray"]
    assert ray.check() and ray.sentence
    assert not replace(ray, period=ray.period + 1).check()
    assert not replace(ray, steps={n: v + 1 for n, v in ray.steps.items()} or {"x": 1}).check()
    body, stretch = ray.evidence
    far = replace(stretch, periods=None if stretch.periods else 5)
    assert not replace(ray, periods=far.periods, evidence=(body, far)).check()


@pytest.mark.parametrize("name", ["chased", "sum_of_ints", "leapfrog"])
def test_the_end_of_64_bits_is_that_iteration(name):
    end = claims(name)["overflow"]
    assert end.check() and "fresh_loops.py" in end.node
    assert not replace(end, iteration=end.iteration - 1).check()
    assert not replace(end, iteration=end.iteration + 1).check()


@pytest.mark.parametrize("name", ["pell", "wrapped_cubes", "fibonacci_cassini", "small_ring"])
def test_an_identity_holds_and_another_one_does_not(name):
    found = claims(name)["identity"]
    assert found.check()
    assert not replace(found, zero=not found.zero).check()
    assert not replace(found, polynomial=found.polynomial + " + 1").check()


def test_what_is_said_of_steps_is_english():
    stays = "each iteration changes x by 3 and y by 3 for ever, and the condition stays true."
    assert claims("chased")["ray"].sentence.endswith(stays)
    assert "every 2 iterations change i by 2" in claims("growing_swing")["ray"].sentence


def ring(n: int) -> int:
    i = 0
    while i <= n:
        i = (i + 1) % 50
    return i


def chaotic(n: float) -> float:
    x = 0.3
    while x < n:
        x = 3.9 * x * (1.0 - x)
    return x


def answer_about(function, n):
    with wb.Session(wb.graph(function).graph_for(n), {"n": n}) as session:
        return session.termination()


def test_a_ring_that_a_range_encloses_is_told_by_its_turns():
    """The recurrence behind the last ray of a proof by ranges: the ray is part of it."""
    answer = answer_about(ring, 50)
    (circles,) = [c for c in answer.claims if c.kind == "circles"]
    assert (circles.n, int(circles.lowest), int(circles.highest), circles.always) == (50, 0, 49, True)
    (period,) = [c for c in answer.claims if c.kind == "period"]
    assert period.n == 50 and period.check() and not replace(period, n=100).check()
    assert answer.reason.sentence.startswith("i repeats its values every 50 iterations, from 0 to 49, and i <= n is")


def test_numbers_that_never_leave_a_range_are_told_by_its_bounds():
    answer = answer_about(chaotic, 0.9999)
    (bounded,) = [c for c in answer.claims if c.kind == "bounded"]
    low, high = bounded.bounds["x"]
    x, seen = 0.3, []
    for k in range(20_000):
        x = 3.9 * x * (1.0 - x)
        seen += [x] * (k + 1 >= bounded.since)
    assert 0.05 < low <= min(seen) and max(seen) <= high < 0.9999
    assert bounded.check() and not replace(bounded, bounds={"x": (low, 0.5)}).check()
    program, state, following, boxes = bounded.evidence
    assert not replace(bounded, evidence=(program, {"x": high + 0.01}, following, boxes)).check()
    assert "stays between 0.0570673" in answer.reason.sentence and "observed" not in [c.kind for c in answer.claims]
