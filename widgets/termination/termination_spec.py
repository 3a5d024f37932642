"""Both sides of each comparison over the iterations, with the look-ahead or a forecast, and the end."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from workbench.widgets.base.spec import Spec
from workbench.widgets.evolution.evolution_ahead import drawn_part, end_words
from workbench.widgets.evolution.evolution_strips import near_end
from workbench.widgets.evolution.evolution_words import note
from workbench.widgets.evolution.portrait_spec import nothing_spec
from workbench.widgets.strips.strip import Level, SharedAxis, Strip, StripLine
from workbench.widgets.strips.strip_axes import spans_decades
from workbench.widgets.strips.strip_spec import strips_spec
from workbench.widgets.termination.termination_clauses import holds
from workbench.widgets.text.labels import SYMBOLS, shorten
from workbench.widgets.text.numerals import numeral

HEIGHT = 180
SCALES = ("auto", "linear", "log")
#: maximum clauses drawn
MOST = 6


def termination_spec(model: dict[str, Any], height: int = HEIGHT, plain: bool = False) -> Spec:
    """One strip for each comparison: its left side, its right side (a threshold if it is constant), and the point where
    they meet; with a proof the look-ahead, without one the forecast with its 90 % band. ``plain``: with the verdict and
    the names as strings of the figure."""
    clauses = model["clauses"][:MOST]
    strips = [clause_strip(model, clause, k) for k, clause in enumerate(clauses)]
    strips = [s for s in strips if s.lines]
    if not strips:
        words = "this graph has no loop" if model["loop"] is None else _why_empty(model)
        spec = nothing_spec({"hint": words}, height)
        return {**spec, "layout": {**spec["layout"], "annotations": [note(words, 0.5, 0.5, "middle")]}}
    return strips_spec(strips, _frame(model, strips, plain), height, plain)


def _frame(model: dict[str, Any], strips: list[Strip], plain: bool) -> SharedAxis:
    lines = [line for s in strips for line in s.lines]
    last = max((float(line.x[-1]) for line in lines if len(line.x)), default=0.0)
    far = [line.ahead[0] for line in lines if line.ahead is not None and len(line.ahead[0])]
    reach = [float(line.forecast["x"][-1]) for line in lines if line.forecast is not None and len(line.forecast["x"])]
    verdict, found = model["verdict"], model.get("look_ahead")
    end: tuple[float, float, float, str, bool] | None = None
    far_end: tuple[str, bool] | None = None
    if model.get("ended_in") is not None:
        at = float(model["ended_in"])
        end = (at, at, at, f"ended in iteration {numeral(model['ended_in'])}", True)
    elif found is not None and found.end is not None:
        far_end = (end_words(found.end), True)
        if any(x[-1] == found.end for x in far):
            end = (float(found.end),) * 3 + far_end
    elif model.get("end") is not None:
        at, low, high = model["end"]
        proved = verdict is not None and verdict["status"] == "PROVED"
        word = end_words(int(at)) if proved else f"ends about iteration {numeral(float(f'{at:.2g}'))}, not proved"
        if near_end(model["end"], max(reach, default=last)):
            end = (at, low, high, word, proved)
        far_end = (word, proved)
    ahead = (max(0.0, min(float(x[0]) for x in far) - 1), max(float(x[-1]) for x in far)) if far else None
    return SharedAxis(
        now=model.get("now"),
        words=model.get("words", ""),
        ahead=ahead,
        end=end,
        far_end=far_end,
        x_title=model.get("x_title", "iteration"),
        link=model.get("link", ""),
        note=_headline(model) if plain else "",
    )


def clause_strip(model: dict[str, Any], clause: dict[str, Any], number: int) -> Strip:
    """The strip of one clause; without lines if its sides are unknown. ``model`` has ``look_ahead`` and ``now``, and
    optionally ``scale``.
    """
    sides, fixed = clause["sides"], clause["fixed"]
    ahead = model.get("look_ahead")
    names = [clause["left_text"], clause["right_text"]]
    strip = Strip(shorten(clause["text"], 60), [])
    last = max((float(x[-1]) for x, _ in sides if len(x)), default=0.0)
    for k, (x, y) in enumerate(sides):
        far = _ahead(ahead, clause["refs"][k], last)
        if fixed[k] is not None or not len(x) and far is None:
            continue
        tone, dash = ("data", "solid") if k == 0 or fixed[0] is not None else ("other", "5px,3px")
        line = StripLine(shorten(names[k], 40), x, np.asarray(y, float), tone=tone, dash=dash)
        line.meta, line.ahead = {"clause": number}, far
        line.width = 2.2 if clause.get("blocks") else 1.8
        strip.lines.append(line)
    strip.whole = bool(clause.get("whole"))
    drawn = [y for line in strip.lines for y in (line.y, line.ahead[1] if line.ahead else np.empty(0))]
    level = next((v for v in fixed if v is not None), None)
    every = [*drawn, np.array([level])] if level is not None else drawn
    scale = model.get("scale", "auto")
    strip.log = scale == "log" or scale == "auto" and spans_decades(every)
    if strip.log and any((y < 0).any() for y in drawn):
        strip.name = f"magnitudes of {strip.name}"
        for line in strip.lines:
            line.y = np.abs(line.y)
            line.ahead = None if line.ahead is None else (line.ahead[0], np.abs(line.ahead[1]))
        level = None if level is None else abs(level)
    if level is not None and math.isfinite(level):
        word = f"threshold {numeral(level, 6)}"
        strip.levels.append(Level(level, word, tone="other", dash="6px,4px", always=True))
    if len(strip.lines) == 1 and strip.lines[0].ahead is None and level is not None:
        strip.lines[0].forecast = _forecast(clause, level, fixed[0] is not None)
    sides = _sides(model, clause)
    strip.value, strip.notes = _value(clause, sides), _notes(clause, strip, sides)
    return strip


def _ahead(found: Any, ref: str, last: float) -> tuple[np.ndarray, np.ndarray] | None:
    """The look-ahead of one side, after the computed values."""
    column = None if found is None else found.of(ref)
    if column is None or column[1].ndim != 1 or column[1].dtype.kind not in "biuf":
        return None
    part = drawn_part(column[0], found.end, last)
    x, y = column[0][part].astype(np.float64), column[1][part].astype(np.float64)
    return x, y


def _forecast(clause: dict[str, Any], level: float, flipped: bool) -> dict[str, np.ndarray] | None:
    """The forecast of the moving side, from that of its distance to the threshold."""
    ahead, gap = clause.get("ahead"), clause["gap"]
    if ahead is None or not gap or not math.isfinite(gap):
        return None
    side = math.copysign(1.0, -gap if flipped else gap)
    y, low, high = (level + side * np.asarray(ahead[k], float) for k in ("y", "low", "high"))
    return {"x": np.asarray(ahead["x"], float), "y": y, "low": np.minimum(low, high), "high": np.maximum(low, high)}


def _sides(model: dict[str, Any], clause: dict[str, Any]) -> tuple[float, float] | None:
    """The two sides in the iteration of the picture; None if it did not compare them."""
    pair = []
    now = model.get("now")
    for k in range(2):
        if clause["fixed"][k] is not None:
            pair.append(clause["fixed"][k])
            continue
        x, y = clause["sides"][k]
        at = int(np.searchsorted(x, now)) if now is not None else len(x) - 1
        if not 0 <= at < len(x) or now is not None and x[at] != now:
            return None
        pair.append(float(y[at]))
    return pair[0], pair[1]


def _value(clause: dict[str, Any], pair: tuple[float, float] | None) -> str:
    """The comparison in numbers, with the digits that distinguish its sides."""
    if pair is None:
        return ""
    for digits in (6, 9, 12, 17):
        left, right = (numeral(v, digits) for v in pair)
        if left != right or pair[0] == pair[1]:
            break
    return f"{left} {SYMBOLS.get(clause['op'], '?')} {right}"


def _notes(clause: dict[str, Any], strip: Strip, pair: tuple[float, float] | None) -> list[str]:
    notes = []
    if pair is not None and clause["op"] in SYMBOLS:
        notes.append("true" if holds(clause["op"], *pair) else "false")
    if clause.get("trend"):
        notes.append("gap is NaN" if clause["trend"] == "nan" else f"gap {clause['trend']}")
    return notes + (["log scale"] if strip.log else [])


def _why_empty(model: dict[str, Any]) -> str:
    if not model["clauses"]:
        return "the condition does not compare two numbers"
    return "the gap is not a number" if any(c["gap"] is not None for c in model["clauses"]) else "not evaluated yet"


def _headline(model: dict[str, Any]) -> str:
    """The verdict in one line."""
    verdict = model["verdict"]
    return shorten(verdict["headline"], 100) if verdict else ""
