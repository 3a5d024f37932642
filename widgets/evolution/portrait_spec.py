"""Cobweb, phase portrait and heat map of the evolution view, as plain specifications."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.widgets.base import theme
from workbench.widgets.base.spec import Spec, base_layout, count_axis, text, title
from workbench.widgets.evolution.evolution_words import empty_notes, note
from workbench.widgets.strips.strip_axes import LINEAR_MOST
from workbench.widgets.text.labels import shorten
from workbench.widgets.text.numerals import numeral

TICKS = 12
#: for a phase portrait: one axis may span so many times the other at the same scale
MOST_UNLIKE = 8.0


def portrait_spec(model: dict[str, Any], height: int) -> Spec:
    """Points in the plane, coloured from dark (early) to bright (late), the path through them, and the diagonal of a
    cobweb; a diamond marks the moment. See :mod:`workbench.widgets.evolution.portrait_model`.
    """
    portrait = model.get("portrait")
    if portrait is None:
        return nothing_spec(model, height)
    cobweb = portrait["kind"] == "cobweb"
    x, y = (_drawable(portrait[c]) for c in ("x", "y"))
    ends = np.concatenate([x[np.isfinite(x)], y[np.isfinite(y)]]) if cobweb else np.empty(0)
    diagonal = np.array([ends.min(), ends.max()]) if len(ends) else np.empty(0)
    at = portrait["at"]
    names = [text(shorten(portrait[t], 60)) for t in ("x_title", "y_title")]
    k = np.asarray(portrait["k"], dtype=np.float64)
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": diagonal,
            "y": diagonal,
            "name": "the same value again",
            "line": {"color": theme.GREY, "width": 1, "dash": "dash"},
            "hoverinfo": "skip",
            "showlegend": cobweb,
        },
        {
            "type": "scatter",
            "mode": "lines",
            "x": _drawable(portrait["path_x"]),
            "y": _drawable(portrait["path_y"]),
            "line": {"color": theme.ORANGE, "width": 1.2},
            "opacity": 0.8,
            "hoverinfo": "skip",
            "name": "way",
            "showlegend": False,
        },
        {
            "type": "scatter",
            "mode": "markers",
            "x": x,
            "y": y,
            "customdata": k,
            "name": "iterations",
            "showlegend": False,
            "marker": {
                "size": 6 if len(x) <= 200 else 4,
                "color": k,
                "colorscale": "Cividis",
                "showscale": len(x) > 1,
                "colorbar": {"thickness": 10, "title": {"text": "iteration", "side": "right"}},
                "line": {"width": 1, "color": theme.GREY},
            },
            "hovertemplate": f"iteration %{{customdata}}<br>{names[0]}: %{{x:.10g}}<br>{names[1]}: %{{y:.10g}}"
            "<extra></extra>",
        },
        {
            "type": "scatter",
            "mode": "markers",
            "x": np.array([] if at is None else [at[0]]),
            "y": np.array([] if at is None else [at[1]]),
            "name": "looked at" if model.get("moment") else "newest",
            "marker": {"size": 12, "symbol": "diamond-open", "color": theme.VERMILION, "line": {"width": 2.5}},
            "hoverinfo": "skip",
            "showlegend": True,
        },
    ]
    curve = portrait.get("curve")
    data.append(
        {
            "type": "scatter",
            "mode": "lines",
            "x": np.empty(0) if curve is None else _drawable(curve[0]),
            "y": np.empty(0) if curve is None else _drawable(curve[1]),
            "name": "what one iteration does",
            "line": {"color": "@data", "width": 1.6},
            "hoverinfo": "skip",
            "showlegend": curve is not None,
        }
    )
    heading = f"Cobweb of {shorten(model['shown'])}" if cobweb else f"{portrait['y_title']} over {portrait['x_title']}"
    if portrait["all"] > len(x) + 1:
        heading += f" \u00b7 {numeral(len(x))} of {numeral(portrait['all'])} iterations"
    axis = {"exponentformat": "e", "autorange": True, "type": "linear", "tickmode": "auto"}
    layout = base_layout(
        max(height, 380),
        title=title(text(heading)),
        xaxis={"title": {"text": names[0]}, **axis, "constrain": "domain"},
        yaxis={"title": {"text": names[1]}, **axis, **_square(x, y, cobweb)},
        showlegend=True,
        shapes=[],
        legend={"orientation": "h", "x": 0, "xanchor": "left", "y": 1.0, "yanchor": "bottom", "font": {"size": 12}},
        annotations=[] if len(x) else [note(model.get("hint") or "two iterations are needed", 0.5, 0.5, "middle")],
        margin={"l": 64, "r": 14, "t": 56, "b": 44},
    )
    return {"data": data, "layout": layout}


def heat_spec(model: dict[str, Any], height: int) -> Spec:
    """Components from top to bottom, iterations from left to right; cells that are NaN or infinite have a sign."""
    heat = model.get("heat")
    if heat is None:
        return nothing_spec(model, height)
    z = np.asarray(heat["z"], dtype=np.float64)
    if not heat["log"]:
        z = np.where(np.abs(z) > LINEAR_MOST, np.nan, z)
    rows = heat["rows"]
    name = text(shorten(heat["name"], 40))
    what = "log10 of the magnitude" if heat["log"] else "value"
    data: list[dict[str, Any]] = [
        {
            "type": "heatmap",
            "x": heat["x"],
            "y": rows,
            "z": z,
            "colorscale": "Cividis",
            "colorbar": {"thickness": 10, "title": {"text": what, "side": "right"}},
            "hovertemplate": f"{name}%{{y}}<br>iteration %{{x}}<br>{what} %{{z:.8g}}<extra></extra>",
        },
        {
            "type": "scatter",
            "mode": "markers",
            "x": np.array([b[0] for b in heat["bad"]]),
            "y": [rows[b[1]] for b in heat["bad"]],
            "name": "\u26a0 NaN or Inf",
            "marker": {"symbol": "x", "size": 7, "color": theme.BAD},
            "showlegend": bool(heat["bad"]),
            "hovertemplate": "not a finite number<br>iteration %{x}<extra></extra>",
        },
    ]
    heading = f"{heat['name']}: components over the iterations" + (f" \u00b7 {heat['note']}" if heat["note"] else "")
    layout = base_layout(
        max(height, 300),
        title=title(text(heading)),
        shapes=moment_line(model.get("moment")),
        annotations=[],
        showlegend=bool(heat["bad"]),
        xaxis={**count_axis("iteration", [heat]), "autorange": True, "type": "linear", "rangemode": "normal"},
        meta={"whole": ["xaxis"]},
        yaxis={
            "autorange": "reversed",
            "type": "category",
            "tickmode": "linear",
            "dtick": max(1, -(-len(rows) // TICKS)),
            "title": {"text": "component"},
        },
        legend={"orientation": "h", "x": 1, "xanchor": "right", "y": 1.0, "yanchor": "bottom", "font": {"size": 12}},
        margin={"l": 64, "r": 14, "t": 44, "b": 40},
    )
    return {"data": data, "layout": layout}


def nothing_spec(model: dict[str, Any], height: int) -> Spec:
    """A plot without axes that contains the reason for being empty."""
    data = [{"type": "scatter", "mode": "lines", "x": np.empty(0), "y": np.empty(0), "name": ""}]
    hidden = {"visible": False, "autorange": True, "type": "linear"}
    layout = base_layout(height, title=title(""), xaxis=hidden, yaxis=hidden, annotations=empty_notes(model))
    return {"data": data, "layout": {**layout, "shapes": []}}


def _square(x: np.ndarray, y: np.ndarray, cobweb: bool) -> dict[str, Any]:
    """A square plot. Both axes have one scale, so that the diagonal is at 45 degrees, unless one spans far more."""
    spans = [float(np.ptp(v[np.isfinite(v)])) if np.isfinite(v).any() else 0.0 for v in (x, y)]
    ratio = spans[0] / spans[1] if min(spans) > 0 else 1.0
    same = cobweb or 1 / MOST_UNLIKE <= ratio <= MOST_UNLIKE or not np.isfinite(ratio)
    return {"scaleanchor": "x", "scaleratio": 1.0 if same else ratio, "constrain": "domain"}


def moment_line(mark: dict[str, Any] | None) -> list[dict[str, Any]]:
    """The selected iteration as a vertical line."""
    if mark is None:
        return []
    place = {"x0": mark["x"], "x1": mark["x"], "yref": "paper", "y0": 0, "y1": 1}
    return [{"type": "line", **place, "line": {"color": "@now", "width": 1.6}}]


def _drawable(values: np.ndarray) -> np.ndarray:
    values = np.asarray(values, dtype=np.float64)
    return np.where(np.abs(values) <= LINEAR_MOST, values, np.nan)
