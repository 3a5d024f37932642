"""The picture of a memory model: curves of bytes above, bars of values below, and the table beside it in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.widgets.base import theme
from workbench.widgets.base.spec import Spec, base_layout, text, title
from workbench.widgets.memory.memory_model import MAX_LINES
from workbench.widgets.memory.shape_trie_model import size_text
from workbench.widgets.text.labels import shorten

BAR_HEIGHT = 17
#: of the lines: the whole is grey and filled; colour, dash and the legend's words tell the others apart
COLOURS = (theme.SKY, theme.ORANGE, theme.GREEN, theme.PURPLE, theme.VERMILION)
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
#: events: kind -> (symbol, colour), in the order of the legend
EVENTS = {
    "collected": ("triangle-down", theme.GREEN),
    "closed": ("square-open", theme.SKY),
    "released": ("x", theme.ORANGE),
}
COLUMNS = ("manager", "arrays", "bytes", "peak", "made", "released", "collected", "limit")


def memory_spec(model: dict[str, Any], height: int, headline: bool = True) -> Spec:
    """Always the same number of curves, so that updates stay small."""
    bars, curves = model["bars"], model["curves"]
    below = 60 + BAR_HEIGHT * len(bars) if bars else 0
    whole = (height if curves else 0) + below + (0 if curves else 30)
    top = (58 if headline else 36) if curves else (34 if headline else 8)
    data = _curves(model) if curves else []
    over_events = model["kind"] == "session"
    layout = base_layout(
        max(whole, 160),
        title=title(text(model["headline"]) if headline else ""),
        showlegend=curves,
        legend={"orientation": "h", "x": 0, "xanchor": "left", "y": 1.0, "yanchor": "bottom", "font": {"size": 12}},
        margin={"l": 64, "r": 18, "t": top, "b": 40},
        shapes=[],
        annotations=[],
    )
    if curves:
        split = below / (whole - top - 40) if bars else 0.0
        layout["xaxis"] = {
            "title": {"text": "event" if over_events else "seconds"},
            "rangemode": "tozero",
            "anchor": "y",
        }
        layout["yaxis"] = {"domain": [split, 1.0], "title": {"text": "bytes"}, **_byte_axis(model)}
        if model["limit"] is not None and _shown(model):
            layout["shapes"].append(
                {
                    "type": "line",
                    "xref": "paper",
                    "x0": 0,
                    "x1": 1,
                    "y0": model["limit"],
                    "y1": model["limit"],
                    "line": {"color": theme.VERMILION, "width": 1.5, "dash": "dash"},
                }
            )
            layout["annotations"].append(
                {
                    "xref": "paper",
                    "x": 1,
                    "y": np.log10(model["limit"]) if model["log"] else model["limit"],
                    "text": f"limit {size_text(model['limit'])}",
                    "showarrow": False,
                    "xanchor": "right",
                    "yanchor": "bottom",
                    "font": {"size": 12},
                }
            )
    if bars:
        data.append(_bars(model))
        axes = ("xaxis2", "yaxis2") if curves else ("xaxis", "yaxis")
        words = "position in the plan's order" if model["lifetimes"] else "bytes"
        layout[axes[0]] = {"title": {"text": words}, "anchor": axes[1].replace("axis", ""), "rangemode": "tozero"}
        if not model["lifetimes"]:
            layout[axes[0]] |= _byte_ticks(max((float(b["stop"] - b["start"]) for b in bars), default=0.0))
        layout[axes[1]] = {
            "domain": [0.0, max(0.05, split - 70 / (whole - top - 40))] if curves else [0.0, 1.0],
            "anchor": axes[0].replace("axis", ""),
            "range": [len(bars) - 0.4, -0.6],
            "tickfont": {"size": 12},
            "showgrid": False,
            "zeroline": False,
            "tickvals": list(range(len(bars))),
            "ticktext": [text(shorten(b["label"], 18)) for b in bars],
        }
    if not curves and not bars:
        layout["annotations"].append(
            {
                "xref": "paper",
                "yref": "paper",
                "x": 0.5,
                "y": 0.5,
                "showarrow": False,
                "text": "No value has been recorded yet.",
            }
        )
        data.append({"type": "bar", "x": [], "y": []})
    return {"data": data, "layout": layout}


def _shown(model: dict[str, Any]) -> bool:
    """True if a limit belongs on the axis: not if it would flatten the curves."""
    top = max((float(line["y"].max()) for line in model["lines"] if len(line["y"])), default=0.0)
    return model["log"] or top * 20 >= model["limit"]


def _byte_axis(model: dict[str, Any]) -> dict[str, Any]:
    if model["log"]:
        powers = [2.0 ** (5 * k) for k in range(11)]
        return {"type": "log", "tickvals": powers, "ticktext": [_tick(p) for p in powers], "rangemode": "normal"}
    top = max((float(line["y"].max()) for line in model["lines"] if len(line["y"])), default=0.0)
    if model["limit"] is not None and _shown(model):
        top = max(top, float(model["limit"]))
    return {"type": "linear", "rangemode": "tozero", **_byte_ticks(top)}


def _byte_ticks(top: float) -> dict[str, Any]:
    """Ticks from 0 to a number of bytes at multiples of a power of two, four to eight of them."""
    step = 2.0 ** max(0, int(np.ceil(np.log2(max(top, 1.0) / 8))))
    values = [step * k for k in range(int(top / step) + 2)]
    return {"tickvals": values, "ticktext": [_tick(v) for v in values]}


def _tick(size: float) -> str:
    return size_text(int(size)).replace(".0 ", " ")


def _curves(model: dict[str, Any]) -> list[dict[str, Any]]:
    lines, whole_first = model["lines"], model["kind"] == "ledger"
    empty: dict[str, Any] = {"name": "", "x": np.empty(0), "y": np.empty(0), "now": 0}
    wanted = MAX_LINES + 1 if whole_first else len(lines)
    data: list[dict[str, Any]] = []
    for k in range(wanted):
        line = lines[k] if k < len(lines) else empty
        whole = whole_first and k == 0
        place = k - whole_first
        y = np.where(line["y"] > 0, line["y"], np.nan) if model["log"] else line["y"]
        data.append(
            {
                "type": "scatter",
                "x": line["x"],
                "y": y,
                "mode": "lines" if (len(y) > 1 if whole_first else len(y) > 60) else "lines+markers",
                "name": text(f"{shorten(line['name'])} {size_text(line['now'])}"),
                "visible": k < len(lines),
                "marker": {"size": 5},
                "line": {
                    "shape": "hv",  # bytes are taken and given back at once
                    "width": 1.5 if whole else 2,
                    "color": theme.GREY if whole else COLOURS[place % len(COLOURS)],
                    "dash": "solid" if whole else DASHES[place % len(DASHES)],
                },
                "fill": "tozeroy" if whole and not model["log"] else "none",
                "fillcolor": theme.tint(theme.GREY, 0.22),
                "hovertemplate": f"{text(line['name'])}<br>%{{y:.4s}}B at %{{x}}<extra></extra>",
            }
        )
    peak = model["peak"]
    data.append(
        {
            "type": "scatter",
            "mode": "markers+text",
            "x": [] if peak is None else [peak["x"]],
            "y": [] if peak is None else [peak["y"]],
            "text": [] if peak is None else [peak["text"]],
            "name": "peak",
            "textposition": "top left",
            "showlegend": False,
            "cliponaxis": False,
            "marker": {"symbol": "diamond", "size": 9, "color": theme.VERMILION},
            "hovertemplate": "%{text}<extra></extra>",
            "visible": peak is not None,
        }
    )
    for kind, (symbol, colour) in EVENTS.items() if whole_first else ():
        found = [e for e in model["events"] if e["kind"] == kind]
        floor = 1.0 if model["log"] else 0.0
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": kind,
                "x": np.array([e["x"] for e in found], np.float64),
                "y": np.full(len(found), floor),
                "cliponaxis": False,
                "visible": bool(found),
                "customdata": [f"{kind}: {text(e['words'])}<br>of {text(e['name'])}" for e in found],
                "hovertemplate": "%{customdata} at %{x:.2f} s<extra></extra>",
                "marker": {"symbol": symbol, "size": 8, "color": colour},
            }
        )
    return data


def _bars(model: dict[str, Any]) -> dict[str, Any]:
    bars, curves = model["bars"], model["curves"]
    sizes = ["?" if b["bytes"] is None else size_text(b["bytes"]) for b in bars]
    unknown = "size not known before the run"
    whole = [b.get("told") or (unknown if s == "?" else s) for b, s in zip(bars, sizes, strict=True)]
    hovers = [
        f"{text(b['name'])}<br>"
        + (f"needed from {b['start']} to {b['stop']}, {s}" if model["lifetimes"] else s)
        + (f"<br>in {text(b['frame'])}" if b["frame"] else "")
        for b, s in zip(bars, whole, strict=True)
    ]
    chosen = model.get("selected")
    marked = [chosen is not None and chosen in (b["name"], b["name"].removesuffix(":0"), b["label"]) for b in bars]
    return {
        "type": "bar",
        "orientation": "h",
        "y": np.arange(len(bars), dtype=np.float64),
        "x": np.array([b["stop"] - b["start"] for b in bars], np.float64),
        "base": np.array([b["start"] for b in bars], np.float64),
        "xaxis": "x2" if curves else "x",
        "yaxis": "y2" if curves else "y",
        "showlegend": False,
        "customdata": hovers,
        "hovertemplate": "%{customdata}<extra></extra>",
        "marker": {
            "color": theme.SKY,
            "line": {"color": theme.VERMILION, "width": [3.0 if m else 0.0 for m in marked]},
        },
        "text": sizes,  # short: in a narrow pane more fits neither into the bar nor beside it
        "textposition": "auto",
        "textfont": {"size": 12},
        "insidetextfont": {"color": "#111111", "size": 12},
        "constraintext": "none",
        "cliponaxis": False,
    }


def memory_html(model: dict[str, Any]) -> str:
    """The figures in words and as a table; every name in it is escaped."""
    parts = [f"<b>{text(model['headline'])}</b>"] + ([text(model["words"])] if model["words"] else [])
    html = f'<div class="workbench-words">{"<br>".join(parts)}'
    if model["rows"]:
        head = "".join(f"<td><b>{c}</b></td>" for c in COLUMNS)
        body = "".join(
            "<tr>" + "".join(f"<td>{text(shorten(str(cell), 40))}</td>" for cell in row) + "</tr>"
            for row in model["rows"]
        )
        html += f'<div class="workbench-wide"><table class="workbench-table"><tr>{head}</tr>{body}</table></div>'
    if model["more"]:
        html += f"and {model['more']} more managers"
    return html + "</div>"
