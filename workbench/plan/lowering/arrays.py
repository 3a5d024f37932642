"""Instructions for arrays of known shape, and the nodes that have them (see kernels: arrays.h).

Element-wise ops run in one compiled loop over contiguous operands, or in an inner loop under loops over the outer
dimensions. Ops that only view an array (slice, reshape, transpose ...) compute their view of an array of that shape
once, during planning: a contiguous view takes no time at run time, any other view is a copy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.ir.node import Node
from workbench.ir.opspec import REGISTRY, OpSpec
from workbench.ir.types import TensorType, numpy_dtype
from workbench.ops.arrays.shapes import pad_widths
from workbench.ops.index import decode_index
from workbench.plan.lowering.array_layout import (
    MOST_DIMS,
    ArrayCode,
    ArrayInstruction,
    contiguous,
    dims_of,
    loop_over,
    merge_dims,
    spread,
    strides_of,
)
from workbench.plan.lowering.array_products import product, product_and_sum, reduced, running
from workbench.plan.lowering.inner_loops import PAIRED, ArrayLoop, find_loop, pair_table, plain_attrs

#: ops whose NumPy evaluation returns views of their first input
MOVING = frozenset(
    (
        "reshape",
        "flatten",
        "transpose",
        "expand_dims",
        "squeeze",
        "broadcast_to",
        "diagonal",
        "gather",
        "reverse",
        "split",
        "unstack",
        "getitem",
        "slice",
        "slice_size",
        "strided_slice",
        "stop_gradient",
    )
)
REDUCTIONS = frozenset(("sum", "prod", "min", "max", "mean", "any", "all", "argmin", "argmax"))
RUNNING = frozenset(("cumsum", "cumprod"))


def array_code(
    node: Node, spec: OpSpec, ins: Sequence[TensorType], outs: Sequence[TensorType], values: Sequence[np.ndarray | None]
) -> ArrayCode | None:
    """Instructions for a node on arrays of static shape (``values``: constant inputs), or None if there are none."""
    plain = plain_attrs(node, spec)
    if spec.name in MOVING:
        return _moved(node, spec, ins, outs, values)
    if len(outs) != 1:
        return None
    if spec.name in ("concat", "stack"):
        return _joined(node, spec, ins, outs[0])
    if spec.name == "pad":
        return _padded(node, ins, outs[0], values)
    if spec.name == "setitem":
        return _written(node, ins, outs[0])
    if spec.name in RUNNING:
        return running(node, spec, ins, outs[0])
    if spec.name in REDUCTIONS and not node.attrs.get("_as_numpy"):
        return reduced(node, spec, ins, outs[0], values)
    if spec.name in ("matmul", "dot") and len(ins) == 2:
        return product(node, spec, ins, outs[0])
    if spec.name == "gemm":
        return product_and_sum(node, ins, outs[0])
    if plain and spec.name == "relu":
        return _above_zero(ins[0], outs[0])
    if plain and 1 <= len(ins) <= 3:
        return _elementwise(spec, ins, outs[0])
    return None


# -- elementwise --------------------------------------------------------------------------------------
def _elementwise(spec: OpSpec, ins: Sequence[TensorType], out: TensorType) -> ArrayCode | None:
    loop = find_loop(spec, [t.dtype for t in ins], out.dtype)
    shapes = [dims_of(t) for t in ins]
    if loop is None or np.broadcast_shapes(*shapes) != dims_of(out):
        return None
    array = loop_over(loop, [*(spread(t, dims_of(out)) for t in ins), spread(out, dims_of(out))], dims_of(out))
    if array is not None and array["kind"] == "flat" and spec.name in PAIRED and {t.dtype for t in ins} == {out.dtype}:
        array |= {"op": PAIRED.index(spec.name), "pairs": pair_table(spec.name, out.dtype)}
    return None if array is None else ArrayCode({0: [ArrayInstruction(array, tuple((k, 0) for k in range(len(ins))))]})


def _above_zero(x: TensorType, out: TensorType) -> ArrayCode | None:
    """relu is the maximum of a zero of its dtype and x, in the order that keeps -0 (ops: relu)."""
    loop, dims = find_loop(REGISTRY["maximum"], [x.dtype, x.dtype], out.dtype), dims_of(out)
    order = slice(None, None, 1 if x.dtype == "float16" else -1)
    both = [spread(x, dims), (0,) * len(dims)][order]
    array = None if loop is None else loop_over(loop, [*both, spread(out, dims)], dims)
    operands = ((0, 0), (-1, 0)) if x.dtype == "float16" else ((-1, 0), (0, 0))
    zero = np.zeros((), numpy_dtype(x.dtype))
    return None if array is None else ArrayCode({0: [ArrayInstruction(array, operands, constant=zero)]})


def dynamic_code(loop: ArrayLoop, operands: Sequence[Any], dtype: np.dtype) -> tuple[Any, np.dtype, Any] | None:
    """An element-wise instruction for operands of these (dtype, shape, strides or None if contiguous), with dtype and
    shape of its result; None if broadcasting fails or the result is empty.
    """
    shapes = [tuple(shape) for _, shape, _ in operands]
    try:
        dims = np.broadcast_shapes(*shapes)
    except ValueError:
        return None  # the callable raises the error
    strides = []
    for kind, shape, own in operands:
        steps = own if own is not None else contiguous(shape, kind.itemsize)
        steps = tuple(0 if size == 1 else step for size, step in zip(shape, steps, strict=True))
        strides.append((0,) * (len(dims) - len(shape)) + steps)
    strides.append(contiguous(dims, dtype.itemsize))
    array = loop_over(loop, strides, dims)
    return None if array is None or len(dims) > MOST_DIMS else (array, dtype, dims)


# -- moving --------------------------------------------------------------------------------------------------
def _moved(
    node: Node, spec: OpSpec, ins: Sequence[TensorType], outs: Sequence[TensorType], values: Sequence[np.ndarray | None]
) -> ArrayCode | None:
    """Views of the first input as returned by the op's own evaluation; a single item along an axis is a view, too."""
    if any(v is None for v in values[1:]) or spec.evaluate is None:
        return None
    x = np.empty(dims_of(ins[0]), numpy_dtype(ins[0].dtype))
    try:
        if spec.name == "gather":
            results = [_taken(x, node, values)]
        else:
            results = list(spec.evaluate([x, *values[1:]], node.attrs))
    except (IndexError, ValueError, WorkbenchError):
        return None  # the callable raises the error
    code = ArrayCode()
    for k, (result, out) in enumerate(zip(results, outs, strict=True)):
        delta = result.ctypes.data - x.ctypes.data
        inside = 0 <= delta < max(1, x.nbytes) and np.may_share_memory(result, x)
        if not inside or result.shape != dims_of(out) or result.dtype != x.dtype:
            return None
        if result.flags.c_contiguous:
            code.views[k] = delta
        else:
            step = copy_step(0, delta, result.strides, out, spread(out, dims_of(out)))
            if step is None:
                return None
            code.steps[k] = [step]
    return code


