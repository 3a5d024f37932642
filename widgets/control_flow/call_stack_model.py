"""The open frames of a run at one moment, from the outermost level to the node, as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError
from workbench.ir.node import Ref
from workbench.trace.provenance import last_iteration
from workbench.widgets.live.selection import Moment
from workbench.widgets.text.display_names import Spoken
from workbench.widgets.text.loop_names import loop_name, place_words
from workbench.widgets.text.numerals import numeral

if TYPE_CHECKING:
    from workbench.ir.graph import Graph
    from workbench.widgets.live.view_source import ViewSource

#: state -> headline where no loop is open and no node is next; "" is a recorded run
NO_LOOP = {
    "ready": "Nothing has run yet",
    "finished": "The run has finished: no loop is open",
    "closed": "The session is closed: no loop is open",
    "": "Recorded run: no loop is open",
}


def callstack_model(source: ViewSource, snapshot: Any, moment: Moment | None, selected: str | None) -> dict[str, Any]:
    """``rows``, the outermost first: ``frame`` (path), ``name``, ``iteration`` (path), ``where`` ("iteration 3 of 11"),
    ``node``, ``step`` (its display name), ``source`` (text), ``expression``, ``inner`` (the innermost row).
    ``headline`` says what is shown: the session's position, or the selected moment. Nothing is escaped.

    The iterations that are counted are those that were begun; ``of`` is said only where the loop has ended.
    """
    graph = source.graph
    spoken = Spoken(graph)
    running = str(getattr(snapshot, "state", "")) == "running"
    position = getattr(snapshot, "position", None)
    if moment is not None:
        path, iteration, node = moment.frame, moment.iteration, selected if selected in graph.nodes else None
        if node is not None and graph.frame_of(node) != path:
            node = None
        headline = f"Looking at {place_words(graph, moment.frame, moment.iteration)}"
    elif running:
        counts = snapshot.iterations or {}
        path = max((p for p, i in counts.items() if p and i >= 0), key=len, default=())
        iteration = tuple(max(0, int(counts.get(path[: k + 1], 0))) for k in range(len(path)))
        node, headline = None, "Running"
    elif position is not None and (position.node is not None or position.between):
        path, iteration, node = position.frame, position.iteration, position.node
        headline = "Paused between two nodes"
        if node is not None:
            headline = f"Paused before {spoken.step(node)}"
    else:
        path, iteration, node = (), (), None
        state = str(getattr(snapshot, "state", ""))
        headline = NO_LOOP.get(state, "No loop is open")
    rows = []
    for depth in range(len(path) + 1):
        inner = depth == len(path)
        frame, numbers = path[:depth], iteration[:depth]
        here = node if inner else _entry(graph, path[: depth + 1])
        made = graph.nodes[here] if here is not None else None
        rows.append(
            {
                "frame": list(frame),
                "name": loop_name(graph, frame) if frame else "top level",
                "iteration": [int(i) for i in numbers],
                "where": "" if not frame else _where(source, frame, numbers, running and moment is None),
                "node": here or "",
                "step": spoken.step(here) if here else "",
                "source": _place(made),
                "expression": made.source.expression if made and made.source else "",
                "inner": inner,
            }
        )
    return {"headline": headline, "rows": rows, "looking": moment is not None, "live": source.session is not None}


def _entry(graph: Graph, path: tuple[str, ...]) -> str | None:
    """The node by which the frame was entered."""
    enters = graph.frames[path].enters if path in graph.frames else ()
    return enters[0] if enters else None


def _place(node: Any) -> str:
    if node is None or node.source is None:
        return ""
    return str(node.source.place)


def _where(source: ViewSource, frame: tuple[str, ...], iteration: tuple[int, ...], running: bool) -> str:
    """``iteration 3``, and of how many where the loop is over."""
    words = f"iteration {numeral(iteration[-1])}"
    trace, condition = source.trace, source.graph.frames[frame].loop_cond
    if running or trace is None or condition is None:
        return words
    try:
        last = last_iteration(trace, Ref(condition, 0), iteration[:-1])
        # the last iteration is the one in which the condition was false: the body ran once less
        ended = last is not None and not bool(trace[Ref(condition, 0)].at((*iteration[:-1], last)))
    except (KeyError, IndexError, TypeError, ValueError, WorkbenchError):
        return words
    if not ended or last is None:
        return words
    return f"{words} of {numeral(last)}" + (", which ended the loop" if iteration[-1] == last else "")
