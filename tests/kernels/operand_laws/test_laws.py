"""The compiled laws against plain NumPy: errors of free runs, crossings, and whole answers; and what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest

laws = pytest.importorskip("workbench.kernels.laws", reason="the compiled kernels are not built")
from tests.evaluation.random_loops.families import RandomLoop, all_loops  # noqa: E402
from tests.kernels.reference import operand_laws as twin  # noqa: E402
from workbench.analysis import TerminationMonitor  # noqa: E402
from workbench.analysis.forecast import crossing_time  # noqa: E402

EPS = 2.2e-16
LENGTHS = (7, 12, 25, 60, 150)


def operands() -> list[tuple[RandomLoop, np.ndarray, str, float]]:
    """(loop, values, comparison, threshold) of the loops of all families that compare with a fixed number."""
    out = []
    for loop in all_loops(1, 3):
        seen = [clauses[0] for _, cond, clauses in loop.observations(max(LENGTHS)) if cond]
        x = np.array([float(lhs) for lhs, _, _ in seen])
        if len(seen) > min(LENGTHS) and np.all(np.isfinite(x)) and len({float(rhs) for _, _, rhs in seen}) == 1:
            out.append((loop, x, seen[0][1], float(seen[0][2])))
    return out


OPERANDS = operands()


@pytest.mark.parametrize("n", LENGTHS)
def test_free_runs_go_as_far_wrong_as_those_of_the_twin(n):
    agree = rounded = 0
    for _, x, *_ in OPERANDS:
        x = x[:n]
        with np.errstate(all="ignore"):
            slow = {(f.law.name, f.start): f.error for f in twin.try_all(x, max(1, len(x) // 4), EPS)}
        fast = {(f.law.name, f.start): f.error for f in laws.select(x, max(1, len(x) // 4), EPS)}
        for key in slow.keys() | fast.keys():
            a, b = slow.get(key, math.inf), fast.get(key, math.inf)
            if min(a, b) > 10:
                continue  # hopeless
            same = abs(a - b) <= 1e-11 + 1e-4 * max(a, b)
            agree, rounded = agree + same, rounded + (not same)
    # a fit whose columns are independent by no more than rounding has no error of its own
    assert agree > 200 and rounded < 0.04 * agree


def answer(loop: RandomLoop, n: int) -> tuple:
    """A monitor's answer after n evaluations of a loop."""
    monitor = TerminationMonitor()
    for state, cond, clauses in loop.observations(n):
        if not cond:
            break
        monitor.observe(state, cond, clauses, loop.logic)
    found = monitor.prediction()
    return found.status.name, found.outcome, found.remaining, found.interval, found.reason.slug, found.confidence


@pytest.mark.parametrize("n", LENGTHS)
def test_answers_are_those_of_the_twin(n, monkeypatch):
    loops = list(all_loops(1, 3))
    fast = [answer(loop, n) for loop in loops]
    monkeypatch.setattr(crossing_time, "try_all", twin.try_all)
    monkeypatch.setattr(crossing_time, "again", twin.again)
    slow = [answer(loop, n) for loop in loops]
    differ = [(loop.family, a, b) for loop, a, b in zip(loops, slow, fast, strict=True) if a != b]
    ends = [(family, a, b) for family, a, b in differ if a[:-1] != b[:-1]]
    # one end may hang on a rounding; so may the kind of a law with an error near 1e-8, and with it the confidence alone
    assert len(loops) > 50 and len(ends) <= 1 and len(differ) <= 3, differ


def test_laws_find_the_same_first_crossing():
    asked = 0
    for loop, x, op, t in OPERANDS:
        x = x[:60]
        if (
            loop.kind != "smooth"
        ):  # values of the others may meet the threshold, and laws fitted to rounding pass it or not
            continue
        with np.errstate(all="ignore"):
            for tried in twin.try_all(x, max(1, len(x) // 4), EPS)[:4]:
                slow, fast = (
                    twin.again(x, tried),
                    laws.fit(x[tried.start :], tried.group, tried.law.name, tried.monotone),
                )
                if slow is None or fast is None or tried.error > 1e-6:
                    continue
                k, found = slow.first(op, t), fast.first(op, t)
                asked += 1
                # a law that is fitted to rounding may cross one evaluation earlier or later
                assert k == found or k is not None and found is not None and abs(k - found) <= 1 + 1e-6 * k, (
                    tried.law.name
                )
    assert asked > 20


def test_values_of_a_closed_form_are_those_at_each_place():
    k = np.arange(40.0)
    record = 3.0 + 0.9**k * np.cos(0.3 * k) + 0.5**k + 0.1 * 0.8**k
    for name in ("steps-3", "steps-4"):
        law = laws.fit(record, laws.RECURRENCES, name, False)
        places = np.array([1, 2, 33, 64, 999, 1000])
        np.testing.assert_allclose(law.values(1000)[places - 1], law.at(places), rtol=1e-12)
        assert not law.is_map and law.parameters == 2 * int(name[-1]) and law.first("<", 3.0 + 1e-6) is not None


def test_sums_of_powers_go_on_beyond_the_terms_that_are_added():
    record = np.cumsum(1.0 / np.arange(1.0, 80.0) ** 1.5)
    law = laws.fit(record, laws.POWER_LAWS, "power-steps")
    truth = np.cumsum(1.0 / np.arange(1.0, 300_000.0) ** 1.5)
    np.testing.assert_allclose(law.at(np.array([10, 4096, 4097, 200_000])), truth[[88, 4174, 4175, 200_078]], rtol=1e-6)
    assert law.first("<", 2.6) == pytest.approx(np.argmax(truth >= 2.6) + 1 - len(record), rel=1e-3)
    assert law.first("<", 2.7) == math.inf


def test_wrong_arguments_are_refused():
    x = np.arange(20.0)
    with pytest.raises(TypeError, match="float64"):
        laws.select(x.astype(np.float32), 4, EPS)
    with pytest.raises(ValueError, match="held must be 1 to 19"):
        laws.select(x, 20, EPS)
    with pytest.raises(TypeError, match="is a map"):
        laws.maps(x + 1.0)[0].at(np.array([1]))
    with pytest.raises(ValueError, match="as long as each other"):
        laws.power_fit(x, x[1:])
