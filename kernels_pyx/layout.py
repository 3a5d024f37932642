"""Layout of a program's values in the rows: plain data, shared by planner, trace and saved files.

Nobody changes any of it. What there is for each node is not frozen all the same: that takes four times as long to make.
"""

from __future__ import annotations

from dataclasses import dataclass, field

#: ``until`` of a place that others had before, and that is kept from then on
KEPT = 1 << 30


@dataclass(slots=True, unsafe_hash=True)
class Place:
    """A slot: ``base`` 0 is the constant pool, s + 1 a row of store s; ``shift`` -1 is the row before.

    Stores 0, 1, ... are the rows of the frames; further ones hold the arrays of frames that have some. ``dtype`` is the
    NumPy dtype name of what is kept in the row itself, a number (``shape`` is empty) or a contiguous array; None stands
    for a reference to an object. ``until`` is the last instruction before
    which the slot still holds this value; -1 if the slot is never reused or released.
    """

    base: int
    offset: int
    shift: int
    dtype: str | None
    shape: tuple[int, ...] = ()
    until: int = -1


@dataclass(frozen=True, slots=True)
class Condition:
    """A literal of a guard: 0 the byte is false, 1 it is true, 2 the int32 is not negative, 3 it is negative."""

    place: Place
    expect: int


@dataclass(frozen=True, slots=True)
class Copy:
    """A value that instruction ``ip`` hands on, where ``guard`` holds, ahead of the firing of the node it is for."""

    ip: int
    source: Place
    target: Place
    guard: tuple[Condition, ...] = ()


@dataclass(slots=True, unsafe_hash=True)
class NodeLayout:
    """When a node fires: in rows of ``frame`` where all conditions hold; ``ip`` is its place in the program.

    ``first`` marks nodes that fire in iteration 0 only (Enter of a loop variable). ``silent`` nodes (constants, loop
    invariants) fire without work, and stepping does not stop at them.
    """

    name: str
    op: str
    frame: int
    ip: int
    guard: tuple[Condition, ...]
    silent: bool
    first: bool = False


@dataclass(slots=True, unsafe_hash=True)
class ValueLayout:
    """Location of an output in rows where its node fired and ``guard`` (which includes the node's) holds.

    ``kind`` is ``slot``; or ``loop-index`` (value_index of a loop's Merge: 0 first, then 1); or ``branch-index``
    (value_index of a conditional Merge: the index of the first of ``branches`` that holds). ``frame`` counts the
    firings: that of the node, for an Exit the parent frame. ``statistics`` is where the seven numbers of an array stand
    (kernels: statistics), in runs that keep them.
    """

    node: str
    output: int
    frame: int
    kind: str
    place: Place | None
    guard: tuple[Condition, ...]
    branches: tuple[tuple[int, tuple[Condition, ...]], ...] = ()
    statistics: Place | None = None


@dataclass(frozen=True, slots=True)
class FrameLayout:
    """One frame: its path, its parent's number, bytes of a row, and the part of the program that runs in it.

    Rows of frame 0 are iteration rows only; every other activation begins with an init row.
    """

    path: tuple[str, ...]
    parent: int
    row_bytes: int
    start: int
    stop: int
    cond: Condition | None


@dataclass(frozen=True, slots=True)
class Layout:
    """All of it. ``nodes`` is in program order; ``values`` is keyed by (node, output); ``stores`` names the frame of
    each store, the frames themselves first. ``copies`` are of use while a run stands still, and not saved; neither
    are ``recorded``, the bytes of a row of each store of arrays that are recorded where the rest is
    computed again, else -1."""

    frames: tuple[FrameLayout, ...]
    nodes: tuple[NodeLayout, ...]
    values: dict[tuple[str, int], ValueLayout]
    stores: tuple[int, ...] = ()
    copies: tuple[Copy, ...] = field(default=(), compare=False)
    recorded: tuple[int, ...] = field(default=(), compare=False)

    def frame_of(self, place: Place) -> int:
        """The frame in whose rows a place is; -1 for the pool."""
        return self.stores[place.base - 1] if place.base > len(self.frames) else place.base - 1

    def is_recomputed(self, place: Place) -> bool:
        """True if rows do not hold what is at a place: it is computed again for whoever wants to see it."""
        ahead = place.base - 1 - len(self.frames)
        return 0 <= ahead < len(self.recorded) and place.offset >= self.recorded[ahead] >= 0

    def operand(self, place: Place) -> tuple[int, int]:
        """(base, offset) by which the machine finds a place in the rows in progress."""
        return self.address(place.base, place.offset, place.shift)

    def address(self, base: int, offset: int, shift: int) -> tuple[int, int]:
        """The same for a place that is told by its numbers."""
        ahead = base - 1 - len(self.frames)
        if ahead >= 0:
            again = ahead < len(self.recorded) and offset >= self.recorded[ahead] >= 0
            return 1 + len(self.frames) + 3 * ahead + (2 if again else -shift), offset
        return base, offset + (shift * self.frames[base - 1].row_bytes if shift else 0)
