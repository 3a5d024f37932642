"""How control flow is drawn: decisions as strips, tokens as a Sankey diagram, sides taken and missed as bars."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.widgets.base import theme
from workbench.widgets.base.spec import Spec, base_layout, text, title, whole_ticks
from workbench.widgets.control_flow.dead_paths_model import counted
from workbench.widgets.control_flow.decisions_model import runs
from workbench.widgets.text.labels import shorten
from workbench.widgets.text.numerals import numeral

INK = "#111111"
#: pixels of a row: a line with its name, a line with its counts, its strip
ROW = 66
#: bars of all rows together, and of rows in which each decision has its own
MAX_BARS, SINGLE = 1500, 50
#: outcome -> (colour, pattern, letter, word): four ways to tell them apart
LOOKS: dict[bool | None, tuple[str, str, str, str]] = {
    True: (theme.SKY, "", "T", "true"),
    False: (theme.ORANGE, "/", "F", "false"),
    None: (theme.GREY, "x", "T/F", "alternating true and false"),
}
KINDS = {
    "start": theme.GREY,
    "loop": theme.PURPLE,
    "back": theme.GREEN,
    "body": theme.SKY,
    "left": theme.ORANGE,
    "true": theme.SKY,
    "false": theme.ORANGE,
}


def decisions_spec(model: dict[str, Any]) -> Spec:
    """One strip per predicate: a bar per run of the same outcome, or per decision where there are few."""
    rows = model["rows"]
    found = [runs(row, max(20, MAX_BARS // max(1, len(rows))), SINGLE) for row in rows]
    data = [_strip(outcome, rows, found) for outcome in LOOKS]
    ends = [r["begin"] + r["length"] for row in found for r in row]
    notes = [
        {
            "xref": "paper",
            "x": 0,
            "xanchor": "left",
            "y": len(rows) - 1 - k + 0.58,
            "yanchor": "top",
            "showarrow": False,
            "font": {"size": 12},
            "text": f"<b>{text(shorten(row['name'], 34))}</b><br>{text(_counts(row))}",
            "align": "left",
        }
        for k, row in enumerate(rows)
    ]
    shapes = [
        {
            "type": "rect",
            "x0": x,
            "x1": x + 1,
            "y0": len(rows) - 1 - k - 0.45,
            "y1": len(rows) - 1 - k + 0.03,
            "line": {"color": theme.VERMILION, "width": 2.5},
        }
        for k, x in enumerate(model["marks"])
        if x is not None
    ]
    if not rows:
        notes.append(_empty("This graph has no Switch."))
    elif not ends:
        notes.append(_empty("No decision has been made yet.", 0.1))
    layout = base_layout(
        74 + ROW * max(1, len(rows)),
        title=title("T = true, F = false" if ends else "Control flow"),
        barmode="overlay",
        xaxis={
            "title": {"text": text(model["x_title"])},
            "visible": bool(ends),
            "rangemode": "tozero",
            "range": [0, max(ends, default=1.0)],
            **whole_ticks(max(ends, default=1.0)),
            "tickformat": "~s" if max(ends, default=0) > 1e5 else "d",
        },
        yaxis={"range": [-0.6, max(1, len(rows)) - 0.42], "visible": False, "fixedrange": True},
        annotations=notes,
        shapes=shapes,
        margin={"l": 14, "r": 14, "t": 26, "b": 40},
    )
    return {"data": data, "layout": layout}


def _counts(row: dict[str, Any]) -> str:
    now = "" if row["last"] is None else f"now {'true' if row['last'] else 'false'}"
    return ", ".join(t for t in (now, row["text"]) if t)


def _empty(words: str, y: float = 0.5) -> dict[str, Any]:
    return {
        "xref": "paper",
        "yref": "paper",
        "x": 0.5,
        "y": y,
        "showarrow": False,
        "text": text(words),
        "font": {"size": 13},
    }


def _pattern(shape: str, colour: str) -> dict[str, Any]:
    """Dark lines on the bar's colour, which plotly forgets behind a pattern."""
    return {"shape": shape, "bgcolor": colour, "fgcolor": INK, "fgopacity": 0.3, "size": 8}


def _strip(outcome: bool | None, rows: list[dict[str, Any]], found: list[list[dict[str, Any]]]) -> dict[str, Any]:
    colour, pattern, letter, word = LOOKS[outcome]
    mine = [(k, run, len(row)) for k, row in enumerate(found) for run in row if run["side"] is outcome]
    counts = [int(run["length"]) for _, run, _ in mine]
    hover = [
        f"{text(rows[k]['name'])}<br>"
        + (
            f"decision {numeral(int(run['begin']))}"
            if n == 1
            else f"decisions {numeral(int(run['begin']))} to {numeral(int(run['begin'] + run['length']) - 1)}"
        )
        + f": {word}"
        for (k, run, _), n in zip(mine, counts, strict=True)
    ]
    return {
        "type": "bar",
        "orientation": "h",
        "base": np.array([run["begin"] for _, run, _ in mine], dtype=np.float64),
        "x": np.array([run["length"] for _, run, _ in mine], dtype=np.float64),
        "y": np.array([len(rows) - 1 - k - 0.21 for k, _, _ in mine], dtype=np.float64),
        "width": 0.42,
        "text": [
            (letter if n == 1 or outcome is None else f"{letter} \u00d7{numeral(n)}") if size <= 80 else ""
            for (_, _, size), n in zip(mine, counts, strict=True)
        ],
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "constraintext": "inside",
        "textfont": {"color": INK, "size": 12},
        "hovertext": hover,
        "hovertemplate": "%{hovertext}<extra></extra>",
        "customdata": [[rows[k]["pred"], int(run["begin"])] for k, run, _ in mine],
        "marker": {"color": colour, "line": {"width": 0.5, "color": INK}, "pattern": _pattern(pattern, colour)},
    }


