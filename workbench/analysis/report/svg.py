"""Small charts for a page: lines over the iterations with forecast and band, as SVG text without a script.

Colours come from the page's style sheet by class names, so that they follow a light or dark theme. Each drawing says in
words what it shows (``role="img"`` with a label).
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from workbench.analysis.forecast.convergence_curve import Convergence, Forecasted

WIDTH, HEIGHT = 460, 150
LEFT, RIGHT, TOP, BOTTOM = 62, 10, 10, 24
#: maximum number of points of a line; more than the width of a drawing are useless
POINTS = 400


class _Scale:
    """A scale from numbers to positions; a logarithmic one omits numbers that are not positive."""

    def __init__(self, values: Sequence[np.ndarray], start: float, stop: float, log: bool = False) -> None:
        self.log, self.start, self.stop = log, start, stop
        every = np.concatenate([self._inner(v) for v in values]) if values else np.empty(0)
        every = every[np.isfinite(every)]
        self.low, self.high = (float(every.min()), float(every.max())) if len(every) else (0.0, 1.0)
        if self.high == self.low:
            self.low, self.high = self.low - 0.5, self.high + 0.5

    def _inner(self, values: Any) -> np.ndarray:
        y = np.asarray(values, dtype=np.float64)
        with np.errstate(all="ignore"):
            return np.log10(np.where(y > 0, y, np.nan)) if self.log else y / 2.0

    def __call__(self, values: Any) -> np.ndarray:
        with np.errstate(all="ignore"):
            share = (self._inner(values) - self.low) / (self.high - self.low)
        return self.start + np.clip(share, -0.05, 1.05) * (self.stop - self.start)

    def ends(self) -> tuple[float, float]:
        return (10.0**self.low, 10.0**self.high) if self.log else (2.0 * self.low, 2.0 * self.high)


def convergence_svg(plot: Convergence) -> str:
    """|x - limit| on a logarithmic axis, dashed forecast, band, and the tolerance line."""
    ahead = plot.ahead
    lines = [plot.error] + ([ahead.value] if ahead else [])
    if plot.tolerance is not None:
        lines.append(np.array([plot.tolerance]))
    xs = [plot.iterations] + ([ahead.iterations] if ahead else [])
    return _drawing(xs, lines, plot.iterations, plot.error, ahead, plot.tolerance, True, plot.sentence)


def values_svg(x: np.ndarray, y: np.ndarray, ahead: Forecasted | None, label: str) -> str:
    """Values on a linear axis, with a dashed forecast and its band."""
    xs, lines = ([x, ahead.iterations], [y, ahead.value]) if ahead else ([x], [y])
    return _drawing(xs, lines, x, y, ahead, None, False, label)


def _drawing(
    xs: list[np.ndarray],
    lines: list[np.ndarray],
    x: np.ndarray,
    y: np.ndarray,
    ahead: Forecasted | None,
    level: float | None,
    log: bool,
    label: str,
) -> str:
    across = _Scale(xs, LEFT, WIDTH - RIGHT)
    up = _Scale(lines, HEIGHT - BOTTOM, TOP, log)
    parts = [
        f'<svg class="wb-plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label, quote=True)}" '
        f'width="{WIDTH}" height="{HEIGHT}"><title>{escape(label)}</title>'
        f'<path class="wb-axis" d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}"/>'
    ]
    if ahead is not None:
        low, high = up(ahead.low), up(ahead.high)
        low = np.where(np.isfinite(low), low, HEIGHT - BOTTOM)  # the band reaches down to zero
        places = across(ahead.iterations)
        ok = np.isfinite(high)
        if ok.sum() > 1:
            edge = [*zip(places[ok], high[ok], strict=True), *zip(places[ok][::-1], low[ok][::-1], strict=True)]
            parts.append(f'<path class="wb-band" d="{_path(edge)}Z"/>')
        parts.append(f'<path class="wb-ahead" d="{_line(places, up(ahead.value))}"/>')
    parts.append(f'<path class="wb-line" d="{_line(across(x), up(y))}"/>')
    if level is not None:
        at = float(up(np.array([level]))[0])
        parts.append(f'<path class="wb-level" d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}"/>')
    bottom, top = up.ends()
    across_name = "iteration (upright: distance to the limit, logarithmic)" if log else "iteration"
    first, last = across.ends()
    texts = [
        (LEFT - 5, HEIGHT - BOTTOM, "end", f"{bottom:.3g}"),
        (LEFT - 5, TOP + 9, "end", f"{top:.3g}"),
        (LEFT, HEIGHT - 8, "start", f"{first:,.0f}"),
        (WIDTH - RIGHT, HEIGHT - 8, "end", f"{last:,.0f}"),
        ((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "middle", across_name),
    ]
    parts += [f'<text x="{tx:.0f}" y="{ty:.0f}" text-anchor="{side}">{escape(t)}</text>' for tx, ty, side, t in texts]
    return "".join([*parts, "</svg>"])


def _line(x: np.ndarray, y: np.ndarray) -> str:
    """A path through the finite points, with gaps for the others."""
    if len(x) > POINTS:
        keep = np.unique(np.rint(np.linspace(0, len(x) - 1, POINTS)).astype(np.int64))
        x, y = x[keep], y[keep]
    out, pen = [], "M"
    for a, b in zip(x, y, strict=True):
        if np.isfinite(a) and np.isfinite(b):
            out.append(f"{pen}{a:.1f} {b:.1f}")
            pen = "L"
        else:
            pen = "M"
    if len(out) == 1:
        out.append("h0.1")  # a single point is drawn as a dot
    return "".join(out)


def _path(points: list[tuple[float, float]]) -> str:
    step = max(1, len(points) // (2 * POINTS))
    return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in points[::step])
