"""Heat map of the states of a looped model: loops from left to right, tokens from top to bottom."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go

from workbench.errors import WorkbenchError
from workbench.recorder.looped.courses import Course
from workbench.recorder.looped.states_report import QUANTITIES, StatesReport
from workbench.widgets.base import theme
from workbench.widgets.base.spec import Spec, base_layout, plain_figure, text, title, whole_ticks
from workbench.widgets.strips.strip_axes import spans_decades
from workbench.widgets.text.labels import shorten
from workbench.widgets.text.numerals import numeral

#: maximum rows drawn, evenly chosen among more tokens
ROWS = 400
#: marks of the loop from which a token rests or repeats: (symbol, colour, words)
MARKS = {
    Course.FIXED_POINT: ("circle", theme.VERMILION, "rests from here on"),
    Course.CYCLE: ("diamond", theme.VERMILION, "repeats from here on"),
}


def states_spec(report: StatesReport, quantity: str = "step") -> Spec:
    """The heat map of a quantity. Circles and diamonds mark the loop from which a token rests or repeats, a cross the
    first state that is not finite; positive numbers over decades are coloured by their logarithms.
    """
    loops, values = report.quantity(quantity)
    words, log = QUANTITIES[quantity]
    tokens = values.shape[1]
    rows = np.unique(np.linspace(0, tokens - 1, min(tokens, ROWS)).round().astype(int))
    names = [report.paths.token(int(k)) if tokens == report.paths.tokens else str(k) for k in rows]
    z = np.array(values[:, rows].T, np.float64)
    finite = np.isfinite(z)
    log = (log or quantity == "norm" and spans_decades([z[z > 0]])) and bool((z[finite] > 0).any())
    with np.errstate(divide="ignore", invalid="ignore"):
        shown = np.where(finite & (z > 0), np.log10(z), np.nan) if log else np.where(finite, z, np.nan)
    if log:  # a step of exactly 0 has the colour of the smallest one
        shown = np.where(z == 0, np.nanmin(shown), shown)
    bar: dict[str, Any] = {"thickness": 10, "title": {"text": text(quantity.replace("_", " ")), "side": "right"}}
    data: list[dict[str, Any]] = [
        {
            "type": "heatmap",
            "x": loops,
            "y": names,
            "z": shown,
            "customdata": z,
            "colorscale": "Cividis",
            "colorbar": bar | (_ticks(shown) if log else {}),
            "hoverongaps": False,
            "hovertemplate": f"token %{{y}}<br>loop %{{x}}<br>{words} %{{customdata:.6g}}<extra></extra>",
        }
    ]
    data += _marks(report, rows, names) if tokens == report.paths.tokens else []
    bad = ~finite & ~_undefined(report, quantity, rows)
    bad = np.argwhere(bad & (np.cumsum(bad, axis=1) == 1))
    if len(bad):
        data.append(
            _points("x", theme.BAD, "⚠ NaN or Inf from here on", loops[bad[:, 1]], [names[k] for k in bad[:, 0]])
        )
    heading = f"{shorten(report.block, 40)}: {words}, by loop and token"
    heading += f" · {numeral(len(rows))} of {numeral(tokens)} tokens" if len(rows) < tokens else ""
    layout = base_layout(
        max(240, min(560, 130 + 22 * len(rows))),
        title=title(text(heading)),
        showlegend=len(data) > 1,
        xaxis={"title": {"text": "loop"}, **whole_ticks(float(loops[-1])), "showgrid": False, "zeroline": False},
        yaxis={"title": {"text": "token"}, "type": "category", "autorange": "reversed", "showgrid": False}
        | {"tickmode": "linear", "dtick": max(1, -(-len(rows) // 16))},
        legend={"orientation": "h", "x": 0, "xanchor": "left", "y": 1.0, "yanchor": "bottom", "font": {"size": 12}},
        margin={"l": 64, "r": 14, "t": 60 if len(data) > 1 else 34, "b": 44},
    )
    return {"data": data, "layout": layout}


def _undefined(report: StatesReport, quantity: str, rows: np.ndarray) -> np.ndarray:
    """(rows, loops): True if a cosine is undefined because a state is zero."""
    _, values = report.quantity(quantity)
    if not quantity.startswith("cosine"):
        return np.zeros(values[:, rows].T.shape, bool)
    finite = report.paths.finite[-len(values) :, rows].T
    return np.asarray(finite)


def _marks(report: StatesReport, rows: np.ndarray, names: list[str]) -> list[dict[str, Any]]:
    found = []
    for course, (symbol, colour, words) in MARKS.items():
        at = [(report.courses[k].since, name) for k, name in zip(rows, names, strict=True)
              if report.courses[k].course is course and report.courses[k].since is not None]  # fmt: skip
        if at:
            found.append(_points(symbol, colour, words, [since for since, _ in at], [name for _, name in at]))
    return found


def _points(symbol: str, colour: str, words: str, x: Any, y: Any) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": x,
        "y": y,
        "name": words,
        "showlegend": True,
        "marker": {"symbol": symbol, "size": 9, "color": "#FFFFFF", "line": {"width": 2.2, "color": colour}},
        "hovertemplate": f"token %{{y}}<br>loop %{{x}}: {words}<extra></extra>",
    }


def _ticks(logarithms: np.ndarray) -> dict[str, Any]:
    """Ticks of the colour bar at powers of ten, at most six; over less than a decade at the ends."""
    low, high = float(np.nanmin(logarithms)), float(np.nanmax(logarithms))
    powers = list(range(math.ceil(low), math.floor(high) + 1))
    powers = powers[:: max(1, -(-len(powers) // 6))]
    values = [float(k) for k in powers] if len(powers) > 1 else [low, high]
    return {"tickmode": "array", "tickvals": values, "ticktext": [numeral(10.0**k, 3) for k in values]}


def states_figure(report: StatesReport, quantity: str = "step", theme_name: str = "light") -> go.Figure:
    """The heat map of a report as a plain plotly figure in the light or dark theme."""
    if theme_name not in theme.THEMES:
        raise WorkbenchError(f"Unknown theme {theme_name!r}.", slug="no-theme", fix='use "light" or "dark".')
    return plain_figure(states_spec(report, quantity), theme_name)
