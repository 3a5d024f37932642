"""``workbench inspect``: describe a model or a trace."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.cli.inputs import add_dims
from workbench.cli.layout import clip, columns, table
from workbench.cli.neighbours import neighbourhood, node_facts
from workbench.cli.output import lines, path_text, print_json, show, sparkline, value_text
from workbench.cli.sources import open_either
from workbench.errors import TraceError
from workbench.text import printable

#: maximum firings in the sparkline of a series (the newest)
COURSE = 100_000


def add(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "inspect",
        help="describe a model or a trace",
        description="For a model: inputs, outputs, ops, loops and branches. For a trace, also how often each node ran "
        "and how values evolved.",
    )
    parser.add_argument("source", metavar="MODEL|TRACE", type=Path, help="model file, or a saved trace")
    parser.add_argument("--node", metavar="NAME", help="one node: its inputs, its readers, and its values")
    parser.add_argument("--nodes", action="store_true", help="all nodes with op, type, frame and inputs")
    parser.add_argument("--values", action="store_true", help="for a trace: all values, not only loop variables")
    parser.add_argument("--report", action="store_true", help="for a trace: how loops and variables evolved, and why")
    add_dims(parser)
    parser.add_argument(
        "--text", action="store_true", help="print the graph in its text format, which can be loaded again"
    )
    parser.add_argument("--json", action="store_true", help="print the facts as JSON")
    parser.set_defaults(run=_inspect)


def _inspect(arguments: argparse.Namespace) -> None:
    from workbench.trace import Trace

    source = open_either(arguments.source)
    if arguments.dim:
        source = _sized(source, dict(arguments.dim))
    trace = source if isinstance(source, Trace) else None
    graph: Any = source.graph if isinstance(source, Trace) else source
    if trace is None and arguments.report:
        raise TraceError(
            "A model has not run, so there is nothing to report.",
            slug="not-a-trace",
            fix="workbench run MODEL --report runs it.",
        )
    if arguments.json:
        facts = graph_facts(graph, arguments.nodes)
        if trace is not None:
            facts |= trace_facts(trace, arguments.values)
            facts |= {"report": report_data(trace)} if arguments.report else {}
        facts |= {"text": graph.text()} if arguments.text else {}
        print_json(facts | ({"node": node_facts(graph, arguments.node, trace)} if arguments.node else {}))
    elif arguments.text:
        print(lines(graph.text()), end="")
    elif arguments.node:
        show(neighbourhood(graph, arguments.node, trace))
    elif arguments.nodes:
        show(table(_nodes(graph), ("node", "op", "type", "frame", "inputs"), width=columns(sys.stdout)))
    else:
        width = columns(sys.stdout)
        text = describe_graph(graph, width)
        if trace is not None:
            text += "\n" + describe_trace(trace, arguments.values, width)
        if arguments.report and trace is not None:
            text += "\n" + report_text(trace, width)
        show(text)


def report_text(source: Any, width: int | None) -> str:
    """A report of how loops and variables evolved, and why, for a terminal of this width."""
    from workbench.analysis.report import analyze

    return lines(analyze(source).report(96 if width is None else width)) + "\n"


def report_data(source: Any) -> dict[str, Any]:
    """The same as plain data."""
    from workbench.analysis.report import analyze

    found: dict[str, Any] = analyze(source).data()
    return found


def _sized(source: Any, sizes: dict[str, int]) -> Any:
    from workbench.ir.graph import Graph
    from workbench.session.input_examples import with_sizes

    if not isinstance(source, Graph):
        raise TraceError(
            "--dim needs a model: the sizes of a trace are fixed.", slug="not-a-model", fix="give a model for --dim."
        )
    return with_sizes(source, **sizes)


def _nodes(graph: Any) -> list[tuple[str, ...]]:
    return [
        (n.name, n.op, " ".join(map(str, n.types)), "/".join(graph.frame_of(n.name)), " ".join(map(str, n.inputs)))
        for n in graph.nodes.values()
    ]


def graph_facts(graph: Any, nodes: bool = False) -> dict[str, Any]:
    """Facts about a graph as plain data."""
    from workbench.session.input_examples import open_sizes

    ops: dict[str, int] = {}
    for node in graph.nodes.values():
        ops[node.op] = ops.get(node.op, 0) + 1
    facts: dict[str, Any] = {
        "graph": graph.name,
        "fingerprint": graph.fingerprint,
        "nodes": len(graph.nodes),
        "inputs": {n: str(graph.type_of(r)) for n, r in graph.inputs.items()},
        "outputs": {n: str(graph.type_of(r)) for n, r in graph.outputs.items()},
        "open_sizes": open_sizes(graph),
        "ops": dict(sorted(ops.items(), key=lambda item: (-item[1], item[0]))),
        "loops": [
            {
                "frame": list(f.path),
                "nodes": len(f.nodes),
                "condition": f.loop_cond,
                "variables": [v.name for v in f.variables],
            }
            for f in graph.frames.values()
            if f.path
        ],
        "notes": list(graph.notes),
        "regions": [{"name": r.name, "kind": r.kind, "nodes": len(r.nodes)} for r in graph.regions.values()],
    }
    if nodes:
        names = ("node", "op", "type", "frame", "inputs")
        facts["all_nodes"] = [dict(zip(names, row, strict=True)) for row in _nodes(graph)]
    return facts


def describe_graph(graph: Any, width: int | None = None) -> str:
    """A graph described on one screen; ``width`` is that of the terminal."""
    facts = graph_facts(graph)
    loops, branches = facts["loops"], sum(r["kind"] == "branch" for r in facts["regions"])
    out = [
        f"graph {printable(graph.name)!s}: {_many(len(graph.nodes), 'node')}, {_many(len(loops), 'loop')}"
        + (f", {_many(branches, 'branch', 'branches')}" if branches else "")
        + "\n\n"
    ]
    inputs = table(facts["inputs"].items(), indent="  ", width=width)
    out.append("inputs\n" + inputs if inputs else "no inputs\n")
    out.append("outputs\n" + table(facts["outputs"].items(), indent="  ", width=width))
    if facts["open_sizes"]:
        rows = [(name, ", ".join(places)) for name, places in facts["open_sizes"].items()]
        out.append("open sizes (--dim NAME=SIZE)\n" + table(rows[:40], indent="  ", width=width) + _rest(rows))
    if loops:
        rows = [("/".join(each["frame"]), _many(each["nodes"], "node"), ", ".join(each["variables"])) for each in loops]
        out.append("loops\n" + table([*rows[:40]], ("frame", "", "carries"), indent="  ", width=width) + _rest(rows))
    counted = list(facts["ops"].items())
    shown = ", ".join(f"{printable(op)} {count}" for op, count in counted[:24])
    out.append(f"ops\n  {shown}{f' and {len(counted) - 24} more' if len(counted) > 24 else ''}\n")
    if graph.notes:
        out.append("notes\n" + "".join(f"  {clip(note, 400)}\n" for note in graph.notes))
    return "".join(out)


def trace_facts(trace: Any, every: bool = False) -> dict[str, Any]:
    """The content of a trace as plain data."""
    from workbench.analysis.ends.all_loops import loop_ends

    frames = {}
    for path, cover in trace.coverages().items():
        frames["/".join(path)] = str(cover)
    series = {}
    for name in _names(trace, every):
        values = trace[name]
        newest = values[-1] if len(values) else None
        series[name] = {"type": str(values.type), "firings": len(values), "last": newest}
    counts = {name: {"false": no, "true": yes} for name, (no, yes) in trace.branch_counts().items()}
    ends = {"/".join(path): end.table() for path, end in loop_ends(trace).items()}
    return {"events": len(trace.events()), "iterations": frames, "ends": ends, "series": series, "switches": counts}


def _ends(trace: Any) -> list[tuple[str, str, str]]:
    """(loop, how it ended or its present state, reason) for a table."""
    from workbench.analysis.ends.all_loops import loop_ends

    return [("/".join(p), f"{end.standing.sign} {end.headline}", end.why) for p, end in loop_ends(trace).items()]


def _names(trace: Any, every: bool) -> list[str]:
    """Inputs, loop variables and outputs; or all values."""
    if every:
        return trace.names()
    carried = [v.name for f in trace.graph.frames.values() for v in f.variables]
    return [n for n in dict.fromkeys([*trace.graph.inputs, *carried, *trace.graph.outputs]) if n in trace]


def describe_trace(trace: Any, every: bool = False, width: int | None = None) -> str:
    """One screen of text: how often nodes ran and how values evolved."""
    out = [f"trace: {_many(len(trace.events()), 'event')}\n"]
    covers = [("/".join(path), str(cover)) for path, cover in trace.coverages().items()]
    if covers:
        out.append("kept iterations\n" + table(covers, indent="  ", width=width))
    ends = _ends(trace)
    if ends:
        out.append("loops\n" + table(ends[:40], indent="  ", width=width) + _rest(ends))
    counts = trace.branch_counts().items()
    decisions = [(n, f"{_many(yes, 'time')} true", f"{_many(no, 'time')} false") for n, (no, yes) in counts]
    if decisions:
        out.append("switches\n" + table(decisions[:40], indent="  ", width=width) + _rest(decisions))
    names = _names(trace, every)
    rows = [_row(trace, name) for name in names[:400]]
    out.append("values\n" + table(rows, ("name", "firings", "last", "course"), "  ", width=width))
    if len(names) > 400:
        out.append(f"  and {len(names) - 400} more: workbench inspect TRACE --json\n")
    return "".join(out)


def _row(trace: Any, name: str) -> tuple[str, str, str, str]:
    series = trace[name]
    count = len(series)
    if not count:
        return name, "0", "dead, or not reached", ""
    tag = series.tag(-1)
    where = path_text(tag.frame, tag.iteration)
    last = value_text(series[-1]) + (f"  [{where}]" if where else "")
    scalar = series.type.shape == () and count > 1
    return name, f"{count:,}", last, sparkline(series[-COURSE:]) if scalar else ""


def _rest(rows: Sequence[Any]) -> str:
    """The line below a table that shows at most 40 rows."""
    return f"  and {len(rows) - 40:,} more\n" if len(rows) > 40 else ""


def _many(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
