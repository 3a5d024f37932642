"""Strips one below the other as a figure: an iteration axis for all, a vertical axis with few ticks for each."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.widgets.base.spec import Spec, base_layout, text, whole_ticks
from workbench.widgets.strips.strip import SharedAxis, Strip
from workbench.widgets.strips.strip_axes import LINEAR_MOST, fitted, shown_part
from workbench.widgets.strips.strip_marks import (
    HALF,
    bad_marks,
    breakpoint_notes,
    cell_notes,
    cell_shapes,
    ground_shapes,
    level_marks,
    plain_note,
)
from workbench.widgets.strips.strip_traces import strip_traces
from workbench.widgets.text.labels import shorten
from workbench.widgets.text.numerals import spaced

#: pixels: the line above all strips, the head of each, its plot (one alone, and at least), the iteration axis
TOP, HEAD, PLOT, LEAST, FOOT = 22, 22, 84, 56, 40
#: maximum distance of a shown level, as a multiple of the range of computed values
NEAR = 3.0
#: a forecast of the end beyond so much more of the axis is shown only in words
FAR = 1.5
#: space between an axis and its labels, so that those of two axes do not meet in the corner
OUTSIDE = {"ticks": "outside", "ticklen": 5, "tickcolor": "rgba(0,0,0,0)"}
SEPARATORS = ".\u202f"


def strips_height(count: float, height: int) -> int:
    """The natural height of ``count`` strips in pixels, at least ``height``."""
    return max(height, TOP + FOOT + round(count * (HEAD + PLOT)))


def strips_spec(strips: list[Strip], frame: SharedAxis, height: int, plain: bool = False) -> Spec:
    """The figure of the given strips.

    ``plain``: with the heads as strings of the figure; in the panel the browser writes them, and keeps them up to date
    with the crosshair. The data for that is in ``layout["meta"]``: ``heads`` (axis, name, value, notes, and for each
    line the index of its trace, name, colour; all strings escaped), ``now``, ``words``, ``end``, ``link``, ``whole``
    (axes of integers).
    """
    height = strips_height(sum(s.share for s in strips), height)
    room = height - TOP - FOOT
    data: list[dict[str, Any]] = []
    shapes: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    layout: dict[str, Any] = {}
    heads = []
    last = max((float(line.x[-1]) for s in strips for line in s.lines if len(line.x)), default=0.0)
    total, begin = sum(s.share for s in strips) or 1.0, 0.0
    for k, strip in enumerate(strips):
        axis = "y" if not k else f"y{k + 1}"
        end = begin + strip.share * room / total
        bottom = max(0.0, 1 - end / room + (6 / room if k + 1 < len(strips) else 0.0))
        top = max(bottom, 1 - (begin + HEAD) / room)
        begin = end
        first = len(data)
        data += strip_traces(strip, axis, frame.now, plain)
        scale = _scale(strip, frame)
        found, words = level_marks(strip, axis, scale["range"])
        bad, bad_notes = bad_marks(strip, axis, last)
        shapes += ground_shapes(frame, axis) + bad + found + cell_shapes(strip.cells, axis)
        notes += bad_notes + words + cell_notes(strip.cells, axis)
        if strip.empty:
            notes.append(_empty(strip.empty, axis))
        layout[f"yaxis{'' if not k else k + 1}"] = {
            "domain": [bottom, top],
            "anchor": "x",
            "zeroline": False,
            "showgrid": True,
            "visible": True,
            **OUTSIDE,
            **scale,
        }
        heads.append(_head(strip, axis, first))
        if plain:
            notes.append(plain_note(_head_text(strip), 0.0, top, "left", 2))
    notes += breakpoint_notes(frame, "y" if len(strips) < 2 else f"y{len(strips)}") if strips else []
    bad_notes = frame.end[3:] if frame.end is not None else frame.far_end
    if plain and strips:
        said = " \u00b7 ".join(w for w in (frame.words, bad_notes[0] if bad_notes else "", frame.note) if w)
        notes.append(plain_note(text(said), 0.0, 1.0, "left", 2))
    layout["xaxis"] = {
        "title": {"text": text(frame.x_title)},
        "anchor": "y" if len(strips) < 2 else f"y{len(strips)}",
        "rangemode": "tozero",
        "autorange": True,
        "autorangeoptions": {"clipmin": -0.5},  # iterations begin at 0
        "zeroline": False,
        "visible": True,
        "tickformat": ",d",
        **OUTSIDE,
        **whole_ticks(_reach(strips, frame)),
    }
    meta = {
        "heads": heads,
        "now": frame.now,
        "words": text(frame.words),
        "loop": text(frame.words.rpartition(" ")[0]),
        "config": {"displayModeBar": False},
        "note": text(frame.note),
        "end": None if bad_notes is None else {"word": text(bad_notes[0]), "proved": bad_notes[1]},
        "link": text(frame.link),
        "whole": ["xaxis"],
        "least": TOP + FOOT + round(sum(s.share for s in strips) * (HEAD + LEAST)),
    }
    return {
        "data": data,
        "layout": base_layout(
            height,
            title={"text": ""},
            separators=SEPARATORS,
            hovermode="closest" if plain else "x",
            shapes=shapes,
            annotations=notes,
            margin={"l": 68, "r": 16, "t": TOP, "b": FOOT},
            meta=meta,
            **layout,
        ),
    }


def _scale(strip: Strip, frame: SharedAxis) -> dict[str, Any]:
    """The vertical axis that fits the shown part of a strip."""
    if strip.cells:
        return {"autorange": False, "range": [0, 1], "tickmode": "array", "tickvals": [], "ticktext": []}
    parts = [shown_part(line.x, line.y, frame.zoom, strip.log) for line in strip.lines]
    for line in strip.lines:
        if line.ahead is not None:
            parts.append(shown_part(*line.ahead, frame.zoom, strip.log))
        if line.forecast is not None:
            parts.append(shown_part(line.forecast["x"], line.forecast["y"], frame.zoom, strip.log))
    drawn = [y for y in parts if len(y)]
    good = [v for v in strip.levels if abs(v.y) <= LINEAR_MOST and (v.y > 0 or not strip.log)]
    always, levels = (np.array([v.y for v in good if v.always is kind]) for kind in (True, False))
    if drawn and len(levels) and not strip.log:  # a distant one would flatten the curve
        low, high = min(float(y.min()) for y in drawn), max(float(y.max()) for y in drawn)
        near = NEAR * max(high - low, 1e-9 * max(abs(low), abs(high), 1e-300))
        levels = levels[(levels >= low - near) & (levels <= high + near)]
    return fitted([*drawn, levels, always] if drawn else [], strip.log, strip.flags and bool(drawn), strip.whole)


def _reach(strips: list[Strip], frame: SharedAxis) -> float:
    """The last iteration shown."""
    ends = [frame.end[2] if frame.end is not None else 0.0]
    ends += [float(cell.last) for s in strips for cell in s.cells]
    for line in (line for s in strips for line in s.lines):
        ends += [float(line.x[-1]) if len(line.x) else 0.0]
        ends += [float(line.ahead[0][-1])] if line.ahead is not None and len(line.ahead[0]) else []
        ends += [float(line.forecast["x"][-1])] if line.forecast is not None and len(line.forecast["x"]) else []
    return max(ends)


def _head(strip: Strip, axis: str, first: int) -> dict[str, Any]:
    lines = [
        {"trace": first + 4 * k, "name": text(shorten(line.name, 40)), "tone": line.tone, "dash": line.dash}
        for k, line in enumerate(strip.lines)
        if line.dots
    ]
    return {
        "axis": axis,
        "name": text(strip.name),
        "value": text(strip.value),
        "notes": [text(spaced(n)) for n in strip.notes],
        "bad": any(line.bad is not None for line in strip.lines),
        "flags": strip.flags,
        "share": strip.share,
        "fixed": 2 * HALF + 4 if strip.cells else 0,
        "lines": lines,
    }


def _head_text(strip: Strip) -> str:
    parts = [strip.value, *strip.notes]
    return f"<b>{text(shorten(strip.name, 60))}</b>  " + text(" \u00b7 ".join(p for p in parts if p))


def _empty(words: str, axis: str) -> dict[str, Any]:
    return {**plain_note(text(words), 0.5, 0.5, "center"), "yref": f"{axis} domain", "yanchor": "middle"}
