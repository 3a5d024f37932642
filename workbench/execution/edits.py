"""Edits: values that the user wrote into a stopped run, with all data needed for a replay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import SessionError
from workbench.execution.copies import copies_of
from workbench.execution.decisions import decided_by
from workbench.execution.sharing import shared_with
from workbench.ir.node import Ref
from workbench.ir.types import ANY, OPAQUE, TensorType, numpy_dtype
from workbench.kernels.layout import NodeLayout, Place

if TYPE_CHECKING:
    from workbench.execution.run import Run


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit: ``value`` was written to ``places`` after ``event`` events; ``before`` is the old value.

    The first place is that of ``ref``; the others are copies for nodes that had not fired yet. ``rows`` are the rows of
    the places. ``tags`` are the firings that it replaced, as value and iteration path: those of ``ref`` and of its
    aliases. ``stand`` is the position of the run: frame, instruction, iteration path.
    """

    event: int
    ref: Ref
    places: tuple[Place, ...]
    value: Any
    before: Any
    rows: tuple[int, ...] = ()
    tags: tuple[tuple[Ref, tuple[int, ...]], ...] = ()
    stand: tuple[tuple[str, ...], int, tuple[int, ...]] = ((), 0, ())


def make_edit(run: Run, ref: Ref, value: Any) -> Edit:
    """Create an edit, at the present event, of a value that has fired; raises SessionError with the reason if the edit
    is impossible."""
    graph, name, ref = run.plan.graph, run.plan.graph.name_of(ref), _present(run, ref)
    layout = run.plan.layout.values[ref]
    node = next(n for n in run.plan.layout.nodes if n.name == ref.node)
    place = layout.place
    if run.position().between:  # its whole row has fired, and replays stop after the row
        raise SessionError(
            f"{name!r} cannot be edited between two nodes, where the run failed to continue.",
            slug="not-editable",
            node=ref.node,
            fix="remove the cause named in the stop, then step, and edit the value there.",
        )
    if layout.kind != "slot" or place is None or place.base == 0:
        raise SessionError(
            f"{name!r} is a constant or a counter, which is not stored.",
            slug="not-editable",
            node=ref.node,
            fix="edit a value that is computed from it.",
        )
    if layout.frame not in run.active_frames():
        raise SessionError(
            f"{name!r} belongs to a loop that is not open here.",
            slug="not-editable",
            node=ref.node,
            fix="go to an iteration of that loop first, for instance with run_to.",
        )
    if node.ip >= run.view.ip and not _carried(node, place):
        raise SessionError(
            f"{name!r} is computed again in this iteration before a node reads it: an edit would be overwritten.",
            slug="not-fired",
            node=ref.node,
            fix="step past it first, or edit a value that it is computed from.",
        )
    if layout.statistics is not None:
        raise SessionError(
            f"{name!r} is an array of which this session keeps only statistics; an edit would make them wrong.",
            slug="not-editable",
            node=ref.node,
            fix='edit it in a session with trace="all".',
        )
    if run.released(place):
        raise SessionError(
            f"{name!r} has been released: no node reads it after this point, so an edit would have no effect.",
            slug="not-editable",
            node=ref.node,
            fix="step back to before its last reader.",
        )
    before = run.value_now(ref)
    if before is None:
        raise SessionError(
            f"{name!r} is dead in this iteration: its branch was not taken.",
            slug="dead-value",
            node=ref.node,
            fix="edit the value after the Merge of the two sides.",
        )
    declared = graph.nodes[ref.node].types[ref.index]
    if place.dtype is not None:
        declared = TensorType(place.dtype, place.shape)
    if (other := shared_with(run, ref, place)) is not None:
        raise SessionError(
            f"{name!r} shares memory with {graph.name_of(other)!r} (one is a view or a part of the other), which has "
            "fired and will still be read: an edit would change both.",
            slug="not-editable",
            node=ref.node,
            fix=f"edit it before {graph.name_of(other)!r} fires, or after its last reader.",
        )
    places, fitting = (place, *copies_of(run, ref, place)), _fitting(name, value, declared)
    if (decided := decided_by(run, places, fitting)) is not None:
        raise _too_late(run, name, ref, decided)
    rows = tuple(run.view.rows(p.base - 1)[1] + p.shift for p in places)
    innermost = run.active_frames()[-1]
    stand = run.plan.layout.frames[innermost].path, run.view.ip, run.iteration_of(innermost)
    return Edit(run.event, ref, places, fitting, before, rows, _tags(run, places, rows), stand)


def _carried(node: NodeLayout, place: Place) -> bool:
    """True if the result of a node is already stored: a Merge of a loop variable forwards the value from the previous
    iteration, or the start value."""
    return node.op == "Merge" and place.shift < 0


