"""Step 5: smooth monotone or alternating tails.

Differences below about 100 ulp are dropped (fewer where the dtype has few digits), then log|d| is fitted by a constant
(a counter, or a 2-cycle when alternating), by a + k log(rho) (geometric) and by a - s log(k + k0) (a power law), each
on the first 60 % and judged by its prediction of the last 40 %.  Superlinear order shows in the growth of the
log-ratios themselves.  The simplest fit within three times the best error is kept; ``smooth_steps`` compares it with a
linear recurrence.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

import numpy as np

from workbench.analysis.series.acceleration import geometric_tail
from workbench.analysis.series.models import Counter, LinearRecurrence, PowerLaw, Settled
from workbench.analysis.series.result import Finding, Pattern
from workbench.analysis.series.value_series import History
from workbench.kernels import fits

#: Maximum exponent of |d| whose sum diverges: sums of 1/k diverge, sums of 1/k**1.25 converge.
CRITICAL = 1.02


@dataclass
class Tail:
    """A run of differences of one sign, or of alternating signs, at the end of the usable record."""

    d: np.ndarray
    first: int
    end: int
    alternating: bool


def smooth_tail(h: History, end: int) -> Tail | None:
    """The longest such run that ends at difference ``end``, if it holds at least 3, and a third of the record or 32."""
    found = fits.smooth_tail(h.d, end)
    if found is None:
        return None
    first, alternating = found
    return Tail(h.d[first:end], first, end, alternating)


@dataclass
class Fit:
    """One model of log|d| over local index k: error is the rms of the logarithm on the last 40 %."""

    kind: str
    error: float
    slope: float = 0.0
    a: float = 0.0
    k0: float = 0.0


def laws(tail: Tail, start: int = 0) -> list[Fit]:
    """Counter, geometric and power-law fits, judged on the last 40 % and then refitted to all (``fits.tail_laws``)."""
    return _laws(tail.d, len(tail.d), start + tail.first)


def _laws(d: np.ndarray, m: int, before: int) -> list[Fit]:
    found = fits.tail_laws(d, 0, m, before)
    if found is None:
        return []
    (error, level), (geometric_error, slope, a), power = found
    out = [Fit("counter", error, 0.0, level), Fit("geometric", geometric_error, slope, a)]
    if power is not None:
        error, s, a, k0, disguised = power
        # with k0 at the far end of the grid the law is an exponential in disguise
        out.append(Fit("flat-power" if disguised else "power", error, s, a, k0))
    return [f for f in out if math.isfinite(f.error)]


def best_fit(candidates: list[Fit], factor: float = 3.0, relative_rounding: float = 0.0) -> Fit | None:
    """The simplest fit within ``factor`` times the best error; a counter also within its steps' rounding."""
    candidates = [f for f in candidates if f.kind != "flat-power"]
    if not candidates:
        return None
    best = min(f.error for f in candidates)
    return next(
        f for f in candidates if f.error <= factor * best + 1e-7 + (relative_rounding if f.kind == "counter" else 0.0)
    )


def relative_rounding(h: History, tail: Tail) -> float:
    """Relative rounding of a step at the end of the tail."""
    return 2.0 * h.ulp(max(abs(h.low), abs(h.high))) / max(abs(float(tail.d[-1])), 1e-300)


