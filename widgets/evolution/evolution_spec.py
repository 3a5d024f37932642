"""The lines of the evolution view, as a plain specification: values, forecasts, limits with bands, marks."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.widgets.base import theme
from workbench.widgets.base.spec import Spec, base_layout, count_axis, log_axis, text, title
from workbench.widgets.evolution.convergence_spec import forecast_traces, level_shape
from workbench.widgets.text.labels import count_text, number, shorten

HEIGHT = 260
#: on a linear axis browsers can not compute with what is larger
LINEAR_MOST = 1e300
DASHES = ("solid", "dash", "dot", "dashdot")
TITLES = 3


def evolution_spec(model: dict[str, Any], height: int = HEIGHT) -> Spec:
    """One line per value, a dashed line with a band per limit, forecasts with their bands, and marks.

    With ``error`` the lines are distances to the limit; what has none is left out.
    """
    error = bool(model.get("error"))
    log = bool(model["log"] or error)
    data, huge = [], False
    limits = {v["name"]: v["limit"] for v in model["verdicts"] if v["label"] in ("converging", "stable")}
    for k, line in enumerate(model["lines"]):
        y = np.asarray(line["y"], dtype=np.float64)
        if error:
            limit = limits.get(line["name"].removesuffix(line.get("suffix", "")))
            with np.errstate(over="ignore"):
                y = np.full(len(y), np.nan) if limit is None else np.abs(y - limit)
            y = np.where(y > 0, y, np.nan)
        elif not log:
            far = np.abs(y) > LINEAR_MOST
            huge |= bool(far.any())
            y = np.where(far, np.nan, y)
        data.append(_line(line, y, k, model))
    if not data:
        data.append({"type": "scatter", "mode": "lines", "x": np.empty(0), "y": np.empty(0), "name": "no values yet"})
    own = [t["y"] for t in data]
    drawn = [] if model.get("ended") else _forecasts(model, error)
    data += drawn if drawn else _no_forecasts(model)
    data += [_ghost(g, k, log, model) for k, g in enumerate(model.get("ghosts", ()))]
    shapes, notes = _limits(model) if not log else ([], [])
    tolerance = model.get("tolerance")
    if error and tolerance is not None:
        shapes.append(level_shape(tolerance))
        own.append(np.array([tolerance]))
    notes += _bad_notes(model["lines"]) + empty_notes(model, not any(len(t["x"]) for t in data))
    if huge:
        notes.append(note("\u26a0 values beyond \u00b11e300 are drawn on the log scale only", 0.5, 0.5, "middle"))
    marks, told = mark_shapes(model)
    told_lines = _title(model)
    flags = all(line.get("bool") for line in model["lines"]) and bool(model["lines"])
    layout = base_layout(
        height,
        title=lines_title(told_lines),
        xaxis={**count_axis(model["x_title"], data), "autorange": True},
        yaxis={**_y_axis(log, own + ([t["y"] for t in drawn] if log else []), flags), "autorange": True},
        showlegend=True,
        legend={"orientation": "h", "x": 1, "xanchor": "right", "y": 1.0, "yanchor": "bottom", "font": {"size": 12}},
        shapes=shapes + marks,
        annotations=notes + told,
        margin={"l": 56, "r": 14, "t": 30 + 17 * len(told_lines), "b": 40},
    )
    if error:
        layout["yaxis"]["title"] = {"text": "distance to the limit"}
    elif model["log"]:
        layout["yaxis"]["title"] = {"text": "magnitude"}
    return {"data": data, "layout": layout}


def _line(line: dict[str, Any], y: np.ndarray, k: int, model: dict[str, Any]) -> dict[str, Any]:
    last = "" if line["last"] is None else f" = {flag(line['last']) if line.get('bool') else number(line['last'], 8)}"
    chosen = model.get("selected") is not None and line.get("of") == model["selected"]
    few, hover = len(line["x"]) <= 60, text(shorten(line["name"], 60))
    return {
        "type": "scatter",
        "mode": "lines+markers" if few else "lines",
        "x": np.asarray(line["x"], dtype=np.float64),
        "y": y,
        "name": text(shorten(line["name"], 40) + last),
        "marker": {"size": 5},
        "meta": {"line": k},
        "line": {
            "width": 3.5 if chosen else 2,
            "dash": DASHES[k % 4],
            "color": colour(k),
            "shape": "hv" if line.get("bool") else "linear",
        },
        "hovertemplate": f"{hover}<br>{model['x_title']} %{{x}}<br>%{{y:.12g}}<extra></extra>",
    }


def _ghost(ghost: dict[str, Any], k: int, log: bool, model: dict[str, Any]) -> dict[str, Any]:
    """A line of another history: thin and pale, in the colour of the value's own line."""
    y = np.asarray(ghost["y"], dtype=np.float64)
    places = [i for i, line in enumerate(model["lines"]) if line["name"] == ghost["line"]]
    hue = colour(places[0]) if places else theme.GREY
    name = f"{ghost['line']} ({ghost['label']})"
    return {
        "type": "scatter",
        "mode": "lines",
        "x": np.asarray(ghost["x"], dtype=np.float64),
        "y": y if log else np.where(np.abs(y) > LINEAR_MOST, np.nan, y),
        "name": text(shorten(name, 40)),
        "opacity": 0.6,
        "meta": {"line": -1},
        "line": {"width": 1.2, "dash": ("2px,3px", "6px,4px", "1px,5px")[k % 3], "color": hue},
        "hovertemplate": f"{text(shorten(name, 60))}<br>%{{x}}<br>%{{y:.12g}}<extra></extra>",
    }


