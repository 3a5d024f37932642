"""The memory layout of arrays of known shape, and instructions on them in the form of the machine (array_ops.h)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.ir.types import TensorType, numpy_dtype
from workbench.plan.lowering.inner_loops import ArrayLoop

#: maximum number of dimensions of an instruction, after contiguous ones are merged
MOST_DIMS = 8
#: as an operand: the result of an earlier step
OWN = -2


@dataclass(frozen=True, slots=True)
class ArrayInstruction:
    """One instruction: its description, operands as (input of the node, byte offset in it), and byte offset in the
    output.

    Input -1 is ``constant``, OWN the result of an earlier step. ``places`` marks a copy of a whole input to one place
    of the output, to which the node that computes the input can write it directly.
    """

    array: dict[str, Any]
    operands: tuple[tuple[int, int], ...]
    delta: int = 0
    constant: np.ndarray | None = None
    places: bool = False


@dataclass(frozen=True, slots=True)
class ArrayCode:
    """For each output, either the steps that write it or (in ``views``) its byte offset in the first input."""

    steps: dict[int, list[ArrayInstruction]] = field(default_factory=dict)
    views: dict[int, int] = field(default_factory=dict)


def loop_over(loop: ArrayLoop, strides: Sequence[Sequence[int]], dims: Sequence[int]) -> dict[str, Any] | None:
    """The instruction that runs a loop over operands with these strides (the result's last)."""
    dims, strides = merge_dims(dims, strides)
    if len(dims) > MOST_DIMS or 0 in dims:
        return None
    if len(dims) == 1:
        inner = loop.items if dims == (1,) else tuple(s[0] for s in strides)
        flat = loop.flat_for(inner)
        if flat:
            padded = (*inner[:-1], *(0,) * (4 - len(inner)), inner[-1])
            return {"kind": "flat", "fn": flat, "n": dims[0], "n_in": len(inner) - 1, "stride": padded}
    if len(dims) == 2 and len(strides) == 3:
        by_rows = _by_rows(loop, strides, dims)
        if by_rows is not None:
            return by_rows
    nest = {
        "kind": "nest",
        "fn": loop.strided,
        "data": loop.data,
        "raises": loop.raises,
        "numpy": not loop.typed,
        "n_in": len(strides) - 1,
        "dims": dims,
        "steps": strides,
    }
    inner = tuple(s[0] for s in strides)
    if len(dims) == 1 and loop.typed and all(s in (0, item) for s, item in zip(inner, loop.items, strict=True)):
        nest |= {"n": dims[0], "stride": (*inner[:-1], *(0,) * (4 - len(inner)), inner[-1])}  # runs block by block
    return nest


def _by_rows(loop: ArrayLoop, strides: Sequence[Sequence[int]], dims: Sequence[int]) -> dict[str, Any] | None:
    """A contiguous loop for two operands, one of which has a single item for each row of the other."""
    whole = [tuple(s) == (item * dims[1], item) for s, item in zip(strides, loop.items, strict=True)]
    single = [s[1] == 0 for s in strides]
    inner = tuple(s[1] for s in strides)
    flat = loop.flat_for(inner)
    if not flat or not whole[2] or not (whole[0] and single[1] or single[0] and whole[1]):
        return None
    return {
        "kind": "rows",
        "fn": flat,
        "n": dims[0] * dims[1],
        "inner": dims[1],
        "n_in": 2,
        "stride": (inner[0], inner[1], 0, inner[2]),
        "steps": [(s[0],) for s in strides[:2]],
    }


def merge_dims(
    dims: Sequence[int], strides: Sequence[Sequence[int]]
) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """The fewest dimensions that visit the same items: those of size 1 are dropped, contiguous ones are merged."""
    kept: list[tuple[int, tuple[int, ...]]] = []
    for d, size in enumerate(dims):
        steps = tuple(s[d] for s in strides)
        if size == 1:
            continue
        if kept and all(a == b * size for a, b in zip(kept[-1][1], steps, strict=True)):
            kept[-1] = (kept[-1][0] * size, steps)
        else:
            kept.append((size, steps))
    if not kept:
        return (1,), tuple((0,) if k < len(strides) - 1 else (s[-1] if len(s) else 0,) for k, s in enumerate(strides))
    return tuple(k[0] for k in kept), tuple(tuple(k[1][o] for k in kept) for o in range(len(strides)))


def dims_of(type_: TensorType) -> tuple[int, ...]:
    """The sizes of a static type."""
    return tuple(int(d) for d in type_.shape or ())  # type: ignore[arg-type]


def strides_of(type_: TensorType) -> tuple[int, ...]:
    """Bytes per step of a contiguous array of this type."""
    return spread(type_, dims_of(type_))


def spread(type_: TensorType, dims: Sequence[int]) -> tuple[int, ...]:
    """Bytes per step of a contiguous array of this type, broadcast to ``dims``."""
    own = dims_of(type_)
    return (0,) * (len(dims) - len(own)) + contiguous(own, numpy_dtype(type_.dtype).itemsize)


def contiguous(dims: Sequence[int], item: int) -> tuple[int, ...]:
    """Bytes per step of a contiguous array; 0 along axes of size 1."""
    steps = []
    for size in reversed(dims):
        steps.append(0 if size == 1 else item)
        item *= size
    return tuple(reversed(steps))
