"""One node with its inputs and its readers, drawn as text::

a ────────┐
x ────────┤
          divide a/x   float64   in loop
            ├──────── sum
            └──────── half
"""

from __future__ import annotations

from typing import Any

from workbench.cli.layout import clip
from workbench.cli.output import value_text
from workbench.text import printable

#: maximum number of readers in the list
MANY = 20


def neighbourhood(graph: Any, name: str, trace: Any = None, plan: Any = None) -> str:
    """The node and its neighbours as text, with how the node runs if there is a plan. GraphError for an unknown
    name."""
    ref = graph.value(name)
    node = graph.nodes[ref.node]
    sources = [(graph.name_of(r), graph.nodes[r.node].op, _last(trace, r)) for r in node.inputs]
    sources += [(f"after {name}", graph.nodes[name].op, "") for name in node.control]
    readers = graph.consumers(node.name)
    width = max([12, *(len(clip(s[0], 40)) for s in sources)])
    out = []
    for i, (label, op, value) in enumerate(sources):
        text = clip(label, 40)
        corner = "┐" if i == 0 else "┤"
        out.append(f"{text} {'─' * (width - len(text) + 4)}{corner}  {printable(op)}{value}\n")
    pad = " " * (width + 5) if sources else ""
    frame = "/".join(graph.frame_of(node.name))
    types = " ".join(map(str, node.types))
    public = graph.name_of(ref)
    own = printable(node.name) if public in (node.name, str(ref)) else f"{printable(node.name)} ({printable(public)})"
    out.append(f"{pad}{'▼ ' if sources else ''}{own}: {printable(node.op)} -> {printable(types)}{_last(trace, ref)}\n")
    facts = [f"in {printable(frame)}"] if frame else []
    if node.source is not None:
        facts.append(f"line {printable(node.source)}")
    attrs = ", ".join(
        f"{printable(k)}={clip(value_text(v) if hasattr(v, 'dtype') else v, 40)}" for k, v in node.attrs.items()
    )
    facts += [attrs] if attrs else []
    facts += _how_it_runs(plan, node.name)
    out += [f"{pad}  {clip(fact, 200)}\n" for fact in facts]
    for i, reader in enumerate(readers[:MANY]):
        corner = "└" if i == len(readers) - 1 else "├"
        out.append(f"{pad}  {corner}─── {clip(reader, 60)}  {printable(graph.nodes[reader].op)}\n")
    if len(readers) > MANY:
        out.append(f"{pad}  └─── and {len(readers) - MANY} more\n")
    if not readers:
        outputs = [n for n, r in graph.outputs.items() if r.node == node.name]
        end = f"output {', '.join(map(printable, outputs))}" if outputs else "nothing reads it"
        out.append(f"{pad}  └─── {end}\n")
    return "".join(out)


def node_facts(graph: Any, name: str, trace: Any = None) -> dict[str, Any]:
    """The same as plain data. GraphError for an unknown name."""
    ref = graph.value(name)
    node = graph.nodes[ref.node]
    series = trace[ref] if trace is not None and ref in trace else None
    return {
        "node": node.name,
        "name": graph.name_of(ref),
        "op": node.op,
        "types": list(map(str, node.types)),
        "frame": list(graph.frame_of(node.name)),
        "source": None if node.source is None else str(node.source),
        "inputs": list(map(str, node.inputs)),
        "after": list(node.control),
        "read_by": list(graph.consumers(node.name)),
        "firings": 0 if series is None else len(series),
        "last": series[-1] if series is not None and len(series) else None,
    }


def _how_it_runs(plan: Any, name: str) -> list[str]:
    """The neighbours that a node on arrays runs block by block with, or why it runs alone; for other nodes, how they
    are computed."""
    if plan is None:
        return []
    slug, sentence = plan.fused.get(name) or plan.reasons.get(name) or ("", "")
    begin = "" if name not in plan.fused else "where nothing stops, " if slug == "fused" else "it runs alone: "
    return [printable(f"{begin}{sentence}")] if sentence else []


def _last(trace: Any, ref: Any) -> str:
    """`` = 1.5`` for a value that has fired."""
    if trace is None or ref not in trace:
        return ""
    series = trace[ref]
    return f" = {value_text(series[-1])}" if len(series) else " = (has not fired)"
