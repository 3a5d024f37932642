"""Forecasts of crossings: exact laws against brute force, calibrated intervals, tolerances."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.evaluation import score_forecasts
from tests.evaluation.random_histories import limits
from tests.evaluation.random_loops.families import FAMILIES, all_loops, draw
from workbench.analysis import Forecast, HistoryError, TerminationMonitor, iterations_to_tolerance
from workbench.analysis.comparisons import OPS
from workbench.analysis.forecast.crossing_time import forecast_crossing
from workbench.analysis.forecast.laws.exact_continuation import float_steps, integer_steps
from workbench.analysis.forecast.laws.exact_integer_laws import integer_law
from workbench.kernels.laws import power_fit


def first_failure(values, op, threshold):
    return next((k for k, v in enumerate(values) if not OPS[op](v, threshold)), None)


@pytest.mark.parametrize(("dtype", "step", "mark"), [(np.float32, 0.1, 2.0e5), (np.float32, 0.3, 1e6)])
def test_long_float_counters_are_continued_exactly(dtype, step, mark):
    """Against NumPy's own sequential sum, over many binades."""
    n = 6_000_000
    values = np.add.accumulate(np.full(n, dtype(step), dtype=dtype))
    past = np.flatnonzero(~(values < dtype(mark)))
    found = float_steps(values[:40], "<", mark)
    assert found is not None
    if past.size:
        assert found.k == past[0] - 39
    else:
        assert found.k is None and found.why == "absorbed" and values[-1] == found.at


def test_a_float32_counter_of_one_is_absorbed_at_2_to_24():
    found = float_steps(np.arange(50, dtype=np.float32), "<", 1e8)
    assert (found.k, found.why, found.at) == (None, "absorbed", 2.0**24)


def test_a_wrapped_history_is_still_a_counter():
    values = np.add.accumulate(np.full(200, 7, dtype=np.int8), dtype=np.int8)
    for upto in (5, 20, 45):
        tail = [int(v) for v in values[:upto]]
        truth = first_failure(values[upto:].tolist(), "!=", 1)
        assert integer_steps(tail, "!=", 1, 8).k == truth + 1


FIB = [0, 1]
while len(FIB) < 400:
    FIB.append(FIB[-1] + FIB[-2])


@pytest.mark.parametrize(
    ("values", "op", "threshold"),
    [
        (FIB, "<", 10**60),
        ([k * k * k - 5 for k in range(3000)], "<=", 10**9),
        ([math.factorial(k) for k in range(1, 80)], "<", 10**90),
        ([3**k for k in range(300)], "<", 3**200 + 1),
        ([10**18 - 2**k for k in range(80)], ">", 0),
    ],
)
def test_integer_laws_are_exact_beyond_float64(values, op, threshold):
    n = first_failure(values, op, threshold)
    assert integer_law(values[:14], op, threshold, None).k == n - 13


def test_collatz_is_run_ahead_from_its_residues():
    values = [97]
    while values[-1] > 1:
        values.append(values[-1] // 2 if values[-1] % 2 == 0 else 3 * values[-1] + 1)
    assert integer_law(values[:30], ">", 1, None).k == len(values) - 30


def test_no_integer_law_is_made_of_noise():
    rng = np.random.default_rng(5)
    for _ in range(200):
        assert integer_law(rng.integers(0, 1000, size=24).tolist(), "<", 5000, None) is None


def test_huge_integers_do_not_break_the_monitor():
    monitor, v = TerminationMonitor(), 7
    for k in range(40):
        monitor.observe({"v": v}, True, [(v, "<", 10**2000)])
        monitor.prediction()
        v = v * 10**12 + k
    assert monitor.prediction().outcome != "never"


def test_power_fit_finds_offset_and_exponent():
    k = np.arange(60.0)
    a, s, k0, rms = power_fit(k, 2.0 - 1.3 * np.log(k + 17.5))
    assert rms < 1e-10
    np.testing.assert_allclose((a, s, k0), (2.0, 1.3, 17.5), rtol=1e-7)
    assert power_fit(k, -0.2 * k) is None


def test_a_law_that_never_crosses_says_so():
    x = 2.0 + 0.9 ** np.arange(60)
    found = forecast_crossing(x, ">", 1.0)
    assert math.isinf(found.k) and abs(found.limit - 2.0) < 1e-9
    assert forecast_crossing(np.full(40, 3.0), ">", 1.0) is None


@pytest.mark.parametrize("upto", [60, 700, 4000])
@pytest.mark.parametrize("law", [lambda k: np.cumsum(1 / k), np.log, lambda k: np.log(k) ** 2, lambda k: k**0.1])
def test_slow_growth_is_not_given_a_limit(law, upto):
    """Its crossing may lie beyond all that is followed, but it comes."""
    values, monitor = law(np.arange(1.0, upto + 1)), TerminationMonitor()
    for v in values:
        monitor.observe({"s": v}, True, [(v, "<", 40.0)])
    assert monitor.prediction().outcome != "never"


@pytest.fixture(scope="module")
def answers():
    return [r for loop in all_loops(6, seed=3) for r in score_forecasts.rows(loop)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "percent", "least"),
    [("exact", 10, 0.80), ("exact", 30, 0.95), ("exact", 50, 0.97), ("smooth", 30, 0.62), ("smooth", 50, 0.76)],
)
def test_exact_counts_on_random_loops(answers, kind, percent, least):
    mine = [r.exact for r in answers if r.loop.kind == kind and r.percent == percent]
    assert len(mine) >= 60 and np.mean(mine) >= least


def test_smooth_loops_are_near_at_30_percent(answers):
    assert np.median([r.error for r in answers if r.loop.kind == "smooth" and r.percent == 30]) <= 3.0


