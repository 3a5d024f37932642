"""Limits of the bytes of one region's values, which are in memory together."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.ir.types import TensorType
from workbench.ops.foreign import RegionStep
from workbench.plan.memory.storage import array_bytes

#: for all values of a region: they are added to those of its nodes, because the first call computes them twice
MOST_BYTES = 1 << 28
#: if values that are no longer needed release their memory for others, as with statistics, which values of one region
#: cannot: in graphs whose nodes all have at most SMALL_NODE bytes of inputs and outputs ...
SMALL_GRAPH, SMALL_NODE = 1 << 20, 1 << 21
#: ... in others, a part of the inputs and outputs of the largest node ...
LEAST_SHARED_BYTES, SHARED_PART = 1 << 18, 1 / 8
#: ... and if sizes are known only at run time
MOST_UNKNOWN_BYTES = 1 << 24


def known_bytes(type_: TensorType) -> int:
    """Bytes of an array of this type; 0 if the shape is unknown."""
    return array_bytes(type_) if type_.is_static else 0


def shared_bytes(steps: Iterable[RegionStep | None]) -> int:
    """The maximum bytes of a region's values if others could reuse their memory; None in ``steps`` is another node."""
    largest = max((_live_bytes(s) for s in steps if s is not None), default=0)
    return SMALL_GRAPH if largest <= SMALL_NODE else max(LEAST_SHARED_BYTES, int(SHARED_PART * largest))


def _live_bytes(step: RegionStep) -> int:
    """The bytes of a node's inputs and outputs, without weights."""
    taken = sum(known_bytes(t) for t, c in zip(step.takes, step.constants, strict=True) if c is None)
    return taken + sum(map(known_bytes, step.gives))
