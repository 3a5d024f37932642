"""Where every value of a program stands in the rows: plain data, shared by planner, trace and saved files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A slot: ``base`` 0 is the constant pool, f + 1 a row of frame f; ``shift`` -1 is the row before.

    ``dtype`` is the NumPy dtype name of a single number kept in the row, None for a reference to an array.
    """

    base: int
    offset: int
    shift: int
    dtype: str | None


@dataclass(frozen=True, slots=True)
class Condition:
    """A literal of a guard: 0 the byte is false, 1 it is true, 2 the int32 is not negative, 3 it is negative."""

    place: Place
    expect: int


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class ValueLayout:
    """Where an output is found when its node fired and ``guard`` (which includes the node's) holds.

    ``kind`` is ``slot``; or ``loop-index`` (value_index of a loop's Merge: 0 first, then 1); or ``branch-index``
    (value_index of a conditional Merge: the index of the first of ``branches`` that holds). ``frame`` counts the
    firings: that of the node, for an Exit the parent frame.
    """

    node: str
    output: int
    frame: int
    kind: str
    place: Place | None
    guard: tuple[Condition, ...]
    branches: tuple[tuple[int, tuple[Condition, ...]], ...] = ()


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
    """All of it. ``nodes`` is in program order; ``values`` is keyed by (node, output)."""

    frames: tuple[FrameLayout, ...]
    nodes: tuple[NodeLayout, ...]
    values: dict[tuple[str, int], ValueLayout]
