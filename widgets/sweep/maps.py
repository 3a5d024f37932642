"""Pictures of two parameters: maps of a grid, points of other designs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from plotly.colors import sequential

from workbench.sweep import Sweep
from workbench.widgets.base.spec import text
from workbench.widgets.strips.strip_axes import spans_decades
from workbench.widgets.sweep.kinds import Kinds, kinds_of
from workbench.widgets.text.numerals import numeral

#: scales of numbers, whose order is visible without colours; one for each kind of number
#: counts, whose logarithms are drawn if they span two decades
COUNTS = ("iterations", "events")
SCALES = {"iterations": "Cividis", "events": "Cividis", "rate": "Viridis", "period": "Viridis"}
OTHER_SCALE = [[k / 9, colour] for k, colour in enumerate(sequential.Inferno)]  # plotly.js has no name for this scale
#: maximum points of a scatter plot
MAX_POINTS = 40_000

Trace = dict[str, Any]


def map_traces(sweep: Sweep, column: str, names: list[str], at: dict[str, int]) -> list[Trace]:
    """A heatmap: the first parameter to the right, the second one upwards; ``at`` holds the indices of all others."""
    cut = tuple(slice(None) if name in names else at.get(name, 0) for name in sweep.points)
    values = sweep[column]
    whole = sweep.on_grid(values)
    across, up = (np.argsort(sweep.design.axes[name], kind="stable") for name in names)  # cells need ascending places
    shown = lambda grid: grid[cut][np.ix_(across, up)].T  # noqa: E731
    picture = shown(whole)
    x, y = (sweep.design.axes[name][order] for name, order in zip(names, (across, up), strict=True))
    trace: Trace = {"type": "heatmap", "x": np.asarray(x, float), "y": np.asarray(y, float)}
    hover = f"{text(names[0])} %{{x}}<br>{text(names[1])} %{{y}}<br>{text(column)} "
    kinds = kinds_of(values, column)
    if kinds is None:
        ran = sweep.on_grid(sweep.computed(column))
        z = np.where(shown(ran), picture.astype(np.float64), np.nan)
        every = np.where(ran, whole, np.nan).astype(np.float64)
        bar = {"thickness": 10, "title": {"text": text(column), "side": "right"}}
        trace["customdata"] = z
        if column in COUNTS and spans_decades([every.reshape(-1)]):
            z, every = np.log10(z), np.log10(every)
            bar |= decades(every)
        low, high = _range(every)
        trace |= {"z": z, "zmin": low, "zmax": high, "colorscale": SCALES.get(column, OTHER_SCALE), "colorbar": bar}
        trace |= {
            "text": shown(sweep.on_grid(sweep["outcome"])),
            "hovertemplate": hover + "%{customdata:.8g}<br>%{text}<extra></extra>",
        }
        return [trace]
    n = len(kinds.names)
    stops = [[edge, kinds.colours[k]] for k in range(n) for edge in (k / n, (k + 1) / n)]
    trace |= {"z": kinds.codes(picture), "zmin": -0.5, "zmax": n - 0.5, "colorscale": stops, "showscale": False}
    trace |= {"text": picture.astype(str), "hovertemplate": hover + "%{text}<extra></extra>"}
    return [trace, *_legend(kinds)]


def decades(logarithms: np.ndarray) -> dict[str, Any]:
    """Ticks of a logarithmic scale, labelled with the numbers."""
    low, high = float(np.nanmin(logarithms)), float(np.nanmax(logarithms))
    values = [k for k in range(math.ceil(low), math.floor(high) + 1)]
    return {"tickmode": "array", "tickvals": values, "ticktext": [numeral(10.0**k, 3) for k in values]}


def _legend(kinds: Kinds) -> list[Trace]:
    """Traces without points for a legend: squares in the colours of a map."""
    return [
        {"type": "scatter", "mode": "markers", "x": [None], "y": [None], "name": text(name), "showlegend": True,
         "hoverinfo": "skip", "marker": {"size": 11, "symbol": "square", "color": colour}}
        for name, colour in zip(kinds.names, kinds.colours, strict=True)
    ]  # fmt: skip


def _range(values: np.ndarray) -> tuple[float, float]:
    """The range of the colours, one for all pictures of a column."""
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def scatter_traces(sweep: Sweep, column: str, names: list[str]) -> list[Trace]:
    """Points of a list or a random design at their positions."""
    ran = np.flatnonzero(sweep.computed(column))[:MAX_POINTS]
    x, y = (np.asarray(sweep.points[name][ran], float) for name in names)
    values = sweep[column][ran]
    hover = f"{text(names[0])} %{{x}}<br>{text(names[1])} %{{y}}<br>{text(column)} "
    shared = {"type": "scattergl", "mode": "markers"}
    kinds = kinds_of(values, column)
    if kinds is None:
        bar = {"thickness": 10, "title": {"text": text(column), "side": "right"}}
        shown = values.astype(np.float64)
        if column in COUNTS and spans_decades([shown]):
            shown = np.log10(shown)
            bar |= decades(shown)
        marker: dict[str, Any] = {"size": 6, "color": shown, "colorscale": SCALES.get(column, OTHER_SCALE)}
        marker |= {"colorbar": bar, "showscale": True}
        return [
            {
                **shared,
                "x": x,
                "y": y,
                "customdata": values.astype(np.float64),
                "marker": marker,
                "hovertemplate": hover + "%{customdata:.8g}<extra></extra>",
            }
        ]
    codes, data = kinds.codes(values), []
    for k, kind in enumerate(kinds.names):
        marker = {"size": 6, "color": kinds.colours[k], "symbol": k % 4}
        named = {"name": text(kind), "showlegend": True, "hovertemplate": f"{hover}{text(kind)}<extra></extra>"}
        data.append({**shared, **named, "x": x[codes == k], "y": y[codes == k], "marker": marker})
    return data
