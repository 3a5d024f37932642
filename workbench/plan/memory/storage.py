"""Slots of rows and of the constant pool, created during planning and laid out at its end."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import numpy as np

from workbench.ir.types import TensorType, numpy_dtype
from workbench.kernels.layout import Place
from workbench.ops.result_size import allowed

#: dtypes of single numbers that are stored in the row itself
INLINE = frozenset(
    (
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    )
)


#: maximum bytes of arrays of known shape that are always in rows; larger ones are if compiled code computes them
SMALL_BYTES = 1 << 16
#: arrays in rows begin at multiples of this: a cache line, and the preferred alignment of the widest instructions
ALIGNED = 64
#: maximum bytes of a row, in which offsets have 32 bits
MOST_ROW_BYTES = (1 << 31) - ALIGNED
#: maximum bytes of arrays in the rows of the plan being made; larger ones are objects
_LARGEST: ContextVar[int] = ContextVar("largest array in rows", default=MOST_ROW_BYTES)


class RowTooLong(Exception):
    """The columns of a frame take more bytes than the maximum of a row."""


@contextmanager
def arrays_in_rows_up_to(most: int) -> Iterator[None]:
    """Context in which plans keep larger arrays as objects."""
    token = _LARGEST.set(most)
    try:
        yield
    finally:
        _LARGEST.reset(token)


def in_rows(type_: TensorType) -> bool:
    """Return whether values of this type fit rows: numbers, and arrays of known shape that are not empty and not so
    large that a node which computes them fails (ops: result_size).
    """
    return type_.dtype in INLINE and type_.is_static and 0 < array_bytes(type_) <= min(allowed(), _LARGEST.get())


def array_bytes(type_: TensorType) -> int:
    """Bytes of an array of this type; a guess of 1 MiB if the shape is unknown."""
    if not type_.is_static or type_.shape is None:
        return 1 << 20
    return math.prod(d or 0 for d in type_.shape) * numpy_dtype(type_.dtype).itemsize


@dataclass(eq=False, slots=True)
class Slot:
    """A column of a frame's rows, or (``frame`` None) an entry of the constant pool.

    ``dtype`` None is an object: a reference and the id of its shape. A non-empty ``shape`` is an array, which is in the
    frame's store of arrays (``beside`` false) or with the numbers. The layout sets ``base`` and ``offset``; ``until``
    is the last instruction before which the array still exists, -1 if it is kept.
    """

    frame: int | None
    dtype: str | None
    shape: tuple[int, ...] = ()
    beside: bool = False
    phase: int = 0
    base: int = 0
    offset: int = -1
    until: int = -1

    @property
    def size(self) -> int:
        return 16 if self.dtype is None else numpy_dtype(self.dtype).itemsize * math.prod(self.shape)

    @property
    def stored(self) -> bool:
        """Return whether the slot is in the store of arrays."""
        return self.shape != () and not self.beside


@dataclass(slots=True, unsafe_hash=True)
class Spot:
    """A slot in the current row (shift 0) or in the previous row (shift -1); ``delta`` bytes into it, as an array of
    ``shape`` (None: the slot's own).
    """

    slot: Slot
    shift: int = 0
    delta: int = 0
    view: tuple[int, ...] | None = None

    @property
    def dtype(self) -> str | None:
        return self.slot.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.slot.shape if self.view is None else self.view

    @property
    def number(self) -> str | None:
        """The dtype of a single number, None for anything else."""
        return self.slot.dtype if self.shape == () else None

    @property
    def is_constant(self) -> bool:
        return self.slot.frame is None

    def place(self) -> Place:
        return Place(
            self.slot.base, self.slot.offset + self.delta, self.shift, self.slot.dtype, self.shape, self.slot.until
        )


@dataclass(slots=True)
class Pool:
    """The constants of a program: numbers as bytes, everything else as read-only arrays."""

    entries: dict[Slot, np.ndarray] = field(default_factory=dict)
    #: arrays that compiled code reads, by slot
    arrays: dict[Slot, np.ndarray] = field(default_factory=dict)

    def add(self, value: np.ndarray) -> Slot:
        type_ = TensorType.of(value)
        slot = Slot(None, type_.dtype if type_.shape == () and in_rows(type_) else None)
        self.entries[slot] = value
        return slot

    def value(self, slot: Slot) -> np.ndarray:
        return self.entries[slot]

    def finish(self) -> tuple[bytes, dict[int, np.ndarray]]:
        """Lay out the entries; return the pool's bytes and its objects by offset."""
        raw = bytearray()
        objects: dict[int, np.ndarray] = {}
        for slot, value in self.entries.items():
            raw.extend(b"\0" * (-len(raw) % 16))
            slot.offset = len(raw)
            if slot.dtype is None:
                objects[slot.offset] = value
                raw.extend(b"\0" * 16)
            else:
                raw.extend(np.asarray(value).tobytes())
        return bytes(raw), objects


def lay_out(slots: list[Slot]) -> tuple[int, list[int]]:
    """Assign offsets to the slots of one frame that are not in its store of arrays, by size so that all are aligned.

    Returns the bytes of a row and the offsets of the object columns.
    """
    offset = 0
    for slot in sorted(slots, key=lambda s: -min(s.size, 16)):
        slot.offset = offset
        offset += slot.size
    row_bytes = max(8, -(-offset // 8) * 8)
    return row_bytes, [s.offset for s in slots if s.dtype is None]


def lay_out_arrays(slots: list[Slot], offset: int = 0) -> int:
    """Assign offsets from ``offset`` on to the slots of a store of arrays; return the bytes of a row."""
    for slot in slots:
        slot.offset = offset + -(offset + slot.phase) % ALIGNED
        offset = slot.offset + slot.size
    return -(-offset // ALIGNED) * ALIGNED
