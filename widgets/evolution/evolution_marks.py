"""Marks on a line: the selected iteration, and breakpoints of its value; as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.ir.node import Ref
from workbench.trace.edited_firings import edit_text
from workbench.widgets.live.selection import Moment
from workbench.widgets.series.broadcast_series import firing_of
from workbench.widgets.text.loop_names import iteration_of
from workbench.widgets.text.numerals import numeral

if TYPE_CHECKING:
    from workbench.ir.graph import Graph
    from workbench.session import Session
    from workbench.trace import Trace

MAX_MARKS = 20
FAILED = (KeyError, IndexError, ValueError, TypeError, AttributeError, WorkbenchError)
#: kind of breakpoint -> (sign, word); signs differ in shape, not only in colour
SIGNS = {
    "break": ("\u25cf", "breakpoint"),
    "conditional": ("\u25c6", "conditional breakpoint"),
    "watch": ("\u25c9", "watchpoint"),
    "log": ("\u270e", "logpoint"),
}


def moment_mark(
    graph: Graph, series: Any, moment: Moment | None, outer: tuple[int, ...] | None
) -> dict[str, Any] | None:
    """``x`` of the moment on the axis of a series, and ``text``; None if the moment is of another loop, or of another
    activation than ``outer``, the one shown (None: firings of all activations are counted).
    """
    if moment is None:
        return None
    frame, depth = series.frame, len(series.frame)
    same = min(depth, len(moment.frame))
    if not same or frame[:same] != moment.frame[:same]:
        return None
    path = moment.iteration[:same]
    text = iteration_of(graph, frame[:same], path[-1])
    if depth == 1 or outer is not None:
        if same < depth or (outer is not None and path[:-1] != tuple(outer)):
            return None
        return {"x": float(path[-1]), "text": text}
    try:
        return {"x": float(firing_of(series, path)), "text": text}
    except FAILED:
        return None


def moment_of(series: Any, x: float, outer: tuple[int, ...] | None) -> Moment | None:
    """The moment at a position of the axis, to which a click there refers."""
    number, frame = max(0, round(x)), series.frame
    if not frame:
        return None
    if len(frame) == 1:
        return Moment(frame, (number,))
    if outer is not None:
        return Moment(frame, (*outer, number))
    try:
        paths = series.window(number, number + 1)[0]
        return Moment(frame, tuple(int(i) for i in paths[0])) if len(paths) else None
    except FAILED:
        return None


def breakpoint_marks(
    session: Session, graph: Graph, names: list[str], outer: tuple[int, ...] | None
) -> list[dict[str, Any]]:
    """``of``, ``kind``, ``sign``, ``word``, ``text``, ``enabled`` and ``x`` (None: in every iteration) of the
    breakpoints of some values."""
    found: list[dict[str, Any]] = []
    try:
        refs = {graph.value(name): name for name in names}
        points = list(session.breakpoints)
    except FAILED:
        return found
    for point in points:
        mine = [ref for ref in point.refs if ref in refs]
        if not mine:
            continue
        sign, word = SIGNS.get(point.kind, SIGNS["break"])
        path = point.iteration
        x = path[-1] if path and path[-1] is not None else None
        if path and outer is not None and any(a not in (None, b) for a, b in zip(path, outer, strict=False)):
            continue  # of another activation
        found.append(
            {
                "of": refs[mine[0]],
                "kind": point.kind,
                "sign": sign,
                "word": word,
                "text": point.text,
                "enabled": bool(point.enabled),
                "x": x,
            }
        )
        if len(found) == MAX_MARKS:
            break
    return found


def edit_marks(
    trace: Trace | None, graph: Graph, names: list[str], outer: tuple[int, ...] | None
) -> list[dict[str, Any]]:
    """``of``, ``x`` and ``text`` of the values set by hand, oldest first."""
    found: list[dict[str, Any]] = []
    try:
        edits = trace.edits() if trace is not None else ()
        refs = {graph.value(name): name for name in names}
    except FAILED:
        return found
    for edit in edits:
        for ref, path in edit.tags:
            if ref in refs and path and (outer is None or path[:-1] == tuple(outer)):
                found.append({"of": refs[ref], "x": float(path[-1]), "text": _set_by_hand(edit)})
    return found[-MAX_MARKS:]


def _set_by_hand(edit: Any) -> str:
    """``set by hand to 3, was 1.416242`` for numbers."""
    values = [np.asarray(v) for v in (edit.value, edit.before)]
    if any(v.size != 1 or v.dtype.kind not in "iuf" for v in values):
        return edit_text([edit])
    value, before = (numeral(v.reshape(-1)[0]) for v in values)
    return f"set by hand to {value}, was {before}"


def value_name(graph: Graph, node: str | None) -> str | None:
    """The public name of a selected node's value, or of the value itself; None if it has none."""
    if node is None:
        return None
    try:
        ref = graph.value(node)
        return str(graph.name_of(Ref(*ref)))
    except FAILED:
        return None
