"""The gap of each comparison to its threshold, with its forecast and the expected end, as a plain specification."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.widgets.base import theme
from workbench.widgets.base.spec import Spec, base_layout, count_axis, log_axis, text
from workbench.widgets.evolution.convergence_spec import crossing_shapes, forecast_traces
from workbench.widgets.evolution.evolution_spec import LINEAR_MOST, lines_title, mark_shapes, note
from workbench.widgets.text.labels import against, shorten

HEIGHT = 220
SCALES = ("auto", "linear", "log")
COLOURS = (theme.ORANGE, theme.GREEN, theme.PURPLE, theme.SKY, theme.VERMILION, theme.BLUE)
DASHES = ("solid", "dash", "dot", "dashdot")
EVALUATION = "evaluation of the condition"
LINEAR = {"type": "linear", "exponentformat": "e", "rangemode": "tozero", "tickmode": "auto"}
#: clauses that are drawn
MOST = 8


def termination_spec(model: dict[str, Any], height: int = HEIGHT, headline: bool = True) -> Spec:
    """\\|left - right\\| of each comparison over the evaluations, its forecast with the 90 % band, and the expected end
    as a line down the plot with its interval as a stripe; with ``headline`` the verdict as title."""
    clauses = model["clauses"][:MOST]
    log = is_log(model.get("scale", "auto"), clauses)
    data: list[dict[str, Any]] = []
    for k, clause in enumerate(clauses):
        y = np.asarray(clause["y"], dtype=np.float64)
        y = np.where(np.isfinite(y) & ((y > 0) | (not log)) & ((y < LINEAR_MOST) | log), y, np.nan)
        name = text(shorten(clause["text"], 48))
        data.append(
            {
                "type": "scatter",
                "mode": "lines+markers" if len(y) <= 60 else "lines",
                "x": np.asarray(clause["x"], dtype=np.float64),
                "y": y,
                "name": name,
                "marker": {"size": 5},
                "meta": {"clause": k},
                "line": {"color": COLOURS[k % 6], "width": 3 if clause.get("blocks") else 2, "dash": DASHES[k % 4]},
                "hovertemplate": f"{name}<br>evaluation %{{x}}<br>gap %{{y:.6g}}<extra></extra>",
            }
        )
    if not data:
        data.append({"type": "scatter", "mode": "lines", "x": np.empty(0), "y": np.empty(0), "name": ""})
    for k, clause in enumerate(clauses):
        data += forecast_traces(clause.get("ahead"), clause["text"], COLOURS[k % 6], log=log)
    end, last = model.get("end"), max((float(t["x"][-1]) for t in data if len(t["x"])), default=0.0)
    # an end far away would press everything seen against the axis: then the words alone tell it
    shapes = crossing_shapes(*end) if end is not None and end[0] <= 1.5 * last + 16 else []
    marks, notes = mark_shapes(model)
    anything = any(len(t["x"]) for t in data)
    if model.get("ended") and anything:
        shapes.append(
            {
                "type": "line",
                "x0": last,
                "x1": last,
                "yref": "paper",
                "y0": 0,
                "y1": 1,
                "line": {"color": theme.GREEN, "width": 1.5, "dash": "dot"},
            }
        )
        notes.append({**note("\u2713 ended here", last, 1.0, "top", "auto"), "xref": "x"})
    elif not anything:
        words = "this graph has no loop" if model["loop"] is None else _why_empty(model)
        notes.append(note(words, 0.5, 0.5, "middle"))
    if not log and anything:
        shapes.append(
            {
                "type": "line",
                "xref": "paper",
                "x0": 0,
                "x1": 1,
                "y0": 0,
                "y1": 0,
                "line": {"color": theme.VERMILION, "width": 1.5, "dash": "dot"},
            }
        )
    which = "each clause" if len(clauses) > 1 else "the clause"
    told = _told(model) if headline else [f"Gap of {which} to its threshold"]
    lines = [t["y"] for t in data if len(t["y"])]
    shown = {"visible": anything}  # always said: an update leaves what it does not name as it was
    return {
        "data": data,
        "layout": base_layout(
            height,
            title=lines_title(told),
            shapes=shapes + marks,
            annotations=notes,
            xaxis={**count_axis(model.get("x_title", EVALUATION), data), "autorange": True, **shown},
            yaxis={
                "title": {"text": "gap"},
                "autorange": True,
                **shown,
                **({**log_axis(lines), "tickmode": "linear"} if log else LINEAR),
            },
            showlegend=len(clauses) > 1,
            legend={
                "orientation": "h",
                "x": 1,
                "xanchor": "right",
                "y": 1.0,
                "yanchor": "bottom",
                "font": {"size": 12},
            },
            margin={"l": 60, "r": 14, "t": 30 + 17 * (len(told) - (0 if len(clauses) > 1 else 1)), "b": 40},
        ),
    }


def is_log(scale: str, clauses: list[dict[str, Any]]) -> bool:
    """True for a logarithmic axis: on "auto" unless all gaps go down in equal steps, as those of counters do."""
    if scale != "auto":
        return scale == "log"
    known = [c for c in clauses if len(c["x"]) >= 3]
    return not known or not all(_is_straight(np.asarray(c["x"], float), np.asarray(c["y"], float)) for c in known)


def _is_straight(x: np.ndarray, y: np.ndarray) -> bool:
    if not np.isfinite(y).all() or x[-1] <= x[0]:
        return False
    line = y[0] + (y[-1] - y[0]) * (x - x[0]) / (x[-1] - x[0])
    return bool(np.abs(y - line).max() <= 1e-6 * max(float(np.abs(y).max()), 1e-300))


def _why_empty(model: dict[str, Any]) -> str:
    if not model["clauses"]:
        return "the condition does not compare two numbers"
    return "the gap is not a number" if any(c["gap"] is not None for c in model["clauses"]) else "not evaluated yet"


def _told(model: dict[str, Any]) -> list[str]:
    """The verdict, what is compared now and what helps, one line each, escaped."""
    told = model["verdict"]
    words = [told["headline"]] if told else ["Termination"]
    if told and told["reason"] and told["outcome"] != "terminates":
        words.append(shorten(told["reason"], 120))
    now = "; ".join(_now(c) for c in model["clauses"])
    words += [shorten(now, 120)] if now else []
    words += [shorten(f"To fix it: {told['fix'][0]}", 120)] if told and told["fix"] else []
    return [text(w) for w in words]


def _now(clause: dict[str, Any]) -> str:
    if clause["gap"] is None:
        return str(clause["text"])
    state = "true" if clause["holds"] else "false"
    return f"{clause['text']} is {state}: {against(clause['left'], clause['right'])}"
