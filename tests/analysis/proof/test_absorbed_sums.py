"""Sums whose terms fall with a counter: bounds that hold, proofs of those beyond a bound, and none where it is met."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.evaluation.heldout.machines import graph
from workbench.analysis.proof.absorbed_sums import _absorbed, _added, _stretches

f32, f64, i64 = np.float32, np.float64, np.int64


def answer(init, cond, body):
    built, feeds = graph(init, cond, body)()
    with wb.Session(built, feeds) as session:
        return session.termination()


def zeta(power, bound, dtype=f64):
    def body(k, s):
        term = k
        for _ in range(power - 1):
            term = term * k
        return {"k": k + dtype(1), "s": s + dtype(1) / term}

    return answer({"k": dtype(1), "s": dtype(0)}, lambda k, s: s < dtype(bound), body)


@pytest.mark.parametrize(("power", "bound"), [(2, 1.66), (2, 1.7), (3, 1.21), (4, 1.09), (6, 1.02)])
@pytest.mark.parametrize("dtype", [f64, f32])
def test_a_sum_beyond_whose_limit_the_bound_lies_never_meets_it(power, bound, dtype):
    found = zeta(power, bound, dtype)
    assert (found.status.name, found.outcome) == ("PROVED", "never"), found
    assert found.root[0] in ("s", "k")


@pytest.mark.parametrize("bound", [1.5, 1.6, 1.64])
def test_a_bound_below_the_limit_is_met(bound):
    n, s = 0, 0.0
    while s < bound:
        n += 1
        s += 1.0 / (float(n) * n)
    found = zeta(2, bound)
    assert (found.outcome, found.remaining) == ("terminates", n)


def test_no_proof_of_the_harmonic_sum_nor_of_an_integer_counter_whose_square_wraps_to_zero():
    harmonic = answer({"k": f64(1), "s": f64(0)}, lambda k, s: s < 40.0, lambda k, s: {"k": k + 1.0, "s": s + 1.0 / k})
    assert harmonic.status.name != "PROVED" or harmonic.outcome != "never"
    wrapped = answer(
        {"k": i64(1), "s": f64(0)}, lambda k, s: s < 1.7, lambda k, s: {"k": k + 1, "s": s + 1.0 / (k * k)}
    )
    assert not (wrapped.status.name == "PROVED" and wrapped.outcome == "never")


def test_the_difference_falls_and_a_sum_of_negative_terms_stays_above():
    found = answer(
        {"k": f64(2), "s": f64(3)}, lambda k, s: s > 2.0, lambda k, s: {"k": k + 1.0, "s": s - 1.0 / (k * k)}
    )
    assert (found.status.name, found.outcome) == ("PROVED", "never"), found


def test_the_stretches_hold_all_times_once():
    times = _stretches()
    assert times[0] == (0, 0) and times[-1][1] is None
    assert all(end is not None and end + 1 == begin for (_, end), (begin, _) in zip(times, times[1:], strict=False))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_box_holds_what_is_added_with_any_terms_between_the_bounds(dtype):
    kind = np.dtype(dtype).type
    for seed in range(20):
        rng = np.random.default_rng(seed)
        times = [t for t in _stretches() if t[0] < 3000] + [(10_000, None)]
        power, start = float(rng.uniform(1.2, 4)), float(kind(rng.normal() * 3 + 8))
        a, b = sorted(rng.uniform(-1, 1, 2))
        lo = np.array([a if a > 0 else a * (t + 1.0) ** -power for t, _ in times]) * (a < 0)
        hi = np.array([abs(b) * (t + 1.0) ** -power for t, _ in times])
        lo[-1], hi[-1] = 0.0, 0.0
        found = _added(start, lo, hi, times, dtype)
        assert found is not None
        s, seen = kind(start), [start]
        for (t, end), low, high in zip(times[:-1], lo, hi, strict=False):
            for _ in range(end - t + 1):
                s = kind(s + kind(rng.choice([low, high, rng.uniform(low, high)])))
                seen.append(float(s))
        assert float(found.lo[0]) <= min(seen) and max(seen) <= float(found.hi[0])


@pytest.mark.parametrize("kind", [f64, f32])
def test_what_counts_as_absorbed_is_lost(kind):
    rng = np.random.default_rng(0)
    for s in [*(2.0 ** rng.integers(-20, 20, 50)), *rng.lognormal(0, 5, 200)]:
        s = kind(s)
        size = float(np.spacing(s))
        for part in (0.51, 0.3, 0.26, 0.24, 0.12, 0.01):
            if _absorbed(float(s), float(s), part * size, kind):
                for term in (kind(part * size), kind(-part * size)):
                    assert kind(s + term) == s and kind(-s + term) == -s
    assert not _absorbed(-1.0, 1.0, 1e-300, kind) and _absorbed(-1.0, 1.0, 0.0, kind)
