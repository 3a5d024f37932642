"""Forecasts one moving operand compared with a fixed threshold, if no exact counter continues it.

A law that continues the record nearly to its digits is tried first (``crossing_time``), then the operand's evolution is
tested for never crossing (``never_crosses``). If neither is certain, the declared laws of ``workbench.analysis.laws``
answer together, each weighted by its predictions of the record so far. A fitted law is kept as long as it predicts the
new values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from workbench.analysis.forecast.crossing_time import Crossing, forecast_crossing
from workbench.analysis.forecast.laws.exact_continuation import limits
from workbench.analysis.forecast.never_crosses import EXACT_METHODS, Verdict, by_law, verdict
from workbench.analysis.laws.posterior import Candidate, Posterior, outlook
from workbench.analysis.series.calibration import MOST_AHEAD, confidence
from workbench.analysis.series.classify import classify_history
from workbench.analysis.series.result import Evolution
from workbench.analysis.series.value_series import History

#: while a law is kept, evidence against its crossing is searched for only once every 1/16 of the record's length
RECHECK_DIVISOR = 16
#: Slugs of a "never" that is replaced by the joint answer of all laws if the trend leads away from the threshold.
SCATTERS = ("swings", "noise-floor", "chaotic")
#: Suffixes of the kinds of answers whose intervals are intersected with that of all declared laws.
CUT = ("near", "newton-rate", "stiff", "bends", "few")
#: An upper bound of this many iterations or more counts as no bound.
UNBOUNDED = 1e15
#: Minimum ratio of an interval's bounds for that.
NARROW = 2.0


@dataclass
class PassageForecast:
    """When the clause changes its truth value: after ``k`` further evaluations, math.inf for never, None for unknown.

    ``kind`` selects the calibration; without one the confidence is unchanged. ``below`` and ``above`` are the half
    widths of its interval before calibration, 0 if it has none; ``candidates`` are the declared laws, if the answer is
    their joint one.
    """

    k: float | None
    low: float
    high: float
    slug: str
    sentence: str
    confidence: float
    kind: str = ""
    below: float = 0.0
    above: float = 0.0
    candidates: tuple[Candidate, ...] = ()


class OperandRecord(NamedTuple):
    """An operand's record in ``values keep threshold``; only the last of its ``total`` evaluations are kept."""

    values: np.ndarray
    dtype: np.dtype
    total: int
    keep: str
    threshold: float
    name: str
    clause: str
    scale: float = 0.0  # magnitude of the compared sides, if the values are a difference


