"""How many tokens went where: into each frame, around its loop, through each side of each branch, and out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError
from workbench.widgets.control_flow.decisions_model import decisions
from workbench.widgets.text.loop_names import loop_name

if TYPE_CHECKING:
    from workbench.ir.graph import Graph
    from workbench.trace import Trace

MAX_BRANCHES = 40


def tokens_model(graph: Graph, trace: Trace | None) -> dict[str, Any]:
    """``places`` (label, kind: "start", "loop", "back", "body", "left", "true", "false") and ``links`` (source, target,
    count), as numbers of places; ``never``: names of sides that no token took; ``partial``: iterations are not kept.

    A token is a value on its way: one with three loop variables counts three in each iteration. Where a Switch has
    several names, one per value that it forwards, all count.
    """
    empty: dict[str, Any] = {"places": [], "links": [], "never": [], "partial": False}
    if trace is None:
        return empty
    try:
        counts = trace.branch_counts()
        flow = _Flow(graph, trace, counts)
    except (KeyError, TypeError, ValueError, WorkbenchError):
        return empty
    for path in sorted((p for p in graph.frames if p), key=len):
        flow.frame(path)
    for row in [r for r in decisions(graph, limit=1000) if not r["loop"]][:MAX_BRANCHES]:
        flow.branch(row)
    return {"places": flow.places, "links": flow.links, "never": flow.never, "partial": bool(trace.dropped)}


class _Flow:
    def __init__(self, graph: Graph, trace: Trace, counts: dict[str, tuple[int, int]]) -> None:
        self.graph, self.trace, self.counts = graph, trace, counts
        self.places: list[dict[str, Any]] = []
        self.links: list[dict[str, int]] = []
        self.never: list[str] = []
        #: where the tokens of a frame are while they are in it
        self.inside: dict[tuple[str, ...], int] = {}

    def place(self, label: str, kind: str, node: str = "") -> int:
        self.places.append({"label": label, "kind": kind, "node": node})
        return len(self.places) - 1

    def link(self, source: int, target: int, count: int) -> None:
        if count:
            self.links.append({"source": source, "target": target, "count": count})

    def home(self, path: tuple[str, ...]) -> int:
        if path not in self.inside:
            self.inside[path] = self.place("start" if not path else loop_name(self.graph, path), "start")
        return self.inside[path]

    def fired(self, nodes: Any) -> int:
        return sum(self.trace.count(n) for n in nodes if n in self.trace.reader.node)

    def switched(self, switches: Any) -> tuple[int, int]:
        found = [self.counts[s] for s in switches if s in self.counts]
        return sum(f for f, _ in found), sum(t for _, t in found)

    def frame(self, path: tuple[str, ...]) -> None:
        frame = self.graph.frames[path]
        name = loop_name(self.graph, path)
        variables = frame.variables
        entered = self.fired(v.enter for v in variables)
        around = self.fired(v.next_iteration for v in variables)
        left, body = self.switched(v.switch for v in variables if v.switch is not None)
        if not entered and not around:
            self.never.append(f"loop {name}")
            return
        loop = self.place(f"{name}: condition", "loop", frame.loop_cond or "")
        self.link(self.home(path[:-1]), loop, entered)
        if around:
            self.link(self.place(f"{name}: next iteration", "back"), loop, around)
        if body:
            self.inside[path] = self.place(f"{name}: body (true)", "body")
            self.link(loop, self.inside[path], body)
        else:
            self.never.append(f"body of {name}")
        if left:
            self.link(loop, self.place(f"{name}: leaves (false)", "left"), left)

    def branch(self, row: dict[str, Any]) -> None:
        false, true = self.switched(row["switches"])
        node = row["switches"][0]
        if not false and not true:
            self.never.append(f"branch {row['name']}")
            return
        for side, count in (("true", true), ("false", false)):
            if count:
                self.link(self.home(row["frame"]), self.place(f"{row['name']}: {side}", side, node), count)
            else:
                self.never.append(f"{row['name']}: {side}")
