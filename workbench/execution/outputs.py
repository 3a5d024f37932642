"""The outputs of a run; for a dead output, the Switch that left it dead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import DeadValueError
from workbench.ir.node import Ref

if TYPE_CHECKING:
    from workbench.execution.run import Run


def outputs_of(run: Run) -> dict[str, np.ndarray]:
    """Outputs by name; the DeadValueError for a dead output names the Switch that left it dead."""
    found = {}
    for name, ref in run.plan.outputs.items():
        series = run.trace[ref] if ref in run.plan.layout.values else None
        inside = run.plan.graph.frame_of(ref.node) and run.plan.graph.nodes[ref.node].op != "Exit"
        if inside and series is not None:
            found[name] = series.values
            continue
        if series is None or len(series) == 0:
            raise _dead(run, name, ref)
        found[name] = _own(series.firings()[-1])
    return found


def _dead(run: Run, name: str, ref: Ref) -> DeadValueError:
    graph = run.plan.graph
    switch, taken = _deciding_switch(run, ref)
    if switch is None and ref.node not in run.plan.guards.dead:
        return DeadValueError(
            f"The output {name!r} ({ref}) is dead: {ref.node!r} did not fire in this run.",
            node=ref.node,
            source=graph.nodes[ref.node].source,
            fix="follow its inputs in session.trace.events(): the first one that did not fire is the cause.",
        )
    if switch is None or ref.node in run.plan.guards.dead:
        return DeadValueError(
            f"The output {name!r} ({ref}) can never be alive: it needs both sides of one decision.",
            node=ref.node,
            source=graph.nodes[ref.node].source,
            fix="take it from a Merge of the two sides.",
        )
    pred = graph.nodes[switch].inputs[1]
    return DeadValueError(
        f"The output {name!r} ({ref}) is dead: Switch {switch!r} took its {'true' if taken else 'false'} side, "
        f"because {graph.name_of(pred)} was {taken}.",
        node=ref.node,
        source=graph.nodes[switch].source,
        fix=f"request a value on the side taken, or the Merge after it; {graph.name_of(pred)} is computed by "
        f"{graph.nodes[pred.node].op} {pred.node!r}.",
    )


def _deciding_switch(run: Run, ref: Ref) -> tuple[str | None, bool]:
    """(the Switch behind ``ref`` that took the other side, the side that it took); (None, False) if there is none."""
    graph, stack, seen = run.plan.graph, [ref], set()
    found: tuple[str | None, bool] = (None, False)
    while stack:
        at = stack.pop()
        if at in seen:
            continue
        seen.add(at)
        node = graph.nodes[at.node]
        if node.op == "Switch" and node.name in run.trace.reader.node:
            taken = run.trace.last_branch(node.name)
            if taken is not None and taken != bool(at.index):
                found = (node.name, taken)
                continue
        stack.extend(node.inputs)
        stack.extend(Ref(c) for c in node.control)
    return found


def _own(array: Any) -> Any:
    return np.array(array, copy=True) if isinstance(array, np.ndarray) else array  # the trace has already copied lists
