"""Compiled loops: the typed kernels if they give NumPy's result bit for bit, else NumPy's own inner loops."""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.ir.node import Node
from workbench.ir.opspec import OpSpec
from workbench.ir.types import numpy_dtype
from workbench.kernels import machine, typed
from workbench.kernels.types.ops import OPS, is_exact


@dataclass(frozen=True, slots=True)
class ArrayLoop:
    """``strided`` follows NumPy's convention for inner loops (with ``data``); ``flat`` are the addresses for all
    operands contiguous, for a scalar second and for a scalar first operand, 0 if there is none. ``items`` are the bytes
    of an item of each operand, the result's last; ``raises``: the loop may set an exception; ``typed``: it is one of
    our kernels, whose result for an item does not depend on its position in the array.
    """

    strided: int
    data: int
    flat: tuple[int, int, int]
    items: tuple[int, ...]
    raises: bool = False
    typed: bool = False

    def flat_for(self, strides: Sequence[int]) -> int:
        """The contiguous loop for operands with these ``strides`` (the result's last), or 0."""
        if tuple(strides) == self.items:
            return self.flat[0]
        if len(strides) == 3 and strides[2] == self.items[2]:
            if strides[0] == self.items[0] and strides[1] == 0:
                return self.flat[1]
            if strides[0] == 0 and strides[1] == self.items[1]:
                return self.flat[2]
        return 0


#: reductions that add or multiply
ADDING = frozenset(("sum", "prod", "mean", "cumsum", "cumprod"))


def plain_attrs(node: Node, spec: OpSpec, known: Collection[str] = ("dtype",)) -> bool:
    """Return whether all attrs have the op's defaults, except for those that the compiled code supports."""
    return all(k in known or k.startswith("_") or v == spec.attrs.get(k) for k, v in node.attrs.items())


def exact_kernel(op: str, inputs: Sequence[str], output: str) -> tuple[int, int, int, int, int] | None:
    """Addresses of the typed kernel (kernels: typed.kernel), if it is compiled and computes exactly what NumPy does."""
    if op not in OPS or len(inputs) != OPS[op].inputs or not is_exact(op, tuple(inputs), output):
        return None
    return typed.kernel(op, tuple(inputs), output)


#: ops of which one compiled loop computes two, each rounded: (a op b) op c, or c op (a op b) if that differs
PAIRED = ("add", "subtract", "multiply", "divide")
_SECONDS = (*PAIRED, "reverse_subtract", "reverse_divide")


@functools.cache
def pair_table(first: str, dtype: str) -> int:
    """Address of the loops of pairs that begin with an op (kernels: fast_path/blocks.h): for each second op those for
    contiguous operands, a scalar c, a scalar a.
    """
    kernels = [exact_kernel(f"{first}_{second}", (dtype,) * 3, dtype) for second in _SECONDS]
    return machine.address_table([address for k in kernels for address in ((0, 0, 0) if k is None else k[1:4])])


def find_loop(spec: OpSpec, inputs: Sequence[str], output: str) -> ArrayLoop | None:
    """The loop that computes exactly what the op does on these dtypes."""
    dtypes = [numpy_dtype(d) for d in (*inputs, output)]
    items = tuple(d.itemsize for d in dtypes)
    kernel = exact_kernel(spec.name, inputs, output)
    if kernel is not None and kernel[4]:
        return ArrayLoop(kernel[4], 0, kernel[1:4], items, typed=True)
    if spec.ufunc is None:
        return None
    found = machine.ufunc_loop(getattr(np, spec.ufunc), dtypes)
    return None if found is None else ArrayLoop(found[0], found[1], (0, 0, 0), items, found[2])


def find_reduction(op: str, input_: str, output: str) -> int | None:
    """A reduction or running result over the middle of (outer, n, inner)."""
    if op == "mean" and not output.startswith("float") or op in ADDING and output == "float16":
        return None  # the kernels round each step of float16, as NumPy does
    if op not in OPS or not is_exact(op, (input_,), output):
        return None
    return typed.cumulate(op, input_, output) if op.startswith("cum") else typed.reduce(op, input_, output)


def find_matmul(input_: str, output: str) -> int | None:
    """A product of small matrices. Terms are added in the order of k; BLAS uses other orders, so last digits differ."""
    return typed.matmul(input_, output)


def numpy_matmul(input_: str, output: str) -> tuple[int, int, bool] | None:
    """The inner loop of ``np.matmul``, which calls BLAS as NumPy does: the same result bit for bit."""
    return machine.ufunc_loop(np.matmul, [numpy_dtype(d) for d in (input_, input_, output)])
