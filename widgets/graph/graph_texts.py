"""Words and marks of a graph's picture: titles, live values, breakpoints, the node to fire next, clickable points."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.widgets.base import theme
from workbench.widgets.base.spec import text
from workbench.widgets.graph.graph_shapes import Box, Trace
from workbench.widgets.graph.model.brief_values import fitted
from workbench.widgets.graph.model.geometry import side_of
from workbench.widgets.graph.model.picture import LINE, OPENED
from workbench.widgets.text.labels import shorten

FONT = 12.0
#: smaller letters are unreadable and left out
SMALLEST = 7.0
#: a clickable point does not carry a longer name; it refers to its box by index
LONG_NAME = 200
#: characters of a line in the tooltip; longer lines are wrapped
HOVER_WIDTH = 60
#: breakpoints: symbol and colour by kind
POINTS = {
    "break": ("circle", theme.BREAKPOINT),
    "conditional": ("diamond", theme.ORANGE),
    "watch": ("star", theme.ORANGE),
    "log": ("square", theme.BLUE),
}
#: from the border of a box to its words
INSET = 8.0
WARNING = "\u26a0"
#: approximate width of a letter of these texts
LETTER = 6.4
_TAGS = re.compile(r"<[^>]*>")


def words(
    places: Sequence[tuple[float, float, str, str]], scale: float, colour: str | None = None, size: float = FONT
) -> Trace:
    """Texts at (x, y, text, textposition); the strings must be escaped."""
    shown = places if size * scale >= SMALLEST else ()
    font: dict[str, Any] = {"size": round(size * scale, 1)}
    if colour:
        font["color"] = colour
    return {
        "type": "scatter",
        "mode": "text",
        "x": np.array([p[0] for p in shown]),
        "y": np.array([p[1] for p in shown]),
        "text": [p[2] for p in shown],
        "textposition": [p[3] for p in shown] or "middle center",
        "textfont": font,
        "hoverinfo": "skip",
        "cliponaxis": False,
    }


def titles(boxes: Iterable[Box], frames: Iterable[Box], loops: Mapping[str, str]) -> list[Any]:
    """Title and lines of boxes, and captions of frames; those of loops contain the iteration."""
    found = []
    for box in boxes:
        rest = list(box["lines"])
        if box["op"] == "loop" and rest:
            rest[-1] = loops.get(box["id"]) or rest[-1]
        shown = "<br>".join([f"<b>{text(box['title'])}</b>", *map(text, rest)])
        found.append((box["x"] - box["w"] / 2 + INSET, box["y"], shown, "middle right"))
    for frame in frames:
        state = f" \u00b7 {loops[frame['id']]}" if loops.get(frame["id"]) else ""
        found.append(
            (
                frame["caption_x"],
                frame["y"] - frame["h"] / 2 + 12,
                f"{OPENED} {text(frame['caption'] + state)}",
                "middle right",
            )
        )
    return found


def values(
    boxes: Sequence[Box], edges: Sequence[Box], state: Mapping[str, Any], right: bool
) -> tuple[list[Any], list[Any]]:
    """The value of each box at the right end of its last line, notes on the contents of closed boxes below them, and
    the sides of each Switch; the second list holds the values that are NaN or infinite.
    """
    plain: list[Any] = []
    bad: list[Any] = []
    below: list[Any] = []
    below_bad: list[Any] = []
    for box in boxes:
        key = box["id"]
        value = state["values"].get(key)
        if value is None:
            # of a closed box: a node inside
            value = state["bad"].get(key) or state["sides"].get(key)
            if value is None:
                continue
        age = state["ages"].get(key, "")
        if box["room"]:
            # a sign takes two characters, and bold letters take one
            room = box["room"] - (2 if key in state["bad"] else key not in state["ages"])
            value, age = _in_room(value, age, state.get("brief", {}).get(key, ()), room)
        if key in state["bad"]:
            words_ = f"<b>{WARNING} {text(value)}</b>"
        else:
            words_ = _older(value, age) if key in state["ages"] else f"<b>{text(value)}</b>"
        if box["room"]:
            at = (box["x"] + box["w"] / 2 - INSET, box["y"] + len(box["lines"]) * LINE / 2, words_, "middle left")
            (bad if key in state["bad"] else plain).append(at)
        else:
            at = (box["x"] + 4.0, box["y"] + box["h"] / 2 + 10.0, words_, "middle right")
            (below_bad if key in state["bad"] else below).append(at)
    taken: dict[int, list[tuple[float, float]]] = {}
    below_bad = _apart(below_bad, taken)
    return [*plain, *_apart([*_sides(boxes, edges, right), *below], taken)], [*bad, *below_bad]


def _apart(places: Sequence[Any], taken: dict[int, list[tuple[float, float]]]) -> list[Any]:
    """The strings that fit beside earlier ones, on this or on the other side of their line.

    The others are left out: of two overlapping values neither is readable, and the tooltip shows both. ``taken`` maps
    rows of half a letter's height to their occupied stretches.
    """
    found = []
    for x, y, words_, where in places:
        width = LETTER * len(_TAGS.sub("", words_))
        rows = range(int((y - 7.0) // 7.0), int((y + 7.0) // 7.0) + 1)
        sides = ((x, where), (x - 8.0, "middle left") if where.endswith("right") else (x + 8.0, "middle right"))
        for at, side in sides:
            low, high = (at, at + width) if side.endswith("right") else (at - width, at)
            if all(high <= a or b <= low for row in rows for a, b in taken.get(row, ())):
                for row in rows:
                    taken.setdefault(row, []).append((low, high))
                found.append((at, y, words_, side))
                break
    return found


def _older(value: str, iteration: str) -> str:
    """A value of an earlier iteration: grey, slanted, followed by its iteration if that fits."""
    shown = f"{text(value)} ({text(iteration)})" if iteration else text(value)
    return f'<span style="color:{theme.GREY}"><i>{shown}</i></span>'


def _in_room(value: str, age: str, forms: Sequence[str], room: int) -> tuple[str, str]:
    """The longest form of a value that fits into a box with its iteration, or without it; words may be cut."""
    forms = forms or (value,)
    with_age = fitted(forms, room - (len(age) + 3 if age else 0))
    if with_age:
        return with_age, age
    return fitted(forms, room) or shorten(forms[-1], max(6, room)), ""


def _sides(boxes: Sequence[Box], edges: Sequence[Box], right: bool) -> list[Any]:
    by_id = {b["id"]: b for b in boxes}
    seen: set[tuple[str, int]] = set()
    found: list[Any] = []
    for edge in edges:
        side = side_of(by_id[edge["source"]], edge) if edge["source"] in by_id else None
        if side is None or (edge["source"], side) in seen:
            continue
        seen.add((edge["source"], side))
        x, y = edge["points"][0]
        if right:
            found.append((x + 4.0, y + (9.0 if side else -9.0), "true" if side else "false", "middle right"))
        else:
            found.append(
                (
                    x + (4.0 if side else -4.0),
                    y + 9.0,
                    "true" if side else "false",
                    "middle right" if side else "middle left",
                )
            )
    return found


def pointer(current: Sequence[Box], scale: float, elsewhere: bool) -> Trace:
    """A triangle left of the node that fires next, so that it is not marked by colour alone; hollow while the picture
    shows another moment.
    """
    return {
        "type": "scatter",
        "mode": "markers",
        "hoverinfo": "skip",
        "x": np.array([b["x"] - b["w"] / 2 - 10 for b in current]),
        "y": np.array([b["y"] for b in current]),
        "marker": {
            "symbol": "triangle-right-open" if elsewhere else "triangle-right",
            "size": 13 * scale,
            "color": theme.VERMILION,
            "line": {"width": 2 if elsewhere else 0, "color": theme.VERMILION},
        },
    }


def breakpoints(boxes: Mapping[str, Box], points: Sequence[Mapping[str, Any]], scale: float) -> Trace:
    """A mark at the top left corner of each box that contains a breakpoint; hollow if it is switched off."""
    shown = [p for p in points if p["box"] in boxes]
    looks = [POINTS.get(p["kind"], POINTS["break"]) for p in shown]
    return {
        "type": "scatter",
        "mode": "markers",
        "hoverinfo": "skip",
        "x": np.array([boxes[p["box"]]["x"] - boxes[p["box"]]["w"] / 2 + 1 + 11 * p["place"] for p in shown]),
        "y": np.array([boxes[p["box"]]["y"] - boxes[p["box"]]["h"] / 2 + 1 for p in shown]),
        "marker": {
            "symbol": [s if p["enabled"] else f"{s}-open" for p, (s, _) in zip(shown, looks, strict=True)] or "circle",
            "color": [c for _, c in looks],
            "size": 12 * scale,
            "opacity": 1.0,
            "line": {"width": 1.5},
        },
    }


def hits(
    boxes: Sequence[Box], frames: Sequence[Box], state: Mapping[str, Any], points: Sequence[Mapping[str, Any]]
) -> Trace:
    """Invisible points every 24 pixels along each box, which receive clicks. Each carries kind, key, and the left,
    right, top and bottom of its box, beside which the browser shows the tooltip (``graph_hover.js``).
    """
    x: list[float] = []
    y: list[float] = []
    keys: list[list[Any]] = []
    shown: list[str] = []
    armed: dict[str, list[str]] = {}
    for point in points:
        armed.setdefault(point["box"], []).append(f"breakpoint: {point['text']}")

    def add(left: float, width: float, at: float, tall: float, key: list[str], lines: Iterable[str]) -> None:
        steps = max(1, int(width // 24))
        said = "\n".join(part for line in lines for part in textwrap.wrap(line, HOVER_WIDTH) or [line])
        place = [round(n, 1) for n in (left, left + width, at - tall / 2, at + tall / 2)]
        for k in range(steps):
            x.append(left + width * (k + 0.5) / steps)
            y.append(at)
            keys.append([*key, *place])
            shown.append(said)

    for number, box in enumerate(boxes):
        key = box["id"] if len(box["id"]) <= LONG_NAME else f"\n{number}"
        lines = [*box["hover"], *armed.get(box["id"], [])[:4]]
        if box["id"] in state["values"]:
            age = state["ages"].get(box["id"])
            lines.append(f"value {state['values'][box['id']]}" + (f" of iteration {age}" if age else ""))
        if box["id"] in state["dead"]:
            lines.append("dead: on a branch not taken")
        lines += [texts[box["id"]] for texts in (state["sides"], state["loops"]) if box["id"] in texts]
        kind = "node" if box["name"] is not None else "frame"
        add(box["x"] - box["w"] / 2, box["w"], box["y"], box["h"], [kind, key], lines)
    for number, frame in enumerate(frames):
        key = frame["id"] if len(frame["id"]) <= LONG_NAME else f"\n\n{number}"
        add(
            frame["caption_x"] - 6.0,
            min(frame["w"], 140.0),
            frame["y"] - frame["h"] / 2 + 12,
            20.0,
            ["frame", key],
            [frame["caption"], "click to close"],
        )
    return {
        "type": "scatter",
        "mode": "markers",
        "x": np.array(x),
        "y": np.array(y),
        "hovertext": shown,
        "hoverinfo": "none",
        "customdata": keys,
        "marker": {"size": 22, "symbol": "square", "opacity": 0},
    }


def box_meant(picture: Mapping[str, Any], key: str) -> str | None:
    """Id of the box or frame to which a clicked point refers."""
    for prefix, table in (("\n\n", picture["frames"]), ("\n", picture["nodes"])):
        if key.startswith(prefix):
            number = key[len(prefix) :]
            return table[int(number)]["id"] if number.isdigit() and int(number) < len(table) else None
    return key
