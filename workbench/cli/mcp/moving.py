"""Tools that open a model or a trace and move in it."""

from __future__ import annotations

import argparse
import json
from typing import Any

from workbench.cli.inputs import feeds_of
from workbench.cli.mcp.answers import ToolError, tool
from workbench.cli.mcp.folders import readable
from workbench.cli.mcp.held import MEMORY, hold, let_go, session_of
from workbench.cli.sources import is_trace, open_graph
from workbench.cli.terminal.points import options
from workbench.errors import FeedError
from workbench.session import Session
from workbench.trace import Trace

#: maximum seconds and steps of one call
MOST_SECONDS, MOST_STEPS = 60.0, 100_000


def place(session: Session) -> dict[str, Any]:
    """The position of a run, and the reason for its stop."""
    position, stop = session.position, session.stop
    return {
        "state": session.state,
        "reason": stop.reason.name,
        "why": f"{stop.reason} {stop.detail}".strip(),
        "next_node": position.node,
        "loop": list(position.frame),
        "iteration": list(position.iteration),
        "event": position.event,
        "error": None if stop.error is None else str(getattr(stop.error, "report", None) or stop.error),
    }


@tool
def workbench_open(path: str, inputs: dict | None = None, random: bool = False, sizes: dict | None = None) -> Any:
    """Open a model (ONNX, TensorFlow, StableHLO, .pt2, SameDiff, text of a graph) for debugging, or a saved .wbtrace.

    inputs: values by name, as numbers, nested lists, or strings in the notation of the command line ("zeros(2,3)",
    "@x.npy" for a file). random: make up the inputs that are missing. sizes: open sizes by name. Only the graph in
    the file is executed. The answer has the run's number for all other tools, inputs, outputs and loops.
    """
    file = readable(path)
    if is_trace(file):
        trace = Trace.load(file)
        return {"run": hold(trace), "kind": "trace", **_facts(trace.graph)}
    graph = open_graph(file)
    given = [f"{name}={_text(name, value)}" for name, value in (inputs or {}).items()]
    wanted = argparse.Namespace(
        inputs=None,
        input=given,
        random=0 if random else None,
        dim=[(str(n), _size(n, k)) for n, k in (sizes or {}).items()],
    )
    feeds = _feeds(graph, wanted)
    session = Session(graph, feeds, trace="all", memory_budget=MEMORY)
    made_up = getattr(wanted, "made_up", None)
    return {
        "run": hold(session),
        "kind": "session",
        **_facts(graph),
        "random_inputs": [] if made_up is None else list(made_up.inputs),
        **place(session),
    }


def _feeds(graph: Any, wanted: argparse.Namespace) -> dict[str, Any]:
    """The feeds; an error about them suggests arguments of the tool, not command-line options."""
    try:
        return feeds_of(graph, wanted)
    except FeedError as error:
        known = ", ".join(f"{name} ({graph.type_of(ref).words})" for name, ref in list(graph.inputs.items())[:20])
        fix = f"pass inputs={{name: value}}, or random=true; the inputs are {known or 'none'}."
        raise ToolError(error.message, slug=error.slug, fix=fix) from None


def _facts(graph: Any) -> dict[str, Any]:
    return {
        "graph": graph.name,
        "nodes": len(graph.nodes),
        "inputs": {name: str(graph.type_of(ref)) for name, ref in graph.inputs.items()},
        "outputs": list(graph.outputs),
        "loops": {
            "/".join(path): {"variables": [v.name for v in frame.variables]}
            for path, frame in graph.frames.items()
            if path
        },
    }


def _text(name: str, value: Any) -> str:
    """A value in the notation of the command line; files must be in the allowed folders."""
    if isinstance(value, str):
        return f"@{readable(value[1:])}" if value.startswith("@") else value
    if isinstance(value, bool | int | float | list):
        return json.dumps(value)
    raise ToolError(f"The input {name!r} is not a number, a list or a text.", fix="pass numbers or nested lists.")


def _size(name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= 1 << 31:
        raise ToolError(f"The size {name!r} must be a positive integer.", fix='pass sizes={"batch": 1}.')
    return value


@tool
def workbench_run(run: int, seconds: float = 10.0) -> Any:
    """Run to the next breakpoint, failure or the end; after some seconds (at most 60) it is paused and can continue."""
    session = session_of(run)
    session.resume(wait=False) if session.state == "paused" else session.run(wait=False)
    if session.wait(min(max(seconds, 0.0), MOST_SECONDS)) is None:
        session.pause()
    return place(session)


@tool
def workbench_step(run: int, count: int = 1, what: str = "iteration") -> Any:
    """Step forward by "iteration", by "node", or "out" of the loop; workbench_value then has the values there."""
    return _step(run, count, what, {"iteration": "next_iteration", "node": "step", "out": "step_out"})


@tool
def workbench_back(run: int, count: int = 1, what: str = "iteration") -> Any:
    """Step back by "iteration", by "node", "out" of the loop, or to the "start"; every value is as it was."""
    moves = {"iteration": "previous_iteration", "node": "step_back", "out": "step_back_out", "start": "restart"}
    return _step(run, count, what, moves)


def _step(run: int, count: int, what: str, moves: dict[str, str]) -> dict[str, Any]:
    session = session_of(run)
    if what not in moves or not 1 <= count <= MOST_STEPS:
        raise ToolError(
            f"what must be one of {', '.join(moves)} and count from 1 to {MOST_STEPS:,}, got {what!r} and {count}.",
            fix='pass what="iteration", count=1.',
        )
    move = getattr(session, moves[what])
    move(count) if what in ("iteration", "node") else move()
    return place(session)


@tool
def workbench_break(run: int, point: str = "", remove: int = 0) -> Any:
    """Set a breakpoint, remove one by its number, or without arguments list them.

    point: NAME [at ITERATION] [hits N] [every N] [health nan] [in LOOP] [if CONDITION], for example
    "x if value > 1e6", "health nan", "while/* at 3". CONDITION compares value, iteration and names of values.
    """
    points = session_of(run).breakpoints
    if remove:
        points.remove(remove)
    elif point:
        points.add(**options(point))
    return {"breakpoints": [{"number": p.number, "text": p.text, "hits": p.hits_seen} for p in points]}


@tool
def workbench_close(run: int) -> Any:
    """Close a run and free its memory."""
    let_go(run)
    return {"closed": run}
