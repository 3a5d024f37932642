"""Root cause: adds to an answer about a loop the blocking clause, its gap, the root variables, the chain that
updates them, the first bad iteration, the reason and the fixes.

The proof or forecast itself is not changed; this only explains it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.analysis.fix import Fix, cap, fixes
from workbench.analysis.forecast.laws.exact_continuation import OPS
from workbench.analysis.precision.cancellation import cancellations
from workbench.analysis.precision.recent import nonfinite_origin
from workbench.analysis.root_cause.blocking_clauses import Suspect, suspects
from workbench.analysis.root_cause.clause_features import ClauseFeatures
from workbench.analysis.root_cause.clause_text import clause_text, sides
from workbench.analysis.root_cause.expressions import expression, sentence_of, turned
from workbench.analysis.root_cause.loop_dependencies import LoopDependencies
from workbench.analysis.root_cause.loop_samples import JUMPED, LoopSamples, look_ahead
from workbench.analysis.root_cause.onset import first_bad
from workbench.analysis.root_cause.sign_flips import flipping_variables
from workbench.analysis.slicing import work
from workbench.analysis.slicing.execution import SliceMachine, slice_of, standing
from workbench.analysis.slicing.protocol import SliceTimeout
from workbench.analysis.text import listed, shown
from workbench.analysis.verdict import Gap, Reason, Status, Termination, trend_of
from workbench.errors import WorkbenchError
from workbench.execution import Run
from workbench.ir.node import Ref
from workbench.trace import Trace
from workbench.trace.aligned_columns import AlignedColumns
from workbench.trace.tail_reader import Reading

#: reasons without a clause to explain
APART = frozenset("no-loop node-failed raw-frame not-entered slice-failed".split())
#: evaluations whose gaps are listed
GAPS = 8
#: least iteration limit of the fix that caps a loop
CAP = 1000
#: newest firings of each value that are read from the record
RECORD = 4096


def explained(run: Run, trace: Trace, path: tuple[str, ...] | None, answer: Termination, seconds: float) -> Termination:
    """Adds the cause to an answer; returns the same object.

    ``seconds`` limits the look-ahead. If it fails (a node that fails ahead), the answer is returned unchanged: it is
    complete without an explanation.
    """
    came_to, answer.evidence = answer.evidence, None
    if path is None or answer.reason.slug in APART:
        return answer
    try:
        found = gather(run, trace, path, answer, came_to, seconds)
        if found is None:
            return answer
        return _told(found, answer, work.now() + seconds)
    except (SliceTimeout, WorkbenchError, RuntimeError):
        return answer


def gather(
    run: Run, trace: Trace, path: tuple[str, ...], answer: Termination, came_to: Any, seconds: float
) -> LoopSamples | None:
    """Samples of the loop's values; None if its condition has not been evaluated and cannot be."""
    graph = run.plan.graph
    conds = [n for n in graph.frames[path].nodes if graph.nodes[n].op == "LoopCond" and n in run.plan.needed]
    if not conds:
        return None
    cond = graph.nodes[conds[0]].inputs[0]
    numbers = [i for i, f in enumerate(run.plan.layout.frames) if f.path == path]
    number = next((i for i in numbers if i in run.active_frames()), None)
    inside = number is not None
    around = run.iteration_of(number)[:-1] if number is not None else None
    base = run.view.iteration(number) if number is not None else 0
    found = LoopSamples(LoopDependencies(graph, path), cond, max(base, 0), max(base, 0))
    entered = any(run.view.iteration(i) >= 0 for i in numbers)
    if entered:
        if not inside:  # it has ended; of several activations the last one counts
            paths = Reading(trace, trace.ref(cond)).newest(1)[0]
            around = tuple(paths[-1, :-1].tolist()) if len(paths) else ()
        found.record = AlignedColumns(trace, around, firings=RECORD)
        if not found.record.latest(cond):
            found.record = None
    if answer.reason.slug == "ended" and not inside:
        return found if found.record is not None else None
    if answer.reason.slug in ("impure-slice", "draws"):
        return found if found.record is not None else None
    runner = _edited(run, path, inside, seconds, found) if run.edits else _sliced(run, path, inside, seconds)
    if runner is None:
        return found if found.record is not None else None
    if not inside or run.edits:  # a record with edits tells of an invariant what it is now, not what it was
        found.record = None
    found.runner = runner
    left = answer.remaining if answer.outcome == "terminates" else 0
    # an end that is too far ahead is not run to: half way there nothing is to be seen
    look_ahead(found, seconds, came_to, JUMPED if left is not None and left <= JUMPED else 0)
    return found


def _sliced(run: Run, path: tuple[str, ...], inside: bool, seconds: float) -> SliceMachine | None:
    """The slice of the condition at the present iteration; None if the loop is not entered."""
    runner = slice_of(run.plan.graph, path, run.plan, run.feeds)
    runner.patience = max(seconds, 0.05)
    return runner if runner.align(run if inside else None) else None


