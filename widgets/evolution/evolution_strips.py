"""The strips of the evolution view: the lines of each variable, with its verdict in a few words."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.widgets.evolution.beside import beside_line, value_at
from workbench.widgets.strips.strip import Level, SharedAxis, Strip, StripLine
from workbench.widgets.strips.strip_spec import FAR
from workbench.widgets.text.labels import shorten
from workbench.widgets.text.numerals import numeral

#: maximum lines in one strip, in the order of their tones
TONES = ("data", "other", "input", "control", "edit", "good")
DASHES = ("solid", "dash", "dot", "dashdot")
#: maximum components of an array with a line: those that change most
COMPONENTS = 3
NO_SIGN = "\u25cb"
STATISTICS = (" (2-norm)", " max", " min", " mean")


def strips_of(model: dict[str, Any]) -> list[Strip]:
    """One strip for each variable, or one for all with the kind "line"."""
    lines: dict[str, list[dict[str, Any]]] = {}
    for line in model["lines"]:
        lines.setdefault(line["of"], []).append(line)
    strips = [_strip(model, chosen(found, model["kind"] == "statistics")) for found in lines.values()]
    if model["kind"] != "line" or len(strips) < 2:
        return strips
    together = Strip("all", [line for s in strips for line in s.lines])
    for k, line in enumerate(together.lines):
        line.tone, line.dash = TONES[k % len(TONES)], DASHES[k % len(DASHES)]
    together.log = strips[0].log
    together.flags, together.whole = all(s.flags for s in strips), all(s.whole for s in strips)
    together.notes = [f"{s.name}: {s.notes[0]}" for s in strips if s.notes]
    together.levels = [v for s in strips for v in s.levels]
    return [together]


def chosen(lines: list[dict[str, Any]], all_of_them: bool = False) -> list[dict[str, Any]]:
    """The drawn lines of one variable: for a large array the statistic that changes most, in units of its elements; for
    a small one the components that change most, in their order.
    """
    if all_of_them or len(lines) < 2:
        return lines
    moved = [_moved(line) for line in lines]
    if lines[0]["suffix"] in STATISTICS:
        size = max((float(np.nanmax(np.abs(line["y"]))) for line in lines[1:3] if _any(line)), default=0.0)
        rms = np.sqrt(max(1, lines[0]["width"]))
        scaled = [m / (size * (rms if k == 0 else 1.0)) if size > 0 else 0.0 for k, m in enumerate(moved)]
        return [lines[int(np.argmax(scaled))]]
    most = sorted(range(len(lines)), key=lambda k: -moved[k])[:COMPONENTS]
    return [lines[k] for k in sorted(most)]


def _any(line: dict[str, Any]) -> bool:
    return bool(np.isfinite(line["y"]).any())


def _moved(line: dict[str, Any]) -> float:
    """The range of the values of a line; a line with NaN is never left out."""
    y = np.asarray(line["y"], dtype=np.float64)
    good = y[np.isfinite(y)]
    if line["bad"]:
        return np.inf
    with np.errstate(over="ignore"):
        return float(good.max() - good.min()) if len(good) else 0.0


def _strip(model: dict[str, Any], lines: list[dict[str, Any]]) -> Strip:
    of = lines[0]["of"]
    verdict = next((v for v in model["verdicts"] if v["of"] == of), None)
    error, log = bool(model.get("error")), bool(model["log"] or model.get("error"))
    strip = Strip(shorten(lines[0]["head"], 60), [], log=log)
    strip.flags = all(line["bool"] for line in lines) and not log
    strip.whole = all(line.get("whole", False) for line in lines) and not log
    now = model.get("now")
    values, beside = [], []
    for k, line in enumerate(lines):
        judged = verdict is not None and verdict.get("suffix") == line["suffix"]
        drawn = _line(model, line, k, verdict if judged else None, error)
        strip.lines.append(drawn)
        value = _value_at(line, now)
        if value is not None:
            values.append(_text(value, line))
        if judged and verdict is not None and not log and verdict["limit"] is not None and not line.get("ahead"):
            # the notes contain the number, and one beside the line would only cover the curve
            limit_words = "" if verdict["label"] in ("converging", "stable") else f" {verdict['limit_text']}"
            strip.levels.append(Level(verdict["limit"], f"limit{limit_words}", verdict["limit_error"] or 0.0))
        for other in (g for g in model.get("ghosts", ()) if g["line"] == line["name"]):
            x, y, label = other["x"], other["y"], other["label"]
            strip.lines.append(beside_line(line["name"], x, y, label, other["slot"], drawn.tone))
            theirs = value_at(x, y, now)
            if theirs is not None and len(lines) == 1:
                beside.append(f"{other['words']}: {_text(theirs, other)}")
    tolerance = model.get("tolerance")
    if error and tolerance is not None:
        strip.levels.append(Level(tolerance, f"tolerance {numeral(tolerance, 3)}", tone="other"))
    strip.edits = [(e["x"], e["text"]) for e in model.get("edits", ()) if e["of"] == of]
    strip.value = ", ".join(values)
    strip.notes = [*beside, *_notes(model, lines, verdict)]
    if error and not any(np.isfinite(line.y).any() for line in strip.lines):
        strip.empty = "no limit: no distance to it"
    elif not log and any((np.abs(line["y"]) > 1e300).any() for line in lines):
        strip.empty = "values beyond \u00b11e300 are drawn on the log scale only"
    return strip


def _notes(model: dict[str, Any], lines: list[dict[str, Any]], verdict: dict[str, Any] | None) -> list[str]:
    """Notes on a variable: its label, and where it ends."""
    notes = []
    notes += [f"{numeral(int(e['x']))}: {e['text']}" for e in model.get("edits", ()) if e["of"] == lines[0]["of"]][-1:]
    if len(lines) == 1 and lines[0]["suffix"]:
        notes.append(lines[0]["suffix"].strip(" ()"))
    if lines[0].get("progress") is not None:
        notes.append("{} of {} values read so far".format(*map(numeral, lines[0]["progress"])))
    bad = lines[0]["bad"]
    if bad:
        first, value = bad
        many, count = lines[0]["bad_count"], lines[0]["count"]
        word = "NaN" if np.isnan(value) else "infinite"
        last = lines[0]["bad_last"]
        ends = numeral(int(first)), numeral(int(last))
        span = f"in iteration {ends[0]}" if last == first else f"from {ends[0]} to {ends[1]}"
        notes.append(f"{word} {span}" if many > last - first or many >= count - first else f"{many} values are {word}")
        return notes
    if verdict is not None and verdict["label"] != "unknown":
        words = verdict["short"]
        about = verdict.get("suffix")
        if len(lines) > 1 and about and any(line["suffix"] == about for line in lines):
            words = f"{about.strip()} {words}"
        if about is None or any(line["suffix"] == about for line in lines):
            notes.append(words)
    if model.get("error"):
        notes.append("distance to the limit")
    elif model["log"]:
        notes.append("log scale")
    ahead = lines[0].get("ahead")
    if ahead is not None and len(ahead[1]) and model.get("proved_end") == ahead[0][-1]:
        notes.append(f"ends at {_text(float(ahead[1][-1]), lines[0])}")
    notes += [
        f"{p['sign'] if p['enabled'] else NO_SIGN} {p['word']} {p['text']}"
        for p in model.get("breakpoints", ())
        if p["x"] is None and p["of"] == lines[0]["of"]
    ]
    return notes


def _line(
    model: dict[str, Any], line: dict[str, Any], k: int, verdict: dict[str, Any] | None, error: bool
) -> StripLine:
    y = np.asarray(line["y"], dtype=np.float64)
    ahead = line.get("ahead")
    if error:
        limit = verdict["limit"] if verdict is not None and verdict["label"] in ("converging", "stable") else None
        with np.errstate(over="ignore"):
            y = np.full(len(y), np.nan) if limit is None else np.abs(y - limit)
            ahead = None if limit is None or ahead is None else (ahead[0], np.abs(ahead[1] - limit))
    elif model["log"] and ahead is not None:
        ahead = ahead[0], np.abs(ahead[1])
    forecast = None
    if verdict is not None and ahead is None and model.get("ended") is None and not model.get("proved"):
        forecast = verdict["distance"] if error else verdict["forecast"]
        if model["log"] and forecast is not None and not error:
            ends = np.abs(forecast["low"]), np.abs(forecast["high"])
            both = {"low": np.minimum(*ends), "high": np.maximum(*ends)}
            forecast = {**forecast, "y": np.abs(forecast["y"]), **both}
    bad = None
    if line["bad"]:
        bad = (line["bad"][0], line["bad_last"], line["bad_count"], line["bad"][1])
    return StripLine(
        line["name"],
        line["x"],
        y,
        tone=TONES[k % len(TONES)],
        dash=DASHES[k % len(DASHES)],
        width=2.4 if model.get("selected") == line["of"] else 1.8,
        meta={"line": line["number"]},
        ahead=ahead,
        forecast=forecast,
        bad=bad,
    )


def _value_at(line: dict[str, Any], now: float | None) -> float | None:
    """The value in one iteration; None if none was computed in it."""
    x = line["x"]
    if not len(x):
        return None
    if now is None:
        return float(line["y"][-1])
    k = int(np.searchsorted(x, now))
    if k < len(x) and x[k] == now:
        bad = line["bad"]
        value = float(line["y"][k])
        return float(bad[1]) if np.isnan(value) and bad else value
    return None


def _text(value: float, line: dict[str, Any]) -> str:
    if line["bool"] and not np.isnan(value):
        return "true" if value else "false"
    return numeral(int(value) if line.get("whole") and np.isfinite(value) else value)


def near_end(end: tuple[float, float, float] | None, last: float) -> bool:
    """True if the end is near enough to be drawn: a distant one would compress all other points against the axis."""
    return end is not None and end[0] <= FAR * last + 16


def frame_of(model: dict[str, Any]) -> SharedAxis:
    """The iteration, the end and the marks common to all strips."""
    lines = model["lines"]
    last = max((float(line["x"][-1]) for line in lines if len(line["x"])), default=0.0)
    ahead = [line["ahead"][0] for line in lines if line.get("ahead") is not None and len(line["ahead"][0])]
    far = max((float(x[-1]) for x in ahead), default=None)
    start = min((float(x[0]) for x in ahead), default=None)
    end = model.get("proved_end")
    near = end is not None and (near_end((end, end, end), last) or far == end)
    return SharedAxis(
        now=model.get("now"),
        words=model.get("words", ""),
        ahead=None if far is None or start is None else (max(0.0, start - 1), far),
        end=(end, end, end, model["end_words"], True) if near and end is not None else None,
        far_end=(model["end_words"], True) if end is not None else None,
        zoom=model.get("zoom"),
        breakpoints=list(model.get("breakpoints", ())),
        x_title=model["x_title"],
        link=model.get("link", ""),
        note=model.get("note", ""),
    )
