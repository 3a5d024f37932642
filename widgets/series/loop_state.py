"""The state of a loop in a record, and the loop that views follow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.widgets.live.selection import Moment, Path
from workbench.widgets.series.broadcast_series import of_activation
from workbench.widgets.series.series_reader import last_iterations

if TYPE_CHECKING:
    from workbench.ir.graph import Graph
    from workbench.trace import Trace


def has_ended(trace: Trace | None, graph: Graph, path: tuple[str, ...], outer: tuple[int, ...] | None = None) -> bool:
    """True if the newest activation of a loop (or ``outer``'s) has evaluated its condition as false."""
    frame = graph.frames.get(path)
    if trace is None or frame is None or frame.loop_cond is None:
        return False
    try:
        series = trace[f"{frame.loop_cond}:0"]
        if outer is not None:
            series = of_activation(series, outer)
            count = len(series)
            return bool(count) and not bool(np.asarray(series.window(count - 1, count)[1])[0])
        newest = last_iterations(trace, graph).get(path)
        return newest is not None and not bool(series.at(newest))
    except (KeyError, IndexError, ValueError, TypeError, WorkbenchError):
        return False


def ended_in(
    trace: Trace | None, graph: Graph, path: tuple[str, ...], outer: tuple[int, ...] | None = None
) -> int | None:
    """The iteration in which the condition was false, if the loop has ended (:func:`has_ended`); else None."""
    frame = graph.frames.get(path)
    if trace is None or frame is None or not has_ended(trace, graph, path, outer):
        return None
    try:
        series = of_activation(trace[f"{frame.loop_cond}:0"], outer)
        count = len(series)
        return int(series.window(count - 1, count)[0][-1, -1])
    except (KeyError, IndexError, ValueError, TypeError, WorkbenchError):
        return None


def newest_outer(trace: Trace | None, graph: Graph, path: tuple[str, ...]) -> tuple[int, ...] | None:
    """Iterations of the enclosing frames of a loop in its newest activation; None before it is entered."""
    found = last_iterations(trace, graph).get(path) if trace is not None else None
    return None if found is None else found[:-1]


def followed(shown: Path, known: Sequence[Path], moment: Moment | None, snapshot: Any) -> Path:
    """The loop of a view that follows: that of the selected moment, else that of the run's position.

    ``shown`` is the present loop of the view, ``known`` are those that it can show, outer ones first. An inner loop
    stays while the run is in an enclosing one, because steps enter and leave loops; for a run at its beginning the
    first one is shown.
    """
    state = str(getattr(snapshot, "state", ""))
    if moment is not None and moment.frame:
        wanted = moment.frame
    elif state == "ready":
        shown = wanted = ()
    elif state == "running" or getattr(snapshot, "position", None) is None:
        wanted = ()
    else:
        wanted = tuple(snapshot.position.frame)
    if wanted not in known:
        wanted = ()
    if shown and shown[: len(wanted)] == wanted:
        return shown
    return wanted or shown or (known[0] if known else ())