def _edited(run: Run, path: tuple[str, ...], inside: bool, seconds: float, found: LoopSamples) -> SliceMachine | None:
    """A copy of the run, for an edit may be in what no slice takes over: a loop invariant, or an inner state. It counts
    iterations as the run does."""
    there = None if run.edits_ahead else standing(run, path, inside, max(seconds, 0.05))
    if there is None or not there[0].pure:
        return None
    found.base, found.offset = found.base + there[1], 0
    return there[0]


def _told(found: LoopSamples, answer: Termination, deadline: float) -> Termination:
    columns, last = found.deepest
    value = columns.latest(found.cond).get(last)
    want = bool(np.asarray(value).reshape(-1)[0]) if value is not None and np.size(value) == 1 else True
    ends = answer.outcome == "terminates" and (found.ended is not None or not want)
    if ends and found.ended is not None:
        want = False
    all_of_them = suspects(found, want, answer.reason.slug)
    if not all_of_them:
        return answer
    worst = all_of_them[0]
    loop = found.loop
    answer.root = worst.root
    answer.blocking_clause = clause_text(found, worst, ends)
    its = _iterations(found, worst)
    if len(its):
        answer.details["clause_iteration"] = int(its[-1])
    answer.gap = _gap(found, worst, answer)
    if worst.root and worst.root[0] in loop.variables:
        answer.chain = loop.chain(worst.root[0])
    answer.details.update(_details(found, worst, all_of_them))
    last_values = worst.facts.late_x[-1], worst.facts.late_t[-1]
    if ends and any(isinstance(v, np.floating) and np.isnan(v) for v in last_values):
        answer.details["ended_by"] = "nan"
        why = f"{answer.reason.sentence} It ends because one side of the clause is NaN."
        answer.reason = Reason(answer.reason.slug, why)
    for ref in (worst.moving, worst.still):
        name = loop.graph.name_of(ref) if isinstance(ref, Ref) else ""
        if "/" in name:  # a node that nobody has named is told as it is computed
            node = re.escape(name.removesuffix(":0"))
            parts = re.split(rf"(?<![\w/]){node}(?::0)?(?![\w/])", answer.reason.sentence)
            sentence = expression(loop, ref).join(parts)
            answer.reason = Reason(answer.reason.slug, sentence)
    if answer.outcome == "never" or _endless_but_for_the_limit(answer):
        _blame(found, worst, answer, deadline)
    elif want and _ends_by_wrapping(worst, answer):
        reason = answer.reason
        _blame(found, worst, answer, deadline)
        again = f"{reason.sentence} It ends only because its {worst.facts.late_x.dtype} wraps around."
        answer.reason = Reason("wraps", again)
    return answer


def _ends_by_wrapping(worst: Suspect, answer: Termination) -> bool:
    """True if an integer that goes the wrong way, or steps over its goal, ends the loop on its way round."""
    astray = worst.cause.slug in ("moves-away", "steps-over", "wraps") and worst.facts.late_x.dtype.kind in "iu"
    return answer.outcome == "terminates" and (answer.reason.slug == "wraps" or astray)


def _endless_but_for_the_limit(answer: Termination) -> bool:
    return answer.reason.slug == "trip-limit" and answer.proof is not None and "recurs" in answer.proof.kind


def _blame(found: LoopSamples, worst: Suspect, answer: Termination, deadline: float) -> None:
    """Reason, first bad iteration and fixes of a loop that does not end by itself."""
    flipping = flipping_variables(found, worst)
    if flipping:
        worst.cause = replace(worst.cause, slug="sign-flips")
    facts, cause = worst.facts, worst.cause
    slug = cause.slug
    loop, root = found.loop, worst.root[0] if worst.root else ""
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
    can_cap = loop.graph.frames[loop.path].loop_cond is not None
    made = [*_fixes(found, worst, x, t, step, dtype), cap(_cap(found, answer.first_bad), can_cap)]
    answer.fix = [f.placed(loop.path, worst.mirrored, worst.leaf.negated) if isinstance(f, Fix) else f for f in made]


def _sentence_key(found: LoopSamples, worst: Suspect, several: bool) -> str:
    """The slug of a cause, with what makes another sentence of it."""
    slug = worst.cause.slug
    if slug in ("floor", "limit-beyond") and _moves(found, worst.facts.late_x):
        return f"{slug}, moving"
    with np.errstate(all="ignore"):
        holds = np.all(OPS[worst.facts.op](worst.facts.late_x, worst.facts.late_t))
    if slug == "cycle" and several and not holds:
        return "cycle, in turns"
    return f"{slug}, always" if worst.cause.details.get("always") else slug


def _moves(found: LoopSamples, late: np.ndarray) -> bool:
    """True if an operand is not known to be at rest at the end of the look-ahead."""
    return found.settled is None and len(late) > 1 and late.dtype.kind in "fiu" and bool(late[-1] != late[-2])


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


def _cap(found: LoopSamples, bad: int | None) -> int:
    """A number of iterations beyond the present one and the first bad iteration, rounded up to a power of ten."""
    return 10 ** len(str(max(found.base, bad or 0, CAP - 1)))


