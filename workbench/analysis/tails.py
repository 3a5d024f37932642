"""Step 5: smooth monotone or alternating tails.

Differences below about 100 ulp are dropped (fewer where the dtype has few digits), then log|d| is fitted by a
constant (a counter, or a 2-cycle when alternating), by a + k log(rho) (geometric) and by a - s log(k + k0) (a power
law), each on the first 60 % and judged by its prediction of the last 40 %.  Superlinear order shows in the growth of
the log-ratios themselves.  The simplest fit within three times the best error is kept; whether it is good enough
against a linear recurrence is decided in ``classify``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.analysis.evolution import Finding, Pattern
from workbench.analysis.history import History
from workbench.analysis.limits import geometric_tail
from workbench.analysis.models import Counter, LinearRecurrence, PowerLaw, Settled, Superlinear

#: Exponents of |d| up to this diverge: sums of 1/k do, sums of 1/k**1.25 do not.
CRITICAL = 1.02
#: Points used in a fit; longer tails are thinned logarithmically from the end.
POINTS = 240


def usable(h: History) -> int:
    """Number of leading differences above the rounding noise: 100 ulp, or 25, 8, 2 where else too few would be left."""
    d = np.abs(h.d)
    if h.integral:
        where = np.flatnonzero(d)
        return int(where[-1]) + 1 if where.size else 0
    ulps = h.ulp(np.maximum(np.abs(h.x[1:]), np.abs(h.x[:-1])))
    wanted = min(12, len(d))
    best = 0
    for factor in (100, 25, 8, 2):
        where = np.flatnonzero(d > factor * ulps)
        best = int(where[-1]) + 1 if where.size else 0
        if best >= wanted:
            return best
    return best


@dataclass
class Tail:
    """A run of differences of one sign, or of alternating signs, at the end of the usable record."""

    d: np.ndarray
    first: int
    end: int
    alternating: bool


def smooth_tail(h: History, end: int) -> Tail | None:
    """The longest such run that ends at difference ``end``, if it holds at least 4, and a third of the record or 32."""
    signs = np.sign(h.d[:end])
    if len(signs) < 3 or signs[-1] == 0:
        return None
    product = signs[1:] * signs[:-1]
    for alternating, want in ((False, 1.0), (True, -1.0)):
        wrong = np.flatnonzero(product != want)
        first = int(wrong[-1]) + 1 if wrong.size else 0
        if end - first >= 3 and (end - first >= end / 3 or end - first >= 32):
            return Tail(h.d[first:end], first, end, alternating)
    return None


def superlinear(h: History, end: int) -> Finding | None:
    """Errors whose log-ratios grow by themselves: Newton, secant (order 1.6 to 2), or growth of that kind."""
    d = h.d[:end][-9:]
    logs = np.log(np.abs(d[int(np.argmax(np.abs(d))) :] if np.abs(d[-1]) < np.abs(d[0]) else d))
    r = np.diff(logs)
    if len(r) < 2 or not np.all(np.isfinite(r)) or np.any(np.sign(r[-3:]) != np.sign(r[-1])) or abs(r[-1]) < 0.7:
        return None
    # an extremum of a smooth curve looks like this too: ask for five digits gained, or for steps that then vanished
    drop = abs(float(d[-1])) / float(np.max(np.abs(h.d[:end])))
    if r[-1] < 0 and not (drop < 1e-5 or (drop < 0.05 and end < len(h.d))) or r[-1] > 0 and logs[-1] - logs[0] < 4.6:
        return None
    q = r[1:] / r[:-1]
    good = run = 0
    for value in q[::-1]:
        if not 1.2 <= value <= 8.0:
            break
        run += 1
    good = run
    if good < (1 if len(h.d) - end >= 1 and abs(r[-1]) > 3.0 else 2) or len(r) >= 5 and good < 3:
        return None
    order = float(np.median(q[-min(good, 3) :])) if good > 1 else float(q[-1])
    if r[-1] > 0:
        why = (
            "The increments grow faster than any geometric sequence: "
            f"their logarithms' ratios grow by {order:.3g} each iteration."
        )
        return Finding(Pattern.DIVERGING, "superlinear", why, order=order)
    end_value = float(h.x[-1])
    last_d = float(d[-1])
    # the next step is about |d| * exp(r q): what is left after the last value, or nothing if that is below rounding
    left = 0.0 if end < len(h.d) else last_d * float(np.exp(max(r[-1] * order, -700.0)))
    limit = end_value + left
    # the order is known from a few ratios only: allow a third less of it
    error = abs(last_d) * float(np.exp(max(r[-1] * max(1.0, 0.7 * order), -700.0))) if left else 0.0
    error += 2 * float(h.ulp(end_value))
    model = Superlinear(limit, left if left else 0.0, order, float(logs[-1] - order * logs[-2]))
    why = f"The steps shrink superlinearly, with order about {order:.3g}."
    return Finding(Pattern.CONVERGING, "superlinear", why, model, order=order, limit=limit, limit_error=error)


@dataclass
class Fit:
    """One model of log|d| over local index k: error is the rms of the logarithm on the last 40 %."""

    kind: str
    error: float
    slope: float = 0.0
    a: float = 0.0
    k0: float = 0.0


def _thin(n: int) -> np.ndarray:
    """Indices: all, or logarithmically denser at both ends."""
    if n <= POINTS:
        return np.arange(n)
    half = np.unique(np.geomspace(1, n, POINTS // 2).astype(np.int64)) - 1
    return np.unique(np.concatenate([half, n - 1 - half, np.linspace(0, n - 1, POINTS // 2).astype(np.int64)]))


def _line(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Least squares y = a + b X for each row of X; returns a, b and the sum of squares."""
    mx, my = X.mean(axis=-1, keepdims=True), y.mean()
    dx, dy = X - mx, y - my
    b = (dx * dy).sum(axis=-1) / np.maximum((dx * dx).sum(axis=-1), 1e-300)
    a = my - b * mx[..., 0]
    return a, b, ((dy - b[..., None] * dx) ** 2).sum(axis=-1)


