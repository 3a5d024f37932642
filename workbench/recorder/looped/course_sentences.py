"""Sentences about the courses of the tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from workbench.analysis.text import count
from workbench.recorder.looped.courses import Course, TokenCourse, resting
from workbench.recorder.looped.paths import length
from workbench.recorder.looped.sentence_parts import (
    StateSentence,
    capital,
    middle,
    moves,
    rates_of,
    states_of,
    token_words,
    verb,
)
from workbench.text import number

if TYPE_CHECKING:
    from workbench.recorder.looped.states_report import StatesReport


def course_sentences(report: StatesReport, course: Course, which: list[int]) -> Iterator[StateSentence]:
    """The sentence about the tokens of one course; for cycles, one sentence per period."""
    if which:
        of = [report.courses[k] for k in which]
        many = len(which) > 1
        who = capital(token_words(report.paths, which))
        if course is Course.FIXED_POINT:
            yield _fixed(report, which, of, who, many)
        elif course is Course.CYCLE:
            yield from _cycles(report, which, of)
        elif course is Course.CONVERGING:
            yield _converging(report, which, of, who, many)
        elif course is Course.DRIFTING:
            yield _drifting(report, which, who, many)
        elif course is Course.EXPLODING:
            yield _exploding(report, which, of, who, many)
        elif course is Course.NOT_FINITE:
            yield _not_finite(report, which, of, who, many)
        elif course is Course.WANDERING:
            yield _wandering(report, which, who, many)
        else:
            text = f"{count(report.loops, 'loop')} {'are' if report.loops > 1 else 'is'} too few to tell a course: "
            text += "at least 3 are needed, and the state before them."
            yield StateSentence(course.name, capital(text), lambda: report.loops <= 3, {"loops": report.loops})


def _wandering(report: StatesReport, which: list[int], who: str, many: bool) -> StateSentence:
    paths = report.paths
    periods = range(2, len(paths.steps) // 2 + 1)
    step = paths.steps[-1, which]
    gaps = {p: middle(paths.returned(p)[-1, which] / step) for p in periods} if step.all() else {}
    text = f"{who} {verb('come', many)} to no rest in {count(report.loops, 'loop')}: the last step is "
    text += f"{number(middle(step), 3)}{' (median)' if many else ''}"
    if gaps and (nearest := min(gaps, key=lambda p: gaps[p])) and gaps[nearest] < 1:
        text += (
            f", and the state comes nearest to the one {nearest} loops before, to {number(gaps[nearest], 2)} of a step"
        )
    data = {"tokens": len(which), "step": middle(step)}
    return StateSentence("WANDERING", f"{text}.", lambda: moves(report, which), data)


def _rests(report: StatesReport, which: Sequence[int], since: Sequence[int]) -> bool:
    share = resting(report.paths.eps, report.tolerance)
    for token, first in zip(which, since, strict=True):
        h = states_of(report, [token], first)[:, 0]
        size = np.maximum(length(h[:-1]), length(h[1:]))
        if len(h) < 2 or not (length(h[1:] - h[:-1]) <= share * size * (1 + 1e-9)).all():
            return False
    return True


def _fixed(report: StatesReport, which: list[int], of: list[TokenCourse], who: str, many: bool) -> StateSentence:
    since = [c.since or 0 for c in of]
    share = resting(report.paths.eps, report.tolerance)
    when = (
        f"since loop {max(since)}"
        if min(since) == max(since)
        else f"the first since loop {min(since)}, the last since "
    )
    when += "" if min(since) == max(since) else f"loop {max(since)}"
    text = f"{who} {verb('reach', many)} a fixed point: {when} of {report.loops}, a loop moves "
    text += f"{'them' if many else 'it'} by less than {number(share, 2)} of {'their' if many else 'its'} norm."
    data = {"tokens": len(which), "since": max(since), "first_since": min(since), "share": share}
    return StateSentence("FIXED_POINT", text, lambda: _rests(report, which, since), data)


def _cycles(report: StatesReport, which: list[int], of: list[TokenCourse]) -> Iterator[StateSentence]:
    for period in sorted({c.period or 0 for c in of}):
        own = [k for k in which if report.courses[k].period == period]
        since = max(report.courses[k].since or 0 for k in own)
        many = len(own) > 1
        gap = float(
            (report.paths.returned(period)[-period:, own] / report.paths.steps[-period:, own].min(axis=0)).max()
        )
        text = f"{capital(token_words(report.paths, own))} {verb('repeat', many)} every {period} loops since loop "
        text += f"{since}: "
        text += f"in the last {period} loops each state "
        text += (
            f"is within {number(gap, 2)} of a step of the one {period} before."
            if gap
            else f"equals the one {period} before."
        )

        def holds(own: list[int] = own, period: int = period, since: int = since) -> bool:
            h = states_of(report, own, since)
            back, step = length(h[period:] - h[:-period]), length(np.diff(h[-period - 1 :], axis=0)).min(axis=0)
            shorter = [q for q in range(1, period) if (length(h[q:] - h[:-q])[-period:] <= 0.1 * step).all()]
            return bool((back <= 0.1000001 * step).all()) and not shorter and len(h) > period

        yield StateSentence("CYCLE", text, holds, {"tokens": len(own), "period": period, "since": since, "gap": gap})


def _converging(report: StatesReport, which: list[int], of: list[TokenCourse], who: str, many: bool) -> StateSentence:
    rates = rates_of(of)
    slowest = which[int(np.argmax([c.rate or 0.0 for c in of]))]
    left = [c.left for c in of if c.left is not None]
    text = f"{who} {verb('converge', many)}: the steps shrink by a factor of {number(middle(rates), 3)} per loop"
    if many and max(rates) - min(rates) > 0.01:
        text += f" (median; token {report.paths.token(slowest)} slowest, {number(max(rates), 3)})"
    if left:
        text += f". After loop {report.loops} about {number(max(left), 2)} is left to the limit"
    text += "."
    count_ = max(3, len(report.paths.steps) // 2)

    def holds() -> bool:
        step = length(np.diff(report.paths.states[-count_ - 1 :, which], axis=0))
        return bool((step[-1] < step[0]).all() and moves(report, which))

    return StateSentence(
        "CONVERGING", text, holds, {"tokens": len(which), "rate": middle(rates), "slowest": max(rates)}
    )


def _drifting(report: StatesReport, which: list[int], who: str, many: bool) -> StateSentence:
    half = max(3, len(report.paths.steps) // 2)
    step = report.paths.steps[:, which]
    first, last = middle(step[-half]), middle(step[-1])
    text = f"{who} {verb('drift', many)}: loop {report.loops - half + 1} moves the state by {number(first, 3)}, loop "
    text += f"{report.loops} by {number(last, 3)}{' (medians)' if many else ''}, in one direction."

    def holds() -> bool:
        h = report.paths.states[-half - 1 :, which]
        walked = length(np.diff(h, axis=0)).sum(axis=0)
        return bool((length(h[-1] - h[0]) > 0.8 * walked).all() and walked.all())

    return StateSentence("DRIFTING", text, holds, {"tokens": len(which), "first_step": first, "last_step": last})


def _exploding(report: StatesReport, which: list[int], of: list[TokenCourse], who: str, many: bool) -> StateSentence:
    rate, paths = middle(rates_of(of) or [np.inf]), report.paths
    gone = [c.since for c in of if c.since is not None]
    text = f"{who} {verb('explode', many)}: the norm grows by a factor of {number(rate, 3)} per loop"
    if gone:
        text += f", and is infinite or NaN after loop {min(gone)}."
    else:
        text += f", to {number(middle(paths.norms[-1, which]), 3)} after loop {report.loops}."

    def holds() -> bool:
        for k, course in zip(which, of, strict=True):
            h = paths.states[:, k]
            last = len(h) if course.since is None else paths.index(course.since)
            norms = length(h[max(0, last - 3) : last])
            if not (np.isfinite(norms).all() and norms[-1] > norms[0]):
                return False
            if course.since is not None and (np.isfinite(h[last]).all() or not np.isfinite(h[:last]).all()):
                return False
        return True

    data = {"tokens": len(which), "rate": rate, "not_finite_since": min(gone) if gone else None}
    return StateSentence("EXPLODING", text, holds, data)


def _not_finite(report: StatesReport, which: list[int], of: list[TokenCourse], who: str, many: bool) -> StateSentence:
    since = min(c.since or 0 for c in of)
    at = report.paths.index(since)
    token = next(k for k, c in zip(which, of, strict=True) if c.since == since)
    what = "NaN" if np.isnan(report.paths.states[at, token]).any() else "infinite"
    before = f", where the norm before was {number(float(report.paths.norms[at - 1, token]), 3)}" if at > 0 else ""
    text = (
        f"{who} {'have' if many else 'has'} numbers that are not finite: token {report.paths.token(token)} is {what} "
    )
    text += f"after loop {since}{before}."

    def holds() -> bool:
        h = report.paths.states[:, which]
        return bool(np.isfinite(h[:at]).all() and not np.isfinite(h[at, which.index(token)]).all())

    return StateSentence("NOT_FINITE", text, holds, {"tokens": len(which), "since": since, "what": what})
