"""Sparklines from characters: a line of bars over time, and a bar for a share."""

from __future__ import annotations

from typing import Any

import numpy as np

BARS = "▁▂▃▄▅▆▇█"
#: for terminals without these characters
PLAIN = "_.:-=+*#"


def spark(values: Any, width: int = 24, *, log: bool = False, ascii: bool = False) -> str:
    """The values as bars of eight heights, the first at the left; each bar is the last value of its interval.

    ``log`` draws the logarithms of magnitudes, so that a falling error is a falling line. ``x`` marks a value that is
    not finite, a blank a zero on the logarithmic scale. The text is empty without values.
    """
    y = np.asarray(values, dtype=np.float64).reshape(-1)
    if not len(y):
        return ""
    if len(y) > width:
        y = y[np.linspace(0, len(y) - 1, width).round().astype(np.int64)]
    bad, zero = ~np.isfinite(y), np.zeros(len(y), bool)
    with np.errstate(all="ignore"):
        if log:
            zero = y == 0
            y = np.log10(np.abs(y))
        else:
            y = y / 2.0  # the difference of two numbers may overflow
    good = y[np.isfinite(y)]
    low, high = (float(good.min()), float(good.max())) if len(good) else (0.0, 0.0)
    bars = PLAIN if ascii else BARS
    out = []
    for value, is_bad, is_zero in zip(y, bad, zero, strict=True):
        if is_bad:
            out.append("x")
        elif is_zero:
            out.append(" ")
        elif high == low:
            out.append(bars[3])
        else:
            out.append(bars[min(7, int((value - low) / (high - low) * 8))])
    return "".join(out)


def bar(share: float, width: int = 20, *, ascii: bool = False) -> str:
    """A share from 0 to 1 as a bar of ``width`` characters; a share above 0 is never drawn as empty."""
    share = min(max(float(share), 0.0), 1.0) if share == share else 0.0
    full = min(width, max(int(round(share * width)), 1 if share > 0 else 0))
    return ("#" if ascii else "█") * full + ("." if ascii else "░") * (width - full)
