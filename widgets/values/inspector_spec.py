"""How one value is drawn: as heat map, line or histogram."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.widgets.base import theme
from workbench.widgets.base.spec import Spec, base_layout, text, title
from workbench.widgets.text.labels import count_text

HEIGHT = 210
LINES = (theme.SKY, theme.ORANGE, theme.GREEN, theme.PURPLE, theme.VERMILION, theme.BLUE, theme.GREY, theme.YELLOW)
#: below zero, zero, above zero
DIFFERENCE = [[0.0, theme.BLUE], [0.5, "#D9D9D9"], [1.0, theme.VERMILION]]
DASHES = ("solid", "dash", "dot", "dashdot")


def inspector_spec(model: dict[str, Any], titled: bool = True) -> Spec:
    """The figure of the display that the model chose; with ``titled`` the words stand above it, for use alone."""
    facts = " \u00b7 ".join(f"{k} {v}" for k, v in model["statistics"].items())
    where = f" ({model['where']})" if model.get("where") else ""
    first = f"<b>{text(model['name'])}</b>{text(where)} {text(model['header'])} {text(model['text'])}"
    words = f"{first}<br><sub>{text(facts)}</sub>"
    display = model["display"]
    axes: dict[str, Any] = {"xaxis": {"visible": False}, "yaxis": {"visible": False}}
    if display == "line":
        data, axes = _line(model["line"])
    elif display == "histogram":
        data, axes = _histogram(model["histogram"])
    else:
        data, more = _heat(model["heat"], model["differs"])
        axes |= more
    layout = base_layout(
        HEIGHT,
        title=title(words if titled else ""),
        margin={"l": 50, "r": 14, "t": 48 if titled else 8, "b": 36},
        uirevision=f"{display} {text(model['name'])}",
        **axes,
    )
    return {"data": data, "layout": layout}


def _heat(heat: np.ndarray | None, differs: bool) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Differences are coloured about zero: blue below and vermilion above, which colour-blind people can tell."""
    z = heat if heat is not None else np.zeros((0, 0))
    finite = np.abs(z[np.isfinite(z)]) if z.size else np.empty(0)
    top = float(finite.max()) if differs and finite.size and finite.max() > 0 else None
    trace = {
        "type": "heatmap",
        "z": z,
        "colorscale": DIFFERENCE if differs else "Cividis",
        "showscale": heat is not None,
        "colorbar": {"thickness": 10, "exponentformat": "e"},
        "zmin": None if top is None else -top,
        "zmax": top,
        "hovertemplate": "[%{y}, %{x}] %{z:.8g}<extra></extra>",
    }
    axes = {
        "yaxis": {"autorange": "reversed", "visible": heat is not None, "tickformat": "d", "title": {"text": ""}},
        "xaxis": {"autorange": True, "visible": heat is not None, "tickformat": "d", "title": {"text": ""}},
    }
    return [trace], axes


def _line(line: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    data = [
        {
            "type": "scatter",
            "mode": "lines+markers" if len(x) <= 60 else "lines",
            "x": x,
            "y": y,
            "line": {"width": 2, "color": LINES[k % len(LINES)], "dash": DASHES[k % len(DASHES)]},
            "marker": {"size": 5},
            "name": str(k),
            "hovertemplate": f"{text(line['title'])} %{{x}}<br>%{{y:.12g}}<extra></extra>",
        }
        for k, (x, y) in enumerate(line["lines"])
    ]
    return data, _axes(text(line["title"]), "")


def _histogram(histogram: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    edges, counts = histogram["edges"], histogram["counts"]
    data = [
        {
            "type": "bar",
            "x": (edges[:-1] + edges[1:]) / 2 if len(counts) else np.empty(0),
            "y": counts,
            "width": np.diff(edges) if len(counts) else np.empty(0),
            "marker": {"color": theme.SKY, "line": {"width": 0.5, "color": "#111111"}},
            "hovertemplate": "about %{x:.6g}: %{y} elements<extra></extra>",
        }
    ]
    out = histogram["left_out"]
    told = f"value ({count_text(out)} NaN or infinite left out)" if out else "value"
    return data, _axes(told, "elements")


def _axes(x: str, y: str) -> dict[str, Any]:
    """Everything that another display sets is set here too: an update leaves alone what is not named."""
    return {
        name: {"title": {"text": words}, "visible": True, "autorange": True, "tickformat": "", "exponentformat": "e"}
        for name, words in (("xaxis", x), ("yaxis", y))
    }
