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
    assert claims("chased")["ray"].sentence.endswith("each iteration changes x by 3 and y by 3, for ever.")
    assert "every 2 iterations change i by 2" in claims("growing_swing")["ray"].sentence
