"""Instructions for reductions, running results and products of arrays of known shape."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.ir.node import Node
from workbench.ir.opspec import REGISTRY, OpSpec
from workbench.ir.types import TensorType, numpy_dtype
from workbench.kernels import typed
from workbench.ops.rules import working
from workbench.plan.lowering.array_layout import (
    OWN,
    ArrayCode,
    ArrayInstruction,
    contiguous,
    dims_of,
    loop_over,
    merge_dims,
    spread,
)
from workbench.plan.lowering.inner_loops import find_loop, find_matmul, find_reduction, numpy_matmul, plain_attrs

#: maximum number of multiplications of a product that is not left to BLAS
SMALL_PRODUCT = 32768


def reduced(
    node: Node, spec: OpSpec, ins: Sequence[TensorType], out: TensorType, values: Sequence[np.ndarray | None]
) -> ArrayCode | None:
    address = find_reduction(spec.name, ins[0].dtype, out.dtype)
    dims = dims_of(ins[0])
    if address is None or len(ins) > 1 and values[1] is None or 0 in dims:
        return None
    if not plain_attrs(node, spec, ("axis", "keepdims", "noop_with_empty_axes", "dtype", "of_none")):
        return None
    axes = node.attrs.get("axis") if len(ins) == 1 else tuple(int(a) for a in np.ravel(values[1]))  # type: ignore[arg-type]
    if axes is None:
        low, high = 0, len(dims)
    else:
        listed = sorted({int(a) % len(dims) for a in ((axes,) if isinstance(axes, int) else axes)})
        if not listed or listed != list(range(listed[0], listed[-1] + 1)):
            return None
        low, high = listed[0], listed[-1] + 1
    sizes = {"outer": math.prod(dims[:low]), "n": math.prod(dims[low:high]), "inner": math.prod(dims[high:])}
    array = {"kind": "reduce", "fn": address, "n_in": 1, **sizes}
    if sizes["inner"] == 1:
        array |= by_blocks(spec.name, ins[0].dtype, out.dtype, sizes["n"])
    return ArrayCode({0: [ArrayInstruction(array, ((0, 0),))]})


def running(node: Node, spec: OpSpec, ins: Sequence[TensorType], out: TensorType) -> ArrayCode | None:
    address, dims = find_reduction(spec.name, ins[0].dtype, out.dtype), dims_of(ins[0])
    plain = plain_attrs(node, spec, ("axis", "dtype"))
    axis = node.attrs.get("axis")
    if address is None or len(ins) > 1 or not plain or (axis is None and len(dims) != 1) or dims_of(out) != dims:
        return None
    at = 0 if axis is None else int(axis) % len(dims)
    sizes = {"outer": math.prod(dims[:at]), "n": dims[at], "inner": math.prod(dims[at + 1 :])}
    return ArrayCode({0: [ArrayInstruction({"kind": "reduce", "fn": address, "n_in": 1, **sizes}, ((0, 0),))]})


def product(node: Node, spec: OpSpec, ins: Sequence[TensorType], out: TensorType) -> ArrayCode | None:
    """``matmul`` and ``dot``: small matrices by the typed kernel, others by NumPy's own ``matmul`` loop."""
    if not node.attrs.get("exact") and plain_attrs(node, spec):
        small = _small_product(ins, out)
        if small is not None:
            return small
    step = _numpy_product(node, ins, out) if spec.name == "matmul" else None
    return None if step is None else ArrayCode({0: [step]})


def product_and_sum(node: Node, ins: Sequence[TensorType], out: TensorType) -> ArrayCode | None:
    """``gemm`` without factors: the product, then the sum in its place."""
    dims, found = dims_of(out), TensorType(out.dtype, _product_dims(node, ins))
    step = _numpy_product(node, ins[:2], found)
    if step is None or node.attrs.get("alpha", 1) != 1 or node.attrs.get("beta", 1) != 1 or dims_of(found) != dims:
        return None
    if len(ins) == 2:
        return ArrayCode({0: [step]})
    loop = find_loop(REGISTRY["add"], [out.dtype, ins[2].dtype], out.dtype)
    array = None if loop is None else loop_over(loop, [spread(t, dims) for t in (out, ins[2], out)], dims)
    return None if array is None else ArrayCode({0: [step, ArrayInstruction(array, ((OWN, 0), (2, 0)))]})


