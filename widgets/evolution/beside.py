"""Other runs beside one: their lines in its strips, their values in words, and their differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.widgets.evolution.evolution_group import EvolutionGroup, Outer
from workbench.widgets.evolution.evolution_model import FAILED
from workbench.widgets.series.loop_state import ended_in
from workbench.widgets.strips.strip import Strip, StripLine
from workbench.widgets.text.numerals import numeral

if TYPE_CHECKING:
    from workbench.ir.graph import Graph
    from workbench.trace import Trace
    from workbench.widgets.evolution.condition_rows import ConditionRows, LoopShown
    from workbench.widgets.series.other_runs import OtherRun, OtherRuns

#: dashes of other runs, by slot, as on the chips above the strips
DASHES = ("5px,3px", "2px,3px", "8px,3px")
#: maximum strips of differences
MOST_DIFFERENCES = 2
#: height of a text strip with a note of two lines, in units of a strip
TWO_LINES = 0.7


class Beside:
    """The other runs drawn, each followed separately."""

    def __init__(self, runs: OtherRuns, condition: ConditionRows | None) -> None:
        self.runs, self._condition = runs, condition
        self._models: dict[tuple[int, Outer], EvolutionGroup] = {}
        self._conditions: dict[int, ConditionRows] = {}

    def lines(self, names: Sequence[str], outer: Outer, log: bool) -> list[dict[str, Any]]:
        """``line`` (the name of the corresponding line of this run), ``label``, ``words``, ``slot``, ``x``, ``y``,
        ``whole`` and ``bool`` of each."""
        found: list[dict[str, Any]] = []
        others = self.runs.traces()
        for other, trace in others:
            group = self._models.setdefault((id(trace), outer), EvolutionGroup(judged=False))
            for line in group.update(trace, list(names), outer=outer, verdicts=False, log=log)["lines"]:
                points = {k: line[k] for k in ("x", "y", "whole", "bool")}
                found.append(
                    {"line": line["name"], "label": other.label, "words": other.words, "slot": other.slot, **points}
                )
        live = {id(trace) for _, trace in others}
        self._models = {k: v for k, v in self._models.items() if k[0] in live}
        self._conditions = {k: v for k, v in self._conditions.items() if k in live}
        return found

    def condition(self, below: Sequence[Strip], shown: LoopShown, graph: Graph) -> None:
        """Add the lines of the other runs to the strips of the condition, and notes on their numbers of iterations."""
        for other, trace in self.runs.traces() if self._condition is not None else ():
            try:
                ended = ended_in(trace, graph, shown.path, shown.outer)
                rows = self._rows(trace).update(replace(shown, trace=trace, ahead=None, ended=ended, running=False))
            except FAILED:  # the record of another graph
                continue
            theirs = {strip.name: strip for strip in rows}
            for strip in below:
                if strip.cells and ended is not None:
                    strip.notes.append(f"{other.words}: stops in {numeral(ended)}")
                    strip.share = TWO_LINES
                elif strip.name in theirs and theirs[strip.name].lines:
                    add_line(strip, theirs[strip.name].lines[0], other, shown.now)

    def _rows(self, trace: Trace) -> ConditionRows:
        assert self._condition is not None  # checked by the caller
        if id(trace) not in self._conditions:
            self._conditions[id(trace)] = self._condition.fresh()
        return self._conditions[id(trace)]


def add_line(strip: Strip, line: StripLine, other: OtherRun, now: float | None) -> None:
    """Add a line of another run to a strip, in full colour and distinguished by its dashes."""
    value = value_at(line.x, line.y, now)
    strip.lines.append(beside_line(line.name, line.x, line.y, other.label, other.slot, strip.lines[0].tone))
    strip.notes += [] if value is None else [f"{other.words}: {numeral(value)}"]


def beside_line(name: str, x: np.ndarray, y: np.ndarray, label: str, slot: int, own_tone: str) -> StripLine:
    """A line of another run beside one of the tone ``own_tone``."""
    return StripLine(
        f"{name} ({label})",
        x,
        np.asarray(y, dtype=np.float64),
        tone="other" if own_tone == "data" else "muted",
        dash=DASHES[slot % len(DASHES)],
        width=1.6,
        meta={"line": -1},
        dots=False,
    )


def value_at(x: np.ndarray, y: np.ndarray, now: float | None) -> float | None:
    """The value in one iteration; None if none is drawn."""
    k = -1 if now is None else int(np.searchsorted(x, now))
    return float(y[k]) if 0 <= k < len(x) and x[k] == now and np.isfinite(y[k]) else None


def differences(model: dict[str, Any]) -> list[Strip]:
    """A strip of each variable with its difference from the newest run drawn, in iterations for which both have a
    value.
    """
    strips: list[Strip] = []
    if model["log"]:
        return strips
    for line in model["lines"]:
        other = next((g for g in reversed(model["ghosts"]) if g["line"] == line["name"]), None)
        if other is None:
            continue
        x, mine, theirs = np.intersect1d(line["x"], other["x"], assume_unique=True, return_indices=True)
        one, two = np.asarray(line["y"], np.float64)[mine], np.asarray(other["y"], np.float64)[theirs]
        with np.errstate(invalid="ignore", over="ignore"):
            y = one - two
        value = value_at(x, y, model.get("now"))
        drawn = StripLine(f"difference in {line['name']}", x, y, tone="edit", meta={"line": -1})
        notes = [f"from {other['words']}", _same(x, one, two)]
        strips.append(Strip(f"difference in {line['name']}", [drawn], "" if value is None else numeral(value), notes))
    return strips[:MOST_DIFFERENCES]


def _same(x: np.ndarray, one: np.ndarray, two: np.ndarray) -> str:
    """The iterations in which two lines are equal; those that thinned lines leave out are not known."""
    apart = np.flatnonzero((one != two) & ~(np.isnan(one) & np.isnan(two)))
    first = numeral(int(x[apart[0]])) if len(apart) else ""
    whole = len(x) > 0 and x[0] == 0 and len(x) == x[-1] + 1
    if not first:
        return "equal in all iterations" if whole else "equal in all iterations drawn"
    return f"equal before iteration {first}" if whole else f"different in iteration {first}"
