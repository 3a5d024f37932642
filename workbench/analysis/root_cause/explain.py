"""Explanation of an answer: the cause of a loop that does not end, or the clause that ends it, as checked claims."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from workbench.analysis.claims import Period, checked
from workbench.analysis.claims.claim import Claim
from workbench.analysis.claims.clause import Compared
from workbench.analysis.precision.cancellation import cancellations
from workbench.analysis.root_cause.blocking_clauses import ClauseDiagnosis, diagnoses
from workbench.analysis.root_cause.expressions import expression, turned
from workbench.analysis.root_cause.firings import Firings
from workbench.analysis.root_cause.gap import clause_details, clause_gap, clause_text, end_iterations
from workbench.analysis.root_cause.gather import RECORD, gather
from workbench.analysis.root_cause.onset import first_bad
from workbench.analysis.root_cause.source_text import predicate_text
from workbench.analysis.root_cause.wrapped import may_wrap
from workbench.analysis.slicing import work
from workbench.analysis.slicing.protocol import SliceTimeout
from workbench.analysis.verdict import Reason, Status, Termination
from workbench.errors import WorkbenchError
from workbench.execution import Run
from workbench.ir.node import Ref
from workbench.trace import Trace

#: kinds of claims that state a whole proof
PROOFS = frozenset("period bounded ray identity".split())
#: reasons without a clause to explain
APART = frozenset("no-loop node-failed raw-frame not-entered slice-failed".split())


def explained(run: Run, trace: Trace, path: tuple[str, ...] | None, answer: Termination, seconds: float) -> Termination:
    """Add the cause to an answer; return the same object.

    ``seconds`` limits the look-ahead. If it fails (because a node fails ahead), the answer is returned unchanged,
    without an explanation.
    """
    came_to, begun = answer.evidence, answer.begun
    answer.evidence = answer.begun = None
    if path is None or answer.reason.slug in APART:
        return answer
    try:
        found = gather(run, trace, path, answer, came_to, begun, seconds)
        if found is None:
            return answer
        # the proof counts from the present iteration
        answer.claims = [replace(c, since=c.since + found.base) if isinstance(c, Period) else c for c in answer.claims]
        return _with_cause(Firings(found), answer, work.now() + seconds)
    except (SliceTimeout, WorkbenchError, RuntimeError):
        return answer


def _with_cause(firings: Firings, answer: Termination, deadline: float) -> Termination:
    found = firings.found
    columns, last = found.deepest
    value = columns.latest(found.cond).get(last)
    want = bool(np.asarray(value).reshape(-1)[0]) if value is not None and np.size(value) == 1 else True
    ends = answer.outcome == "terminates" and (found.ended is not None or not want)
    if ends and found.ended is not None:
        want = False
    all_of_them = diagnoses(firings, want, answer.reason.slug)
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
    if len(its):
        answer.claims[:0] = checked(_compared(firings, worst, int(its[-1])))
    if ends and worst.ends_in_nan:
        answer.details["ended_by"] = "nan"
        why = f"{answer.reason.sentence} It ends because one side of the clause is NaN."
        answer.reason = Reason(answer.reason.slug, why)
    _name_nodes(firings, worst, answer)
    if answer.outcome == "never" or _endless_but_for_the_limit(answer):
        _blame(firings, worst, answer, deadline)
    elif want and _ends_by_wrapping(firings, worst, answer):
        reason = answer.reason
        _blame(firings, worst, answer, deadline)
        again = f"{reason.sentence} It ends only because its {worst.values.late_x.dtype} wraps around."
        answer.reason = Reason("wraps", again)
    return answer


def _compared(firings: Firings, worst: ClauseDiagnosis, k: int) -> list[Claim]:
    """The claim about the comparison that decides, in the last known iteration."""
    leaf = worst.leaf
    node = firings.graph.nodes[leaf.node]
    if leaf.op not in ("<", "<=", ">", ">=", "==", "!=") or len(node.inputs) != 2 or node.op == "Merge":
        return []
    left, right = worst.values.late_x[-1], worst.values.late_t[-1]
    if worst.mirrored:
        left, right = right, left
    op = turned(leaf.op, False, leaf.negated)
    return [
        Compared(
            node=leaf.node,
            text=predicate_text(firings, node, op),
            left=left,
            op=op,
            right=right,
            holds=not leaf.negated,
            iteration=k,
            item=worst.item,
            evidence=firings,
        )
    ]


def _name_nodes(firings: Firings, worst: ClauseDiagnosis, answer: Termination) -> None:
    """Describe a node without a name by its computation."""
    for ref in (worst.moving, worst.still):
        name = firings.graph.name_of(ref) if isinstance(ref, Ref) else ""
        if "/" in name:
            node = re.escape(name.removesuffix(":0"))
            parts = re.split(rf"(?<![\w/]){node}(?::0)?(?![\w/])", answer.reason.sentence)
            sentence = expression(firings.loop, ref).join(parts)
            answer.reason = Reason(answer.reason.slug, sentence)


def _blame(firings: Firings, worst: ClauseDiagnosis, answer: Termination, deadline: float) -> None:
    """Set reason, claims and first bad iteration of a loop that does not end by itself."""
    cause = worst.cause
    answer.first_bad, claims = first_bad(firings, worst, deadline)
    proved = [c for c in answer.claims if c.kind in PROOFS and getattr(c, "periods", None) is None]
    proved = proved if answer.status is Status.PROVED else []
    if proved:  # an observation is weaker than a proof
        cause.claims = [c for c in cause.claims if c.kind != "observed"]
    answer.claims = [*cause.claims, *claims, *answer.claims]
    slug = cause.slug
    answer.details["cause"] = slug
    if worst.leaf.flag is not None:
        answer.details["flag_cause"] = slug
        slug = "flag-never-set"
    _numbers_lost(firings, slug, answer)
    said = [c.sentence for c in (*cause.claims, *proved)]
    if not proved:
        said.append(answer.reason.sentence)
    elif "beyond" in answer.details:  # ints of the graph overflow here, unlike Python ints
        ends = [c.sentence for c in answer.claims if c.kind == "overflow"]
        said.append(ends[0] if ends else answer.details["beyond"])
    if slug != "recurrence" and answer.reason.slug != "trip-limit":
        answer.reason = Reason(slug, " ".join(said).strip())
    elif answer.reason.slug != "trip-limit":
        answer.reason = Reason(answer.reason.slug, " ".join(said).strip())


def _numbers_lost(firings: Firings, slug: str, answer: Termination) -> None:
    """Add the node at which digits are lost to the details: its name and a sentence."""
    found = firings.found
    columns = found.late or found.early
    bad = next((c for c in answer.claims if c.kind in ("origin", "edited")), None)
    if bad is not None:
        answer.details.update(origin=bad.data["node"], origin_text=bad.sentence)
    if not any(c.kind == "last-digits" for c in answer.claims) or columns is None:
        return
    lost = cancellations(columns.trace, found.loop.path, harmless=True, firings=RECORD)
    if lost:
        first = lost[0]
        around = found.record.activation if found.record is not None else None
        at = (*(around or first.iteration[:-1]), first.iteration[-1] + found.base_of(columns))
        answer.details.update(cancellation=first.node, cancellation_text=str(replace(first, iteration=at)))


def _ends_by_wrapping(firings: Firings, worst: ClauseDiagnosis, answer: Termination) -> bool:
    """True if an integer that moves away from its goal, or steps over it, ends the loop by wrapping around.

    It does if the proof counts it modulo 2^bits, or if it jumped by half of its range. Python ints never wrap.
    """
    if answer.outcome != "terminates":
        return False
    if answer.reason.slug == "wraps":
        return True
    if worst.values.late_x.dtype.kind not in "iu" or worst.approaches or not may_wrap(firings, worst):
        return False
    if worst.cause.slug not in ("moves-away", "steps-over", "wraps"):
        return False
    if answer.proof is not None and answer.proof.kind == "affine-counter":
        return True
    values = [int(v) for v in worst.values.late_x[-1024:].tolist()]
    half = 2 ** (8 * worst.values.late_x.dtype.itemsize - 1)
    return any(abs(b - a) >= half for a, b in zip(values, values[1:], strict=False))


def _endless_but_for_the_limit(answer: Termination) -> bool:
    return answer.reason.slug == "trip-limit" and answer.proof is not None and "recurs" in answer.proof.kind