def _power(k: np.ndarray, y: np.ndarray, before: int) -> tuple[float, float, float]:
    """Best a - s log(k + k0) by a grid on k0, refined; ``before`` iterations precede k = 0. Returns (a, s, k0)."""
    n = float(k[-1] - k[0] + 1)
    low, high = np.log(0.02), np.log(3.0 * n + 2.0 * before)
    for _ in range(5):
        grid = np.exp(np.linspace(low, high, 25))
        a, b, sse = _line(np.log(k[None, :] + grid[:, None]), y)
        i = int(np.argmin(sse))
        step = (high - low) / 24
        low, high = np.log(grid[i]) - 1.5 * step, np.log(grid[i]) + 1.5 * step
    return float(a[i]), float(-b[i]), float(grid[i])


def fits(tail: Tail, start: int = 0) -> list[Fit]:
    """Counter, geometric and power-law fits, judged on the last 40 % and then refitted to all."""
    m, before = len(tail.d), start + tail.first
    # early iterations hold the lower-order terms of an asymptotic law: leave out the first third of a long tail
    skip = m // 3 if m >= 24 else 0
    index = _thin(m - skip) + skip
    k, y = index.astype(float), np.log(np.abs(tail.d[index]))
    cut = max(3, int(0.6 * len(k)))
    if len(k) - cut < 2 or not np.all(np.isfinite(y)):
        return []
    rms = lambda e: float(np.sqrt(np.mean(e * e)))  # noqa: E731
    out = [Fit("counter", rms(y[cut:] - y[:cut].mean()), 0.0, float(y[cut:].mean()))]
    a, b, _ = _line(k[None, :cut], y[:cut])
    error = rms(y[cut:] - a[0] - b[0] * k[cut:])
    a, b, _ = _line(k[None, :], y)
    out.append(Fit("geometric", error, float(b[0]), float(a[0])))
    if m >= 6:
        a1, s1, k1 = _power(k[:cut], y[:cut], before)
        error = rms(y[cut:] - a1 + s1 * np.log(k[cut:] + k1))
        a1, s1, k1 = _power(k, y, before)
        # with k0 at the far end of the grid the law is an exponential in disguise
        out.append(Fit("power" if k1 < 2.5 * (k[-1] - k[0] + 1) + 1.5 * before else "flat-power", error, s1, a1, k1))
    return [f for f in out if np.isfinite(f.error)]


