"""Convergence plots: distance to the limit, forecast with its band, tolerance and crossing; as plain specifications."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from workbench.errors import WorkbenchError
from workbench.widgets.base import theme
from workbench.widgets.base.spec import Spec, base_layout, count_axis, log_axis, plain_figure, text, title
from workbench.widgets.evolution.convergence_model import convergence_model
from workbench.widgets.text.labels import number

HEIGHT = 300
EMPTY = {"x": np.empty(0), "y": np.empty(0), "low": np.empty(0), "high": np.empty(0)}


def forecast_traces(ahead: dict[str, np.ndarray] | None, name: str, colour: str, log: bool) -> list[dict[str, Any]]:
    """The band and the dashed line of a forecast; both are empty without one, so that trace indices do not change."""
    at = ahead if ahead is not None else EMPTY
    low, high, y = (np.asarray(at[k], dtype=np.float64) for k in ("low", "high", "y"))
    if log:
        y = np.where(np.isfinite(y) & (y > 0), y, np.nan)
        high = np.where(np.isfinite(high) & (high > 0), high, np.nan)
        # a band that reaches zero extends to the lowest value that the plot needs
        good = np.concatenate([y[np.isfinite(y)], high[np.isfinite(high)]])
        floor = float(good.min()) / 10.0 if len(good) else 1.0
        low = np.where(np.isfinite(low) & (low > floor), low, floor)
    ok = np.isfinite(high) & np.isfinite(low)
    x = np.asarray(at["x"], dtype=np.float64)
    edge_x, edge_y = np.concatenate([x[ok], x[ok][::-1]]), np.concatenate([high[ok], low[ok][::-1]])
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "x": edge_x,
            "y": edge_y,
            "fill": "toself",
            "hoverinfo": "skip",
            "fillcolor": theme.tint(colour, 0.25),
            "line": {"width": 0, "color": colour},
            "showlegend": False,
            "name": text(f"{name}: 90 % band"),
        },
        {
            "type": "scatter",
            "mode": "lines",
            "x": x,
            "y": y,
            "showlegend": False,
            "name": text(f"{name}: forecast"),
            "line": {"width": 1.8, "dash": "6px,3px,1px,3px", "color": colour},
            "hovertemplate": "forecast for %{x}<br>%{y:.6g}<extra></extra>",
        },
    ]


def level_shape(y: float) -> dict[str, Any]:
    """A dotted line across the plot."""
    return {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": y,
        "y1": y,
        "line": {"color": theme.VERMILION, "width": 1.5, "dash": "dot"},
    }


def crossing_shapes(at: float, low: float, high: float) -> list[dict[str, Any]]:
    """A vertical line at an expected iteration, and its interval as a stripe."""
    down = {"yref": "paper", "y0": 0, "y1": 1, "xref": "x", "layer": "below"}
    line = {"type": "line", "x0": at, "x1": at, "line": {"color": theme.VERMILION, "width": 1.5, "dash": "dot"}, **down}
    if not low < high:
        return [line]
    stripe = {"type": "rect", "x0": low, "x1": high, "fillcolor": theme.tint(theme.VERMILION, 0.15), **down}
    return [{**stripe, "line": {"width": 0}}, line]


def convergence_spec(model: dict[str, Any], height: int = HEIGHT) -> Spec:
    """The plot of one variable; see ``convergence_model``."""
    log, what = model["log"], "distance to the limit" if model["log"] else "value"
    y = np.asarray(model["y"], dtype=np.float64)
    y = np.where(np.isfinite(y) & ((y > 0) | (not log)), y, np.nan)
    data: list[dict[str, Any]] = [
        *forecast_traces(model["ahead"], model["name"], theme.ORANGE, log),
        {
            "type": "scatter",
            "mode": "lines+markers" if len(y) <= 60 else "lines",
            "x": model["x"],
            "y": y,
            "name": text(model["name"]),
            "marker": {"size": 5},
            "line": {"width": 2, "color": theme.SKY},
            "hovertemplate": f"iteration %{{x}}<br>{what} %{{y:.6g}}<extra></extra>",
        },
    ]
    shapes, notes, heading = [], [], text(model["name"])
    if model["limit"]:
        heading += f" to {text(model['limit'])}"
    if model["tolerance"] is not None and log:
        shapes.append(level_shape(model["tolerance"]))
        notes.append(_note(0.005, model["tolerance"], f"tolerance {number(model['tolerance'], 3)}", "paper"))
    if model["crossing"] is not None:
        at, low, high = model["crossing"]
        shapes += crossing_shapes(at, low, high)
        between = "" if low == high else f" (90 % {number(low)} to {number(high)})"
        heading += f" \u00b7 within the tolerance from {number(at)}{between}"
    lines = [t["y"] for t in data] + ([] if model["tolerance"] is None else [np.array([model["tolerance"]])])
    linear = {"type": "linear", "tickmode": "auto", "exponentformat": "e"}
    layout = base_layout(
        height,
        title=title(heading),
        shapes=shapes,
        annotations=notes,
        xaxis=count_axis("iteration", data),
        yaxis={"title": {"text": what}, **(log_axis(lines) if log else linear)},
        margin={"l": 64, "r": 14, "t": 34, "b": 40},
    )
    return {"data": data, "layout": layout}


def _note(x: float, y: float, words: str, xref: str) -> dict[str, Any]:
    return {
        "x": x,
        "y": float(np.log10(y)),
        "xref": xref,
        "yref": "y",
        "text": text(words),
        "showarrow": False,
        "xanchor": "left",
        "yanchor": "bottom",
        "font": {"size": 11},
    }


def convergence_figure(variable: Any, tolerance: float | None = None, theme_name: str = "light") -> go.Figure:
    """The convergence plot of a variable of an analysis as a plain plotly figure in the light or dark theme."""
    if theme_name not in theme.THEMES:
        raise WorkbenchError(f"Unknown theme {theme_name!r}.", slug="no-theme", fix='use "light" or "dark".')
    return plain_figure(convergence_spec(convergence_model(variable, tolerance)), theme_name)
