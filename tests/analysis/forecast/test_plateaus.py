"""Records that rest between moves: no rest is called the last one before it outlasts the others, and steps go on."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.analysis.forecast.test_monitor import watch
from workbench.analysis import TerminationMonitor
from workbench.analysis.forecast.plateaus import certainty, due, moves_too_often, outlasts, plateaus
from workbench.analysis.series.calibration import confidence


@pytest.mark.parametrize("every", [2, 7, 40])
@pytest.mark.parametrize(("factor", "op"), [(0.5, ">"), (0.1, ">"), (2.0, "<"), (3.0, "<")])
@pytest.mark.parametrize("share", [0.3, 0.5, 0.9])
def test_a_schedule_ends_at_its_step(every, factor, op, share):
    values = np.cumprod(np.where(np.arange(every * 30) % every == 0, factor, 1.0)) / factor
    threshold = float(np.sqrt(values[-1] * values[-1 - every]))
    last = int(np.argmin(values > threshold) if op == ">" else np.argmax(values >= threshold))
    upto = int(share * last)
    answer = watch(values, op, threshold, upto).prediction()
    assert answer.remaining == last - (upto - 1), str(answer)


def test_treads_that_grow():
    values = np.repeat(np.arange(12.0), [3 + 2 * i for i in range(12)])
    upto = 60
    answer = watch(values, "<", 9.5, upto).prediction()
    assert answer.remaining == int(np.argmax(values >= 9.5)) - (upto - 1)


def test_a_tread_is_no_end():
    values = np.repeat([1.0, 0.9, 0.2, 0.15, 0.1, 0.04], [9, 20, 14, 5, 17, 30])
    for upto in range(30, len(values)):
        assert watch(values, ">", 0.01, upto).prediction().outcome != "never", upto


#: A residual that rests on a slow wave before it falls further: a product of modes, as in transpose-free QMR.
WAVE = np.array([
    20055, 19017, 18287, 17822, 17499, 17292, 17207, 17164, 17166, 17165, 17173, 17178, 17190, 17209, 17248, 17287,
    17321, 17335, 17340, 17336, 17338, 17341, 17341, 17327, 17288, 17214, 17101, 16919,
]) / 1e4  # fmt: skip


def test_a_slow_wave_is_no_noise():
    values = np.concatenate([np.geomspace(80.0, 2.1, 50), WAVE, np.geomspace(1.65, 1e-6, 60)])
    for upto in range(55, 80):
        assert watch(values, ">", 1e-5, upto).prediction().outcome != "never", upto


def test_noise_at_a_floor_is_one():
    rng = np.random.default_rng(4)
    values = np.concatenate([np.geomspace(80.0, 2.0, 50), 1.72 * (1.0 + 0.002 * rng.normal(size=60))])
    answer = watch(values, ">", 1e-5, 100).prediction()
    assert answer.outcome == "never" and answer.confidence >= 0.9


def test_a_rest_that_outlasts_all_before_is_one():
    values = np.concatenate([np.repeat([4.0, 3.0, 2.5], 3), np.full(200, 2.25)])
    early, late = (watch(values, ">", 1.0, n).prediction() for n in (14, 209))
    assert early.outcome != "never" and early.confidence <= confidence(
        "posterior", 14
    )  # an end may be named, with doubt
    assert late.outcome == "never" and late.confidence >= 0.95


@pytest.mark.parametrize("flag", [np.False_, False])
def test_a_flag_is_not_continued(flag):
    answer = watch([flag] * 500, "==", False, 500).prediction()
    assert answer.outcome is None and answer.confidence == 0


def test_what_a_rest_is_worth():
    assert certainty(50, 0, False) == pytest.approx(51 / 52)
    assert certainty(8, 2, True) < certainty(80, 2, True) < 1
    runs = plateaus([1, 1, 1, math.nan, math.nan, math.nan, 2, 2])
    assert runs.lengths == [3, 3, 2] and runs.longest == 3 and not runs.final
    assert due(runs, 1) == 2 and due(runs, 3) == 8 and due(runs, math.inf) is None
    assert due(plateaus([1, 2, 2, 3, 3, 3, 3]), 1) is None  # this tread is longer than the one before


def test_the_sentence_counts_iterations_not_steps():
    values = np.repeat(0.5 ** np.arange(20), 7)
    answer = watch(values, ">", 1e-3, 40).prediction()
    assert answer.remaining == int(np.argmin(values > 1e-3)) - 39
    sentence = answer.reason.sentence
    assert "rests 7 iterations" in sentence and f"turns in {answer.remaining} iterations" in sentence
    assert sentence.count("iterations") == 2


@pytest.mark.parametrize("of", [float, np.float32, int])
def test_most_records_are_no_staircase_at_a_glance(of):
    rng = np.random.default_rng(3)
    for share in (0.0, 0.3, 0.5, 0.7, 0.95):
        xs = [of(v) for v in np.cumsum(rng.random(300) > share)]
        assert not (moves_too_often(xs) and plateaus(xs).stepped)
    assert moves_too_often([of(v) for v in range(300)])


@pytest.mark.parametrize(
    ("run", "longest", "before", "final"),
    [(31, 0, 0, False), (32, 0, 0, True), (4, 1, 40, False), (5, 1, 7, True), (20, 2, 30, False), (21, 2, 30, True)],
)
def test_a_rest_is_final_only_if_it_outlasts_those_before_by_far(run, longest, before, final):
    assert outlasts(run, longest, before) == final


def _never(values, op, t):
    m = TerminationMonitor()
    for v in values:
        m.observe({"x": v}, True, [(v, op, t)])
    return m.prediction().outcome == "never"


def test_a_best_value_that_waits_as_it_waited_before_may_move_again():
    best = np.repeat([9.0, 7.5, 7.1, 4.0, 3.3], [3, 5, 2, 4, 18])
    assert not _never(best, ">", 0.5)
    assert _never(np.append(best, np.full(60, 3.3)), ">", 0.5)


def test_whole_numbers_that_lose_a_share_are_not_taken_for_floats_with_a_limit():
    n = [100_000]
    while n[-1] > 5000:
        n.append(n[-1] - n[-1] // 20)
    assert not _never(n, ">", 0)


def test_a_search_that_moves_now_and_then_is_not_noise_about_a_level():
    rng = np.random.default_rng(3)
    level = 1.2 + 0.02 * rng.normal(size=40)
    waits = np.repeat(level, rng.integers(1, 4, 40))
    assert not _never(waits, ">", 1e-4)
    assert _never(1.2 + 0.02 * rng.normal(size=80), ">", 1e-4)


def test_a_curve_that_does_not_slow_down_yet_has_no_limit():
    """A slow wave above its mean: a law through its first part bends back before the threshold."""
    k = np.arange(60)
    assert not _never(4.0 - 1.5 * np.sin(k / 45.0) - 0.004 * k, ">", 1e-3)
