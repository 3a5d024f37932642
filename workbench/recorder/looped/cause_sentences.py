"""Sentences about the causes of courses: rate, direction of the steps, spectral norm of the update."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from workbench.analysis.text import count
from workbench.recorder.looped.courses import Course
from workbench.recorder.looped.paths import length
from workbench.recorder.looped.sentence_parts import StateSentence, groups_of, middle, rates_of, states_of
from workbench.text import number

if TYPE_CHECKING:
    from workbench.recorder.looped.states_report import StatesReport


def cause_sentences(report: StatesReport, course: Course, which: list[int]) -> Iterator[StateSentence]:
    """The cause of the course of given tokens, as far as their steps show it."""
    if which:
        of = [report.courses[k] for k in which]
        rates, turns = rates_of(of), [c.turn for c in of if c.turn is not None]
        if course is Course.FIXED_POINT and rates:
            text = f"Before that the steps shrink by a factor of {number(middle(rates), 3)} per loop"
            text += f" (slowest token: {number(max(rates), 3)})." if max(rates) - min(rates) > 0.01 else "."
            known = {"rate": middle(rates), "slowest": max(rates)}
            yield StateSentence("rate", text, partial(_all_below_one, rates), known)
        if course is Course.CYCLE and turns and np.mean(turns) < -0.8:
            text = (
                f"Each step turns back on the one before (cosine {number(np.mean(turns), 3)}): a loop overshoots the "
            )
            text += "point in the middle, and does not come to rest there."
            yield StateSentence(
                "reversal", text, partial(_turns_below, report, which, report.loops - 3), {"turn": np.mean(turns)}
            )
        if course is Course.DRIFTING and turns and np.mean(turns) > 0.8:
            text = (
                f"Each step has the direction of the one before (cosine {number(np.mean(turns), 3)}): the loops move "
            )
            text += "the state by about the same vector."
            half = report.loops - max(3, len(report.paths.steps) // 2)
            yield StateSentence("push", text, partial(_turns_above, report, which, half), {"turn": np.mean(turns)})


def norm_sentences(report: StatesReport) -> Iterator[StateSentence]:
    """The sentence about the spectral norm of the update."""
    norm, groups = report.spectral, groups_of(report)
    if norm is None or not np.isfinite(norm.value):
        return
    size = f"about {number(norm.value, 3)}" if norm.settled else f"at least {number(norm.value, 3)}"
    at = f"after loop {report.spectral_at}"
    text = f"The spectral norm of the update is {size} {at} (power iteration, {count(norm.rounds, 'round')}): "
    if norm.value < 1 and norm.settled:
        text += "near there any two states come together from loop to loop."
    elif set(groups) <= {Course.FIXED_POINT, Course.CONVERGING}:
        text += "some small changes grow in one loop, and yet the steps shrink over several."
    else:
        text += "a small change of the state can grow by as much in one loop."
    data = {"value": norm.value, "settled": norm.settled, "loop": report.spectral_at}
    yield StateSentence("spectral_norm", text, lambda: report.gain() <= norm.value * 1.01, data)


def turn_of(report: StatesReport, which: Sequence[int], first: int) -> float:
    """The mean cosine between consecutive steps, from a loop on."""
    h = states_of(report, which, max(first, report.paths.begins))
    moved = np.diff(h, axis=0)
    with np.errstate(all="ignore"):
        cosines = (moved[:-1] * moved[1:]).sum(-1) / (length(moved[:-1]) * length(moved[1:]))
    return float(np.nanmean(cosines)) if np.isfinite(cosines).any() else float("nan")


def _turns_below(report: StatesReport, which: Sequence[int], first: int) -> bool:
    return turn_of(report, which, first) < -0.8


def _turns_above(report: StatesReport, which: Sequence[int], first: int) -> bool:
    return turn_of(report, which, first) > 0.8


def _all_below_one(rates: list[float]) -> bool:
    return max(rates) < 1
