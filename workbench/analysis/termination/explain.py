"""The full answer about a loop of a run: whether it ends, and if not, why."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.analysis.claims import released
from workbench.analysis.fixes import Fix, fuse, proposed
from workbench.analysis.root_cause.explain import explained
from workbench.analysis.slicing import work
from workbench.analysis.termination.inner_loop import inner_hangs
from workbench.analysis.termination.query import loop_of, termination_of
from workbench.analysis.verdict import Termination
from workbench.errors import SessionError
from workbench.execution import Run
from workbench.ir.subnormals import arithmetic_of
from workbench.trace import Trace


def answer_of(
    run: Run, trace: Trace, frame: Any = None, seconds: float = 0.2, failed: Exception | None = None
) -> Termination:
    """The answer whether the loop ``frame`` (name, path, or None for the innermost open one) ends, with the cause if
    not.

    ``seconds`` limits the look-ahead for the proof, and separately that for the cause. The parameters are those of
    :func:`workbench.analysis.termination.query.termination_of`, whose answer is explained.
    """
    # a record, and values computed from it, may hold NaN and infinities
    with work.QuestionBudget(seconds), arithmetic_of(run.plan.graph), np.errstate(all="ignore"):
        answer = termination_of(run, trace, frame, seconds, failed)
        if not answer.over:
            path = loop_of(run, frame)
            if answer.reason.slug in ("slice-slow", "inner-hangs") and path is not None:
                answer = with_fixes(run, inner_hangs(run, path, seconds) or answer, path)
            else:
                answer = with_fixes(run, explained(run, trace, path, answer, seconds), path)
        answer.evidence = answer.begun = None
        released(answer.claims)
        return answer


def with_fixes(run: Run, answer: Termination, path: tuple[str, ...] | None) -> Termination:
    """Add the fixes of its claims to an answer, and an iteration limit for an endless loop; return the same object."""
    if path is None:
        return answer
    wraps = any(c.kind in ("wraps", "every-number", "moves-away") for c in answer.claims)
    if (
        answer.outcome == "never"
        or answer.reason.slug in ("wraps", "trip-limit")
        and (wraps or "cause" in answer.details)
    ):
        answer.fix = proposed(answer.claims)
        inner = answer.claims and answer.details.get("inner")
        frame = path if not inner else tuple(str(inner).split("/"))
        can_cap = frame in run.plan.graph.frames and run.plan.graph.frames[frame].loop_cond is not None
        number = run.plan.numbers.get(frame)
        reached = max(run.view.iteration(number) if number is not None else 0, answer.first_bad or 0)
        answer.fuse = fuse(frame, reached, can_cap)
    return answer


def chosen_fix(answer: Termination, fix: None | int | Fix) -> Fix:
    """The chosen fix: one of the answer's by index; by default the first one that can be applied.

    SessionError with slug ``no-fix`` if there is none, ``fix-not-applicable`` for a fix that cannot be applied.
    """
    if isinstance(fix, Fix):
        return fix
    known = [f for f in answer.fix if isinstance(f, Fix)]
    if fix is None:
        found = next((f for f in (*known, answer.fuse) if f is not None and f.applies), None)
        if found is None:
            raise SessionError(
                "There is no fix to apply: " + (answer.reason.sentence if not known else "none of them can be."),
                slug="no-fix",
                fix="see session.termination(): its reason says what is wrong, its fix how to mend it.",
            )
        return found
    if fix == len(answer.fix) and answer.fuse is not None and not isinstance(fix, bool):
        return answer.fuse  # type: ignore[no-any-return]
    if isinstance(fix, bool) or not isinstance(fix, int) or not -len(answer.fix) <= fix < len(answer.fix):
        raise SessionError(
            f"There is no fix {fix!r}: the answer has {len(answer.fix)}.",
            slug="no-fix",
            fix="give a number of session.termination().fix, or one of them.",
        )
    chosen = answer.fix[fix]
    return chosen if isinstance(chosen, Fix) else Fix(chosen)
