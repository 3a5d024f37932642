"""``apply``: one fix, a graph and its feeds -> the edited graph and feeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from workbench.analysis.fixes.add_clause import cap_trips, stop_at_nonfinite
from workbench.analysis.fixes.change_number import halve_step, move_threshold
from workbench.analysis.fixes.change_operator import other_comparison, reverse_step
from workbench.analysis.fixes.fix import KINDS, Fix
from workbench.analysis.fixes.graph_editor import GraphEditor, refuse
from workbench.analysis.fixes.widen_dtype import widen
from workbench.errors import GraphError
from workbench.ir.graph import Graph

Feeds = dict[str, np.ndarray]

APPLY: dict[str, Callable[[GraphEditor, Feeds, Fix], list[str]]] = {
    "tolerance": move_threshold,
    "step": halve_step,
    "comparison": other_comparison,
    "sign": reverse_step,
    "cap": cap_trips,
    "stop-at-nan": stop_at_nonfinite,
    "dtype": widen,
}


def repaired(graph: Graph, feeds: Mapping[str, np.ndarray], fix: Fix) -> tuple[Graph, Feeds, list[str]]:
    """(graph, feeds, sentences about the changes); ``graph`` and ``feeds`` themselves are not changed.

    SessionError for a fix that cannot be carried out: slugs ``fix-not-applicable``, ``fix-no-clause``,
    ``fix-no-constant``, ``fix-no-step``, ``fix-types``.
    """
    if fix.kind not in APPLY or not fix.applies:
        advice = "change the program as the fix says, or limit the iterations: that can be applied to every loop."
        why = f"it contains no number to apply ({fix})" if fix.kind in KINDS else f"unknown kind of fix {fix.kind!r}."
        raise refuse("fix-not-applicable", why, advice)
    if fix.frame is None or fix.frame not in graph.frames:
        raise refuse("fix-not-applicable", "it does not say in which loop.", "take one of session.termination().fix.")
    edited, new = GraphEditor(graph), dict(feeds)
    summary = APPLY[fix.kind](edited, new, fix)
    try:
        return edited.build(), new, summary
    except GraphError as error:
        raise refuse(
            "fix-types",
            f"the edited graph would break a rule: {error.message}",
            "change the program itself, where all of its types can follow.",
            error.node,
        ) from error