def _fixes(found: LoopSamples, worst: Suspect, x: str, t: str, step: float | None, dtype: str) -> list[str]:
    facts, cause = worst.facts, worst.cause
    threshold = float(facts.late_t[-1])
    limit = cause.limit
    if cause.slug == "floor" and len(facts.late_x) and facts.op in (">", ">="):
        limit = float(np.max(facts.late_x.astype(np.float64)))
    integral = step is not None and float(step).is_integer() and float(facts.early_x[0]).is_integer()
    start = float(facts.early_x[0]) if facts.early_x.dtype.kind in "fiu" else None
    factor = facts.swing
    if worst.factor is not None and worst.factor.op == "Placeholder":
        value = found.runner.feeds.get(worst.factor.name) if found.runner is not None else None
        factor = float(np.asarray(value).reshape(-1)[0]) if value is not None and np.size(value) == 1 else None
    return fixes(
        "out-of-range" if cause.details.get("always") else cause.slug,
        name=x,
        # of NaN the comparison itself is told: its opposite is not what the loop asks for
        op=turned(worst.op, False, worst.leaf.negated and cause.slug == "nan"),
        threshold=threshold,
        other=t,
        value=start,
        step=step,
        dtype=dtype,
        limit=limit,
        period=cause.period,
        variable=listed(flipping_variables(found, worst)) if cause.slug == "sign-flips" else _variable(worst) or x,
        appliable=True,
        integral=integral,
        clause=worst.leaf.node,
        factor=factor,
        moving=_moves(found, facts.late_x),
        kind=facts.late_x.dtype.kind,
        reach=_reach(facts.late_x, cause.period),
    )


def _reach(values: np.ndarray, period: int | None) -> tuple[float, float] | None:
    """The least and the largest number of a cycle that was seen whole."""
    if period is None or len(values) < period or values.dtype.kind not in "fiu" or not np.all(np.isfinite(values)):
        return None
    return float(values.min()), float(values.max())


def _variable(worst: Suspect) -> str | None:
    """The variable that a fix is about: the one whose step swings, else the first that is a loop variable's name."""
    if worst.cause.slug in ("step-too-large", "cycle") and worst.swinger is not None:
        return worst.swinger
    if worst.leaf.flag is not None and worst.leaf.flag == worst.root[0] and len(worst.root) > 1:
        return worst.root[1]
    return worst.root[0] if worst.root else None


def _iterations(found: LoopSamples, worst: Suspect) -> Any:
    """Iterations of the operands' values at the end of what is known."""
    return found.at_the_end(worst.moving)[0] if isinstance(worst.moving, Ref) else worst.iterations


def _gap(found: LoopSamples, worst: Suspect, answer: Termination) -> Gap | None:
    """Of a loop that never ends the gap at the end of the look-ahead, of any other the present one."""
    facts = worst.facts
    if facts.late_x.dtype.kind not in "fiu":
        return None
    if answer.outcome == "never":
        its, xs, ts = _iterations(found, worst), facts.late_x, facts.late_t
    else:
        its, xs, ts = worst.iterations, facts.early_x, facts.early_t
        here = int(np.searchsorted(its, found.base, "right")) if found.runner is not None else len(its)
        if here >= 4:
            its, xs, ts = its[:here], xs[:here], ts[:here]
        else:
            its, xs, ts = its[:GAPS], xs[:GAPS], ts[:GAPS]
    n = min(len(its), len(xs), len(ts), GAPS)
    if n == 0:
        return None
    with np.errstate(all="ignore"):
        values = [abs(float(a) - float(b)) for a, b in zip(xs[-n:], ts[-n:], strict=True)]
    return Gap(trend_of(values), tuple(values), tuple(int(i) for i in its[-n:]))


def _details(found: LoopSamples, worst: Suspect, others: list[Suspect]) -> dict[str, Any]:
    facts, cause = worst.facts, worst.cause
    told: dict[str, Any] = {
        "clause": worst.leaf.node,
        "operand": sides(found, worst)[0],
        "threshold": facts.late_t[-1],
        "operand_value": facts.late_x[-1],
        "dtype": str(facts.root.dtype),
    }
    for name, value in (("limit", cause.limit), ("period", cause.period), ("step", cause.step or facts.step)):
        if value is not None:
            told[name] = value
    if worst.leaf.flag is not None:
        told["flag"] = worst.leaf.flag
    if len(others) > 1:
        told["other_clauses"] = [clause_text(found, s) for s in others[1:6]]
    return told


def _shown(value: float | None, beside: ClauseFeatures | None = None) -> str:
    """Nine digits, and all of them where it would look like the threshold that it is beside."""
    if value is None:
        return "its value"
    text = f"{value:.9g}"
    last = beside.late_t[-1] if beside is not None else value
    return repr(value) if float(last) != value and f"{float(last):.9g}" == text else text


__all__ = ["Status", "explained", "gather"]
