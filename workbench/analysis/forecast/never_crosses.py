"""Decides if an operand stays on its side of the threshold for ever when no law leads across it.

The answer is "never, limit L" only if L is farther from the threshold than four times the error of L; noise must stay
away by far more than its scatter; a cycle or a chaotic record must keep its whole range on one side.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from workbench.analysis.comparisons import OPS
from workbench.analysis.forecast.crossing_time import Crossing
from workbench.analysis.forecast.endless.distance import by_distance
from workbench.analysis.forecast.endless.diverges_from import drifts_away, goes_away
from workbench.analysis.forecast.endless.no_progress import no_progress
from workbench.analysis.forecast.endless.noise_floor import far_from_noise
from workbench.analysis.series.result import Evolution, Pattern
from workbench.kernels import laws
from workbench.kernels.laws import is_noisy

#: Methods of classification whose labels are exact rather than estimated.
EXACT_METHODS = ("constant_tail", "level", "periodic", "settled", "stagnation", "nonfinite")
#: A limit below this share of the last value differs from zero only in the record's last digits.
DEEP = 1e-6
#: Minimum number of repeated values for a cycle of integers without a known rule: a random walk repeats values too.
CYCLE_VALUES = 20
#: Minimum distance of a diverging record's last value from the threshold, relative to its largest distance.
ABOVE = 0.5


class Verdict(NamedTuple):
    """The reason as a slug and as a sentence; if ``sure``, the threshold is never crossed, otherwise the answer is
    unknown.
    """

    slug: str
    sentence: str
    sure: bool


def by_law(c: Crossing, x: np.ndarray, keep: str, t: float, name: str, clause: str) -> Verdict | None:
    """A "never" from the limit of a fitted law, if the law fits well and the last quarter of the record hardly moved
    its limit.
    """
    if c.error > 1e-3 or not math.isinf(c.low) or not math.isfinite(c.limit + c.earlier):
        return None
    if len(x) < 8 or len(x) < 16 and c.error > 1e-8:
        return None
    if abs(c.limit - t) <= 4 * abs(c.limit - c.earlier) or not OPS[keep](c.limit, t):
        return None
    if (x > 0).all() and 0 <= t < c.limit < (0.5 if c.error > 1e-8 else DEEP) * x[-1]:
        return None  # it may just as well fall to zero
    if (x > 0).all() and 0 == t < c.limit < 0.05 * x[-1] and c.error > 1e-12:
        return None
    if abs(c.limit - x[-1]) > 4 * float(np.ptp(x)):
        return None  # a limit this far away is not supported by the record
    return Verdict("limit-beyond", f"{name} tends to {c.limit:.9g}, and there clause {clause} still holds.", True)


def verdict(
    e: Evolution, x: np.ndarray, keep: str, t: float, name: str, clause: str, again: Callable[[int], Evolution]
) -> Verdict:
    """Verdict on ``x keep t`` from the evolution ``e`` of x, at least five finite float64 values.

    ``again(n)`` classifies the first n values, because a limit must have been visible earlier too.
    """
    found = _verdict(e, x, keep, t, name, clause, again)
    if found.sure or keep not in (">", ">=", "<", "<="):
        return found
    surely = by_distance(x, keep, t, name, clause)
    return found if surely is None else Verdict(*surely, True)


def _verdict(
    e: Evolution, x: np.ndarray, keep: str, t: float, name: str, clause: str, again: Callable[[int], Evolution]
) -> Verdict:
    # relative noise shows in the logarithm, where a steep descent does not hide it
    noisy = len(x) >= 20 and (is_noisy(x) or bool((x > 0).all()) and is_noisy(np.log(x)))
    skip = noisy and e.method not in EXACT_METHODS and e.label is not Pattern.CHAOTIC or e.method in _NOISY
    found = None if skip else _never(e, x, keep, t, name, clause)
    if found is None or not found.sure or found.slug in ("floor", "limit-beyond") and e.method not in EXACT_METHODS:
        far = far_from_noise(x, keep, t)
        if far is not None:
            sentence = (
                f"{name} scatters about a level that no longer moves, {far:.3g} deviations from {t:.6g}; "
                f"clause {clause} never turns."
            )
            return Verdict("noise-floor", sentence, True)
        if noisy and drifts_away(x, keep, t):
            return Verdict("moves-away", f"{name} drifts away from {t:.6g}; clause {clause} never turns.", True)
    if found is None:
        still = None if noisy else _stays(x, keep, t, name, clause)
        if still is not None:
            return still
        return Verdict("no-model", f"{name} is {e.label.name}; no forecast for clause {clause}. {e.why[0]}", False)
    if (not found.sure or e.doubt > 0.25) and not noisy:
        still = _stays(x, keep, t, name, clause)
        if still is not None:
            return still
    if found.sure and (e.doubt > 0.25 or len(x) < 8 and e.doubt > 0 or len(x) < 12 and found.slug == "limit-beyond"):
        return Verdict("doubtful", f"{name} looks {e.label.name}, but the evidence against an end is too weak.", False)
    if (
        found.sure
        and found.slug in ("floor", "limit-beyond")
        and e.method not in EXACT_METHODS
        and not _seen(e, t, again, x)
    ):
        return Verdict("limit-moves", f"{name} may tend to {e.limit:.6g}, but that estimate still moves.", False)
    return found


def _stays(x: np.ndarray, keep: str, t: float, name: str, clause: str) -> Verdict | None:
    found = no_progress(x, keep, t)
    if found is None:
        return None
    gap, rests = found
    sentence = f"{name} keeps coming as near to {t:.6g} as {gap:.6g}, and no nearer; clause {clause} never turns."
    return Verdict("floor" if rests else "cycle", sentence, True)


_NOISY = ("noise_ball", "moving_mean", "envelope", "noisy_drift", "random_walk", "swings")


def _seen(e: Evolution, t: float, again: Callable[[int], Evolution], x: np.ndarray) -> bool:
    """True if |L(n) - threshold| > 4 |L(n) - L(0.8 n)|, and also with L(0.6 n) for a record of 24 values or more."""
    for share in (0.8, 0.6)[: 2 if len(x) >= 24 else 1]:
        earlier = again(int(share * len(x))).limit
        if earlier is None or e.limit is None or abs(e.limit - t) <= 4 * abs(e.limit - earlier):
            return False
    return True


def _never(e: Evolution, x: np.ndarray, keep: str, t: float, name: str, clause: str) -> Verdict | None:
    if e.period is not None and reaches_in_period(e, keep, t) is False:
        if _by_chance(x, max(round(e.period), 1)):
            return Verdict("doubtful", f"{name} repeats {e.period:.6g} values, as it may by chance.", False)
        sentence = f"{name} repeats with period {e.period:.6g}, and clause {clause} holds all through."
        return Verdict("cycle", sentence, True)
    if e.label in (Pattern.CONVERGING, Pattern.STABLE) and e.limit is not None:
        return _limit(e, x, keep, t, name, clause)
    if e.label is Pattern.CHAOTIC:
        return _bounded(x, keep, t, name, clause)
    far = np.abs(x - t)  # a distance that fell and grows again may fall again
    away = e.label is Pattern.DIVERGING and e.model is not None and e.rate != 0 and far[-1] >= ABOVE * far.max()
    if away and goes_away(e, keep, float(x[-1]), t):
        return Verdict("moves-away", f"{name} is DIVERGING away from {t:.6g}; clause {clause} never turns.", True)
    return None


def _by_chance(x: np.ndarray, period: int) -> bool:
    """True if integers repeat too few values, or the record is short or has different successors of the same value."""
    if not np.all(x == np.rint(x)):
        return False
    other = np.flatnonzero(x[period:] != x[:-period])
    run = len(x) - period - (int(other[-1]) + 1 if other.size else 0)
    if run >= CYCLE_VALUES:
        return False
    return len(x) < 2 * CYCLE_VALUES or len({*zip(x.tolist(), x[1:].tolist(), strict=False)}) > len(
        set(x[:-1].tolist())
    )


def _limit(e: Evolution, x: np.ndarray, keep: str, t: float, name: str, clause: str) -> Verdict | None:
    limit, last = float(e.limit), float(x[-1])  # type: ignore[arg-type]
    left = abs(limit - last)
    if e.method not in EXACT_METHODS and (x > 0).all() and 0 < t < limit < 0.5 * last:
        # a residual that still falls may fall to zero: wait until it is near its assumed floor
        return Verdict("limit-close", f"{name} may tend to {limit:.6g} or to zero: too early to tell.", False)
    error = e.limit_error if e.limit_error is not None else left
    # an error as large as in the hold-out may recur on the way to the limit
    error += 10.0 * left * (e.model.spread if e.model is not None else 0.1)
    if not OPS[keep](limit, t) or not (abs(limit - t) > 4 * error or keep == "!=" and limit == t):
        return Verdict("limit-close", f"{name} tends to {limit:.9g}, too close to {t:.6g} to tell.", False)
    floors = ("floor", "settled", "constant_tail", "noise_ball", "periodic")
    slug = "floor" if e.method in floors else "limit-beyond"
    return Verdict(slug, f"{name} tends to {limit:.9g}, and there clause {clause} still holds.", True)


def _bounded(x: np.ndarray, keep: str, t: float, name: str, clause: str) -> Verdict | None:
    """The verdict on a chaotic record: "never" if a map that reproduces each next value stays on its side for 8192
    iterations, by a margin.
    """
    if len(x) < 24:
        return None
    low, high = float(x.min()), float(x.max())
    for law in laws.maps(x):
        off = np.abs(law.after(x[:-1]) - x[1:])
        if not bool(np.all(off <= 1e-9 * (high - low))):
            continue
        far = law.values(8192)
        if not np.all(np.isfinite(far)):
            return None
        low, high = min(low, float(far.min())), max(high, float(far.max()))
        margin = 0.02 * (high - low)
        if np.all(OPS[keep](far, t)) and not low - margin <= t <= high + margin:
            sentence = f"{name} is chaotic but stays within {low:.6g} and {high:.6g}, where clause {clause} holds."
            return Verdict("chaotic", sentence, True)
        return None
    if not low - (high - low) <= t <= high + (high - low):
        sentence = f"{name} is irregular within {low:.6g} and {high:.6g}, far from {t:.6g}; clause {clause} holds."
        return Verdict("chaotic", sentence, True)
    return None


def reaches_in_period(e: Evolution, keep: str, t: float) -> bool | None:
    """True if the modelled oscillation makes the clause false within eight periods; None if it is too close to call."""
    if e.model is None:
        return None
    n = int(min(max(8 * (e.period or 1.0), 64), 8192))
    values = e.model.predict(np.arange(1, n + 1))
    if not np.all(np.isfinite(values)):
        return None
    margin = 4 * max(e.model.spread, 0.0) * float(np.ptp(values))
    near = np.abs(values - t) <= margin if e.method != "periodic" else np.zeros(n, dtype=bool)
    return None if np.any(near) else bool(np.any(~OPS[keep](values, t)))
