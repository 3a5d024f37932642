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
from functools import lru_cache

import numpy as np

from workbench.analysis.series.result import Finding, Pattern
from workbench.analysis.series.step_ratios import approach_rate, spread_rate
from workbench.analysis.series.value_series import History
from workbench.kernels import fits

#: Values that the spectrum is taken of: the last ones, at most this many.
SPECTRUM = 2048
#: How clearly a record leans back to its mean, by Dickey and Fuller's and by the weighted symmetric estimate, as one
#: walk in a hundred and one in forty do, from which on it is none.
LEANING = (-3.5, -2.77)


@lru_cache(maxsize=16)
def taper(n: int) -> tuple[np.ndarray, np.ndarray, float]:
    """(Hann window, centred times, their sum of squares) of n values."""
    k = np.arange(n) - (n - 1) / 2
    return np.hanning(n), k, float(k @ k)


def spectral_peak(h: History) -> tuple[float, float]:
    """(share of the variance in one frequency and its harmonics, period) of the detrended last 2048 values."""
    x = h.x[-SPECTRUM:]
    n = len(x)
    if n < 16:
        return 0.0, 0.0
    window, k, kk = taper(n)
    y = x - x.mean()
    y -= k * (float(k @ y) / kk)
    y *= window
    spectrum = np.fft.rfft(y)
    power = spectrum.real**2 + spectrum.imag**2
    power[:2] = 0.0
    total = float(power.sum())
    if total <= 0:
        return 0.0, 0.0
    i = int(power.argmax())
    if i < 3:
        return 0.0, 0.0
    near = power[i - 1 : i + 2].tolist()
    center = i + ((near[2] if len(near) > 2 else 0.0) - near[0]) / sum(near)
    covered, reach, share = 0, 0, 0.0
    for harmonic in range(1, 6):
        at = round(harmonic * center)
        if harmonic * center >= len(power):
            break
        low, high = max(at - 2, reach), min(at + 3, len(power))
        if low < high:
            share += float(power[low:high].sum())
            covered, reach = covered + high - low, high
    # wide masks catch noise too: take off what noise of the same total would put there
    share, expected = share / total, covered / len(power)
    return max(0.0, (share - expected) / max(1.0 - expected, 1e-9)), n / center


def periodic_signal(h: History, least: float, peak: tuple[float, float] | None = None) -> Finding | None:
    """One frequency and its harmonics carry ``least`` or more of the variance."""
    share, period = spectral_peak(h) if peak is None else peak
    if share < least or len(h) < 3 * period:
        return None
    x = h.x[-SPECTRUM:]
    n = len(x)
    explained, period = fits.sine(x, period)
    # chance of a white record to hold such a sine at one of its frequencies; short records get no credit for harmonics
    if (
        math.log(n) + 0.5 * (n - 3) * math.log(max(1.0 - explained, 1e-300)) > math.log(1e-5)
        or n < 64
        and explained < least
        # a wandering mean has most of its variance in a few slow turns, too
        or n < 6 * period
        and explained < 0.9
        or explained < 0.3
    ):
        return None
    half = len(h.d) // 2
    early, late = (float(np.std(part)) for part in (h.x[:half], h.x[half:]))
    if late < 0.5 * early or late > 2.0 * early:
        return None
    why = f"One frequency (period {period:.5g}) and its harmonics carry {share:.0%} of the variance."
    return Finding(Pattern.OSCILLATING, "spectrum", why, period=period, doubt=0.2 if share < 0.75 else 0.1)


def _correlation(t: list[float], y: list[float]) -> float:
    mt, my = sum(t) / len(t), sum(y) / len(y)
    tt, yy = sum((v - mt) ** 2 for v in t), sum((v - my) ** 2 for v in y)
    return sum((a - mt) * (b - my) for a, b in zip(t, y, strict=True)) / math.sqrt(max(tt * yy, 1e-300))