def finding(h: History, tail: Tail, fit: Fit) -> Finding:
    """The verdict of a fit."""
    last = float(h.x[tail.end])
    sign = math.copysign(1.0, float(tail.d[-1]))
    shape = "alternate" if tail.alternating else "have one sign"
    if fit.kind == "counter":
        step = statistics.median(map(abs, tail.d[-9:].tolist())) * sign
        if tail.alternating:
            size = h.unscale(abs(step))
            why = f"The differences alternate with an amplitude of {size:.6g} that does not decay: a 2-cycle."
            model = LinearRecurrence(float(h.x[-1]), np.array([-1.0]), np.array([step]), -1.0, fit.error)
            doubt = 0.3 if fit.error > 0.05 and len(h) < 64 else 0.0  # noise also alternates for a while
            return Finding(Pattern.OSCILLATING, "two_cycle", why, model, period=2.0, doubt=doubt)
        why = f"The value changes by {h.unscale(step):.6g} each iteration: a counter."
        doubt = 0.3 if fit.error > 0.02 and len(h) < 64 else 0.0  # a turning point of a curve looks like this
        return Finding(Pattern.DIVERGING, "counter", why, Counter(float(h.x[-1]), step, fit.error), doubt=doubt)
    if fit.kind == "geometric":
        return _geometric(h, tail, fit, shape)
    s = fit.slope
    K = len(tail.d) - 1 + fit.k0
    a = math.exp(fit.a) * sign
    model = PowerLaw(last, a, s, K, tail.alternating, fit.error)
    critical = 0.02 if tail.alternating else CRITICAL
    if tail.alternating and abs(s) <= critical and abs(s) * math.log(max(K / fit.k0, 2.0)) < 0.5:
        return finding(h, tail, Fit("counter", fit.error))
    if s > critical:
        exponent = s if tail.alternating else s - 1.0
        limit = model.limit_value()
        earlier = _power_limit(h, tail)
        error = abs(limit - earlier) if earlier is not None else abs(limit - last) * 0.3
        why = f"The differences {shape} and fall like k**-{s:.4g}; the error falls like k**-{exponent:.4g}."
        return Finding(
            Pattern.CONVERGING,
            "power",
            why,
            model,
            sublinear_exponent=exponent,
            limit=limit,
            limit_error=max(error, 4 * h.ulp(limit)),
        )
    first, now = float(h.x[0]), float(h.x[-1])
    if s > 0.2 and len(h) < 64 and h.low * h.high > 0 and abs(now) < 0.6 * abs(first):
        # with few values, a magnitude that falls by ever smaller steps counts as a norm, which does not cross zero
        why = f"The values fell to {now / first:.2g} of the first, each step smaller than the one before."
        return Finding(Pattern.CONVERGING, "falling_size", why, limit=now, limit_error=abs(now), doubt=0.4)
    why = f"The differences {shape} and go like k**{-s:.4g}: their sum has no limit."
    return Finding(Pattern.DIVERGING, "power", why, model, sublinear_exponent=None)


def _power_limit(h: History, tail: Tail) -> float | None:
    """The limit as it would have been estimated from the first 80 % of the tail."""
    m = int(0.8 * len(tail.d))
    if m < 6:
        return None
    power = [f for f in _laws(tail.d, m, h.start + tail.first) if f.kind == "power"]
    if not power or power[0].slope <= (0.02 if tail.alternating else CRITICAL):
        return None
    f = power[0]
    a = math.copysign(math.exp(f.a), float(tail.d[m - 1]))
    return PowerLaw(float(h.x[tail.first + m]), a, f.slope, m - 1 + f.k0, tail.alternating).limit_value()


def _geometric(h: History, tail: Tail, fit: Fit, shape: str) -> Finding:
    last = float(h.x[tail.end])
    rho, limit, error = geometric_tail(h, tail.d, last, tail.alternating)
    fitted = math.exp(fit.slope) * (-1 if tail.alternating else 1)
    if fit.error > 0.02 and abs(fitted) < 1.0 and not math.isfinite(error):
        # the last ratios are noise: use the fit of all of them
        rho = fitted
        left = math.copysign(math.exp(fit.a + fit.slope * (len(tail.d) - 1)), float(tail.d[-1])) * rho / (1.0 - rho)
        limit, error = last + left, abs(left) * (0.1 + fit.error)
    elif fit.error > 0.02 and (abs(fitted) - 1.0) * (abs(rho) - 1.0) < 0.0:
        rho = fitted
    if not math.isfinite(rho):
        rho = fitted
    model = LinearRecurrence(float(h.x[tail.end]), np.array([rho]), np.array([float(tail.d[-1])]), rho, fit.error)
    size = abs(rho)
    if size < 1.0:
        why = f"The differences {shape} and shrink by {size:.6g} each iteration."
        if tail.end < len(h.d):
            model = Settled(limit)
        return Finding(Pattern.CONVERGING, "geometric", why, model, rate=size, limit=limit, limit_error=error)
    why = f"The differences {shape} and grow by {size:.6g} each iteration."
    return Finding(Pattern.DIVERGING, "geometric", why, model, rate=size)
