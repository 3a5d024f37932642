"""Bytes that the values of one region may take, as they are in memory together."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.ir.types import TensorType
from workbench.ops.foreign import RegionStep
from workbench.plan.memory.storage import array_bytes

#: of all values of a region: beside those of the nodes, for the first call computes them twice
MOST_BYTES = 1 << 28
#: where values that are not needed any more give their memory to others, as with statistics, which values of one region
#: cannot: in graphs of which no node takes and gives more than SMALL_NODE ...
SMALL_GRAPH, SMALL_NODE = 1 << 20, 1 << 21
#: ... in others, a part of what the largest node takes and gives ...
LEAST_SHARED_BYTES, SHARED_PART = 1 << 18, 1 / 8
#: ... and where sizes are known only as the values come
MOST_UNKNOWN_BYTES = 1 << 24


def known_bytes(type_: TensorType) -> int:
    """Bytes of an array of this type; 0 where the shape is not known."""
    return array_bytes(type_) if type_.is_static else 0


def shared_bytes(steps: Iterable[RegionStep | None]) -> int:
    """The most that the values of a region may take where others could have their memory; None is another node."""
    largest = max((_live_bytes(s) for s in steps if s is not None), default=0)
    return SMALL_GRAPH if largest <= SMALL_NODE else max(LEAST_SHARED_BYTES, int(SHARED_PART * largest))


def _live_bytes(step: RegionStep) -> int:
    """Bytes that are there while a node runs, except for weights."""
    taken = sum(known_bytes(t) for t, c in zip(step.takes, step.constants, strict=True) if c is None)
    return taken + sum(map(known_bytes, step.gives))
