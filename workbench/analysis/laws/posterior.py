"""The posterior of the end: a mixture of the declared laws, weighted by their errors on the record so far.

Each law that leads to the mark is a Student distribution of the logarithm of the time.  A law that does not gives half
of its weight to "never" and half to "as long again as so far" (Gott's argument), which also covers ends that no law
predicts.  The median is that of the laws that lead to the mark; the interval is that of the whole mixture.  "Never"
needs a record that rests and that neither its laws nor a random walk lead to the mark within forty times its length.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from workbench.analysis.laws.backtest import backtest
from workbench.analysis.laws.chance.rest import LEAST as LEAST_REST
from workbench.analysis.laws.chance.rest import Rest, rest
from workbench.analysis.laws.chance.walk import passes
from workbench.analysis.laws.law import DeclaredLaw, Family
from workbench.analysis.laws.record import FallingRecord, as_record
from workbench.analysis.laws.smooth import best_so_far, levels_off, straight_line
from workbench.text import harmless

#: The declared laws.
FAMILIES: tuple[Family, ...] = (straight_line.FAMILY, best_so_far.FAMILY, levels_off.FAMILY)
LAWS: tuple[DeclaredLaw, ...] = tuple(law for family in FAMILIES for law in family.laws)
PRIOR = np.array([law.prior for law in LAWS])
#: Minimum number of values for a forecast.
LEAST = 8
#: An end farther away than the first, in lengths of the record, counts as never; one farther away than the second is
#: not forecast.
NEVER, FAR = 40.0, 20.0
#: The probability of never above which the answer is "never", and above which no end is forecast.
SURE, TORN = 0.75, 0.3
#: A trend is steeper than this many of its standard errors, in at least one of these last shares of the record.
TREND, PARTS = 3.0, np.array((1.0, 0.5, 0.25))
#: A rest that speeds up falls this many times as fast in its last quarter as in the one before.
FASTER = 1.5
#: The share of the weight below which a law is refused.
WEIGHTY = 0.01
#: The weight of ends that no law predicts, relative to 1 for all laws.
UNFORESEEN = 0.04
#: Degrees of freedom of a law's error, and the growth of its variance with the logarithm of the predicted time over the
#: record's length.
FREEDOM, WIDENS = 4.0, 0.5
#: The points at which the Student distribution is evaluated, and those of "as long again".
_PLACES = np.linspace(-4.0, 4.0, 33)
_STUDENT = (1.0 + _PLACES**2 / FREEDOM) ** (-0.5 * (FREEDOM + 1.0))
_STUDENT /= _STUDENT.sum()
_AGAIN = np.log(1.0 / np.linspace(0.02, 0.98, 33) - 1.0)
_NEVER = 100.0


class Candidate(NamedTuple):
    """A law with its share of the weight, its iterations to the mark and the error of their logarithm; or a refusal."""

    law: DeclaredLaw
    share: float
    iterations: float
    error: float
    refused: str

    @harmless
    def __str__(self) -> str:
        if self.refused:
            return f"{self.law.what}: refused, {self.refused}"
        when = "never" if math.isinf(self.iterations) else f"in about {self.iterations:,.0f} iterations"
        off = math.exp(min(self.error, 50.0))
        return f"{self.law.what}: {self.share:.0%} of the weight, {when}, off by a factor of {off:.3g} before"


class Posterior(NamedTuple):
    """Iterations until the mark is passed, with their 90 % interval, and the probability of never.

    ``iterations`` is inf for never, and None if unknown.  ``turned`` says that the record has moved away from its mark
    since its best value.  ``candidates`` are all laws in order of decreasing weight.
    """

    iterations: float | None
    low: float
    high: float
    never: float
    rest: Rest
    turned: bool
    candidates: tuple[Candidate, ...]

    @property
    def gone(self) -> bool:
        """True if the record never reaches its mark because it has turned."""
        return self.turned and self.iterations == math.inf

    def later(self, since: int) -> Posterior | None:
        """The same end seen from ``since`` iterations later; None if the end is too near for that, unknown or never."""
        if self.iterations is None or not 4 * since < self.iterations < math.inf:
            return None
        low, high = max(1.0, self.low - since), max(1.0, self.high - since)
        return self._replace(iterations=self.iterations - since, low=low, high=high)


def outlook(x: np.ndarray, keep: str, threshold: float, without: str = "") -> Posterior | None:
    """When ``x keep threshold`` becomes false, for x (n,) that satisfies it; None for fewer than ``LEAST`` values, or
    if ``keep`` has no direction.

    The law named ``without`` is left out.
    """
    r = as_record(x, keep, threshold) if len(x) >= LEAST else None
    if r is None or not r.z[-1] > r.mark:
        return None
    n = len(r.z)
    with np.errstate(all="ignore"):
        tested = backtest(FAMILIES, r)
        speaks = ~np.isnan(tested.now)
        if without:
            speaks &= np.array([law.name != without for law in LAWS])
        score = np.where(speaks, tested.evidence + PRIOR, -np.inf)
        share = np.exp(score - score.max())
        share /= share.sum()
        leads = speaks & np.isfinite(tested.now)
        centre = np.where(leads, np.log(tested.now) - tested.bias, 0.0)
        error = tested.spread * np.sqrt(1.0 + WIDENS * np.log1p(np.exp(np.clip(centre, -50.0, 50.0)) / n))
    candidates = _candidates(share, np.where(leads, np.exp(np.minimum(centre, _NEVER)), np.inf), error, speaks)

    led = (centre[leads, None] + _PLACES * error[leads, None]).ravel(), (share[leads, None] * _STUDENT).ravel()
    lost = float(share[speaks & ~leads].sum())
    again = np.full(len(_AGAIN), (0.5 * lost + UNFORESEEN) / len(_AGAIN))
    places = np.concatenate((led[0], math.log(n) + _AGAIN, (_NEVER,)))
    weights = np.concatenate((led[1], again, (0.5 * lost,)))
    low, median, high = (max(1.0, v) for v in _quantiles(places, weights, (0.05, 0.5, 0.95)))
    middle = _quantiles(*led, (0.5,))[0] if leads.any() else median

    found = rest(r)
    far = float(weights[places > math.log(NEVER * n)].sum() / weights.sum()) if found.length >= LEAST_REST else 0.0
    never = (
        (found.chance + (1.0 - found.chance) * far) * (1.0 - passes(r, found.since, NEVER * n))
        if (far or found.chance) and not _quickens(r, found)
        else 0.0
    )
    k: float | None = min(max(middle, low), high)
    if never > SURE:
        k = math.inf
    elif never > TORN or median > FAR * n or not _comes_nearer(r):
        k = None
    return Posterior(k, low, high, never, found, _turned(r, found), candidates)


def _comes_nearer(r: FallingRecord) -> bool:
    """True if the record has a trend towards its mark; noise about a level has none."""
    n = len(r.z)
    first = n - np.maximum(LEAST, (n * PARTS).astype(np.int64))
    slope, _, sd = r.line_sums.lines(first, np.full(len(first), n))
    return bool(np.any(slope < -TREND * sd * np.sqrt(12.0 / (n - first) ** 3.0)))


def _turned(r: FallingRecord, found: Rest) -> bool:
    """True if the record has moved away from its mark since its best value, by a significant trend."""
    n = len(r.z)
    if found.length < LEAST:
        return False
    slope, _, sd = (float(v[0]) for v in r.line_sums.lines(np.array((found.since,)), np.array((n,))))
    return slope > TREND * sd * math.sqrt(12.0 / (n - found.since) ** 3.0) and _far_from_best(r, found)


def _far_from_best(r: FallingRecord, found: Rest) -> bool:
    """True if, of the values since the best one, the last quarter is farther from the mark than the median."""
    since = r.z[found.since :]
    return float(since[-max(1, len(since) // 4) :].min()) > float(np.median(since))


def _quickens(r: FallingRecord, found: Rest) -> bool:
    """True if a rest falls, and faster in its last quarter than in the one before: a plateau that is about to end."""
    n, part = len(r.z), found.length // 4
    if part < 3:
        return False
    first = np.array((n - 2 * part, n - part))
    (before, late), _, sd = r.line_sums.lines(first, first + part)
    return bool(late < -TREND * sd[1] * math.sqrt(12.0 / part**3) and late < FASTER * before < 0.0)


def _candidates(
    share: np.ndarray, iterations: np.ndarray, error: np.ndarray, speaks: np.ndarray
) -> tuple[Candidate, ...]:
    def refused(i: int) -> str:
        if not speaks[i]:
            return "it does not describe the record"
        return "" if share[i] >= WEIGHTY else f"it was off by a factor of {math.exp(min(error[i], 50.0)):.3g} before"

    order = np.argsort(-share, kind="stable")
    return tuple(Candidate(LAWS[i], float(share[i]), float(iterations[i]), float(error[i]), refused(i)) for i in order)


def _quantiles(places: np.ndarray, weights: np.ndarray, at: tuple[float, ...]) -> list[float]:
    """Quantiles of a weighted sample of logarithms, as iterations."""
    order = np.argsort(places, kind="stable")
    sorted_weights = weights[order]
    reached = np.cumsum(sorted_weights)
    found = np.interp(np.array(at) * reached[-1], reached - 0.5 * sorted_weights, places[order])
    return [math.exp(min(v, _NEVER)) for v in found.tolist()]
