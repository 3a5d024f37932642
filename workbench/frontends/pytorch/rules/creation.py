"""Creation of tensors from sizes and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.frontends.pytorch.numbers import Number
from workbench.frontends.pytorch.rules.table import FEW, dim_of, out_dtype, plain, rule
from workbench.ir.builder.value import Value

if TYPE_CHECKING:
    from workbench.frontends.pytorch.lower import TorchLowering


def filled(lowering: TorchLowering, size: Any, value: Any) -> Value:
    dtype = out_dtype(lowering)
    number = lowering.cast(value, dtype)
    if isinstance(size, list) and plain(size, value) and len(size) == 0:
        return lowering.op("Identity", number)
    return lowering.op("fill", lowering.vector(size), number)


@rule(
    "zeros.default",
    "ones.default",
    "empty.memory_format",
    "full.default",
    "new_zeros.default",
    "new_ones.default",
    "new_empty.default",
    "new_full.default",
    "empty_strided.default",
    "new_empty_strided.default",
)
def _filled(lowering: TorchLowering, *given: Any, size: Any = None, fill_value: Any = None, **options: Any) -> Value:
    """A filled tensor; ``empty`` is zeros here, while PyTorch leaves the memory uninitialized."""
    packet = lowering.call.target.split(".")[1]
    sizes = size if size is not None else next(g for g in given if isinstance(g, list))
    value = (given[-1] if fill_value is None else fill_value) if "full" in packet else int("ones" in packet)
    return filled(lowering, sizes, value)


@rule("zeros_like.default", "ones_like.default", "empty_like.default", "full_like.default")
def _like(lowering: TorchLowering, self: Value, fill_value: Any = None, **options: Any) -> Value:
    value = fill_value if fill_value is not None else int("ones" in lowering.call.target)
    return filled(lowering, lowering.sizes_of(self), value)


@rule("arange.default", "arange.start", "arange.start_step")
def _arange(
    lowering: TorchLowering, *given: Any, start: Any = 0, end: Any = None, step: Any = 1, **options: Any
) -> Value:
    if given:
        start, end, step = (0, given[0], 1) if len(given) == 1 else (*given, 1)[:3]
    dtype = out_dtype(lowering)
    if plain(start, end, step):
        count = int(np.ceil((end - start) / step)) if step else 0
        if count <= FEW:
            return lowering.op("Identity", lowering.builder.constant(_steps(start, step, max(count, 0), dtype)))
    inside = "int64" if all(isinstance(n, Number) or type(n) is int for n in (start, end, step)) else "float64"
    sides = (lowering.cast(n, inside) for n in (start, end, step))
    return lowering.cast(lowering.op("range", *sides), dtype)


def _steps(start: Any, step: Any, count: int, dtype: str) -> np.ndarray:
    from workbench.ir.types import numpy_dtype

    made: np.ndarray = (start + step * np.arange(count)).astype(numpy_dtype(dtype))
    return made


@rule("scalar_tensor.default")
def _scalar(lowering: TorchLowering, s: Any, **options: Any) -> Value:
    return lowering.op("Identity", lowering.cast(s, out_dtype(lowering)))


@rule("eye.default", "eye.m")
def _eye(lowering: TorchLowering, n: Any, m: Any = None, **options: Any) -> Value | None:
    if not plain(n, m):
        return None
    return lowering.op("eye", n=int(n), m=int(n if m is None else m), dtype=out_dtype(lowering))


@rule("linspace.default")
def _linspace(lowering: TorchLowering, start: Any, end: Any, steps: int, **options: Any) -> Value | None:
    if not plain(start, end, steps) or not 0 <= steps <= FEW:
        return None
    return lowering.op("Identity", lowering.builder.constant(np.linspace(start, end, steps), dtype=out_dtype(lowering)))


@rule("tril.default", "triu.default")
def _tri(lowering: TorchLowering, self: Value, diagonal: Any = 0) -> Value | None:
    return lowering.op(lowering.call.target.split(".")[1], self, k=int(diagonal)) if plain(diagonal) else None


@rule("one_hot.default")
def _one_hot(lowering: TorchLowering, self: Value, num_classes: int = -1) -> Value | None:
    if num_classes < 0:
        return None
    sides = (lowering.number(n, "int64") for n in (num_classes, 1, 0))
    return lowering.op("one_hot", self, *sides, axis=-1, dtype="int64")


@rule("meshgrid.default", "meshgrid.indexing")
def _meshgrid(lowering: TorchLowering, tensors: list[Value], indexing: str = "ij") -> list[Value]:
    sizes = [lowering.sizes_of(t)[0] if t.type.rank else 1 for t in tensors]
    count, swapped = len(tensors), indexing == "xy" and len(tensors) > 1
    if swapped:
        sizes[0], sizes[1] = sizes[1], sizes[0]
    made = []
    for k, t in enumerate(tensors):
        at = 1 - k if swapped and k < 2 else k
        row = lowering.part("reshape", t, shape=tuple(-1 if d == at else 1 for d in range(count)))
        made.append(lowering.op("broadcast_to", row, lowering.vector(sizes)))
    return made


@rule("cat.default", "concat.default", "stack.default")
def _cat(lowering: TorchLowering, tensors: list[Value], dim: int = 0) -> Value:
    dtype = out_dtype(lowering)
    stacks = "stack" in lowering.call.target
    if not stacks:  # empty vectors may be joined with any tensor
        rank = max(t.type.rank or 0 for t in tensors)
        tensors = [t for t in tensors if t.type.rank == rank or t.shape != (0,)]
    rank = (tensors[0].type.rank or 0) + stacks
    at = dim % max(rank, 1) if -rank <= dim < rank else dim_of(tensors[0], dim)
    values = [lowering.cast(t, dtype) for t in tensors]
    return lowering.op("stack" if stacks else "concat", *values, axis=at)