def _forecasts(model: dict[str, Any], error: bool) -> list[dict[str, Any]]:
    """Two traces for each verdict, also where there is no forecast, so that their number stays."""
    data = []
    names = [line["name"] for line in model["lines"]]
    for verdict in model["verdicts"]:
        if "line" not in verdict:
            continue
        own = [k for k, n in enumerate(names) if n == verdict["name"] or n.startswith(f"{verdict['name']}[")]
        k = own[min(verdict["line"], len(own) - 1)] if own else 0
        ahead = verdict["distance"] if error else verdict["forecast"]
        if model["log"] and ahead is not None and not error:
            ends = np.abs(ahead["low"]), np.abs(ahead["high"])
            ahead = {**ahead, "y": np.abs(ahead["y"]), "low": np.minimum(*ends), "high": np.maximum(*ends)}
        data += forecast_traces(ahead, verdict["name"], colour(k), bool(model["log"] or error))
    return data


def _no_forecasts(model: dict[str, Any]) -> list[dict[str, Any]]:
    return [t for v in model["verdicts"] if "line" in v for t in forecast_traces(None, v["name"], theme.GREY, False)]


def _limits(model: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A dashed line per limit with the band of its error, and its value at the right."""
    shapes: list[dict[str, Any]] = []
    notes = []
    for v in model["verdicts"]:
        limit = v["limit"]
        if limit is None or abs(limit) > LINEAR_MOST:
            continue
        across = {"xref": "paper", "x0": 0, "x1": 1}
        error = v.get("limit_error") or 0.0
        low, high = limit - 2 * error, limit + 2 * error
        if low < high:
            shapes.append(
                {
                    "type": "rect",
                    "y0": low,
                    "y1": high,
                    "layer": "below",
                    "line": {"width": 0},
                    "fillcolor": theme.tint(theme.GREY, 0.2),
                    **across,
                }
            )
        line = {"color": theme.GREY, "width": 1, "dash": "dash"}
        shapes.append({"type": "line", "y0": limit, "y1": limit, "line": line, **across})
        notes.append({**note(f"limit {v['limit_text']}", 1.0, limit, "bottom", "right"), "yref": "y"})
    return shapes, notes[:4]


def mark_shapes(model: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The moment that is looked at as a line down the plot, and breakpoints as signs at the bottom."""
    shapes: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    mark = model.get("moment")
    if mark is not None:
        down = {"type": "line", "x0": mark["x"], "x1": mark["x"], "yref": "paper", "y0": 0, "y1": 1}
        shapes.append({**down, "line": {"color": theme.GREY, "width": 2}})
        notes.append({**note(f"\u25bc {mark['text']}", mark["x"], 1.0, "top", "auto"), "xref": "x"})
    for point in model.get("breakpoints", ()):
        hue = theme.ORANGE if point["kind"] == "conditional" else theme.BREAKPOINT
        place = {"xref": "paper"} if point["x"] is None else {"xref": "x"}
        x = 0.0 if point["x"] is None else float(point["x"])
        sign = point["sign"] if point["enabled"] else "\u25cb"
        notes.append(
            {
                **note(sign, x, 0.0, "bottom", "center"),
                **place,
                "hovertext": text(f"{point['word']}: {point['text']}"),
                "font": {"size": 14, "color": hue if point["enabled"] else theme.GREY},
                "captureevents": True,
            }
        )
    return shapes, notes


def note(words: str, x: float, y: float, side: str, anchor: str = "center") -> dict[str, Any]:
    """A small text in the plot; ``words`` are escaped here."""
    return {
        "xref": "paper",
        "yref": "paper",
        "x": x,
        "y": y,
        "text": text(words),
        "showarrow": False,
        "xanchor": anchor,
        "yanchor": side,
        "font": {"size": 12},
    }


def _bad_notes(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Icon and word where values stop being numbers."""
    notes: list[dict[str, Any]] = []
    for line in [line for line in lines if line["bad"]][:3]:
        at, value = line["bad"]
        many = line.get("bad_count", 1)
        words = f"\u26a0 {shorten(line['name'])} is {number(value)} from {count_text(int(at))} on"
        if 0 < many < line.get("count", many) - int(at):
            words = f"\u26a0 {shorten(line['name'])} is {number(value)} at {count_text(int(at))}, {many:,} such values"
        inwards = "left" if 2 * at < line.get("count", 0) else "right"  # so that neither edge cuts it
        notes.append({**note(words, at, 1 - 0.09 * len(notes), "top", inwards), "xref": "x"})
        notes[-1]["font"] = {"size": 12, "color": theme.BAD}
    return notes


def empty_notes(model: dict[str, Any], nothing: bool) -> list[dict[str, Any]]:
    """Why there is nothing to see, in the middle of the plot."""
    empty = model.get("empty") or {}
    if not nothing:
        return []
    words = [f"{shorten(n)} holds {w}" for n, w in list(empty.items())[:3]]
    return [note("; ".join(words or [model.get("hint") or "No values yet: press Step or Run."]), 0.5, 0.5, "middle")]


def lines_title(lines: list[str]) -> dict[str, Any]:
    """A title of several lines, escaped already; plotly lifts all but the last, so that it is moved down by them."""
    return {**title("<br>".join(lines)), "pad": {"t": 16 * (len(lines) - 1)}}


def _title(model: dict[str, Any]) -> list[str]:
    """The verdicts, one line each; what is more is told in the words below."""
    told = [text(shorten(v["text"], 110)) for v in model.get("verdicts", ())]
    if len(told) > TITLES:
        told = [*told[: TITLES - 1], f"and {len(told) - TITLES + 1} more below"]
    return told or ["Statistics of the elements" if model.get("kind") == "statistics" else "Evolution"]


def _y_axis(log: bool, lines: list[np.ndarray], flags: bool) -> dict[str, Any]:
    if log:
        return log_axis(lines)
    if flags:
        words = {"tickmode": "array", "tickvals": [0, 1], "ticktext": ["false", "true"]}
        return {"type": "linear", "range": [-0.1, 1.1], **words}
    return {"type": "linear", "exponentformat": "e", "tickmode": "auto"}  # else the steps of a log axis stay


def flag(value: float) -> str:
    return "true" if value else "false"


def colour(k: int) -> str:
    """Of the k-th line: sky first, of the set it keeps the most contrast on both a white and a dark page."""
    order = (theme.SKY, theme.ORANGE, theme.GREEN, theme.PURPLE, theme.VERMILION, theme.BLUE, theme.GREY)
    return order[k % len(order)]


def evolution_html(model: dict[str, Any]) -> str:
    """Text description of the plot, folded until opened by mouse or keyboard; names are escaped."""
    told = [[v["text"] + ".", *v.get("why", ())[:2], v.get("told", "")] for v in model.get("verdicts", ())]
    told += [[f"{name} holds {why}: it has no line."] for name, why in (model.get("empty") or {}).items()]
    items = "".join(f"<li>{text(' '.join(t for t in sentences if t))}</li>" for sentences in told)
    if not items:
        return ""
    return f'<details class="workbench-words"><summary>In words</summary><ul>{items}</ul></details>'
