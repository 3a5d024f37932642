"""Prints the current position of the run after every command that moves it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.cli.output import path_text, value_text
from workbench.errors import WorkbenchError
from workbench.ir.node import Ref

if TYPE_CHECKING:
    from workbench.cli.terminal.shell import Terminal

GOOD = ("FINISHED",)
BAD = ("FAILED", "NO_ROOM", "NOT_REACHED")


def show_stop(terminal: Terminal, stop: Any) -> None:
    """Print the reason of a stop, the last and the next firing, and the values shown at every stop."""
    session, screen = terminal.session, terminal.screen
    name = stop.reason.name
    style = "bad" if name in BAD else "good" if name in GOOD else ""
    screen.pairs((stop.reason, style), (f" {stop.detail}" if stop.detail and stop.error is None else "", ""))
    if stop.error is not None:
        screen.say(getattr(stop.error, "report", None) or stop.error)
    last = last_firing(session)
    if last:
        screen.pairs(("  ran    ", "quiet"), (last, ""))
    if session.state == "finished":
        for output in list(session.graph.outputs)[:8]:
            screen.pairs(("  output ", "quiet"), (output, "name"), (f" = {value_of(session, output)}", ""))
    elif stop.tag is not None:
        screen.pairs(("  next   ", "quiet"), (firing(session, stop.tag), ""), (f"   event {stop.event:,}", "quiet"))
    for shown in terminal.shown:
        screen.pairs(("  ", ""), (shown, "name"), (f" = {value_of(session, shown)}", ""))


def firing(session: Any, tag: Any) -> str:
    """``divide(a, x) [loop 3]``: a firing with its operands."""
    graph = session.graph
    node = graph.nodes[tag.node]
    reads = ", ".join(graph.name_of(r) for r in node.inputs[:6]) + (", ..." if len(node.inputs) > 6 else "")
    where = path_text(tag.frame, tag.iteration)
    return f"{tag.node} = {node.op}({reads})" + (f"  [{where}]" if where else "")


def last_firing(session: Any) -> str:
    """The newest firing of the frame of the present position, with its value; empty if none is recorded."""
    trace = session.trace
    try:
        recent = trace.recent(session.position.frame, 1)
        if not recent:
            return ""
        tag = recent[-1]
        series = trace[Ref(tag.node, 0)]
        value = series.at(tag.iteration) if tag.iteration else series[-1]
    except (WorkbenchError, LookupError, ValueError):
        return ""
    where = path_text(tag.frame, tag.iteration)
    return f"{tag.node} = {value_text(value)}" + (f"  [{where}]" if where else "")


def value_of(session: Any, name: str | Ref, iteration: Any = None) -> str:
    """A value on one line, or the slug of its error."""
    try:
        return value_text(session.value(name, iteration))
    except (WorkbenchError, LookupError, ValueError) as error:
        return f"({getattr(error, 'slug', type(error).__name__)})"