class OperandForecast:
    """Forecasts of one operand; remembers the last fitted law, and when its crossing was last found undisputed."""

    def __init__(self) -> None:
        self._kept: tuple[int, Crossing] | None = None
        self._held = False  # the present crossing is from the remembered law
        self._open = -1  # evaluation at which no test last found that the operand never crosses
        self._last: tuple[int, Posterior] | None = None  # the last joint answer of all declared laws

    def forecast(self, s: OperandRecord) -> PassageForecast:
        """Forecast when ``values keep threshold`` becomes false."""
        if self._last is not None:
            since, posterior = s.total - self._last[0], self._last[1].later(s.total - self._last[0])
            if posterior is not None and 0 < since <= len(s.values) // RECHECK_DIVISOR:
                return _ends(posterior, s)
            self._last = None
        x = s.values.astype(np.float64)
        eps = limits(s.dtype)[0] if s.dtype.kind == "f" else 0.0
        crossing = self._meets(x, s, eps) if s.keep in ("!=", "==") else self._crossing(x, s, eps)
        if crossing is not None and math.isfinite(crossing.k) and crossing.error < 1e-8:
            return _crosses(crossing, s)
        if len(x) < 5 and crossing is None:
            return undecided("few", f"Only {len(x)} evaluations of clause {s.clause}: more are needed.")
        crosses = crossing is not None and math.isfinite(crossing.k)
        if crossing is not None and crosses and self._held and 0 < s.total - self._open <= len(x) // RECHECK_DIVISOR:
            return _crosses(crossing, s)
        found, e = self._endless(crossing, x, s) if len(x) >= 5 else (None, None)
        self._open = s.total if crosses and (found is None or not found.sure) else -1
        if found is not None and found.sure:
            # a law outweighs a limit if it crosses soon or fits almost exactly, but not if it has far to go
            if not (crossing is not None and crosses and _near(crossing, len(x))):
                posterior = outlook(x, s.keep, s.threshold) if found.slug in SCATTERS else None
                return _ends(posterior, s) if posterior is not None and posterior.gone else _never(found, e, s)
            return _crosses(crossing, s) if crossing.error < 1e-3 else undecided("torn", found.sentence)
        if crossing is not None and crosses:
            return _crosses(crossing, s)
        posterior = outlook(x, s.keep, s.threshold)
        if posterior is not None and posterior.iterations is not None:
            self._last = (s.total, posterior)
            return _ends(posterior, s)
        return undecided(found.slug, found.sentence) if found is not None else undecided("few", "More are needed.")

    def _endless(self, crossing: Crossing | None, x: np.ndarray, s: OperandRecord) -> tuple[Verdict, Evolution | None]:
        kept = s.values.astype(s.dtype if s.dtype.kind == "f" else np.float64)

        def evolution(n: int) -> Evolution:
            return classify_history(History(kept[:n], s.total - len(kept)))

        found = by_law(crossing, x, s.keep, s.threshold, s.name, s.clause) if crossing is not None else None
        if found is not None:
            return found, None
        e = evolution(len(kept))
        return verdict(e, x, s.keep, s.threshold, s.name, s.clause, evolution), e

    def _crossing(self, x: np.ndarray, s: OperandRecord, eps: float) -> Crossing | None:
        """The crossing of the remembered law, as long as it predicts the values since its fit; else of a new fit."""
        self._held = True
        if self._kept is not None:
            since, kept = s.total - self._kept[0], self._kept[1]
            if kept.ahead is not None and 0 < since < min(len(kept.ahead), len(x) - 2):
                step = np.abs(np.diff(x[-since - 1 :])) + np.abs(np.diff(x[-since - 2 : -1]))
                allowed = (2.0 * kept.error * np.arange(1, since + 1) + 1e-9) * step + 8 * eps * np.abs(x[-since:])
                if np.all(np.abs(x[-since:] - kept.ahead[:since]) <= allowed):
                    low, high = (max(1.0, v - since) for v in (kept.low, kept.high))
                    return replace(kept, k=kept.k - since, low=low, high=high, ahead=None)
        self._held = False
        found = _narrowed(forecast_crossing(x, s.keep, s.threshold, eps), x, s)
        self._kept = (s.total, found) if found is not None and found.ahead is not None else None
        return found

    def _meets(self, x: np.ndarray, s: OperandRecord, eps: float) -> Crossing | None:
        """The crossing of a sequence that tends to its threshold, where the distance is lost in rounding."""
        if s.keep == "==" or eps == 0.0 or len(x) < 8:
            return None
        gap = np.abs(x - s.threshold)
        if gap[-1] == 0 or not gap[-1] < 0.5 * gap[len(gap) // 2]:
            return None
        tiny = float(np.finfo(s.dtype).smallest_subnormal)
        found = forecast_crossing(gap, ">", max(0.5 * eps * max(abs(s.threshold), s.scale), 0.5 * tiny), eps)
        if found is None or not math.isfinite(found.k):
            return None
        # the last digits do not follow the law
        half = 2.0 + 0.05 * found.k
        low, high = max(1.0, math.floor(found.low - half)), math.ceil(found.high + half)
        return replace(found, low=low, high=high, error=max(found.error, 1e-4), ahead=None)


def _narrowed(c: Crossing | None, x: np.ndarray, s: OperandRecord) -> Crossing | None:
    """The crossing of a law; unless it is exact, its interval is intersected with that of all declared laws."""
    if c is None or not math.isfinite(c.k) or not c.kind.endswith(CUT) or c.high < NARROW * c.low:
        return c
    o = outlook(x, s.keep, s.threshold)
    if o is None:
        return c
    low, high = max(c.low, min(math.floor(o.low), c.k)), min(c.high, max(math.ceil(o.high), c.k))
    return replace(c, low=low, high=high)


def _near(c: Crossing, n: int) -> bool:
    return c.error * (1.0 + c.k / n) < 0.01 and c.k < 4 * n


def _never(found: Verdict, e: Evolution | None, s: OperandRecord) -> PassageForecast:
    kind = f"never-{found.slug}" + ("-exact" if e is not None and e.method in EXACT_METHODS else "")
    sure = confidence(kind, len(s.values))
    return never_turns(found.slug, found.sentence, sure, kind)


def _crosses(c: Crossing, s: OperandRecord) -> PassageForecast:
    text = f"{s.name} follows a law ({c.law}) that makes clause {s.clause} turn in about {int(c.k):,} iterations."
    sure = confidence(c.kind, len(s.values))
    high = c.high if c.high < UNBOUNDED else math.inf
    return PassageForecast(c.k, c.low, high, "forecast", text, sure, c.kind, c.below, c.above)


def by_laws(x: np.ndarray, s: OperandRecord) -> PassageForecast | None:
    """The joint answer of all declared laws; None for too few values, or if the laws disagree too much."""
    o = outlook(x, s.keep, s.threshold)
    return None if o is None or o.iterations is None else _ends(o, s)


def _ends(o: Posterior, s: OperandRecord) -> PassageForecast:
    return replace(_last(o, s), candidates=o.candidates)


def _last(o: Posterior, s: OperandRecord) -> PassageForecast:
    assert o.iterations is not None
    if math.isinf(o.iterations) and o.turned:
        way, since = ("risen" if s.keep in (">", ">=") else "fallen"), s.total - 1 - o.rest.length
        best = float(s.values[len(s.values) - 1 - o.rest.length])
        sentence = (
            f"{s.name} has turned: it has {way} again since iteration {since:,}, where it was {best:.6g}; "
            f"clause {s.clause} is not expected to turn."
        )
        return never_turns("turned", sentence, min(MOST_AHEAD, o.never))
    if math.isinf(o.iterations):
        waited = f", and never waited longer than {o.rest.longest:,} before" if o.rest.longest < o.rest.length else ""
        sentence = (
            f"{s.name} has hardly improved in {o.rest.length:,} evaluations{waited}; "
            f"clause {s.clause} is not expected to turn."
        )
        return never_turns("stagnates", sentence, min(MOST_AHEAD, o.never))
    k, low = math.ceil(o.iterations), math.floor(o.low)
    high = math.ceil(o.high) if o.high < UNBOUNDED else math.inf
    best = o.candidates[0]
    text = (
        f"{s.name} follows {best.law.what} best of {len(o.candidates)} laws; together they let clause {s.clause} turn "
        f"in about {k:,} iterations."
    )
    return PassageForecast(
        k, min(low, k), max(high, k), "forecast", text, confidence("posterior", len(s.values)), "posterior"
    )


def never_turns(slug: str, sentence: str, sure: float, kind: str = "") -> PassageForecast:
    """The forecast that a clause never changes its truth value."""
    return PassageForecast(math.inf, math.inf, math.inf, slug, sentence, sure, kind)


def undecided(slug: str, sentence: str) -> PassageForecast:
    return PassageForecast(None, 1, math.inf, slug, sentence, 0.0)
