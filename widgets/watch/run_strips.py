"""The strips of a watched loop: those of the panel, from its reports."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from workbench.widgets.base.spec import Spec
from workbench.widgets.evolution.evolution_strips import near_end
from workbench.widgets.strips.strip import Level, SharedAxis, Strip, StripLine
from workbench.widgets.strips.strip_axes import spans_decades
from workbench.widgets.strips.strip_spec import strips_spec
from workbench.widgets.text.labels import shorten
from workbench.widgets.text.numerals import numeral

#: maximum variables with strips of full height, and the share of it for more variables
FEW, LOW = 5, 0.6
WORDS = {"nan": ("NaN", math.nan), "inf": ("infinite", math.inf)}


def run_strips(status: dict[str, Any], height: int = 0) -> Spec:
    """The figure for a status (:func:`workbench.recorder.outlook.plain`)."""
    rows = [row for row in status.get("variables", ()) if row["x"]]
    at = status.get("iteration")
    strips = [_strip(row, at, LOW if len(rows) > FEW else 1.0) for row in rows]
    return strips_spec(strips, _shared(status, rows), height)


def _strip(row: dict[str, Any], now: int | None, share: float) -> Strip:
    x = np.array(row["x"], np.float64)
    y = np.array([math.nan if v is None else v for v in row["y"]], np.float64)
    bound = row.get("bound")
    counts = str(row.get("label", "")).startswith("counting")
    log = not counts and spans_decades([y, np.array([bound if bound is not None and bound > 0 else math.nan])])
    whole = not log and bool(np.isfinite(y).any() and (y[np.isfinite(y)] % 1 == 0).all())
    line, word = StripLine(row["name"], x, y), ""
    if row.get("bad") is not None:
        first, last, all_of_them, kind = row["bad"]
        word, value = WORDS[kind]
        line.bad = first, last, last - first + 1 if all_of_them else 0, value
        if first == last or not all_of_them:
            word += f" {'first ' if first < last else ''}in iteration {numeral(first)}"
        else:
            word += f" from {numeral(first)} to {numeral(last)}"
    strip = Strip(shorten(row["name"], 60), [line], share=share, log=log, whole=whole)
    shown = row.get("value") or ""
    if row.get("at") in (None, now):
        strip.value = shown
    else:  # not recorded in the newest iteration
        strip.notes.append(f"{shown} in iteration {numeral(row['at'])}")
    label, limit = row.get("label"), row.get("limit")
    if limit is not None and label in ("converging", "stable"):
        label = f"{label} {'at' if label == 'stable' else 'to'} {limit.partition(' (within')[0]}"
    strip.notes += [note for note in (row.get("measure"), word or label) if note]
    if row.get("rate") is not None and not word:
        strip.notes.append(f"rate {numeral(row['rate'], 4)}")
    if log:
        strip.notes.append("log scale")
    if bound is not None and (bound > 0 or not log):
        strip.levels.append(Level(float(bound), f"until {numeral(bound)}", tone="other", always=True))
    return strip


def _shared(status: dict[str, Any], rows: list[dict[str, Any]]) -> SharedAxis:
    """The newest iteration, and the forecast end: a line with its interval, or only words if it is far."""
    last = status.get("iteration")
    if last is None or not rows:
        return SharedAxis()
    axis = SharedAxis(now=float(last), words=f"iteration {numeral(last)}")
    remaining = status.get("remaining")
    if not remaining or status.get("status") != "PREDICTED":
        return axis
    low, high = status.get("interval") or (remaining, remaining)
    at, word = last + remaining, f"ends about {numeral(last + remaining)}"
    ends = tuple(float(v) for v in (at, last + low, last + (remaining if high is None else high)))
    if near_end(ends, float(last)):  # type: ignore[arg-type]
        axis.end = (ends[0], ends[1], min(ends[2], 2 * ends[0]), word, False)
    else:
        axis.far_end = (word, False)
    return axis