def _taken(x: np.ndarray, node: Node, values: Sequence[np.ndarray | None]) -> np.ndarray:
    """The part at a constant index of an axis, for ``gather``; IndexError for several, or one out of range."""
    index, axis = values[1], node.attrs.get("axis") or 0
    if len(values) > 2 or index is None or index.shape or node.attrs.get("batch_dims") or x.ndim < 2:
        raise IndexError("several places, an axis that comes as an input, or a single number")
    return x[(slice(None),) * (axis % x.ndim) + (int(index),)]


def copy_step(
    source: int, delta: int, strides: Sequence[int], type_: TensorType, to: Sequence[int], at: int = 0
) -> ArrayInstruction | None:
    """Copy ``type_.shape`` items with these ``strides`` to a place with strides ``to``."""
    dims, (one, two) = merge_dims(dims_of(type_), [strides, to])
    if len(dims) > MOST_DIMS:
        return None
    item = numpy_dtype(type_.dtype).itemsize
    array = {"kind": "copy", "n_in": 1, "item": item, "dims": dims, "steps": (one, two)}
    if one[-1] == two[-1] == item and (len(dims) == 1 or len(dims) == 2 and min(one[0], two[0]) >= item * dims[1]):
        array |= {"n": math.prod(dims), "stride": (item, 0, 0, item)}  # goes block by block
    return ArrayInstruction(
        array, ((source, delta),), at, places=delta == 0 and len(dims) == 1 and one == two == (item,)
    )


