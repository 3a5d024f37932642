"""Powers of the iteration with a place of their own, counters that start again, flags in turn, and running means."""

import itertools

import numpy as np
import pytest

import workbench as wb
from tests.analysis.forecast.exact import exact
from workbench.analysis.forecast.laws.sawtooth import sawtooth


@pytest.mark.parametrize("p", [0.9, 3.0, 1.5, 0.5, -0.6, 2.345678])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_power_of_what_is_left_ends_to_the_iteration(p, dtype):
    """Schedules of learning rates, evaluated at a tenth, a third and a half of their run."""
    k = np.arange(1201.0)
    values = (0.3 * (1 - k / 1200) ** p if p > 0 else 0.3 * (k + 7.0) ** p).astype(dtype)
    threshold = float(dtype(0.05 * values[0] if p > 0 else values[900] * 1.0003))
    end = int(np.flatnonzero(~(values > threshold))[0])
    for seen in (end // 10, end // 3, end // 2):
        found = exact(values[:seen], ">", threshold, "power")
        assert found is not None
        if dtype is np.float64:
            assert (found.k, found.why) == (end - (seen - 1), "power")
        else:
            low, high = found.span or (found.k, found.k)
            assert low - 2 <= end - (seen - 1) <= high + 2


def test_what_is_no_power_is_not_taken_for_one():
    """Other smooth curves, and a power with noise of a millionth of a millionth."""
    k = np.arange(60.0)
    noise = 1 + 1e-12 * np.random.default_rng(0).normal(size=60)
    for x in (np.exp(-0.01 * k * k), 1 / np.cosh(0.02 * k), np.exp(-k / 20) + 0.1, (1 - k / 200) ** 0.9 * noise):
        assert exact(x, ">", 0.01, "power") is None
    assert exact((k + 3.0) ** 0.7, ">", 0.01, "power") is None  # it moves away


def _runs(lengths):
    return np.concatenate([np.arange(length) for length in lengths])


@pytest.mark.parametrize("lengths", [[3, 6, 12, 24, 48, 96], [4, 9, 14, 19, 24, 29, 34, 39]])
def test_runs_that_grow_by_a_rule_are_continued(lengths):
    values = _runs(lengths)
    bound = lengths[-2] + 3
    end = int(np.flatnonzero(values >= bound)[0])
    for seen in (sum(lengths[:-2]) + 2, sum(lengths[:-1]) + 1):
        found = sawtooth(values[:seen].tolist(), "<", bound)
        assert found is not None and (found.k, found.why) == (end - (seen - 1), "sawtooth")
    mirrored = sawtooth((100 - values[:seen]).tolist(), ">", 100 - bound)
    assert mirrored is not None and mirrored.k == end - (seen - 1)


def test_a_wait_that_starts_again_by_chance_has_no_end_to_be_told():
    """Forty evaluations without a better value, after waits as long; a wait three times as long counts."""
    wait = _runs([38, 5, 21, 34]).tolist()
    found = sawtooth(wait, "<", 60)
    assert found is not None and found.k is None and found.why == "resets"
    assert sawtooth(_runs([4, 2, 7, 34]).tolist(), "<", 60) is None
    monitor = wb.TerminationMonitor()
    for v in wait:
        monitor.observe({"wait": v}, True, [(v, "<", 60)])
    assert monitor.prediction().reason.slug == "resets"


def test_a_counter_that_started_again_once_is_no_plain_counter():
    """A run that outlasts the one before it by far is."""
    for now, why in ((36, "resets"), (90, None)):
        found = sawtooth(_runs([18, now]).tolist(), "<", 800)
        assert (found and found.why) == why


def test_flags_that_take_turns_never_end_an_or():
    """Of two flags one is always set; flags set at random get no answer."""
    rng = np.random.default_rng(5)
    for first, outcome in ((np.arange(50) % 5 < 2, "never"), (rng.random(50) < 0.5, None)):
        monitor = wb.TerminationMonitor()
        for a in first:
            monitor.observe({"a": a, "b": ~a}, True, [(a, "==", np.True_), (~a, "==", np.True_)], "or")
        assert monitor.prediction().outcome == outcome


def test_no_question_raises_or_hangs_on_values_that_left_the_range():
    """Records with an infinity or NaN in them, and of sizes near the range's ends, get an answer."""
    k = np.arange(50.0)
    records = [
        np.where(k == place, bad, k * size)
        for place in (0, 1, 3)
        for bad in (np.inf, np.nan)
        for size in (0.65, 1e-240)
    ]
    records += [1e-300 * (k + 2) ** 9.3, 1e300 * (k + 2.0) ** -14.7, 1e280 * np.exp(-25 * k), 1e-200 * (k + 1) ** -2.0]
    for values, op, threshold in itertools.product(records, ("<", ">="), (7.0, 1e308, 1e-320, 0.0)):
        for n in (10, 25, 50):
            monitor = wb.TerminationMonitor()
            for v in values[:n]:
                monitor.observe({"x": float(v)}, True, [(float(v), op, threshold)])
            assert monitor.prediction().outcome in ("terminates", "never", None)