def envelope(h: History) -> Finding | None:
    """Spread of the differences that grows or shrinks steadily over the record."""
    blocks = 8 if len(h.d) >= 64 else 4
    if len(h.d) < 16:
        return None
    spread = fits.block_spreads(h.d, blocks)
    if min(spread) == 0:
        return None
    logs = [math.log(v) for v in spread]
    correlation = _correlation([float(b) for b in range(blocks)], logs)
    along_log = _correlation([math.log(b + 0.5) for b in range(blocks)], logs)
    edge = max(1, blocks // 4)
    ratio = sum(spread[-edge:]) / sum(spread[:edge])
    # a spread that fell at first and then stays is a noise ball, not a decay
    late = spread[-1] / spread[blocks // 2]
    # of few steps in a block the spread varies by itself
    chance = 1.0 if blocks == 8 else 1.0 + 8.0 / (len(h.d) // blocks)
    # a few outliers widen a block, too: the usual step must go with the spread, half of the way
    quarter = len(h.d) // 4
    usual = float(np.median(np.abs(h.d[-quarter:]))) / max(float(np.median(np.abs(h.d[:quarter]))), 1e-300)
    if ratio < 0.35 / chance and min(correlation, along_log) < -0.85 and late < 0.9 and usual < 0.75:
        why = f"The spread of the steps shrank to {ratio:.2g} of what it was, steadily."
        newest = h.x[-max(4, len(h) // 8) :]
        limit, error = float(newest.mean()), float(np.ptp(newest))
        if ratio < 0.02:  # the newest value is nearer than any mean
            limit, error = float(h.x[-1]), 4 * float(np.max(np.abs(h.d[-4:]))) + 2 * h.ulp(float(h.x[-1]))
        rate = spread_rate(h.d[: h.end])
        rate = rate if rate is not None and rate < 1.0 else None
        return Finding(Pattern.CONVERGING, "envelope", why, rate=rate, limit=limit, limit_error=error)
    if ratio > 2.5 * chance and max(correlation, along_log) > 0.85 and usual > min(math.sqrt(ratio), 2.0):
        rate = spread_rate(h.d)
        rate = rate if rate is not None and rate > 1.0 else None
        return Finding(
            Pattern.DIVERGING, "envelope", f"The spread of the steps grew {ratio:.3g} fold, steadily.", rate=rate
        )
    return None


def leans(lean: list[float]) -> bool:
    """True if the record returns to its mean: from afar, or about it."""
    return any(t < least for t, least in zip(lean, LEANING, strict=True))


def random_walk(h: History) -> Finding | None:
    """Independent steps whose sum wanders: asked of the second half, 40 values or more."""
    steps, t, lag, wandered, *lean = fits.walk(h.x)
    if steps < 40 or leans(lean) or abs(lag) > 0.3 or wandered < steps / 60.0:
        return None
    early, *_, late = fits.block_spreads(h.d, 4)
    if late < 0.6 * early:
        return None  # a running mean's steps shrink
    if late > 2.5 * early:
        wider = envelope(h)
        if wider is not None and wider.label is Pattern.DIVERGING:
            return wider
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


def _slope(y: list[float]) -> tuple[float, float]:
    """(slope, standard error) of the line through y over its index."""
    n = len(y)
    middle, mean = (n - 1) / 2, sum(y) / n
    tt = n * (n * n - 1) / 12.0
    slope = sum((i - middle) * v for i, v in enumerate(y)) / tt
    rest = sum((v - mean - slope * (i - middle)) ** 2 for i, v in enumerate(y))
    return slope, math.sqrt(rest / (n - 2) / tt) + 1e-300


def moving_mean(h: History) -> Finding | None:
    """A mean that still moves in the second half, judged by dyadic blocks."""
    n = len(h)
    blocks = 16 if n >= 128 else 8
    if n < 3 * blocks:
        return None
    size = n // blocks
    m = fits.block_means(h.x, blocks)
    slope, se = _slope(m[blocks // 2 :])
    # eight means may lie on a line by chance: their own noise counts, too
    se = max(se, float(np.std(h.x[-size:])) / math.sqrt(size) / math.sqrt(42.0)) if blocks == 16 else se
    if blocks == 16:
        if abs(slope) / se < 7.0:
            return None
    else:  # four late means alone prove nothing: all eight must move, and the late ones the same way
        whole, se = _slope(m)
        if abs(whole) / se < 8.0 or slope / whole < 0.3:
            return None
    law, level, _ = fits.asymptote(m, size)
    kind = _LAWS[law]
    if law >= 4:
        return Finding(
            Pattern.CONVERGING,
            "moving_mean",
            f"Noisy; block means approach a level ({kind}).",
            rate=math.exp(-1.0 / (_SHARES[law - _EXPONENTIAL] * n)) if law >= _EXPONENTIAL else None,
            limit=level,
            limit_error=abs(level - m[-1]) + float(np.std(h.x[-size:])) / math.sqrt(size),
            doubt=0.2,
        )
    return Finding(Pattern.DIVERGING, "moving_mean", f"Noisy; block means keep moving ({kind}).", doubt=0.1)


_SHARES = (0.1, 0.2, 0.3, 0.5, 0.8, 1.2)
_EXPONENTIAL = 8
_LAWS = (
    *("drift", "logarithm", "root", "square"),
    *(f"power k**-{e}" for e in (0.2, 0.35, 0.5, 1.0)),
    *(f"exponential of {tau} of the record" for tau in _SHARES),
)


def weak_trend(h: History) -> Finding | None:
    """DIVERGING if a straight line leads through noise of 48 values or more, six standard errors steep in the whole
    record, and as steep in its second half as in its first; correlated noise has the error of an AR(1) record."""
    n = len(h)
    if n < 48:
        return None
    slope, se, r = _line(h.x)
    (first, _, _), (second, error, _) = _line(h.x[: n // 2]), _line(h.x[n // 2 :])
    if abs(slope) < 6.0 * se or r > 0.9 or not second / slope > 0.6 or not first / slope > 0.4:
        return None
    if abs(second) < 2.0 * error:
        return None
    why = f"A straight line leads through the noise, {abs(slope) / se:.3g} standard errors steep, in both halves alike."
    return Finding(Pattern.DIVERGING, "weak_trend", why, doubt=0.2)


def _line(x: np.ndarray) -> tuple[float, float, float]:
    """(slope, its standard error with the correlation of what is left, that correlation)."""
    n = len(x)
    k = np.arange(n) - (n - 1) / 2
    kk = float(k @ k)
    slope = float(k @ x) / kk
    rest = x - x.mean() - slope * k
    power = float(rest @ rest) + 1e-300
    r = min(max(float(rest[1:] @ rest[:-1]) / power, 0.0), 0.98)
    return slope, math.sqrt(power / (n - 2) / kk * (1.0 + r) / (1.0 - r)) + 1e-300, r


def blow_up(h: History) -> Finding | None:
    """DIVERGING if the record leaves its range at its very end, in steps that grow and dwarf all before."""
    if len(h) < 24:
        return None
    size = np.abs(h.d)
    *before, late = fits.block_spreads(h.d, 8)
    newest = size[-4:]
    if late < 8.0 * max(before) or newest.max() < size.max() or np.median(newest) < 3.0 * np.median(size[-12:-4]):
        return None
    if abs(float(h.x[-1] - np.median(h.x))) < 0.5 * float(np.ptp(h.x)):
        return None
    why = f"The steps at the end are {late / max(max(before), 1e-300):.3g} times as large as any before, and grow."
    return Finding(Pattern.DIVERGING, "blow_up", why, doubt=0.3)


def _outlying(x: np.ndarray, level: float, spread: float) -> float:
    """How far the first values of noise with outliers lie from its level by chance: twice as far as those in the second
    half do, from either end of it; 0 where there are no outliers."""
    late = x[len(x) // 2 :]
    if float(np.max(np.abs(late - level))) < 4.5 * spread:
        return 0.0
    return 2.0 * max(fits.ball(np.ascontiguousarray(part))[3] for part in (late, late[::-1]))


def noise_ball(h: History) -> Finding | None:
    """Constant spread around a level; needs 12 values."""
    if len(h) < 12:
        return None
    level, spread, error, far = fits.ball(h.x)
    text = f"noise of spread {h.unscale(spread):.3g} around {h.unscale(level):.6g}"
    if far > 6.0 and far > _outlying(h.x, level, spread):
        return Finding(
            Pattern.CONVERGING,
            "noise_ball",
            f"The values started {far:.3g} standard errors away and end in {text}.",
            rate=approach_rate(h.x, level, spread),
            limit=level,
            limit_error=error,
        )
    doubt = 0.2 if far < 4.5 else 0.4
    if len(h) < 128:
        quarters = fits.block_spreads(h.d, 4) if len(h) >= 16 else [0.0]
        if quarters == sorted(quarters) and quarters[-1] > 2.0 * quarters[0]:
            doubt = 0.4  # each quarter wider than the one before: too short to tell growth from chance
    return Finding(
        Pattern.STABLE, "noise_ball", f"From the start, {text}.", limit=level, limit_error=error, doubt=doubt
    )
