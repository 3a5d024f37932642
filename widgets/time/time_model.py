"""Content of the time slider: for each level of the selected frame, the iteration and the last one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError
from workbench.ir.node import Ref
from workbench.trace.provenance import last_iteration
from workbench.widgets.live.selection import Moment, Path
from workbench.widgets.series.series_reader import last_iterations, open_paths
from workbench.widgets.text.loop_names import loop_name, place_words

if TYPE_CHECKING:
    from workbench.ir.graph import Graph
    from workbench.trace import Trace
    from workbench.widgets.live.view_source import ViewSource

#: maximum number of frames to choose from
MAX_FRAMES = 200


def loops_of(graph: Graph) -> list[Path]:
    """The frames that are loops, outer ones first."""
    return [p for p, f in graph.frames.items() if p and f.loop_cond is not None][:MAX_FRAMES]


def time_model(
    source: ViewSource,
    frame: Path,
    moment: Moment | None,
    lasts: dict[Any, int] | None = None,
    progress: Mapping[Path, int] | None = None,
) -> dict[str, Any]:
    """``levels`` (name, value, last, True if it is set), ``live``, and the sentence ``text`` for a screen reader.

    ``lasts`` caches the lengths of ended loops, which do not change any more. ``progress`` is the present iteration of
    each frame of a paused run, which begins before its condition is evaluated.
    """
    trace, graph = source.trace, source.graph
    newest = last_iterations(trace, graph) if trace is not None else {}
    newest |= open_paths(progress or {})
    levels: list[dict[str, Any]] = []
    path: Path | tuple[int, ...] = ()
    open_: tuple[int, ...] = ()
    for depth in range(1, len(frame) + 1):
        part = frame[:depth]
        now = newest.get(part)
        at_front = now is not None and tuple(now[:-1]) == open_
        last = int(now[-1]) if at_front and now is not None else _last(trace, graph, part, open_, newest, lasts)
        is_set = moment is not None and moment.frame[:depth] == part
        value = min(moment.iteration[depth - 1], max(last, 0)) if is_set and moment is not None else last
        levels.append(
            {
                "name": loop_name(graph, part, 40).removeprefix("while ") if len(graph.frames) > 2 else "iteration",
                "value": max(value, 0),
                "last": last,
                "set": is_set,
            }
        )
        open_ = (*open_, max(value, 0))
        path = open_
    where = place_words(graph, frame, [level["value"] for level in levels])
    return {
        "levels": levels,
        "live": moment is None,
        "path": list(path),
        "text": "no iteration yet" if not levels or levels[0]["last"] < 0 else where,
    }


def _last(
    trace: Trace | None,
    graph: Graph,
    part: Path,
    outer: tuple[int, ...],
    newest: Mapping[Path, tuple[int, ...]],
    lasts: Any,
) -> int:
    """The last iteration of a loop within iterations of the enclosing loops; -1 if it did not run."""
    over = tuple(newest.get(part[:-1], ())) > outer  # the loop around has gone on: this number stays
    key = (part, outer)
    if over and lasts is not None and key in lasts:
        return int(lasts[key])
    try:
        condition = graph.frames[part].loop_cond
        last = None if trace is None or condition is None else last_iteration(trace, Ref(condition, 0), outer)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, WorkbenchError):
        last = None
    found = -1 if last is None else int(last)
    if over and lasts is not None:
        if len(lasts) > 10_000:
            lasts.clear()
        lasts[key] = found
    return found
