"""The traces of a strip: computed values, look-ahead, forecasts, and the dots at the present iteration."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.widgets.base.spec import text
from workbench.widgets.strips.strip import Strip, StripLine
from workbench.widgets.strips.strip_axes import LINEAR_MOST
from workbench.widgets.strips.strip_marks import CELL, cell_end
from workbench.widgets.text.labels import shorten

#: maximum points of a line with a dot each
DOTS = 60


def drawable(y: np.ndarray, log: bool) -> np.ndarray:
    """The values that an axis can show; NaN for others."""
    y = np.asarray(y, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(y) & ((y > 0) if log else (np.abs(y) <= LINEAR_MOST)), y, np.nan)


def strip_traces(strip: Strip, axis: str, now: float | None, plain: bool) -> list[dict[str, Any]]:
    """For each line: itself, its look-ahead, the band and the line of its forecast (empty if there is none, so that
    trace indices do not change); then the dots of all lines at ``now``, and values set by hand. ``plain``: with texts
    for hovering."""
    data: list[dict[str, Any]] = []
    place = {"type": "scatter", "xaxis": "x", "yaxis": axis, "showlegend": False, "cliponaxis": False}
    at_x, at_y, tones = [], [], []
    for line in strip.lines:
        y, x = drawable(line.y, strip.log), np.asarray(line.x, dtype=np.float64)
        hover = _hover(line, plain)
        colour = f"@{line.tone}"
        shape = "hv" if strip.flags else "linear"
        data.append(
            {
                **place,
                "mode": "lines+markers" if len(x) <= DOTS and line.dots else "lines",
                "x": x,
                "y": y,
                "name": text(shorten(line.name, 60)),
                "meta": line.meta,
                "opacity": line.opacity,
                "marker": {"size": 5, "color": colour},
                "line": {"width": line.width, "dash": line.dash, "color": colour, "shape": shape},
                **hover,
            }
        )
        data.append(_ahead(line, strip, place, x, y))
        data += _forecast(line, strip, place)
        k = None if now is None else int(np.searchsorted(x, now))
        if now is not None and k is not None and k < len(x) and x[k] == now and np.isfinite(y[k]) and line.dots:
            at_x.append(float(now))
            at_y.append(float(y[k]))
            tones.append(line.tone)
    data.append(
        {
            **place,
            "mode": "markers",
            "x": np.array(at_x),
            "y": np.array(at_y),
            "name": "now",
            "hoverinfo": "skip",
            "marker": {"size": 9, "color": "@now", "line": {"width": 1.5, "color": "@ground"}},
        }
    )
    if strip.cells:  # an axis takes its range from traces
        ends = np.array([strip.cells[0].first - CELL, cell_end(strip.cells, strip.cells[-1])])
        clear = {"mode": "markers", "marker": {"opacity": 0, "size": 1}, "hoverinfo": "skip"}
        data.append({**place, **clear, "x": ends, "y": np.array([0.5, 0.5]), "name": "cells"})
    if not strip.edits:
        return data
    x, y = _edited(strip)
    data.append(
        {
            **place,
            "mode": "markers",
            "x": x,
            "y": y,
            "name": "set by hand",
            "hoverinfo": "skip",
            "marker": {"size": 11, "symbol": "diamond", "color": "@edit", "line": {"width": 1.5, "color": "@ground"}},
        }
    )
    return data


def _edited(strip: Strip) -> tuple[np.ndarray, np.ndarray]:
    """The points set by hand on the strip's own lines."""
    found = []
    for line in (line for line in strip.lines if line.dots):
        y, x = drawable(line.y, strip.log), np.asarray(line.x, dtype=np.float64)
        for at, _ in strip.edits:
            k = int(np.searchsorted(x, at))
            if k < len(x) and x[k] == at and np.isfinite(y[k]):
                found.append((at, float(y[k])))
    return np.array([p[0] for p in found]), np.array([p[1] for p in found])


def _hover(line: StripLine, plain: bool) -> dict[str, Any]:
    if not plain:  # the value is in the head of the strip
        return {"hoverinfo": "none"}
    return {"hovertemplate": f"{text(shorten(line.name, 60))}<br>iteration %{{x}}<br>%{{y:.10g}}<extra></extra>"}


def _ahead(line: StripLine, strip: Strip, place: dict[str, Any], x: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """The look-ahead: thin, with hollow dots; it begins at the last computed value."""
    far_x, far_y = (np.empty(0), np.empty(0)) if line.ahead is None else line.ahead
    far_y = drawable(far_y, strip.log)
    if len(far_x) and len(x) and x[-1] < far_x[0]:
        far_x, far_y = np.concatenate([[x[-1]], far_x]), np.concatenate([[y[-1]], far_y])
    return {
        **place,
        "mode": "lines+markers" if len(far_x) <= DOTS else "lines",
        "x": np.asarray(far_x, dtype=np.float64),
        "y": far_y,
        "name": text(shorten(f"{line.name}: looked ahead", 80)),
        "meta": line.meta,
        "hoverinfo": "none",
        "marker": {"size": 6, "color": "@ground", "line": {"width": 1.3, "color": f"@{line.tone}"}},
        "line": {"width": 1.1, "color": f"@{line.tone}", "dash": "solid", "shape": "hv" if strip.flags else "linear"},
    }


def _forecast(line: StripLine, strip: Strip, place: dict[str, Any]) -> list[dict[str, Any]]:
    """The 90 % band and the dashed line of a forecast."""
    found = line.forecast
    empty = np.empty(0)
    x, y, low, high = (
        (empty,) * 4 if found is None else (np.asarray(found[k], dtype=np.float64) for k in ("x", "y", "low", "high"))
    )
    y, high = drawable(y, strip.log), drawable(high, strip.log)
    if strip.log:  # a band that reaches zero extends to the lowest value that the plot needs
        good = np.concatenate([y[np.isfinite(y)], high[np.isfinite(high)]])
        low = np.maximum(np.nan_to_num(low, nan=0.0), float(good.min()) / 10.0 if len(good) else 1.0)
    low = drawable(low, strip.log)
    ok = np.isfinite(low) & np.isfinite(high)
    edge_x, edge_y = np.concatenate([x[ok], x[ok][::-1]]), np.concatenate([high[ok], low[ok][::-1]])
    return [
        {
            **place,
            "mode": "lines",
            "x": edge_x,
            "y": edge_y,
            "fill": "toself",
            "fillcolor": "@band",
            "opacity": 0.5,
            "hoverinfo": "skip",
            "line": {"width": 0, "color": "@band"},
            "name": text(shorten(f"{line.name}: 90 % band", 80)),
        },
        {
            **place,
            "mode": "lines",
            "x": x,
            "y": y,
            "hoverinfo": "none",
            "line": {"width": 1.6, "dash": "6px,4px", "color": "@forecast"},
            "name": text(shorten(f"{line.name}: forecast", 80)),
        },
    ]
