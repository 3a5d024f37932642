"""Step 7: noisy records: random walk, growing or shrinking spread, moving mean, periodic signal, noise ball.

The rule for a noise ball (constant spread around a level): CONVERGING if the record shows the way to it, that is if
the first values or block means lie six standard errors or more from the level; STABLE if the record is inside the ball
from the start; OSCILLATING only if one frequency and its harmonics carry most of the variance.  A random walk is
DIVERGING: its variance grows without bound.

A moving mean is judged by its block means: whichever law of drift, logarithm, root, power with a limit or exponential
leaves the least squares; a law with a limit must be clearly better than one without.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.analysis.evolution import Finding, Pattern
from workbench.analysis.history import History


def spectral_peak(h: History) -> tuple[float, float]:
    """(share of the variance in one frequency and its harmonics, period) of the detrended last 4096 values."""
    x = h.x[-4096:]
    n = len(x)
    if n < 16:
        return 0.0, 0.0
    k = np.arange(n) - (n - 1) / 2
    y = x - x.mean()
    y = y - k * (k @ y) / (k @ k)
    power = np.abs(np.fft.rfft(y * np.hanning(n))) ** 2
    power[:2] = 0.0
    total = power.sum()
    if total <= 0:
        return 0.0, 0.0
    i = int(np.argmax(power))
    if i < 3:
        return 0.0, 0.0
    low, high = max(i - 1, 0), min(i + 2, len(power))
    center = float((power[low:high] * np.arange(low, high)).sum() / power[low:high].sum())
    share, harmonic = 0.0, 1
    taken = np.zeros(len(power), dtype=bool)
    while harmonic * center < len(power) and harmonic <= 5:
        at = int(round(harmonic * center))
        taken[max(at - 2, 0) : at + 3] = True
        harmonic += 1
    # wide masks catch noise too: take off what noise of the same total would put there
    share = float(power[taken].sum() / total)
    expected = float(taken.mean())
    return max(0.0, (share - expected) / max(1.0 - expected, 1e-9)), n / center


def _sine(y: np.ndarray, period: float) -> tuple[float, float]:
    """(share of the variance explained, period) of the best sine near ``period``, by least squares."""
    n, k, total = len(y), np.arange(len(y)), float(y @ y)
    best = (0.0, period)
    frequency, width = 1.0 / period, 0.6 / n
    for _ in range(2):
        for f in frequency + np.linspace(-width, width, 13):
            basis = np.column_stack([np.cos(2 * np.pi * f * k), np.sin(2 * np.pi * f * k)])
            fit = basis @ np.linalg.solve(basis.T @ basis + 1e-12 * n * np.eye(2), basis.T @ y)
            share = float(fit @ y) / max(total, 1e-300)
            if share > best[0]:
                best = (share, 1.0 / float(f))
        frequency, width = 1.0 / best[1], width / 6
    return best


def periodic_signal(h: History, least: float) -> Finding | None:
    share, period = spectral_peak(h)
    if share < least or len(h) < 3 * period:
        return None
    x = h.x[-4096:]
    n = len(x)
    explained, period = _sine(x - x.mean(), period)
    # chance of a white record to hold such a sine at one of its frequencies; short records get no credit for harmonics
    if (
        math.log(n) + 0.5 * (n - 3) * math.log(max(1.0 - explained, 1e-300)) > math.log(1e-5)
        or n < 64
        and explained < least
    ):
        return None
    half = len(h.d) // 2
    early, late = (float(np.std(part)) for part in (h.x[:half], h.x[half:]))
    if late < 0.5 * early or late > 2.0 * early:
        return None
    why = f"One frequency (period {period:.5g}) and its harmonics carry {share:.0%} of the variance."
    return Finding(Pattern.OSCILLATING, "spectrum", why, period=period, doubt=0.2 if share < 0.75 else 0.1)


def envelope(h: History) -> Finding | None:
    """Spread of the differences that grows or shrinks steadily over the record."""
    d = h.d
    blocks = 8 if len(d) >= 64 else 4
    if len(d) < 16:
        return None
    size = len(d) // blocks
    spread = np.array([np.sqrt(np.mean(part**2)) for part in d[len(d) - blocks * size :].reshape(blocks, size)])
    if np.any(spread == 0):
        return None
    logs = np.log(spread)
    t = np.arange(blocks) - (blocks - 1) / 2
    correlation = float((t @ logs) / math.sqrt((t @ t) * max(((logs - logs.mean()) ** 2).sum(), 1e-300)))
    ratio = float(spread[-max(1, blocks // 4) :].mean() / spread[: max(1, blocks // 4)].mean())
    log_t = np.log(np.arange(blocks) + 0.5)
    log_t -= log_t.mean()
    along_log = float((log_t @ logs) / math.sqrt((log_t @ log_t) * max(((logs - logs.mean()) ** 2).sum(), 1e-300)))
    # a spread that fell at first and then stays is a noise ball, not a decay
    late = float(spread[-1] / spread[blocks // 2])
    if ratio < 0.35 and min(correlation, along_log) < -0.85 and late < 0.9:
        why = f"The spread of the steps shrank to {ratio:.2g} of what it was, steadily."
        level = float(np.mean(h.x[-max(4, len(h) // 8) :]))
        return Finding(
            Pattern.CONVERGING, "envelope", why, limit=level, limit_error=float(np.ptp(h.x[-max(4, len(h) // 8) :]))
        )
    if ratio > 2.5 and max(correlation, along_log) > 0.85:
        return Finding(Pattern.DIVERGING, "envelope", f"The spread of the steps grew {ratio:.3g} fold, steadily.")
    return None


def _reverts(x: np.ndarray) -> bool:
    """Dickey and Fuller's test (1979) on the whole record: steps lean back towards the mean, so no random walk."""
    level, d = x[:-1] - x[:-1].mean(), np.diff(x)
    e = d - d.mean()
    slope = float(level @ e) / max(float(level @ level), 1e-300)
    rest = e - slope * level
    se = math.sqrt(float(rest @ rest) / max(len(d) - 2, 1) / max(float(level @ level), 1e-300))
    return slope < -3.2 * se


