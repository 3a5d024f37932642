"""One value as a plotly figure: a line or histogram, before and after a change, and an image in files."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.widgets.base import theme
from workbench.widgets.base.spec import Spec, base_layout, text, title, whole_ticks
from workbench.widgets.text.numerals import numeral
from workbench.widgets.values.images.colours import Scale
from workbench.widgets.values.images.reduced import reduced
from workbench.widgets.values.images.run_colours import value_scale

HEIGHT = 210
LINES = (theme.SKY, theme.ORANGE, theme.GREEN, theme.PURPLE, theme.VERMILION, theme.BLUE, theme.GREY, theme.YELLOW)
#: maximum rows and columns of an image in a file
SIDE = 96
DASHES = ("solid", "dash", "dot", "dashdot")


def inspector_spec(model: dict[str, Any], titled: bool = True) -> Spec:
    """The figure of the display that the model chose; with ``titled`` it has a title, for use outside the view."""
    facts = " \u00b7 ".join(f"{k} {v}" for k, v in model["statistics"].items())
    where = f" ({model['where']})" if model.get("where") else ""
    first = f"<b>{text(model['name'])}</b>{text(where)} {text(model['header'])} {text(model['text'])}"
    words = f"{first}<br><sub>{text(facts)}</sub>"
    display = model["display"]
    axes: dict[str, Any] = {"xaxis": {"visible": False}, "yaxis": {"visible": False}}
    data: list[dict[str, Any]] = []
    if display == "line" and model.get("pair"):
        data, axes = _change(model)
    elif display == "line":
        data, axes = _line(model["line"])
    elif display == "histogram":
        data, axes = _histogram(model["histogram"])
    elif display == "image" and titled:  # in a notebook a canvas shows the image
        data, axes = _image(model["image"], model.get("colours"))
    layout = base_layout(
        HEIGHT * 2 if display == "image" and titled else HEIGHT,
        title=title(words if titled else ""),
        margin={"l": 50, "r": 14, "t": 48 if titled else 8, "b": 36},
        uirevision=f"{display} {text(model['name'])}",
        **axes,
    )
    return {"data": data, "layout": layout}


def _image(view: np.ndarray | None, scale: Scale | None) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Square pixels, row 0 on top."""
    if view is None:
        return [], {}
    small, _ = reduced(view, SIDE)
    step = -(-max(view.shape) // max(small.shape))
    found = scale if scale is not None else value_scale(view)
    trace = {
        "type": "heatmap",
        "z": small.astype(np.float64),
        "x": np.arange(small.shape[1]) * step,
        "y": np.arange(small.shape[0]) * step,
        "colorscale": found.colorscale,
        "zmin": found.low,
        "zmax": found.high,
        "colorbar": {"thickness": 10, "exponentformat": "e"},
        "hovertemplate": "[%{y}, %{x}] %{z:.8g}<extra></extra>",
    }
    axis = {"visible": True, "tickformat": "d", "title": {"text": ""}, "constrain": "domain"}
    return [trace], {
        "xaxis": {**axis, "autorange": True},
        "yaxis": {**axis, "autorange": "reversed", "scaleanchor": "x", "scaleratio": 1},
    }


def _change(model: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A vector before and after a change, above the difference."""
    data = []
    for name, line, colour, dash in (
        ("before", model["pair"][1], theme.GREY, "dash"),
        ("now", model["pair"][0], theme.BLUE, "solid"),
        ("difference", model["line"], theme.VERMILION, "solid"),
    ):
        x, y = line["lines"][0]
        data.append(
            {
                "type": "scatter",
                "mode": "lines+markers" if len(x) <= 60 else "lines",
                "x": x,
                "y": y,
                "yaxis": "y2" if name == "difference" else "y",
                "line": {"width": 2, "color": colour, "dash": dash},
                "marker": {"size": 5},
                "name": name,
                "showlegend": True,
                "hovertemplate": f"{name}, {text(line['title'])} %{{x}}<br>%{{y:.12g}}<extra></extra>",
            }
        )
    axes = _axes(text(model["line"]["title"]), "value")
    axes["yaxis"] |= {"domain": [0.46, 1.0]}
    axes["xaxis"] |= {"anchor": "y2"}
    axes["yaxis2"] = {**_axes("", "change")["yaxis"], "domain": [0.0, 0.4]}
    axes["legend"] = {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom"}
    axes["showlegend"] = True
    return data, axes


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
    axes = _axes(text(line["title"]), "")
    axes["xaxis"] |= whole_ticks(max((float(x[-1]) for x, _ in line["lines"] if len(x)), default=0.0))
    return data, axes


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
    x_title = f"value ({numeral(out)} NaN or infinite left out)" if out else "value"
    return data, _axes(x_title, "elements")


def _axes(x: str, y: str) -> dict[str, Any]:
    """Set everything that another display sets, because an update does not change omitted properties."""
    return {
        name: {
            "title": {"text": words},
            "visible": True,
            "autorange": True,
            "tickformat": "",
            "exponentformat": "power",
        }
        for name, words in (("xaxis", x), ("yaxis", y))
    }
