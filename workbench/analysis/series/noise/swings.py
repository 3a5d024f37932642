"""Step 7, swings: spread that grows or shrinks along the record."""

from __future__ import annotations

import math

import numpy as np

from workbench.analysis.series.noise.trends import drifting
from workbench.analysis.series.result import Finding, Pattern
from workbench.analysis.series.step_ratios import spread_rate
from workbench.analysis.series.value_series import History
from workbench.kernels import fits


def _correlation(t: list[float], y: list[float]) -> float:
    mt, my = sum(t) / len(t), sum(y) / len(y)
    tt, yy = sum((v - mt) ** 2 for v in t), sum((v - my) ** 2 for v in y)
    return sum((a - mt) * (b - my) for a, b in zip(t, y, strict=True)) / math.sqrt(max(tt * yy, 1e-300))


def _line(t: list[float], y: list[float]) -> tuple[float, float, float]:
    """(slope, its standard error, root mean square of the residual) of the line through y over t."""
    n, mt, my = len(t), sum(t) / len(t), sum(y) / len(y)
    tt = sum((v - mt) ** 2 for v in t)
    slope = sum((a - mt) * (b - my) for a, b in zip(t, y, strict=True)) / tt
    rest = sum((b - my - slope * (a - mt)) ** 2 for a, b in zip(t, y, strict=True))
    return slope, math.sqrt(rest / (n - 2) / tt) + 1e-300, math.sqrt(rest / n)


def _law(logs: list[float]) -> tuple[float, float, bool]:
    """Slopes of the logarithms of all blocks except the first, over the logarithm of the block index and over the
    index; True if the residual of the first line, a power law, is smaller than that of the second, a geometric one.
    """
    slope, _, power = _line([math.log(b + 1.5) for b in range(len(logs))], logs)
    decay, _, geometric = _line([b + 1.0 for b in range(len(logs))], logs)
    return slope, decay, power < geometric


def _left(h: History, spread: list[float], logs: list[float]) -> float:
    """The remaining distance if the values keep drifting, by the law of the blocks' spread, k**-s or geometric."""
    blocks = len(spread)
    slope, decay, is_power = _law(logs[1:])
    if is_power:
        half = float(h.x[-1]) - float(h.x[len(h) // 2])
        return abs(half) / (2.0 ** (max(-slope, 1.2) - 1.0) - 1.0)
    ratio = math.exp(min(decay, -0.05))
    return abs(float(h.x[-1] - h.x[-1 - len(h.d) // blocks])) * ratio / (1.0 - ratio)


def envelope(h: History) -> Finding | None:
    """The verdict on a record whose differences have a spread that grows or shrinks steadily."""
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
    # a spread that fell at first and then stays is a noise ball rather than a decay
    late = spread[-1] / spread[blocks // 2]
    # with few steps in a block the spread varies by chance
    chance = 1.0 if blocks == 8 else 1.0 + 8.0 / (len(h.d) // blocks)
    # a few outliers widen a block too, so the median step must change in the same direction
    quarter = len(h.d) // 4
    usual = float(np.median(np.abs(h.d[-quarter:]))) / max(float(np.median(np.abs(h.d[:quarter]))), 1e-300)
    if ratio < 0.35 / chance and min(correlation, along_log) < -0.85 and late < 0.9 and usual < 0.75:
        moving = drifting(h)
        if moving is not None:
            return moving
        why = f"The spread of the steps shrank to {ratio:.2g} of what it was, steadily."
        newest = h.x[-max(4, len(h) // 8) :]
        limit, error = float(newest.mean()), float(np.ptp(newest))
        last = float(h.x[-1])
        # the newest value is closer than any mean if consecutive values vary less, or if it is typical
        near = float(np.mean(np.diff(newest) ** 2)) < float(np.var(newest)) or float(np.median(newest)) == last
        if ratio < 0.02:
            error = 4 * float(np.max(np.abs(h.d[-4:]))) + 2 * h.ulp(last)
        if ratio < 0.02 or near:
            limit, error = last, max(error, _left(h, spread, logs))
        rate = spread_rate(h.d[: h.end])
        rate = rate if rate is not None and rate < 1.0 else None
        return Finding(Pattern.CONVERGING, "envelope", why, rate=rate, limit=limit, limit_error=error)
    # a spread that grew during the approach to a level does not grow further at the level
    grows = blocks < 8 or spread[-1] > 1.1 * spread[blocks // 2]
    if ratio > 2.5 * chance and max(correlation, along_log) > 0.85 and usual > min(math.sqrt(ratio), 2.0) and grows:
        rate = spread_rate(h.d)
        rate = rate if rate is not None and rate > 1.0 else None
        return Finding(
            Pattern.DIVERGING, "envelope", f"The spread of the steps grew {ratio:.3g} fold, steadily.", rate=rate
        )
    return None
