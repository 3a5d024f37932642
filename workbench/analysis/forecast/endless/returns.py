"""Decides, from an operand's returns (its nearest approaches to the threshold), if it stays on its side of the
threshold.

A return is the minimum distance within a part of the record that lies below the middle of its range. The test needs no
law of the swings: if the pace of the returns will end the loop within ``LENGTHS`` record lengths, they must have
covered the corresponding share of the gap in the record.
"""

from __future__ import annotations

import numpy as np

from workbench.analysis.forecast.endless.pace import LENGTHS, may_walk

#: Minimum number of values.
FEWEST = 24
#: Maximum difference between similar swings, as a share of their standard deviation.
ALIKE = 0.03
#: Minimum share of the record that the returns span, and maximum rise from the first to the last, as a share of the
#: gap.
SPAN, RISE = 0.28, 0.5


def returns_clear(y: np.ndarray, mark: float = 0.0) -> float | None:
    """The smallest distance, if y (n,) > 0, the distance to the threshold, keeps returning to the same level; else
    None.

    Sharp returns, as in a record that rises and falls by large factors, are detected on the logarithm of the record
    (y + ``mark``), if ``mark`` is given.
    """
    n = len(y)
    if n < FEWEST or not (y > 0).all():
        return None
    late = y[n // 4 :]
    gap = _clear(y, *_swings(y, 0.5 * (float(late.max()) + float(late.min()))))
    if gap is None and mark > 0:
        z = np.log1p(y / mark)
        at, low, top = _swings(z, 0.5 * (float(z[n // 4 :].max()) + float(z[n // 4 :].min())))
        gap = _clear(y, at, mark * np.expm1(low), mark * np.expm1(top))
    return gap


def _clear(y: np.ndarray, at: np.ndarray, low: np.ndarray, top: np.ndarray) -> float | None:
    n = len(y)
    for first in range(len(low) - 1):
        part, tops, span = low[first:], top[first:], float(at[-1] - at[first])
        if span < SPAN * n:
            break
        gap, per_length = float(part.min()), LENGTHS * n / span
        if gap <= per_length * _drawdown(part) or float(part[-1] - part[0]) > RISE * gap:
            continue
        if len(part) == 2 and not _repeats(y, span):
            continue
        middle = 0.5 * (part[-1] + tops[-1])
        if middle > per_length * (0.5 * (part[0] + tops[0]) - middle) and not may_walk(y, gap):
            return gap
    return None


def _repeats(y: np.ndarray, lag: float) -> bool:
    """True if y equals its value ``lag`` samples before, by cubic interpolation between samples."""
    whole = int(lag)
    f = lag - whole
    if whole < 1 or whole + 2 >= len(y):
        return False
    size = len(y) - whole - 2
    before, at, after = (f - 1) * (f - 2), (f + 1) * (f - 2), f * (f + 1)
    weights = -f * before / 6, (f + 1) * before / 2, -f * at / 2, after * (f - 1) / 6  # Lagrange weights
    rest = sum(w * y[whole - 1 + i : whole - 1 + i + size] for i, w in enumerate(weights)) - y[:size]
    return float(rest @ rest) < ALIKE * ALIKE * size * float(np.var(y[:size]))


def _swings(y: np.ndarray, middle: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions and minima of the complete swings below ``middle``, and the largest value between each and the next.

    The minimum of a smooth curve may lie between its samples, so it is computed from the parabola through three of
    them. There is one maximum fewer if the record ends in the last swing.
    """
    below = y < middle
    edges = np.flatnonzero(below[1:] != below[:-1]) + 1
    starts = edges[below[edges]]
    ends = edges[~below[edges]]
    at, low, top = [], [], []
    for i, start in enumerate(starts):
        end = int(ends[np.searchsorted(ends, start)]) if len(ends) and ends[-1] > start else len(y)
        k = int(start) + int(np.argmin(y[start:end]))
        if k + 1 >= len(y):
            break
        bend, slope = float(y[k - 1] - 2.0 * y[k] + y[k + 1]), float(y[k + 1] - y[k - 1])
        at.append(k - (0.5 * slope / bend if bend > 0 else 0.0))
        low.append(float(y[k]) - (slope * slope / (8.0 * bend) if bend > 0 else 0.0))
        if i + 1 < len(starts):
            top.append(float(y[end : int(starts[i + 1])].max()))
    return np.array(at), np.array(low), np.array(top[: len(at)])


def _drawdown(values: np.ndarray) -> float:
    """The largest fall from a value to a later one."""
    return float((np.maximum.accumulate(values) - values).max())
