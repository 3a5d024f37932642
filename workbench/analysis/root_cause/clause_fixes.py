"""The fixes of a loop that does not end by itself, made from the clause that keeps it going."""

from __future__ import annotations

import numpy as np

from workbench.analysis.fix import Fix, cap, fixes
from workbench.analysis.root_cause.blocking_clauses import Suspect
from workbench.analysis.root_cause.expressions import turned
from workbench.analysis.root_cause.loop_samples import LoopSamples
from workbench.analysis.root_cause.sign_flips import flipping_variables
from workbench.analysis.text import listed

#: least iteration limit of the fix that caps a loop
CAP = 1000


def clause_fixes(
    found: LoopSamples, worst: Suspect, x: str, t: str, step: float | None, dtype: str, bad: int | None
) -> list[str]:
    """The fixes of the clause ``worst`` between ``x`` and ``t``, and last the one that caps the loop.

    ``step`` is the change of an iteration, ``dtype`` that in which it is computed, ``bad`` the first bad iteration.
    """
    loop = found.loop
    can_cap = loop.graph.frames[loop.path].loop_cond is not None
    made = [*_of_clause(found, worst, x, t, step, dtype), cap(_cap(found, bad), can_cap)]
    return [f.placed(loop.path, worst.mirrored, worst.leaf.negated) if isinstance(f, Fix) else f for f in made]


def moves(found: LoopSamples, late: np.ndarray) -> bool:
    """True if an operand is not known to be at rest at the end of the look-ahead."""
    return found.settled is None and len(late) > 1 and late.dtype.kind in "fiu" and bool(late[-1] != late[-2])


def _cap(found: LoopSamples, bad: int | None) -> int:
    """A number of iterations beyond the present one and the first bad iteration, rounded up to a power of ten."""
    return 10 ** len(str(max(found.base, bad or 0, CAP - 1)))


def _of_clause(found: LoopSamples, worst: Suspect, x: str, t: str, step: float | None, dtype: str) -> list[str]:
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
        moving=moves(found, facts.late_x),
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
