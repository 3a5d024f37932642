"""Marks over and under the lines of a strip: ground, end, levels, stretches without numbers, breakpoints."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from workbench.widgets.base.spec import text
from workbench.widgets.strips.strip import SharedAxis, Strip, StripCell, StripLine
from workbench.widgets.text.labels import shorten
from workbench.widgets.text.numerals import numeral

#: maximum stretches without numbers with a separate word in one strip
BARS = 2
#: the word of a line above this share of the axis is written below it
TOP_SHARE = 0.6
#: the share of the axis that the word of a line may be long, places at which curves are looked at there, and how far
#: into the word a curve may reach
WIDE, PROBES, APART = 0.4, 24, 0.02
#: the word of a cell at the end, half the width of a cell in iterations and half its height in pixels, and the share of
#: the axis that a word needs: that of several iterations, and that of the end
STOP, CELL, HALF, ROOMY, WORD = "stop", 0.46, 10, 0.25, 0.14


def ground_shapes(frame: SharedAxis, axis: str) -> list[dict[str, Any]]:
    """The pale background of the look-ahead, the interval of a forecast, the end and the present iteration."""
    shapes = []
    if frame.ahead is not None:
        shapes.append(_ground(axis, *frame.ahead, "@ahead"))
    if frame.end is not None:
        at, low, high, _, proved = frame.end
        if low < high:
            shapes.append({**_ground(axis, low, high, "@band"), "opacity": 0.5})
        tone, dash = ("@good", "solid") if proved else ("@forecast", "dash")
        shapes.append(_down(axis, at, {"color": tone, "width": 1.6, "dash": dash}))
    if frame.now is not None:
        shapes.append(_down(axis, frame.now, {"color": "@now", "width": 1.4}))
    return shapes


def _down(axis: str, x: float, line: dict[str, Any]) -> dict[str, Any]:
    place = {"xref": "x", "yref": f"{axis} domain", "x0": x, "x1": x, "y0": 0, "y1": 1}
    return {"type": "line", "layer": "below", **place, "line": line}


def _ground(axis: str, low: float, high: float, tone: str) -> dict[str, Any]:
    place = {"xref": "x", "yref": f"{axis} domain", "x0": low, "x1": high, "y0": 0, "y1": 1}
    return {"type": "rect", "layer": "below", **place, "fillcolor": tone, "line": {"width": 0}}


def level_marks(strip: Strip, axis: str, span: list[float]) -> tuple[list[Any], list[Any]]:
    """A line across for each level that the axis (its range is ``span``) shows, with the band of its error, and its
    word at the end where the curves are farther from it: below a line near the top, where the head of the strip is."""
    log = strip.log
    shapes: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    for level in strip.levels:
        place = share_of(level.y, span, log)
        if place is None:
            continue
        across = {"xref": "x domain", "x0": 0, "x1": 1, "yref": axis, "layer": "below"}
        low, high = level.y - 2 * level.error, level.y + 2 * level.error
        if low < high and (low > 0 or not log):
            shapes.append(
                {"type": "rect", **across, "y0": low, "y1": high, "line": {"width": 0}, "fillcolor": "@band"}
                | {"opacity": 0.5}
            )
        line = {"color": f"@{level.tone}", "width": 1.4, "dash": level.dash}
        shapes.append({"type": "line", **across, "y0": level.y, "y1": level.y, "line": line})
        y = math.log10(level.y) if log else level.y
        if not any(n["yref"] == axis for n in notes):  # one word, because two could overlap
            up = "top" if place > TOP_SHARE else "bottom"
            side = _free_side(strip.lines, place, log, span, up)
            at = 0.005 if side == "left" else 0.995
            notes.append(_note(level.word, at, y, "x domain", axis, level.tone, side, up))
    return shapes, notes


def _free_side(lines: list[StripLine], place: float, log: bool, span: list[float], up: str) -> str:
    """The end of an axis, "left" or "right", at which curves cross the word of a line at a share of it less, or else
    are farther from the line. ``up``: the side of the word at which the line is."""
    curves = [line.of_all() for line in lines]
    reach = max((float(x[-1]) for x, _ in curves if len(x)), default=0.0)
    low, high = (place, place + WORD) if up == "bottom" else (place - WORD, place)
    cost = {}
    for side, grid in (("left", np.linspace(0.0, WIDE, PROBES)), ("right", np.linspace(1.0 - WIDE, 1.0, PROBES))):
        met, near = 0.0, 1.0
        for x, y in curves:
            if len(x) < 2:
                continue
            found = [share_of(float(v), span, log) for v in np.interp(grid * reach, x, y, right=math.nan)]
            shares = np.array([math.nan if v is None else v for v in found])
            met = max(met, float(((shares > low + APART) & (shares < high - APART)).mean()))
            near = min([near, *np.abs(shares - place)[np.isfinite(shares)].tolist()])
        cost[side] = (met, -near)
    return min(cost, key=lambda side: (cost[side], side != "right"))


def share_of(y: float, span: list[float], log: bool) -> float | None:
    """The height of a value on an axis, from 0 to 1; None if the axis does not show it."""
    if not math.isfinite(y) or log and y <= 0:
        return None
    low, high = span
    share = ((math.log10(y) if log else y) - low) / (high - low)
    return share if 0 <= share <= 1 else None


def bad_marks(strip: Strip, axis: str, last: float) -> tuple[list[Any], list[Any]]:
    """A hatched bar and a pale ground from the first to the last value that is not finite, with the word."""
    shapes: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    for k, line in enumerate([line for line in strip.lines if line.bad is not None][:BARS]):
        first, end, many, value = line.bad or (0.0, 0.0, 0, math.nan)
        word = "NaN" if math.isnan(value) else "infinite"
        low, high = first - 0.25, max(end, first) + 0.25
        if not k:
            shapes.append(_ground(axis, low, high, "@badground"))
        place = {"xref": "x", "yref": f"{axis} domain", "x0": low, "x1": high}
        y = 0.5 - 0.22 * k
        bar = {"type": "line", **place, "y0": y, "y1": y, "layer": "above"}
        shapes.append({**bar, "line": {"color": "@bad", "width": 7, "dash": "2px,2px"}})
        whole = many >= end - first + 1
        count = f"{many} of {int(end - first) + 1}" if many else "some"
        label = f"{word}: no value to draw" if whole else f"{word} in {count} iterations"
        if len(strip.lines) > 1:
            label = f"{shorten(line.name, 16)} is {label}"
        side = "left" if first - 0.25 <= 0.6 * last else "right"
        at = low if side == "left" else high
        if not k:
            notes.append(_note(label, at, y, "x", f"{axis} domain", "bad", side, "bottom", 5))
    return shapes, notes


def cell_shapes(cells: list[StripCell], axis: str) -> list[dict[str, Any]]:
    """A box for each cell: filled if it was computed, outlined if it was looked ahead."""
    shapes = []
    for cell in cells:
        tone = "@other" if cell.word == STOP else "@data"
        place = {"xref": "x", "yref": axis, "ysizemode": "pixel", "yanchor": 0.5}
        place |= {"x0": cell.first - CELL, "x1": cell_end(cells, cell)}
        fill = "rgba(0,0,0,0)" if cell.ahead or cell.word == STOP else "@ahead"
        line = {"color": tone, "width": 1.2}
        shapes.append({"type": "rect", **place, "y0": -HALF, "y1": HALF, "fillcolor": fill, "line": line})
    return shapes


def cell_end(cells: list[StripCell], cell: StripCell) -> float:
    """The iteration up to which a cell is drawn: the end is wide enough for its word if no iteration follows."""
    span = max(c.last for c in cells) + 1
    return max(cell.last + CELL, cell.first - CELL + WORD * span) if cell.word == STOP else cell.last + CELL


def cell_notes(cells: list[StripCell], axis: str) -> list[dict[str, Any]]:
    """The words of the cells in which they fit, and that of the end."""
    span = max((cell.last for cell in cells), default=0) + 1
    single = all(cell.first == cell.last for cell in cells)
    notes = []
    for cell in cells:
        many = cell.last - cell.first + 1
        narrow = not single and many < ROOMY * span
        if narrow and cell.word != STOP:
            continue
        word = cell.word if many == 1 else f"{cell.word} \u00d7 {numeral(many)}"
        tone = "other" if cell.word == STOP else "data"
        at = (cell.first - CELL + cell_end(cells, cell)) / 2
        notes.append(_note(word, at, 0.5, "x", f"{axis} domain", tone, "center", "middle"))
    return notes


def breakpoint_notes(frame: SharedAxis, axis: str) -> list[dict[str, Any]]:
    """One-iteration breakpoints as markers at the bottom, one shape per kind; hover shows the text. Breakpoints of
    every iteration are text in the head of their strip.
    """
    notes = []
    for point in frame.breakpoints:
        if point["x"] is None:
            continue
        sign = point["sign"] if point["enabled"] else "\u25cb"
        tone = "control" if point["kind"] == "conditional" else "bad"
        found = _note(sign, float(point["x"]), 0.0, "x", f"{axis} domain", tone if point["enabled"] else "muted")
        found |= {"hovertext": text(f"{point['word']}: {point['text']}"), "captureevents": True}
        notes.append({**found, "xanchor": "center", "yanchor": "bottom", "font": {**found["font"], "size": 14}})
    return notes


def _note(
    words: str,
    x: float,
    y: float,
    xref: str,
    yref: str,
    tone: str,
    anchor: str = "left",
    side: str = "bottom",
    up: int = 0,
) -> dict[str, Any]:
    return {
        "xref": xref,
        "yref": yref,
        "x": x,
        "y": y,
        "text": text(words),
        "showarrow": False,
        "xanchor": anchor,
        "yanchor": side,
        "yshift": up,
        "font": {"size": 12, "color": f"@{tone}"},
    }


def plain_note(words: str, x: float, y: float, anchor: str, shift: int = 0) -> dict[str, Any]:
    """Words at a position of the paper, for figures without the heads that the browser writes; ``words`` must be
    escaped.
    """
    found = _note("", x, y, "paper", "paper", "ink", anchor, "bottom", shift)
    return {**found, "text": words}