def _small_product(ins: Sequence[TensorType], out: TensorType) -> ArrayCode | None:
    a, b = dims_of(ins[0]), dims_of(ins[1])
    address = find_matmul(ins[0].dtype, out.dtype) if ins[0].dtype == ins[1].dtype else None
    if address is None or not (1 <= len(a) <= 2 and 1 <= len(b) <= 2):
        return None
    m, k, n = (a[0] if len(a) == 2 else 1), a[-1], (b[1] if len(b) == 2 else 1)
    if not 0 < m * k * n <= SMALL_PRODUCT:
        return None
    array = {"kind": "matmul", "fn": address, "n_in": 2, "outer": 1, "dims": (m, k, n)}
    return ArrayCode({0: [ArrayInstruction(array, ((0, 0), (1, 0)))]})


def _product_dims(node: Node, ins: Sequence[TensorType]) -> tuple[int, ...]:
    a, b = dims_of(ins[0]), dims_of(ins[1])
    return a[-1 if node.attrs.get("transpose_a") else -2], b[-2 if node.attrs.get("transpose_b") else -1]


def _numpy_product(node: Node, ins: Sequence[TensorType], out: TensorType) -> ArrayInstruction | None:
    """NumPy's own loop on the operands in place, transposed by their strides like NumPy's views, and along the axes
    before the matrices if a single stride visits them.
    """
    kind, item = numpy_dtype(out.dtype), numpy_dtype(out.dtype).itemsize
    loop = numpy_matmul(ins[0].dtype, out.dtype) if ins[0].dtype == ins[1].dtype else None
    a, b = dims_of(ins[0]), dims_of(ins[1])
    if loop is None or not a or not b or 0 in (*a, *b) or not node.attrs.get("exact") and working(kind) != kind:
        return None
    front = dims_of(out)[: max(len(a), len(b), 2) - 2]
    to = contiguous(dims_of(out), item)[: len(front)]
    outer, apart = merge_dims(front, [_in_front(a, front, item), _in_front(b, front, item), to])
    if len(outer) > 1:
        return None
    steps_a, steps_b = np.empty(a, kind).strides[-2:], np.empty(b, kind).strides[-2:]
    rows, columns = len(a) > 1, len(b) > 1
    a, b = a[-2:], b[-2:]
    if node.attrs.get("transpose_a") and rows:
        a, steps_a = a[::-1], steps_a[::-1]
    if node.attrs.get("transpose_b") and columns:
        b, steps_b = b[::-1], steps_b[::-1]
    at = iter(np.empty(dims_of(out), kind).strides[len(front) :])
    steps = (
        steps_a if rows else (0, *steps_a),
        steps_b if columns else (*steps_b, 0),
        (next(at) if rows else 0, next(at) if columns else 0),
    )
    dims = (a[0] if rows else 1), a[-1], (b[1] if columns else 1)
    array = {"kind": "core", "fn": loop[0], "data": loop[1], "n_in": 2, "dims": dims, "steps": steps}
    return ArrayInstruction({**array, "outer": outer[0], "stride": tuple(s[0] for s in apart)}, ((0, 0), (1, 0)))


def _in_front(dims: tuple[int, ...], front: Sequence[int], item: int) -> tuple[int, ...]:
    """Bytes per step along the axes before the matrices, broadcast to ``front``."""
    own = contiguous(dims, item)[: max(0, len(dims) - 2)]
    return (0,) * (len(front) - len(own)) + own


#: number of items that NumPy converts at once before it adds them
CONVERTED = 8192


def by_blocks(op: str, input_: str, output: str, n: int) -> dict[str, Any]:
    """How the last axis, of ``n`` items, is reduced block by block with the same bits (kernels: wb_fold); {} if it is
    not: products of floats run from the first item to the last, sums of converted items in another order.
    """
    mean, floats = op == "mean", output in ("float32", "float64")
    adding = "sum" if mean else op
    if op not in ("sum", "mean", "prod", "min", "max", "any", "all") or (mean and not floats):
        return {}
    if op == "prod" and numpy_dtype(output).kind not in "iu" or adding == "sum" and numpy_dtype(output).kind == "c":
        return {}
    if adding == "sum" and numpy_dtype(output).kind == "f" and input_ != output and n > CONVERTED:
        return {}
    part, join = find_reduction(adding, input_, output), find_reduction(adding, output, output)
    if part is None or join is None:
        return {}
    item = numpy_dtype(output).itemsize
    fold = {"part": part, "join": join, "item": item, "stride": (numpy_dtype(input_).itemsize, 0, 0, 0)}
    return fold | ({"mean": "d" if output == "float64" else "f"} if mean else {})


def statistics_step(address: int, type_: TensorType) -> dict[str, Any]:
    """The instruction that computes the seven statistics of an array (kernels: statistics)."""
    item = numpy_dtype(type_.dtype).itemsize
    step = {"kind": "stats", "fn": address, "n_in": 1, "n": math.prod(dims_of(type_)), "stride": (item, 0, 0, 0)}
    return step | {"pairs": typed.statistics_of_ops(type_.dtype) or 0}