def tokens_spec(model: dict[str, Any]) -> Spec:
    """The tokens of the whole run as a Sankey diagram."""
    places, links = model["places"], model["links"]
    labels = []
    for number, place in enumerate(places):
        tokens = max(sum(k["count"] for k in links if k[end] == number) for end in ("source", "target"))
        labels.append(f"{text(shorten(place['label'], 34))} \u00b7 {numeral(tokens)}")
    data = [
        {
            "type": "sankey",
            "orientation": "h",
            "visible": bool(links),
            "arrangement": "snap",
            "node": {
                "label": labels,
                "pad": 16,
                "thickness": 14,
                "color": [KINDS[p["kind"]] for p in places],
                "line": {"width": 0.5, "color": INK},
                "hovertemplate": "%{label}: %{value} tokens<extra></extra>",
            },
            "link": {
                "source": [k["source"] for k in links],
                "target": [k["target"] for k in links],
                "value": [k["count"] for k in links],
                "color": [theme.tint(KINDS[places[k["target"]]["kind"]], 0.45) for k in links],
                "hovertemplate": "%{source.label} \u2192 %{target.label}: %{value} tokens<extra></extra>",
            },
        }
    ]
    heading = "Tokens: values in flight" + (", of the iterations that are kept" if model["partial"] else "")
    notes = [] if links else [_empty("No tokens counted yet. Tokens of a long loop are counted when the run pauses.")]
    if model["never"]:
        never = ", ".join(model["never"][:6]) + (" \u2026" if len(model["never"]) > 6 else "")
        notes.append(
            {
                "xref": "paper",
                "yref": "paper",
                "x": 0,
                "y": 0,
                "yshift": -24,
                "xanchor": "left",
                "showarrow": False,
                "text": text(f"Never taken: {never}"),
                "font": {"size": 12},
            }
        )
    layout = base_layout(
        min(560, 150 + 34 * max(2, len(places))),
        title=title(heading),
        annotations=notes,
        shapes=[],
        xaxis={"visible": False},
        yaxis={"visible": False},
        margin={"l": 14, "r": 14, "t": 30, "b": 34},
    )
    return {"data": data, "layout": layout}


def dead_spec(model: dict[str, Any]) -> Spec:
    """How often each side was taken (solid) and missed (hatched, where its nodes were dead)."""
    paths = model["paths"]
    names = [f"{text(shorten(p['name'], 26))}: {p['side']}" for p in paths]
    places = np.arange(len(paths), dtype=np.float64)[::-1]
    taken = np.array([p["taken"] for p in paths], dtype=np.float64)
    missed = np.array([p["missed"] for p in paths], dtype=np.float64)
    data = []
    for word, counts, base, colour, pattern in (
        ("alive", taken, np.zeros(len(paths)), theme.GREEN, ""),
        ("dead", missed, taken, theme.GREY, "x"),
    ):
        data.append(
            {
                "type": "bar",
                "orientation": "h",
                "x": counts,
                "y": places,
                "base": base,
                "width": 0.7,
                "name": word,
                "text": [f"{word} {numeral(int(n))}" if n else "" for n in counts],
                "textposition": "inside",
                "insidetextanchor": "middle",
                "textangle": 0,
                "constraintext": "inside",
                "textfont": {"color": INK, "size": 12},
                "hovertext": [f"{text(p['name'])}: {p['side']}<br>{text(counted(p))}" for p in paths],
                "hovertemplate": "%{hovertext}<extra></extra>",
                "customdata": [[p["switch"], -1] for p in paths],
                "marker": {"color": colour, "line": {"width": 0.5, "color": INK}, "pattern": _pattern(pattern, colour)},
            }
        )
    some = bool((taken + missed).sum())
    layout = base_layout(
        76 + 34 * max(2, len(paths)),
        title=title("How often each side was alive or dead" if some else "Dead paths"),
        barmode="overlay",
        xaxis={
            "title": {"text": "decisions"},
            "visible": some,
            "tickformat": "d",
            "range": [0, max(1.0, float((taken + missed).max())) if some else 1.0],
        },
        shapes=[],
        yaxis={
            "tickvals": places.tolist(),
            "ticktext": names,
            "visible": some,
            "zeroline": False,
            "showgrid": False,
            "range": [-0.6, max(1, len(paths)) - 0.4],
        },
        annotations=[]
        if some
        else [_empty("No decision has been made yet." if paths else "This graph has no Switch.")],
        margin={"l": 130, "r": 14, "t": 30, "b": 40},
    )
    return {"data": data, "layout": layout}
