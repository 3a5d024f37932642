"""Root cause: adds to an answer about a loop the blocking clause, its gap, the root variables, the chain that
updates them, the first bad iteration, the reason and the fixes.

The proof or forecast itself is not changed; this only explains it.
"""

from __future__ import annotations

import re

import numpy as np

from workbench.analysis.claims import Period, checked
from workbench.analysis.root_cause.blame import blame
from workbench.analysis.root_cause.blocking_clauses import Suspect, suspects
from workbench.analysis.root_cause.clause_text import clause_text
from workbench.analysis.root_cause.expressions import expression
from workbench.analysis.root_cause.gap import clause_details, clause_gap, end_iterations
from workbench.analysis.root_cause.gather import gather
from workbench.analysis.root_cause.loop_samples import LoopSamples
from workbench.analysis.slicing import work
from workbench.analysis.slicing.protocol import SliceTimeout
from workbench.analysis.verdict import Reason, Termination
from workbench.errors import WorkbenchError
from workbench.execution import Run
from workbench.ir.node import Ref
from workbench.trace import Trace

#: reasons without a clause to explain
APART = frozenset("no-loop node-failed raw-frame not-entered slice-failed".split())


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
        if came_to is not None:
            inside, at, n = came_to
            answer.claims += checked([Period(n=n, since=found.base + at, evidence=inside)])
        return _told(found, answer, work.now() + seconds)
    except (SliceTimeout, WorkbenchError, RuntimeError):
        return answer


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
    its = end_iterations(found, worst)
    if len(its):
        answer.details["clause_iteration"] = int(its[-1])
    answer.gap = clause_gap(found, worst, answer)
    if worst.root and worst.root[0] in loop.variables:
        answer.chain = loop.chain(worst.root[0])
    answer.details.update(clause_details(found, worst, all_of_them))
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
        blame(found, worst, answer, deadline)
    elif want and _ends_by_wrapping(worst, answer):
        reason = answer.reason
        blame(found, worst, answer, deadline)
        again = f"{reason.sentence} It ends only because its {worst.facts.late_x.dtype} wraps around."
        answer.reason = Reason("wraps", again)
    return answer


def _ends_by_wrapping(worst: Suspect, answer: Termination) -> bool:
    """True if an integer that goes the wrong way, or steps over its goal, ends the loop on its way round."""
    astray = worst.cause.slug in ("moves-away", "steps-over", "wraps") and worst.facts.late_x.dtype.kind in "iu"
    return answer.outcome == "terminates" and (answer.reason.slug == "wraps" or astray)


def _endless_but_for_the_limit(answer: Termination) -> bool:
    return answer.reason.slug == "trip-limit" and answer.proof is not None and "recurs" in answer.proof.kind