def whole_copy(type_: TensorType, delta: int = 0) -> ArrayInstruction:
    """Copy a contiguous array that begins ``delta`` bytes into the first input."""
    step = copy_step(0, delta, strides_of(type_), type_, strides_of(type_))
    assert step is not None  # one dimension
    return step


def _joined(node: Node, spec: OpSpec, ins: Sequence[TensorType], out: TensorType) -> ArrayCode | None:
    if node.attrs.get("axis_input") or any(t.dtype != out.dtype for t in ins) or not ins:
        return None
    rank = len(dims_of(out))
    axis = int(node.attrs.get("axis", 0)) % rank
    to, steps, at = spread(out, dims_of(out)), [], 0
    for k, part in enumerate(ins):
        dims = dims_of(part)
        whole = TensorType(out.dtype, dims if spec.name == "concat" else (*dims[:axis], 1, *dims[axis:]))
        step = copy_step(k, 0, spread(whole, dims_of(whole)), whole, to, at)
        if step is None:
            return None
        if math.prod(dims):
            steps.append(step)
        at += to[axis] * dims_of(whole)[axis]
    return ArrayCode({0: steps})


def _padded(
    node: Node, ins: Sequence[TensorType], out: TensorType, values: Sequence[np.ndarray | None]
) -> ArrayCode | None:
    """The steps of a padded array: the inner array, which its producer may write there, and the border slabs."""
    if node.attrs.get("mode", "constant") != "constant" or any(v is None for v in values[1:]):
        return None
    dims, inside = dims_of(out), dims_of(ins[0])
    low = [before for before, _ in pad_widths(node.attrs, ins, values)]
    if 0 in inside or len(ins) > 2:
        return None
    to = spread(out, dims)
    fill = np.asarray(node.attrs.get("value", 0)).astype(numpy_dtype(out.dtype))
    steps = []
    for axis, size in enumerate(dims):
        for start, stop in ((0, low[axis]), (low[axis] + inside[axis], size)):
            # slabs of earlier axes span the whole array, those of later axes lie between them
            box = [(low[a], inside[a]) if a < axis else (0, dims[a]) for a in range(len(dims))]
            box[axis] = (start, stop - start)
            slab = TensorType(out.dtype, tuple(n for _, n in box))
            if stop > start:
                at = sum(k * step for (k, _), step in zip(box, to, strict=True))
                steps.append(copy_step(-1, 0, (0,) * len(dims), slab, to, at))
    at = sum(k * step for k, step in zip(low, to, strict=True))
    steps.insert(0, copy_step(0, 0, spread(ins[0], inside), ins[0], to, at))
    return ArrayCode({0: [replace(s, constant=fill) for s in steps if s is not None]}) if None not in steps else None


def _written(node: Node, ins: Sequence[TensorType], out: TensorType) -> ArrayCode | None:
    """The steps of x with a part replaced: a copy of x, then the part."""
    if len(ins) != 2 or ins[1].dtype != out.dtype or ins[0] != out:
        return None
    x = np.empty(dims_of(out), numpy_dtype(out.dtype))
    part = x[decode_index(node.attrs["index"], [])]
    if not isinstance(part, np.ndarray) or (part.size and not np.may_share_memory(part, x)):
        return None  # a fancy index, or a single element
    whole = whole_copy(out)
    wanted = TensorType(out.dtype, part.shape)
    to = part.strides
    step = copy_step(1, 0, spread(ins[1], part.shape), wanted, to, part.ctypes.data - x.ctypes.data)
    if step is None:
        return None
    return ArrayCode({0: [whole, step] if part.size else [whole]})
