"""The door: one fix, one graph, its feeds -> the edited graph and feeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from workbench.analysis.fixes import KINDS, Fix
from workbench.analysis.repair.clauses import cap_trips, stop_at_nonfinite
from workbench.analysis.repair.edits import Edited, refuse
from workbench.analysis.repair.numbers import halve_step, move_threshold
from workbench.analysis.repair.operators import other_comparison, reverse_step
from workbench.analysis.repair.widening import widen
from workbench.errors import GraphError
from workbench.graph.graph import Graph

Feeds = dict[str, np.ndarray]

APPLY: dict[str, Callable[[Edited, Feeds, Fix], list[str]]] = {
    "tolerance": move_threshold, "step": halve_step, "comparison": other_comparison, "sign": reverse_step,
    "cap": cap_trips, "stop-at-nan": stop_at_nonfinite, "dtype": widen,
}  # fmt: skip


def repaired(graph: Graph, feeds: Mapping[str, np.ndarray], fix: Fix) -> tuple[Graph, Feeds, list[str]]:
    """(graph, feeds, what was changed as sentences); neither ``graph`` nor ``feeds`` is touched.

    SessionError for a fix that cannot be carried out: slugs ``fix-not-applicable``, ``fix-no-clause``,
    ``fix-no-constant``, ``fix-no-step``, ``fix-types``.
    """
    if fix.kind not in APPLY or not fix.applies:
        advice = "change the program as the fix says, or cap the trips: that can be applied to every loop."
        why = f"no number says how ({fix})" if fix.kind in KINDS else f"{fix.kind!r} is no kind of fix."
        raise refuse("fix-not-applicable", why, advice)
    if fix.frame is None or fix.frame not in graph.frames:
        raise refuse("fix-not-applicable", "it does not say in which loop.", "take one of session.termination().fix.")
    edited, new = Edited(graph), dict(feeds)
    told = APPLY[fix.kind](edited, new, fix)
    try:
        return edited.build(), new, told
    except GraphError as error:
        raise refuse(
            "fix-types", f"the edited graph would break a rule: {error.message}",
            "change the program itself, where all of its types can follow.", error.node,
        ) from error  # fmt: skip
