"""Compiled loops over arrays: the typed kernels first, then NumPy's own inner loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.graph.opspec import OpSpec
from workbench.graph.types import numpy_dtype
from workbench.kernels import machine


@dataclass(frozen=True, slots=True)
class ArrayLoop:
    """``strided`` follows NumPy's convention for inner loops (with ``data``); ``flat`` are the addresses for all
    operands contiguous, for a single second and for a single first operand, 0 where there is none."""

    strided: int
    data: int
    flat: tuple[int, int, int]
    items: tuple[int, ...]

    def flat_for(self, strides: Sequence[int]) -> int:
        """The contiguous loop for operands that lie ``strides`` apart (the result's last), or 0."""
        if tuple(strides) == self.items:
            return self.flat[0]
        if len(strides) == 3 and strides[2] == self.items[2]:
            if strides[0] == self.items[0] and strides[1] == 0:
                return self.flat[1]
            if strides[0] == 0 and strides[1] == self.items[1]:
                return self.flat[2]
        return 0


def find_loop(spec: OpSpec, inputs: Sequence[str], output: str) -> ArrayLoop | None:
    """The loop that computes exactly what the op does on these dtypes."""
    if spec.ufunc is None:
        return None
    dtypes = [numpy_dtype(d) for d in (*inputs, output)]
    found = machine.ufunc_loop(getattr(np, spec.ufunc), dtypes)
    return None if found is None else ArrayLoop(found[0], found[1], (0, 0, 0), tuple(d.itemsize for d in dtypes))


def find_reduction(op: str, input_: str, output: str) -> int | None:
    return None


def find_matmul(input_: str, output: str) -> int | None:
    return None
