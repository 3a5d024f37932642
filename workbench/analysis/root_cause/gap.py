"""The clause that decides: its text with values, its gap, and the details of an explained answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.analysis.root_cause.clause_diagnosis import ClauseDiagnosis, sides
from workbench.analysis.root_cause.expressions import turned
from workbench.analysis.root_cause.loop_samples import LoopSamples
from workbench.analysis.text import apart
from workbench.analysis.verdict import Gap, Termination, trend_of
from workbench.ir.node import Ref

#: number of evaluations for which the gap is listed
GAPS = 8


def end_iterations(found: LoopSamples, worst: ClauseDiagnosis) -> Any:
    """Iterations of the operands' last known values."""
    return found.at_the_end(worst.moving)[0] if isinstance(worst.moving, Ref) else worst.iterations


def clause_gap(found: LoopSamples, worst: ClauseDiagnosis, answer: Termination) -> Gap | None:
    """The gap at the end of the look-ahead for a loop that never ends, the current one for any other loop."""
    facts = worst.values
    if facts.late_x.dtype.kind not in "fiu":
        return None
    if answer.outcome == "never":
        its, xs, ts = end_iterations(found, worst), facts.late_x, facts.late_t
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


def clause_details(found: LoopSamples, worst: ClauseDiagnosis, others: list[ClauseDiagnosis]) -> dict[str, Any]:
    facts = worst.values
    details: dict[str, Any] = {
        "clause": worst.leaf.node,
        "operand": sides(found.loop, worst)[0],
        "threshold": facts.late_t[-1],
        "operand_value": facts.late_x[-1],
        "dtype": str(facts.late_x.dtype),
    }
    if worst.leaf.flag is not None:
        details["flag"] = worst.leaf.flag
    if len(others) > 1:
        details["other_clauses"] = [clause_text(found, s) for s in others[1:6]]
    return details


def clause_text(found: LoopSamples, worst: ClauseDiagnosis, ends: bool = False) -> str:
    """The clause as in the graph, with the last known values of its operands."""
    leaf = worst.leaf
    left, right = worst.values.late_x, worst.values.late_t
    a, b = sides(found.loop, worst)
    if worst.mirrored:
        left, right, a, b = right, left, b, a
    op = turned(leaf.op, False, leaf.negated)
    c, d = apart(left[-1], right[-1])
    return f"{a} {op} {b} ({c} {op} {d})"
