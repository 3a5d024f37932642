"""Slots of rows and of the constant pool, handed out while a plan is made and laid out at its end."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from workbench.graph.types import TensorType, numpy_dtype
from workbench.kernels.layout import Place

#: dtypes of single numbers that live in the row itself
INLINE = frozenset(
    ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
     "complex64", "complex128")
)  # fmt: skip


def inline_dtype(type_: TensorType) -> str | None:
    """dtype for a value that fits into the row, None for one that is kept as an array."""
    return type_.dtype if type_.shape == () and type_.dtype in INLINE else None


def array_bytes(type_: TensorType) -> int:
    """Bytes of an array of this type; a guess of 1 MiB where the shape is not known."""
    if not type_.is_static or type_.shape is None:
        return 1 << 20
    return math.prod(d or 0 for d in type_.shape) * numpy_dtype(type_.dtype).itemsize


@dataclass(eq=False, slots=True)
class Slot:
    """A column of a frame's rows, or (``frame`` None) an entry of the constant pool."""

    frame: int | None
    dtype: str | None
    offset: int = -1

    @property
    def size(self) -> int:
        return 8 if self.dtype is None else numpy_dtype(self.dtype).itemsize


@dataclass(frozen=True, slots=True)
class Spot:
    """A slot, in the row in progress (shift 0) or in the row before (shift -1)."""

    slot: Slot
    shift: int = 0

    @property
    def dtype(self) -> str | None:
        return self.slot.dtype

    def place(self) -> Place:
        base = 0 if self.slot.frame is None else self.slot.frame + 1
        return Place(base, self.slot.offset, self.shift, self.slot.dtype)


@dataclass(slots=True)
class Pool:
    """The constants of a program: numbers as bytes, everything else as read-only arrays."""

    entries: list[tuple[Slot, np.ndarray]] = field(default_factory=list)

    def add(self, value: np.ndarray) -> Slot:
        slot = Slot(None, inline_dtype(TensorType.of(value)))
        self.entries.append((slot, value))
        return slot

    def finish(self) -> tuple[bytes, dict[int, np.ndarray]]:
        """Lay the entries out; returns the pool's bytes and its objects by offset."""
        raw = bytearray()
        objects: dict[int, np.ndarray] = {}
        for slot, value in self.entries:
            raw.extend(b"\0" * (-len(raw) % 16))
            slot.offset = len(raw)
            if slot.dtype is None:
                objects[slot.offset] = value
                raw.extend(b"\0" * 8)
            else:
                raw.extend(np.asarray(value).tobytes())
        return bytes(raw), objects


def lay_out(slots: list[Slot]) -> tuple[int, list[int]]:
    """Give the slots of one frame their offsets, largest first so that all are aligned.

    Returns the bytes of a row and the offsets of the object columns.
    """
    offset = 0
    for slot in sorted(slots, key=lambda s: -s.size):
        slot.offset = offset
        offset += slot.size
    row_bytes = max(8, -(-offset // 8) * 8)
    return row_bytes, [s.offset for s in slots if s.dtype is None]
