"""The average of the declared laws: its ends, its intervals, its never, and the candidates that it is made of."""

from __future__ import annotations

import math

import numpy as np
import pytest

import workbench as wb
from workbench.analysis.laws.backtest import backtest
from workbench.analysis.laws.chance.rest import LEAST, rest
from workbench.analysis.laws.chance.walk import passes
from workbench.analysis.laws.posterior import FAMILIES, LAWS, outlook
from workbench.analysis.laws.record import as_record

K = np.arange(400.0)


def rough(seed, rate, noise):
    """A residual that falls by a factor, with jumps that hang together."""
    draw = np.random.default_rng(seed)
    jumps = np.convolve(draw.normal(size=len(K) + 4), np.ones(5) / 5.0, "valid")
    return np.exp(K * math.log(rate) + noise * jumps)


def test_intervals_hold_the_end_of_rough_residuals_and_the_middle_is_near():
    held = near = asked = 0
    for seed in range(40):
        values = rough(seed, (0.9, 0.95, 0.97)[seed % 3], (0.3, 1.0, 2.0)[seed // 3 % 3])
        end = int(np.flatnonzero(values < 1e-5)[0])
        for share in (0.1, 0.3, 0.5):
            upto = max(8, int(share * end))
            found, left = outlook(values[:upto], ">", 1e-5), end - upto + 1
            asked += 1
            held += found.low - 1 <= left <= found.high + 1
            near += found.iterations is not None and 0.5 <= found.iterations / left <= 2.0
    assert held >= 0.85 * asked and near >= 0.8 * asked


def test_a_decay_above_a_floor_is_not_foretold_to_pass_it():
    values = 1e-3 + 0.9**K * (1.0 + 0.05 * np.sin(K))
    for upto in (120, 300):
        found = outlook(values[:upto], ">", 1e-6)
        assert found.iterations is None or found.iterations > 5 * upto


def test_never_is_said_of_a_rest_that_is_the_longest_by_far():
    fall = rough(1, 0.9, 0.3)[:60]
    floor = fall.min() * np.exp(0.05 * np.random.default_rng(2).normal(size=200) + 0.06)
    for length, sure in ((10, False), (150, True)):
        found = outlook(np.concatenate((fall, floor[:length])), ">", 1e-9)
        assert (found.iterations == math.inf) == sure
    assert abs(found.rest.since - int(fall.argmin())) <= 8 and found.rest.length >= 140 and found.never > 0.9


def test_a_rest_that_falls_ever_faster_is_a_valley_and_not_the_end():
    """As of an evolution strategy while it learns the shape of a valley: the first that moves is the last quarter."""
    fall, wait = 0.5 ** K[:30], 0.5**29 * np.exp(0.002 * np.random.default_rng(3).normal(size=80))
    leaves = wait * np.exp(-0.05 * (K[:80] / 80.0) ** 4)
    assert outlook(np.concatenate((fall, wait)), ">", 1e-20).iterations == math.inf
    assert outlook(np.concatenate((fall, leaves)), ">", 1e-20).iterations != math.inf


def test_a_slow_steady_fall_is_no_rest():
    for rate in (0.9995, 0.99):
        record = as_record(rate**K, ">", 1e-300)
        assert rest(record).length <= 20 and rest(record).chance == 0.0
        assert outlook(rate**K, ">", 1e-300).iterations != math.inf


def test_nothing_is_known_of_a_rest_that_nothing_went_before():
    record = as_record(np.full(200, 5.0), ">", 1.0)
    assert rest(record).length == 199 and rest(record).chance == 0.0
    short = as_record(np.concatenate((np.arange(30.0, 4.0, -1.0), np.full(LEAST - 2, 5.0))), ">", 1.0)
    assert rest(short).chance == 0.0


def test_a_walk_comes_back_and_a_level_does_not():
    draw = np.random.default_rng(5).normal(size=200)
    walk, level = as_record(np.cumsum(draw), ">", -60.0), as_record(0.1 * draw, ">", -60.0)
    away = as_record(0.5 * K[:200] + 0.1 * np.cumsum(draw), ">", -60.0)
    assert passes(walk, 100, 8000.0) > 0.3 and passes(level, 100, 8000.0) < 0.01 and passes(away, 100, 8000.0) < 0.01


@pytest.mark.parametrize("seed", range(6))
def test_noise_about_a_level_has_no_end(seed):
    assert outlook(np.random.default_rng(seed).normal(size=100), "<", 5.0).iterations in (None, math.inf)


def test_candidates_are_all_laws_with_their_shares_or_a_refusal():
    found = outlook(rough(3, 0.95, 0.5)[:80], ">", 1e-5)
    shares = [c.share for c in found.candidates]
    assert {c.law for c in found.candidates} == set(LAWS) and math.isclose(sum(shares), 1.0)
    assert shares == sorted(shares, reverse=True) and not found.candidates[0].refused
    assert all(c.refused or c.share >= 0.01 for c in found.candidates)
    silent = outlook(100.0 - 0.01 * K[:90] ** 2, ">", 1.0)
    assert any("does not describe" in c.refused for c in silent.candidates)


def test_the_backtest_prefers_the_law_that_was_right():
    names = [law.name for law in LAWS]
    decay, limit = (0.9 ** K[:100], 1e-9), (2.0 + 5.0 * 0.97**K, 1.9)
    for (values, level), right, wrong in ((decay, "line", "flattens"), (limit, "levels off", "line")):
        evidence = backtest(FAMILIES, as_record(values, ">", level)).evidence
        assert evidence[names.index(right)] > evidence[names.index(wrong)] + 2.0


@pytest.mark.parametrize("keep", ["!=", "=="])
def test_few_values_and_comparisons_without_direction_are_not_asked(keep):
    assert outlook(K, keep, 9.5) is None and outlook(0.5 ** K[:7], ">", 1e-9) is None
    assert outlook(0.5 ** K[:20], ">", 0.7) is None


def test_the_monitor_speaks_where_no_law_holds_to_the_digits():
    values = rough(7, 0.95, 1.0)
    monitor = wb.TerminationMonitor([("residual", "tolerance")])
    for value in values[:60]:
        monitor.observe({"residual": value}, True, [(value, ">", 1e-5)])
    answer, left = monitor.prediction(), int(np.flatnonzero(values < 1e-5)[0]) - 59
    assert answer.outcome == "terminates" and answer.interval[0] <= left <= answer.interval[1]


def test_the_monitor_says_since_when_a_residual_rests():
    fall, floor = 0.8 ** K[:50], 0.8**49 * np.exp(0.3 * np.abs(np.sin(K[:150] ** 2)))
    monitor = wb.TerminationMonitor([("residual", "tolerance")])
    for value in np.concatenate((fall, floor)):
        monitor.observe({"residual": value}, True, [(value, ">", 1e-12)])
    assert monitor.prediction().outcome == "never"


def test_a_law_that_is_left_out_has_no_share():
    values = 0.9 ** K[:60]
    best = outlook(values, ">", 1e-9).candidates[0].law.name
    without = outlook(values, ">", 1e-9, without=best)
    assert {c.share for c in without.candidates if c.law.name == best} == {0.0}
    assert abs(without.iterations - outlook(values, ">", 1e-9).iterations) < 0.2 * len(values)


def test_an_end_that_was_told_is_told_again_a_little_later():
    """Between two fits the same end is reported; one that is near, or never, is computed again."""
    found = outlook(rough(5, 0.95, 0.5)[:80], ">", 1e-5)
    later = found.later(4)
    assert later.iterations == found.iterations - 4 and later.low == max(1.0, found.low - 4)
    assert found.later(int(found.iterations)) is None and found._replace(iterations=math.inf).later(4) is None


def test_the_monitor_counts_down_between_two_fits():
    values = rough(7, 0.95, 1.0)
    monitor = wb.TerminationMonitor([("residual", "tolerance")])
    told = []
    for value in values[:100]:
        monitor.observe({"residual": value}, True, [(value, ">", 1e-5)])
        told.append(monitor.prediction().remaining)
    steps = np.diff([n for n in told[32:] if n is not None])
    assert np.mean(steps == -1) >= 0.4


def test_an_answer_of_all_laws_lists_them_with_their_shares_and_why_others_are_refused():
    fall, floor = 0.8 ** K[:50], 0.8**49 * np.exp(0.4 * np.random.default_rng(1).normal(size=150).cumsum() / 12)
    asked = {"ends": (rough(7, 0.95, 1.0)[:60], 1e-5), "rests": (np.concatenate((fall, floor)), 1e-12)}
    listed = 0
    for values, bound in asked.values():
        monitor = wb.TerminationMonitor([("r", "tol")])
        for r in values.tolist():
            monitor.observe({"r": r}, True, [(r, ">", bound)])
        found = monitor.prediction().candidates
        lines, shares = [str(c) for c in found], [c.share for c in found]
        assert all(("refused" in line) == bool(c.refused) for line, c in zip(lines, found, strict=True))
        assert shares == sorted(shares, reverse=True) and (not found or np.isclose(sum(shares), 1.0))
        listed += len(found) == len(LAWS) and "of the weight, " in lines[0]
    assert listed


def test_a_loss_that_rises_again_is_not_said_to_swing():
    noise = 0.001 * np.random.default_rng(2).normal(size=200)
    loss = 0.9 ** np.arange(200) + 0.2 + 0.0005 * np.maximum(0, np.arange(200) - 100) + noise
    monitor = wb.TerminationMonitor([("loss", "tol")])
    for value in loss.tolist():
        monitor.observe({"loss": value}, True, [(value, ">=", 0.05)])
    reason = monitor.prediction().reason
    assert reason.slug == "turned" and "loss has turned: it has risen again since iteration" in reason.sentence
