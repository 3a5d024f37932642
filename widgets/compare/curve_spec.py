"""One value of two runs over the same axis: both lines above, their difference below."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.widgets.base import theme
from workbench.widgets.base.spec import Spec, base_layout, count_axis, log_axis, text, title
from workbench.widgets.text.numerals import numeral

#: pixels with one strip, and with two
ONE, TWO = 230, 380
#: colour, dash and marker of a line: never colour alone
RUNS = (("@data", "solid", "circle"), ("@other", "dash", "square-open"))
DISTANCES = {
    "absolute": (theme.BLUE, "solid", "circle"),
    "relative": (theme.ORANGE, "dash", "diamond"),
    "ulp": (theme.GREEN, "dot", "square"),
}
#: maximum points with a marker each
MARKER_POINTS = 60


def curve_spec(model: dict[str, Any]) -> Spec:
    """Both runs on a linear axis, and the distances on a logarithmic one, where 0 is left out. A dotted line marks the
    first difference, a diamond a value set by hand."""
    curve, beside = model["curve"], model.get("beside")
    axis = text(beside["axis"] if beside else curve["axis"] if curve else "")
    data = [*_runs(model, beside, axis), *_distances(curve, axis)]
    words = "Nothing differs" if model["equal"] else "No curve for this value"
    if curve:
        words = f"{text(curve['name'])}: {numeral(curve['differing'])} of {numeral(curve['count'])} differ"
    marks = [] if not curve else [(curve["first"], "@now", "dot"), (_place(model, curve), theme.GREY, "solid")]
    low = [d["y"] for d in data[3:] if len(d["y"])]
    layout = base_layout(
        TWO if beside else ONE,
        title=title(words),
        shapes=[_upright(at, colour, dash) for at, colour, dash in marks if at is not None],
        showlegend=bool(curve),
        legend={"orientation": "h", "x": 1, "xanchor": "right", "y": 1.1 if beside else 1.16},
        xaxis={**count_axis(axis, data), "visible": bool(curve), "anchor": "y"},
        yaxis={
            "title": {"text": "distance"},
            "visible": bool(curve),
            "domain": [0, 0.42] if beside else [0, 1],
            **log_axis(low),
        },
        yaxis2={
            "title": {"text": text(beside["name"]) if beside else ""},
            "visible": bool(beside),
            "domain": [0.5, 1],
            "anchor": "x",
        },
    )
    return {"data": data, "layout": layout}


def _runs(model: dict[str, Any], beside: dict[str, Any] | None, axis: str) -> list[dict[str, Any]]:
    """The lines of both runs, and the diamond of an edit; always three traces."""
    found = []
    lines = beside["lines"] if beside else [{"x": np.empty(0), "y": np.empty(0)}] * 2
    for line, label, (colour, dash, marker) in zip(lines, (model["a"], model["b"]), RUNS, strict=True):
        found.append(_trace(line["x"], line["y"], text(label), axis, colour, dash, marker) | {"yaxis": "y2"})
    at = beside["edited"] if beside else None
    x, y = np.empty(0), np.empty(0)
    for line in lines if at is not None else ():
        here = np.flatnonzero(line["x"] == at)
        x, y = np.append(x, line["x"][here]), np.append(y, line["y"][here])
    diamond = _trace(x[:1], y[:1], "set by hand", axis, "@edit", "solid", "diamond") | {"yaxis": "y2"}
    diamond |= {"mode": "markers", "showlegend": bool(len(x)), "marker": {"symbol": "diamond", "size": 12}}
    diamond["marker"]["color"] = "@edit"
    return [*found, diamond]


def _distances(curve: dict[str, Any] | None, axis: str) -> list[dict[str, Any]]:
    found = []
    for name, looks in DISTANCES.items():
        line = next((n for n in curve["lines"] if n["name"] == name), None) if curve else None
        x, y = (np.empty(0), np.empty(0)) if line is None else (line["x"], line["y"])
        found.append(_trace(x, np.where(y > 0, y, np.nan), name, axis, *looks) | {"yaxis": "y"})
    return found


def _trace(x: np.ndarray, y: np.ndarray, name: str, axis: str, colour: str, dash: str, marker: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers" if len(x) <= MARKER_POINTS else "lines",
        "x": x,
        "y": y,
        "name": name,
        "line": {"color": colour, "dash": dash, "width": 2},
        "marker": {"symbol": marker, "size": 6},
        "connectgaps": False,
        "showlegend": bool(len(x)),
        "hovertemplate": f"{axis} %{{x}}<br>{name} %{{y:.7g}}<extra></extra>",
    }


def _upright(at: float, colour: str, dash: str) -> dict[str, Any]:
    line = {"color": colour, "dash": dash, "width": 1.5}
    return {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": at, "x1": at, "line": line}


def _place(model: dict[str, Any], curve: dict[str, Any]) -> float | None:
    """Position of the selected iteration on the axis, if that counts iterations of one loop."""
    moment = model["moment"]
    return None if moment is None or not curve["axis"].startswith("iteration") else float(moment)
