"""The reason of a loop that does not end by itself, its first bad iteration and its fixes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workbench.analysis.forecast.laws.exact_continuation import OPS
from workbench.analysis.precision.cancellation import cancellations
from workbench.analysis.precision.recent import nonfinite_origin
from workbench.analysis.root_cause.blocking_clauses import Suspect
from workbench.analysis.root_cause.clause_features import ClauseFeatures
from workbench.analysis.root_cause.clause_fixes import clause_fixes, moves
from workbench.analysis.root_cause.clause_text import sides
from workbench.analysis.root_cause.expressions import sentence_of, turned
from workbench.analysis.root_cause.gather import RECORD
from workbench.analysis.root_cause.loop_samples import LoopSamples
from workbench.analysis.root_cause.onset import first_bad
from workbench.analysis.root_cause.sign_flips import flipping_variables
from workbench.analysis.text import listed, shown
from workbench.analysis.verdict import Reason, Termination


def blame(found: LoopSamples, worst: Suspect, answer: Termination, deadline: float) -> None:
    """Reason, first bad iteration and fixes of a loop that does not end by itself."""
    flipping = flipping_variables(found, worst)
    if flipping:
        worst.cause = replace(worst.cause, slug="sign-flips")
    facts, cause = worst.facts, worst.cause
    slug = cause.slug
    root = worst.root[0] if worst.root else ""
    of_root = slug in ("absorbed", "floor", "wraps") and not cause.details.get("always")
    dtype = str(facts.root.dtype if of_root else facts.late_x.dtype)
    x, t = sides(found, worst)
    flag = worst.leaf.flag
    answer.details["cause"] = slug
    answer.first_bad = first_bad(found, worst, deadline)
    _numbers_lost(found, slug, answer)
    step = cause.step if cause.step is not None else facts.step
    why = sentence_of(
        _sentence_key(found, worst, "other_clauses" in answer.details),
        root=root,
        turning=x if len(facts.late_x) and np.any(facts.late_x != facts.late_x[0]) else root,
        flipping=f"{listed(flipping)} {'changes its' if len(flipping) == 1 else 'change their'} sign",
        x=x,
        t=shown(facts.late_t[-1]),
        limit=_shown(cause.limit, facts),
        dtype=dtype,
        step=_shown(step),
        period=cause.period,
        flag=flag or root,
    )
    if flag is not None and slug != "flag-never-set":
        name, back = flag.split("/")[-1], turned(worst.op, False, True)
        why = f"the loop is only left where {name} is set, and {x} {back} {t} is never true: {why}"
        answer.details["flag_cause"] = slug
        slug = "flag-never-set"
    if slug not in ("recurrence",) and answer.reason.slug != "trip-limit":
        answer.reason = Reason(slug, f"{why} {answer.reason.sentence}".strip())
    answer.fix = clause_fixes(found, worst, x, t, step, dtype, answer.first_bad)


def _sentence_key(found: LoopSamples, worst: Suspect, several: bool) -> str:
    """The slug of a cause, with what makes another sentence of it."""
    slug = worst.cause.slug
    if slug in ("floor", "limit-beyond") and moves(found, worst.facts.late_x):
        return f"{slug}, moving"
    with np.errstate(all="ignore"):
        holds = np.all(OPS[worst.facts.op](worst.facts.late_x, worst.facts.late_t))
    if slug == "cycle" and several and not holds:
        return "cycle, in turns"
    return f"{slug}, always" if worst.cause.details.get("always") else slug


def _numbers_lost(found: LoopSamples, slug: str, answer: Termination) -> None:
    """Origin of a NaN, an infinity or a floor, as details: the node with its numbers, and a sentence."""
    path = found.loop.path

    def counted(iteration: tuple[int, ...], ahead: bool) -> tuple[int, ...]:
        around = found.record.activation if found.record is not None else None
        return (*(around or iteration[:-1]), iteration[-1] + found.offset) if ahead and iteration else iteration

    if slug in ("nan", "overflow", "step-too-large"):
        for columns in (found.record, found.early, found.late):
            made = None if columns is None else nonfinite_origin(columns.trace, path, firings=RECORD)
            if made is not None:
                made = replace(made, iteration=counted(made.iteration, columns is not found.record))
                answer.details.update(origin=made.node, origin_text=str(made))
                break
    elif slug == "floor" and (found.late or found.early) is not None:
        columns = found.late or found.early
        lost = cancellations(columns.trace, path, harmless=True, firings=RECORD) if columns is not None else []
        if lost:
            worst = replace(lost[0], iteration=counted(lost[0].iteration, True))
            answer.details.update(cancellation=worst.node, cancellation_text=str(worst))


def _shown(value: float | None, beside: ClauseFeatures | None = None) -> str:
    """Nine digits, and all of them where it would look like the threshold that it is beside."""
    if value is None:
        return "its value"
    text = f"{value:.9g}"
    last = beside.late_t[-1] if beside is not None else value
    return repr(value) if float(last) != value and f"{float(last):.9g}" == text else text
