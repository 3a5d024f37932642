"""Edits: values that the user wrote into a run that stood still, and what replays need to know of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import SessionError
from workbench.graph.node import Ref
from workbench.graph.types import ANY, OPAQUE, TensorType, numpy_dtype
from workbench.kernels.layout import Copy, FrameLayout, Place

if TYPE_CHECKING:
    from workbench.execution.run import Run


@dataclass(frozen=True, slots=True)
class Edit:
    """``value`` was written to ``places`` after ``event`` events; ``before`` stood there.

    The first place is that of ``ref``; the others are where it had been copied to for nodes that had not fired yet.
    """

    event: int
    ref: Ref
    places: tuple[Place, ...]
    value: Any
    before: Any


def make_edit(run: Run, ref: Ref, value: Any) -> Edit:
    """Check an edit of a value that has fired where the run stands; raises SessionError saying why it cannot be."""
    graph, name = run.plan.graph, run.plan.graph.name_of(ref)
    layout = run.plan.layout.values[tuple(ref)]
    node = next(n for n in run.plan.layout.nodes if n.name == ref.node)
    place = layout.place
    if run.position().between:  # all of its row has fired, and replays stop behind it
        raise SessionError(
            f"{name!r} cannot be edited between two nodes, where the run could not go on.",
            slug="not-editable", node=ref.node, fix="do as the stop says, then step, and edit it there.",
        )  # fmt: skip
    if layout.kind != "slot" or place is None or place.base == 0:
        raise SessionError(
            f"{name!r} is a constant or a counter that the trace derives.", slug="not-editable", node=ref.node,
            fix="edit a value that is computed from it.",
        )  # fmt: skip
    if layout.frame not in run.active_frames():
        raise SessionError(
            f"{name!r} lives in a loop that is not open here.", slug="not-editable", node=ref.node,
            fix="go to an iteration of that loop first, for instance with run_to.",
        )  # fmt: skip
    if node.ip >= run.view.ip:
        raise SessionError(
            f"{name!r} has not fired yet in this iteration, so that an edit would be overwritten.",
            slug="not-fired", node=ref.node, fix="step past it first.",
        )  # fmt: skip
    if layout.statistics is not None:
        raise SessionError(
            f"{name!r} is an array of a session that keeps statistics instead; they would no longer fit.",
            slug="not-editable",
            node=ref.node, fix='edit it in a session with trace="all".',
        )  # fmt: skip
    if run.released(place):
        raise SessionError(
            f"{name!r} has been released: nothing reads it any more, so that an edit would change nothing.",
            slug="not-editable", node=ref.node, fix="step back in front of its last reader first.",
        )  # fmt: skip
    before = run.value_now(ref)
    if before is None:
        raise SessionError(
            f"{name!r} is dead in this iteration: its branch was not taken.", slug="dead-value", node=ref.node,
            fix="edit the value behind the Merge of the two sides.",
        )  # fmt: skip
    declared = graph.nodes[ref.node].types[ref.index]
    if place.dtype is not None:
        declared = TensorType(place.dtype, place.shape)
    return Edit(run.event, ref, (place, *_handed_on(run, place)), _fitting(name, value, declared), before)


def _handed_on(run: Run, place: Place) -> list[Place]:
    """Where instructions since the last firing have copied a value to, for nodes that come next."""
    here, layout = run.view.ip, run.plan.layout
    fired = max((n.ip for n in layout.nodes if n.ip < here and run.fired_now(n)), default=-1)
    last: dict[Place, Copy] = {}  # of several that were carried out, the last one counts
    opened_frames = {-1, *run.active_frames()}  # -1: constants
    for copy in layout.copies:
        reachable = fired < copy.ip < here and opened_frames.issuperset(layout.frame_of(c.place) for c in copy.guard)
        if reachable and run.holds(copy.guard):
            last[copy.target] = copy
    found, known = [], {place}
    for copy in sorted(last.values(), key=lambda c: c.ip):
        if copy.source in known:
            # what was copied into the init row of a frame is in the row before its first iteration
            frame = layout.frames[max(layout.frame_of(copy.target), 0)]
            opened = layout.frame_of(copy.target) != layout.frame_of(place) and _stands_in_iteration(run, copy, frame)
            found.append(replace(copy.target, shift=-1) if opened else copy.target)
            known.add(copy.target)
    return found


def _stands_in_iteration(run: Run, copy: Copy, frame: FrameLayout) -> bool:
    """Whether the frame that a copy goes into has begun its first iteration since."""
    return frame.start < copy.ip < frame.stop and run.view.iteration(run.plan.numbers[frame.path]) >= 0


def _fitting(name: str, value: Any, declared: TensorType) -> Any:
    """``value`` as an array of the type that the slot holds."""
    if declared.dtype in (ANY, OPAQUE):
        return value
    wanted = numpy_dtype(declared.dtype)
    try:
        given = np.asarray(value)
        if given.dtype.kind == "c" and wanted.kind != "c":
            raise TypeError("a complex value came")
        array = given.astype(wanted)
        # floats may be rounded; whole numbers and bools must come out as they went in
        same = np.can_cast(given.dtype, wanted, "same_kind") or bool(np.array_equal(array, given))
        same = same and (wanted.kind in "fc" or bool(np.array_equal(array, given)))
    except (TypeError, ValueError, OverflowError) as error:
        raise SessionError(f"{name!r} takes {declared}: {error}.", slug="bad-edit", fix="give such a value.") from error
    if not same or not declared.accepts(TensorType.of(array)):
        raise SessionError(
            f"{name!r} takes {declared}, but {TensorType.of(given)} came.", slug="bad-edit",
            fix="give a value of that dtype and shape.",
        )  # fmt: skip
    array.flags.writeable = False
    return array
