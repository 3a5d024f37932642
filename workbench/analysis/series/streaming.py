"""Classification of streaming states: the last 512 values as a record, checked against the whole record's statistics.

The last 512 values tell the pattern of most records. They do not show the origin of the values, nor what a
slow change does over thousands of iterations; the rest of the state tells that:

==================  ==================================================================================================
the ring says       the rest of the state may add
==================  ==================================================================================================
one level           the record moved before: CONVERGING to it, or stagnation (the values that led to the level)
flutter             cycles in the last bits of a record that moved far more: CONVERGING
noise               block means that began elsewhere, steps that shrink (CONVERGING) or grow (DIVERGING) steadily,
                    a drift or a wave that is too slow for the ring, in the sample of the whole record
a counter           steps of another size before: the law of the sample of the whole record decides
no short period     Brent's recurrence, verified bit for bit, for periods between two thirds of the ring and all of it
converging          a rate or an exponent that rounding hides by now, from the sample or from the first values
==================  ==================================================================================================

Issues keep the true iterations: the first NaN and the first infinity of the whole record.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from workbench.analysis.series.models import Cycle
from workbench.analysis.series.numerical_health import stagnation
from workbench.analysis.series.result import Evolution, Pattern
from workbench.analysis.series.value_series import History
from workbench.kernels.streaming import BLOCK_FIELDS, ScalarState, VectorState

Judge = Callable[[History], Evolution]

#: methods that see a level, exactly or within rounding
_LEVEL = frozenset(("level", "constant_tail", "settled", "stagnation"))
_NOISE = frozenset(("noise_ball", "moving_mean", "random_walk", "envelope", "spectrum", "mixed"))
#: standard errors between block means and level if the record started elsewhere, as for whole records
_FAR = 6.0


def evolutions_of_vector(state: VectorState, judge: Judge) -> list[Evolution]:
    """Those of the followed components, and of the norm."""
    found = []
    for index, each in state.components.items():
        found.append(evolution_of_scalar(each, judge))
        found[-1].component = index
    # a norm moves in steps of the numbers that it is of: their rounding is its own
    narrow = state.dtype is not None and state.dtype.kind not in "iub" and state.dtype.itemsize < 8
    found.append(evolution_of_scalar(state.norm, judge, state.dtype if narrow else None))
    for slug, first in (("nan", state.first_nan), ("inf", state.first_inf)):
        if first is not None:
            found[0].issues[slug] = min(first, found[0].issues.get(slug, first))
    return found


def evolution_of_scalar(state: ScalarState, judge: Judge, dtype: np.dtype | None = None) -> Evolution:
    """How the variable of a scalar state evolves; ``judge`` is the decision order for a record, ``dtype`` what rounded
    the values if not the state's own.

    Raises HistoryError if the state holds no value since its newest gap.
    """
    ring = state.values()
    h = History(ring, state.count - len(ring), dtype or state.dtype)
    found = judge(h)
    with np.errstate(all="ignore"):
        _completed(state, h, found, judge)
    return found


def _completed(state: ScalarState, h: History, found: Evolution, judge: Judge) -> None:
    """Statistics of the whole record that the ring does not hold."""
    for slug, first in (("nan", state.first_nan), ("inf", state.first_inf)):
        if first is not None:
            found.issues[slug] = first
    whole = state.skipped == 0 and state.nonfinite_count == 0 and state.count > len(h) and len(h) > 4
    if whole:
        _held_against(state, h, found, judge)


def _held_against(state: ScalarState, h: History, found: Evolution, judge: Judge) -> None:
    low, high = state.range or (0.0, 0.0)
    rounding = h.unscale(4 * float(h.ulp(h.x[-1])))
    moved, flutter = high - low > rounding, float(np.ptp(h.raw))
    if found.method in _LEVEL and found.label is Pattern.STABLE:
        if moved:
            _arrived(state, h, found, judge)
    elif found.method == "periodic" and high - low > 100 * flutter and flutter <= 2 * rounding:
        found.label, found.method, found.period, found.model = Pattern.CONVERGING, "settled", None, None
        found.limit, found.limit_error = float(np.mean(h.raw)), flutter
        found.why = ["The values arrived at a limit; they flutter in their last bits."]
    elif found.method != "periodic" and _long_period(state, h, found):
        pass
    elif found.method in _NOISE or found.label is Pattern.UNKNOWN:
        _noisy(state, h, found, judge)
    elif found.method == "counter":
        _slower(state, h, found, judge)
    if found.label is Pattern.CONVERGING and found.rate is None and found.sublinear_exponent is None:
        _law(state, found, judge)


def _arrived(state: ScalarState, h: History, found: Evolution, judge: Judge) -> None:
    """A level that the record arrived at: by steps that were absorbed, or as a limit."""
    approach = state.approach()
    if len(approach):
        end = state.count - state.constant_run
        way = History(np.concatenate([approach, h.exact[-8:]]), end - len(approach), state.dtype)
        at, least = stagnation(way), float(np.min(np.abs(np.diff(way.raw[: len(approach) + 1]))))
        low, high = state.range or (0.0, 0.0)
        # steps that shrink slowly look alike to the end: those of a counter add up to the whole way
        if at is not None and high - low <= 4 * least * end:
            found.method, found.issues["stagnation"] = "stagnation", at
            found.why = [f"Steps of one size stopped at iteration {at}: they are lost in the last place."]
            return
    found.label, found.method = Pattern.CONVERGING, "constant_tail"
    found.why = [f"The last {state.constant_run} values are equal; the record started elsewhere."]


def _law(state: ScalarState, found: Evolution, judge: Judge) -> None:
    """Rate, order or exponent of the way to a limit, from the first values or from the sample."""
    for values, stride in ((state.head(), 1), (state.sample(), state.sample_stride)):
        way = judge(History(values, 0, state.dtype))
        if way.label is not Pattern.CONVERGING or way.rate is way.sublinear_exponent is None or way.doubt:
            continue
        found.rate = None if way.rate is None else way.rate ** (1 / stride)
        found.sublinear_exponent = way.sublinear_exponent
        found.order = way.order if stride == 1 else None
        return


def _slower(state: ScalarState, h: History, found: Evolution, judge: Judge) -> None:
    """Steps that look constant in the ring, but were of another size in the whole record."""
    values = state.sample()
    whole = History(values, 0, state.dtype)
    step, average = float(np.mean(h.d)), float(np.mean(whole.d)) / state.sample_stride
    step, average = h.unscale(step), whole.unscale(average)
    if abs(step - average) <= 0.1 * abs(step):
        return
    law = judge(whole)
    if law.label is Pattern.CONVERGING:
        found.label, found.method, found.confidence = law.label, law.method, law.confidence
        found.limit, found.limit_error = law.limit, law.limit_error
        found.rate, found.sublinear_exponent = None, law.sublinear_exponent
        found.issues.pop("overflow_eta", None)
        found.model, found.why = None, ["Over the whole record: " + sentence for sentence in law.why]


def _long_period(state: ScalarState, h: History, found: Evolution) -> bool:
    """A period that the ring shows less than one and a half times."""
    period, run = state.recurrence or (0, 0)
    if 3 * period <= 2 * len(h) - 2 or run < period:
        return False
    cycle = h.exact[-period:]
    smaller = (q for q in range(2, period // 2 + 1) if period % q == 0 and np.array_equal(cycle[q:], cycle[:-q]))
    period = next(smaller, period)
    if period < 16 or len(np.unique(cycle)) < 8:
        return False  # values from a small set return by accident
    found.label, found.method, found.period, found.rate = Pattern.OSCILLATING, "periodic", float(period), None
    found.limit = found.limit_error = None
    found.model, found.confidence, found.doubt = Cycle(h.raw[-period:].copy()), 0.99, 0.0
    found.why = [f"The last {run + period} values repeat exactly with period {period}."]
    return True


def _noisy(state: ScalarState, h: History, found: Evolution, judge: Judge) -> None:
    """Noise in the ring: did its level or its spread change over the record?"""
    blocks = state.blocks_array()
    spread = float(np.std(h.raw))
    if len(blocks) < 16 or found.label is Pattern.DIVERGING or spread == 0:
        return  # 64-bit integers may differ where float64 does not
    column = {name: blocks[:, k] for k, name in enumerate(BLOCK_FIELDS)}
    steps = column["sum_abs_d"] / state.block_length
    ratio, trend, late = _trend(steps)
    if ratio > 2.5 and trend > 0.85:
        found.label, found.method = Pattern.DIVERGING, "envelope"
        found.limit = found.limit_error = None
        found.why = [f"The spread of the steps grew {ratio:.3g} fold over the record, steadily."]
    elif ratio < 0.35 and trend < -0.85 and late < 0.9:
        found.label, found.method, found.period = Pattern.CONVERGING, "envelope", None
        found.limit, found.limit_error = float(np.mean(h.raw)), 4 * spread
        found.why = [f"The spread of the steps shrank to {ratio:.2g} of what it was, steadily."]
    elif found.label is Pattern.STABLE or found.method in ("mixed", "spectrum", "noise_ball"):
        level = float(np.mean(h.raw))
        means = column["sum"] / state.block_length + (state.block_origin or 0.0)
        half = means[len(means) // 2 :]
        error = max(float(np.std(half, ddof=1)), spread / math.sqrt(state.block_length))
        if float(np.std(means)) > 4 * spread / math.sqrt(state.block_length) and _slow(state, found, judge):
            return
        first = state.head()[:1].astype(float)
        far = max(abs(float(means[0]) - float(np.mean(half))) / error, abs(float(first[0]) - level) / spread)
        if far > _FAR and found.label is not Pattern.CONVERGING:
            found.label, found.method, found.period = Pattern.CONVERGING, "noise_ball", None
            found.limit, found.limit_error = level, max(error, spread / math.sqrt(len(h)))
            found.why = [f"The values started {far:.3g} standard errors away and end in noise around {level:.6g}."]


def _slow(state: ScalarState, found: Evolution, judge: Judge) -> bool:
    """A drift or a wave under the noise, too slow for the ring, that the sample of the whole record shows."""
    whole = judge(History(state.sample(), 0, state.dtype))
    if whole.label not in (Pattern.DIVERGING, Pattern.OSCILLATING) or whole.confidence < 0.85:
        return False
    found.label, found.method, found.confidence = whole.label, whole.method, whole.confidence
    found.period = None if whole.period is None else whole.period * state.sample_stride
    found.limit = found.limit_error = found.rate = found.model = None
    found.why = ["Over the whole record: " + sentence for sentence in whole.why]
    return True


def _trend(steps: np.ndarray) -> tuple[float, float, float]:
    """(last over first, correlation of the logarithm with time or its logarithm, last over middle) of eight groups."""
    groups = np.array([float(np.mean(g)) for g in np.array_split(steps, 8)])
    if not np.all(groups > 0) or not np.all(np.isfinite(groups)):
        return 1.0, 0.0, 1.0
    logs, time = np.log(groups), np.arange(8.0)
    along = [float(np.corrcoef(t, logs)[0, 1]) if np.ptp(logs) > 0 else 0.0 for t in (time, np.log(time + 0.5))]
    return float(groups[-2:].sum() / groups[:2].sum()), max(along, key=abs), float(groups[-1] / groups[4])
