"""The shape, dtype and strides behind an id of the shape trie."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class ShapeInfo(NamedTuple):
    """A shape descriptor; two with equal fields (``id`` aside) have one id while any reference lives.

    ``strides`` are bytes, None for the contiguous layout of ``order`` ("C" or "F"); ``dtype`` is None where none was
    given; ``flags`` is the caller's own number, 0 to 65535.
    """

    id: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    dtype: np.dtype | None
    order: str
    flags: int

    @property
    def rank(self) -> int:
        return len(self.shape)

    def __str__(self) -> str:
        dims = " \u00d7 ".join(map(str, self.shape)) or "scalar"
        parts = [dims]
        if self.dtype is not None:
            parts.append(str(self.dtype))
        if self.strides is not None:
            parts.append(f"strides {self.strides}")
        elif self.order != "C":
            parts.append(self.order)
        if self.flags:
            parts.append(f"flags {self.flags:#x}")
        return ", ".join(parts)