def merges_ahead(run: Run, ref: Ref) -> int:
    """Number of nodes to step until an edited loop variable has its value for this iteration: 0 if it has it already,
    or if nodes other than Merges come before it."""
    here, node = run.view.ip, next(n for n in run.plan.layout.nodes if n.name == ref.node)
    between = [n for n in run.plan.layout.nodes if here <= n.ip <= node.ip and n.frame == node.frame and not n.silent]
    return len(between) if all(n.op == "Merge" and not n.guard for n in between) else 0


def _present(run: Run, ref: Ref) -> Ref:
    """The value that an edit of ``ref`` changes here. The next value of a loop variable, if it has not fired in this
    iteration, refers to the loop variable itself, which the next nodes read.
    """
    layout = run.plan.layout
    value, place = layout.values[ref], layout.values[ref].place
    node = next(n for n in layout.nodes if n.name == ref.node)
    if place is None or value.frame not in run.active_frames() or node.ip < run.view.ip or _carried(node, place):
        return ref
    for merge in layout.nodes:
        if merge.op == "Merge" and merge.frame == value.frame:
            other = layout.values[merge.name, 0].place
            if other is not None and other.shift < 0 and (other.base, other.offset) == (place.base, place.offset):
                return Ref(merge.name, 0)
    return ref


def _tags(run: Run, places: tuple[Place, ...], rows: tuple[int, ...]) -> tuple[tuple[Ref, tuple[int, ...]], ...]:
    """The firings stored in these rows of these places, in the present activation of each open loop."""
    layout, opened = run.plan.layout, set(run.active_frames())
    wanted = {(p.base, p.offset, row) for p, row in zip(places, rows, strict=True)}
    bases = {(p.base, p.offset) for p in places}
    found: list[tuple[Ref, tuple[int, ...]]] = []
    for (node, index), value in layout.values.items():
        place = value.place
        if place is None or (place.base, place.offset) not in bases or value.frame not in opened:
            continue
        if layout.frame_of(place) != value.frame:
            continue  # an invariant under its name inside a loop
        path, row = run.iteration_of(value.frame), run.view.rows(value.frame)[1]
        for at in (row - 1, row, row + 1):
            if (place.base, place.offset, at + place.shift) in wanted:
                if not path:
                    found.append((Ref(node, index), ()))
                elif path[-1] + at - row >= 0:
                    found.append((Ref(node, index), (*path[:-1], path[-1] + at - row)))
    return tuple(found)


def _too_late(run: Run, name: str, ref: Ref, decided: NodeLayout) -> SessionError:
    """The SessionError for an edit of a value by which a Switch or Merge has already decided."""
    if decided.op == "Merge":
        return SessionError(
            f"{name!r} is the index of the input of Merge {decided.name!r} that was alive; it must be 0 or more.",
            slug="bad-edit",
            node=ref.node,
            fix="pass an integer, 0 or more.",
        )
    source = run.plan.graph.nodes[decided.name].source
    return SessionError(
        f"{name!r} cannot be changed here: Switch {decided.name!r} has already decided by it, and the values of the "
        "other side were not computed.",
        slug="already-decided",
        node=ref.node,
        source=source,
        fix=f"step back (session.step_back) until {decided.name!r} is the next node or a later one, and edit it "
        "there; or edit a value after the Merge of the two sides.",
    )


def _fitting(name: str, value: Any, declared: TensorType) -> Any:
    """Convert ``value`` to an array of the declared type."""
    if declared.dtype in (ANY, OPAQUE):
        return value
    wanted = numpy_dtype(declared.dtype)
    try:
        given = np.asarray(value)
        if given.dtype.kind == "c" and wanted.kind != "c":
            raise TypeError("got a complex value")
        with np.errstate(invalid="ignore", over="ignore"):  # values that do not fit are refused below
            array = given.astype(wanted)
        # floats may be rounded; integers and bools must be converted exactly
        same = np.can_cast(given.dtype, wanted, "same_kind") or bool(np.array_equal(array, given))
        same = same and (wanted.kind in "fc" or bool(np.array_equal(array, given)))
    except (TypeError, ValueError, OverflowError) as error:
        raise SessionError(f"{name!r} takes {declared}: {error}.", slug="bad-edit", fix="pass such a value.") from error
    if not same or not declared.accepts(TensorType.of(array)):
        raise SessionError(
            f"{name!r} takes {declared}, got {TensorType.of(given)}.",
            slug="bad-edit",
            fix="pass a value of that dtype and shape.",
        )
    array.flags.writeable = False
    return array