def test_intervals_hold_what_they_promise(answers):
    wide = [r for r in answers if r.covered is not None and r.answer.interval[0] != r.answer.interval[1]]
    # most of these loops follow a law that is known: their intervals hold more often than those of families never seen
    assert len(wide) > 80 and 0.90 <= np.mean([r.covered for r in wide]) <= 0.99
    widths = [(min(r.answer.interval[1] or math.inf, 1e9) - r.answer.interval[0]) / r.truth for r in wide]
    assert np.median(widths) <= 1.5
    assert np.mean([r.covered for r in answers if r.covered is not None]) >= 0.93


def test_endless_loops_are_found_and_others_are_not_called_so(answers):
    endless = [r for r in answers if r.loop.n is None]
    assert np.mean([r.answer.outcome == "never" for r in endless]) >= 0.95
    assert np.mean([r.answer.outcome == "never" for r in answers if r.loop.n is not None]) <= 0.01


def test_roots_and_blocking_clauses(answers):
    spoken = [r for r in answers if r.answer.outcome is not None]
    assert np.mean([r.answer.root[0] in r.loop.root.split("|") for r in spoken if r.answer.root]) >= 0.98
    for r in spoken:
        if r.loop.logic == "or" and r.exact:
            assert r.answer.blocking_clause.startswith(f"lhs{r.loop.blocking} ")


def test_random_loops_are_the_same_every_time():
    for name in sorted(FAMILIES):
        first, second = ([repr(o) for o in draw(name, 1).observations(30)] for _ in range(2))
        assert first == second


def test_until_the_iterate_stands_still():
    """while x != previous: the end is where the step is lost in rounding."""
    xs = [1.0]
    while len(xs) < 3 or xs[-1] != xs[-2]:
        xs.append(float(np.cos(xs[-1])))
    monitor, n = TerminationMonitor(), len(xs) - 2
    for k in range(n // 2):
        monitor.observe({"x": xs[k + 1], "before": xs[k]}, True, [(xs[k + 1], "!=", xs[k])])
    answer = monitor.prediction()
    truth = n - (n // 2 - 1)
    assert answer.outcome == "terminates" and abs(answer.remaining - truth) <= 0.1 * n
    assert answer.interval[0] <= truth <= answer.interval[1]


@pytest.mark.slow
def test_tolerance_on_random_histories():
    got = list(limits.answers(6, seed=50))
    for percent, least in ((10, 0.70), (30, 0.90), (50, 0.92)):
        assert np.mean([close for _, p, close, _ in got if p == percent]) >= least
    held = [h for *_, h in got if h is not None]
    assert len(held) > 150 and np.mean(held) >= 0.88


def test_tolerance_already_reached_and_bad_input():
    x = 3.0 + 0.5 ** np.arange(60)
    assert iterations_to_tolerance(x, 1e-3) == Forecast(10, 10, 10)
    assert iterations_to_tolerance(np.arange(50.0), 1e-3) is None
    assert iterations_to_tolerance(np.log(np.arange(1, 200.0)), 1e-3) is None
    for tol in (0.0, -1.0, math.nan, math.inf, "small", None):
        with pytest.raises(HistoryError, match="tolerance"):
            iterations_to_tolerance(x, tol)
    with pytest.raises(HistoryError):
        iterations_to_tolerance(np.ones((4, 3)), 1e-3)


@pytest.mark.parametrize("degree", [3, 6, 7, 12])
def test_newton_from_afar_may_end_sooner_than_its_rate_says(degree):
    """The rate 1 - 1/m is that of a root of multiplicity m, too: the interval begins at once, the number stays."""
    x, record = 1e6, []
    while not record or record[-1] > 1e-9:
        new = x - (x - 5.0 * x ** (1 - degree)) / degree
        record.append(abs(new - x))
        x = new
    upto = len(record) * 3 // 10
    found = forecast_crossing(np.array(record[:upto]), ">", 1e-9)
    assert found.low <= len(record) - upto <= found.high and found.k > 1.5 * (len(record) - upto)
    plain = forecast_crossing(0.9 ** np.arange(40.0), ">", 1e-9)
    assert plain.low == plain.high == plain.k


@pytest.mark.parametrize("degree", [3, 4])
@pytest.mark.parametrize("upto", [4, 6])
def test_newtons_residual_of_few_values_may_end_sooner_than_its_rate_says(degree, upto):
    a, x, residuals = 3.0, 1e5, []
    while not residuals or residuals[-1] > 1e-9:
        residuals.append(abs(x**degree - a) / a)
        x -= (x**degree - a) / (degree * x ** (degree - 1))
    found = forecast_crossing(np.array(residuals[:upto]), ">", 1e-9)
    assert found.kind == "newton-rate" and found.low <= len(residuals) - upto <= found.high
    # another's factor of a quarter stays
    plain = forecast_crossing(0.25 ** np.arange(9.0), ">", 1e-9)
    assert plain.kind == "exact" and plain.low == plain.high == plain.k


def test_a_law_that_only_begins_as_the_record_does_is_no_number_far_ahead():
    """The velocity of a rocket is a power series to twelve digits: near by a number, far ahead an interval."""
    v = -np.log(1.0 - 0.6 * np.arange(1000) / 1000)
    far = forecast_crossing(v[:40], "<", float(v[-2:].mean()))
    assert far.kind == "near" and far.low <= 960 <= far.high and far.k != 960
    soon = forecast_crossing(v[:40], "<", float(v[49:51].mean()))
    assert soon.kind == "exact" and soon.low == soon.high == soon.k == 11
