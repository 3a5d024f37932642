"""The value of a name at a moment: of that iteration, of the enclosing iteration, or of the last inner one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.errors import DeadValueError, WorkbenchError
from workbench.ir.node import Ref
from workbench.trace.provenance import last_iteration
from workbench.widgets.live.selection import Moment
from workbench.widgets.text.loop_names import place_words

if TYPE_CHECKING:
    from workbench.trace import Trace
    from workbench.widgets.live.view_source import RecordedSource


@dataclass(frozen=True, slots=True)
class Shown:
    """A value (None if there is none, with the reason in ``note``) and its iteration path."""

    value: Any
    iteration: tuple[int, ...] = ()
    note: str = ""


def value_at(source: RecordedSource, name: str | Ref, moment: Moment) -> Shown:
    """The value of ``name`` at ``moment``; ``source`` is a view's :class:`~workbench.widgets.live.view_source.Source`.

    A value of the moment's frame, or of an enclosing one, is that of the same iteration. A value of an inner frame is
    that of the last iteration within the moment; a value of an unrelated loop is its last. A session recomputes exactly
    what its trace no longer holds.
    """
    trace, path, frame = source.trace, moment.iteration, moment.frame
    if trace is None:
        return Shown(None, note="nothing has run yet")
    try:
        series = trace[name]
        found = _path(trace, series.frame, moment)
        if found is None:
            return Shown(None, note="not reached in this iteration")
        path, frame = found, series.frame
        if not path and series.frame:  # an unrelated loop: its last value
            return Shown(series[-1], series.tag(-1).iteration) if len(series) else Shown(None, note="has not fired")
        if source.session is not None:
            return Shown(source.session.value(name, path or None), path)
        return Shown(series.at(path) if path else series[-1], path)
    except DeadValueError:
        return Shown(None, note="dead")
    except (KeyError, IndexError, TypeError, ValueError) as error:
        return Shown(None, note=str(error))
    except WorkbenchError as error:
        unfired = error.slug == "not-fired"
        where = place_words(trace.graph, frame, path)
        return Shown(None, note=f"no value in {where} yet" if unfired else error.message)


def _path(trace: Trace, frame: tuple[str, ...], moment: Moment) -> tuple[int, ...] | None:
    """The iteration path in ``frame``; () for an unrelated loop, None if an inner loop did not run."""
    same = 0
    while same < min(len(frame), len(moment.frame)) and frame[same] == moment.frame[same]:
        same += 1
    path = moment.iteration[:same]
    if same < len(frame) and same < len(moment.frame):
        return ()
    for depth in range(same, len(frame)):
        condition = trace.graph.frames[frame[: depth + 1]].loop_cond
        last = None if condition is None else last_iteration(trace, Ref(condition, 0), path)
        if last is None:
            return None
        path = (*path, max(last, 0))
    return path