def random_walk(h: History) -> Finding | None:
    """Independent steps whose sum wanders: asked of the second half, 40 values or more."""
    x = h.x[len(h) // 2 :]
    d = np.diff(x)
    if len(d) < 40:
        return None
    e = d - d.mean()
    variance = float(np.mean(e * e))
    if variance == 0:
        return None
    t = float(d.mean()) / math.sqrt(variance / len(d))
    lag = float(np.mean(e[1:] * e[:-1])) / variance
    if _reverts(h.x):
        return None
    if abs(lag) > 0.3 or float(np.var(x)) < variance * len(d) / 30.0:
        return None
    if abs(t) > 4.5:
        return Finding(
            Pattern.DIVERGING, "noisy_drift", f"Independent steps with a mean {abs(t):.3g} standard errors from zero."
        )
    return Finding(
        Pattern.DIVERGING,
        "random_walk",
        "Independent steps of constant spread: a random walk, whose variance grows.",
        doubt=0.4,
    )


def moving_mean(h: History) -> Finding | None:
    """A mean that still moves in the second half, judged by dyadic blocks."""
    x = h.x
    n = len(x)
    blocks = 16 if n >= 128 else 8
    if n < 3 * blocks:
        return None
    size = n // blocks
    m = x[n - blocks * size :].reshape(blocks, size).mean(axis=1)
    late = m[blocks // 2 :]
    t = np.arange(len(late)) - (len(late) - 1) / 2
    slope = float(t @ (late - late.mean()) / (t @ t))
    rest = late - late.mean() - slope * t
    se = math.sqrt(float(rest @ rest) / (len(late) - 2) / float(t @ t)) + 1e-300
    if blocks == 16:
        if abs(slope) / se < 6.0:
            return None
    else:  # four late means alone prove nothing: all eight must move, and the late ones the same way
        u = np.arange(blocks) - (blocks - 1) / 2
        whole = float(u @ (m - m.mean()) / (u @ u))
        rest = m - m.mean() - whole * u
        se = math.sqrt(float(rest @ rest) / (blocks - 2) / float(u @ u)) + 1e-300
        if abs(whole) / se < 8.0 or slope / whole < 0.3:
            return None
    level, kind = _asymptote(m, size)
    if level is not None:
        return Finding(
            Pattern.CONVERGING,
            "moving_mean",
            f"Noisy; block means approach a level ({kind}).",
            limit=level,
            limit_error=abs(level - float(m[-1])) + float(np.std(x[-size:])) / math.sqrt(size),
            doubt=0.2,
        )
    return Finding(Pattern.DIVERGING, "moving_mean", f"Noisy; block means keep moving ({kind}).", doubt=0.1)


def _asymptote(m: np.ndarray, size: int) -> tuple[float | None, str]:
    """(level or None, law) of the best of: drift, logarithm, root, powers with a limit, exponentials."""
    k = (np.arange(len(m)) + 0.5) * size + 1.0
    n = k[-1]
    laws: list[tuple[str, np.ndarray, bool]] = [
        ("drift", k, False),
        ("logarithm", np.log(k), False),
        ("root", np.sqrt(k), False),
    ]
    laws += [("square", k * k, False)]
    laws += [(f"power k**-{e}", k**-e, True) for e in (0.2, 0.35, 0.5, 1.0)]
    laws += [
        (f"exponential, {tau * n:.3g} iterations", np.exp(-k / (tau * n)), True)
        for tau in (0.1, 0.2, 0.3, 0.5, 0.8, 1.2)
    ]
    best, answer = math.inf, (None, "drift")
    for kind, basis, ends in laws:
        b = basis - basis.mean()
        slope = float(b @ m) / float(b @ b)
        sse = float(np.sum((m - m.mean() - slope * b) ** 2))
        if sse < 0.8 * best or sse < best and not ends:
            best = min(best, sse)
            answer = (float(m.mean() - slope * basis.mean()) if ends else None, kind)
    return answer


def noise_ball(h: History) -> Finding | None:
    """Constant spread around a level; needs 12 values."""
    x = h.x
    n = len(x)
    if n < 12:
        return None
    late = x[n // 2 :]
    level, spread = float(late.mean()), float(late.std(ddof=1))
    e = late - level
    lag = float((e[1:] @ e[:-1]) / max(float(e @ e), 1e-300))
    lag = min(max(lag, 0.0), 0.98)
    inflate = math.sqrt((1 + lag) / (1 - lag))
    error = spread * inflate / math.sqrt(len(late))
    far, k = 0.0, 1
    while k <= max(1, n // 4):
        se = math.hypot(spread * min(inflate, math.sqrt(k)) / math.sqrt(k), error)
        far = max(far, abs(float(x[:k].mean()) - level) / max(se, 1e-300))
        k *= 2
    text = f"noise of spread {h.unscale(spread):.3g} around {h.unscale(level):.6g}"
    if far > 6.0:
        return Finding(
            Pattern.CONVERGING,
            "noise_ball",
            f"The values came from {far:.3g} standard errors away and end in {text}.",
            limit=level,
            limit_error=error,
        )
    return Finding(
        Pattern.STABLE,
        "noise_ball",
        f"From the start, {text}.",
        limit=level,
        limit_error=error,
        doubt=0.2 if far < 4.5 else 0.4,
    )
