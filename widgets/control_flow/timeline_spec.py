"""How the timeline is drawn: bars in lanes, the moment that is looked at, and the run's position."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.widgets.base import theme
from workbench.widgets.base.spec import Spec, base_layout, text, title
from workbench.widgets.text.labels import shorten
from workbench.widgets.text.numerals import numeral

LANE = 56
#: pixels before the lanes, for their names and, above each, the beginning of its description
LEFT = 90
#: lane colours by depth: dark text is readable on all of them
COLOURS = (theme.SKY, theme.ORANGE, theme.GREEN, theme.PURPLE, theme.YELLOW)
INK = "#111111"
#: bars of a lane that have their text in them
MAX_TEXTS = 60
#: kind -> (offset from the middle of the lane, height, pattern)
LOOKS = {
    "activation": (0.12, 0.08, ""),
    "iteration": (-0.18, 0.48, ""),
    "group": (-0.18, 0.48, "/"),
    "firing": (-0.14, 0.56, ""),
}


def timeline_spec(model: dict[str, Any]) -> Spec:
    """One trace a kind of bar, so that their number stays while one zooms; every second iteration is paler."""
    lanes = model["lanes"]
    data = [_trace(kind, lanes) for kind in LOOKS]
    low, high = model["window"]
    shapes: list[dict[str, Any]] = []
    if model.get("selection"):
        begin, end = model["selection"]
        shapes.append(
            {
                "type": "rect",
                "yref": "paper",
                "y0": 0,
                "y1": 1,
                "x0": begin,
                "x1": end,
                "layer": "below",
                "fillcolor": theme.tint(theme.VERMILION, 0.18),
                "line": {"color": theme.VERMILION, "width": 1.5},
            }
        )
    if model.get("now") is not None and lanes:
        shapes.append(
            {
                "type": "line",
                "yref": "paper",
                "y0": 0,
                "y1": 1,
                "x0": model["now"],
                "x1": model["now"],
                "line": {"color": theme.VERMILION, "width": 2, "dash": "dot"},
            }
        )
    notes = []
    if not lanes:
        empty = "This graph has no loop." if model["total"] else "Nothing has run yet."
        notes.append(
            {
                "xref": "paper",
                "yref": "paper",
                "x": 0.5,
                "y": 0.5,
                "showarrow": False,
                "text": empty,
                "font": {"size": 13},
            }
        )
    for k, lane in enumerate(lanes):
        notes.append(
            {
                "xref": "paper",
                "x": 0,
                "xanchor": "left",
                "y": len(lanes) - 1 - k + 0.5,
                "yanchor": "top",
                "showarrow": False,
                "text": text(lane["told"]),
                "font": {"size": 12},
                "xshift": 4 - LEFT,
                "yshift": 2,
            }
        )
    layout = base_layout(
        80 + LANE * max(1, len(lanes)),
        title=title(text(headline(model))),
        barmode="overlay",
        xaxis={
            "range": [low, high],
            "autorange": False,
            "title": {"text": "node executions, not time"},
            "visible": bool(lanes),
            "tickformat": "~s" if high - low > 1e5 else "d",
            "nticks": 8,
        },
        yaxis={
            "range": [-0.5, max(1, len(lanes)) - 0.45],
            "fixedrange": True,
            "showgrid": False,
            "zeroline": False,
            "visible": bool(lanes),
            "tickvals": [len(lanes) - 1 - k for k in range(len(lanes))],
            "ticktext": [_name(lane) for lane in lanes],
        },
        shapes=shapes,
        annotations=notes,
        margin={"l": LEFT, "r": 14, "t": 30, "b": 40},
    )
    return {"data": data, "layout": layout}


def headline(model: dict[str, Any]) -> str:
    """Caption: the shown range."""
    if not model["lanes"]:
        return "Timeline"
    low, high = model["window"]
    part = f"events {numeral(int(low))} to {numeral(int(high))} of {numeral(model['total'])}"
    words = [part]
    if not model["exact"]:
        words.append("iterations that were not kept are estimated or omitted")
    if model["hidden"]:
        count = model["hidden"]
        words.append(f"{count} more {'frame is' if count == 1 else 'frames are'} not shown")
    if model.get("looking"):
        words.insert(0, f"looking at {model['looking']}")
    return " \u00b7 ".join(words)


def _name(lane: dict[str, Any]) -> str:
    inset = "\u00a0\u00a0" * min(lane["depth"], 6) + ("\u2514 " if lane["depth"] else "")
    return f"{inset}{text(shorten(lane['name'], 18))}"


def _trace(kind: str, lanes: list[dict[str, Any]]) -> dict[str, Any]:
    base: list[float] = []
    length: list[float] = []
    y: list[float] = []
    words: list[str] = []
    hover: list[str] = []
    keys: list[list[Any]] = []
    colours: list[str] = []
    offset, height, pattern = LOOKS[kind]
    for k, lane in enumerate(lanes):
        mine = [bar for bar in lane["bars"] if bar["kind"] == kind]
        for n, bar in enumerate(mine):
            base.append(bar["begin"])
            length.append(bar["length"])
            y.append(len(lanes) - 1 - k + offset)
            words.append(text(bar["text"]) if len(mine) <= MAX_TEXTS else "")
            hover.append(text(bar["hover"]))
            keys.append(["\n".join(bar["frame"]), list(bar["iteration"]), bar["node"]])
            depth = lane["depth"] if kind != "firing" else len(bar["frame"])
            colours.append(_colour(depth, kind, bar["iteration"][-1] if bar["iteration"] else n))
    return {
        "type": "bar",
        "orientation": "h",
        "base": np.asarray(base, dtype=np.float64),
        "x": np.asarray(length, dtype=np.float64),
        "y": np.asarray(y),
        "width": height,
        "text": words,
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "textfont": {"color": INK, "size": 12},
        "constraintext": "inside",
        "customdata": keys,
        "hovertext": hover,
        "hovertemplate": "%{hovertext}<extra></extra>",
        "marker": {
            "color": colours,
            "line": {"width": 0.5, "color": INK},
            "pattern": {"shape": pattern, "bgcolor": colours, "fgcolor": INK, "fgopacity": 0.5, "size": 6},
        },
    }


def _colour(depth: int, kind: str, number: int) -> str:
    if kind == "firing" and depth == 0:
        return "#C8C8C8"
    colour = COLOURS[(depth - (kind == "firing")) % len(COLOURS)]
    if kind in ("iteration", "firing") and number % 2:
        return _paler(colour)
    return colour


def _paler(colour: str) -> str:
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{(c + 2 * 255) // 3:02X}" for c in parts)