def best_fit(candidates: list[Fit], factor: float = 3.0) -> Fit | None:
    """The simplest fit within ``factor`` times the best error."""
    candidates = [f for f in candidates if f.kind != "flat-power"]
    if not candidates:
        return None
    best = min(f.error for f in candidates)
    return next(f for f in candidates if f.error <= factor * best + 1e-7)


def finding(h: History, tail: Tail, fit: Fit) -> Finding:
    """The verdict of a fit."""
    last = float(h.x[tail.end])
    sign = float(np.sign(tail.d[-1]))
    shape = "alternate" if tail.alternating else "have one sign"
    if fit.kind == "counter":
        step = float(np.median(np.abs(tail.d[-9:]))) * sign
        if tail.alternating:
            size = h.unscale(abs(step))
            why = f"The differences alternate with an amplitude of {size:.6g} that does not decay: a 2-cycle."
            model = LinearRecurrence(float(h.x[-1]), np.array([-1.0]), np.array([step]), -1.0, fit.error)
            return Finding(Pattern.OSCILLATING, "two_cycle", why, model, period=2.0)
        why = f"The value changes by {h.unscale(step):.6g} each iteration: a counter."
        return Finding(Pattern.DIVERGING, "counter", why, Counter(float(h.x[-1]), step, fit.error))
    if fit.kind == "geometric":
        return _geometric(h, tail, fit, shape)
    s = fit.slope
    K = len(tail.d) - 1 + fit.k0
    a = float(np.exp(fit.a)) * sign
    model = PowerLaw(last, a, s, K, tail.alternating, fit.error)
    critical = 0.02 if tail.alternating else CRITICAL
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
            limit_error=max(error, 4 * float(h.ulp(limit))),
        )
    why = f"The differences {shape} and go like k**{-s:.4g}: their sum has no limit."
    return Finding(Pattern.DIVERGING, "power", why, model, sublinear_exponent=None)


def _power_limit(h: History, tail: Tail) -> float | None:
    """The limit as it would have been estimated from the first 80 % of the tail."""
    m = int(0.8 * len(tail.d))
    if m < 6:
        return None
    part = Tail(tail.d[:m], tail.first, tail.first + m, tail.alternating)
    power = [f for f in fits(part, h.start) if f.kind == "power"]
    if not power or power[0].slope <= (0.02 if tail.alternating else CRITICAL):
        return None
    f = power[0]
    sign = float(np.sign(part.d[-1]))
    return PowerLaw(
        float(h.x[part.end]), float(np.exp(f.a)) * sign, f.slope, m - 1 + f.k0, tail.alternating
    ).limit_value()


def _geometric(h: History, tail: Tail, fit: Fit, shape: str) -> Finding:
    rho, limit, error = geometric_tail(h, tail.d, float(h.x[tail.end]), tail.alternating)
    if not np.isfinite(rho):
        rho = float(np.exp(fit.slope)) * (-1 if tail.alternating else 1)
    model = LinearRecurrence(float(h.x[tail.end]), np.array([rho]), np.array([float(tail.d[-1])]), rho, fit.error)
    size = abs(rho)
    if size < 1.0:
        why = f"The differences {shape} and shrink by {size:.6g} each iteration."
        if tail.end < len(h.d):
            model = Settled(limit)
        return Finding(Pattern.CONVERGING, "geometric", why, model, rate=size, limit=limit, limit_error=error)
    why = f"The differences {shape} and grow by {size:.6g} each iteration."
    return Finding(Pattern.DIVERGING, "geometric", why, model, rate=size)
