"""Instructions for arrays of known shape: which nodes have them, and what they are (see kernels: arrays.h).

Element-wise ops run in one compiled loop over contiguous operands, or in an inner loop under loops over the outer
dimensions. Ops that only take another look at an array (slice, reshape, transpose ...) are asked for their view of an
array of that shape once, while the plan is made: a contiguous view costs nothing at run time, any other is a copy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.ir.node import Node
from workbench.ir.opspec import REGISTRY, OpSpec
from workbench.ir.types import TensorType, numpy_dtype
from workbench.ops.arrays.shapes import pad_widths
from workbench.ops.index import decode_index
from workbench.plan.lowering.inner_loops import (
    ArrayLoop,
    find_loop,
    find_matmul,
    find_reduction,
    numpy_matmul,
    plain_attrs,
)

#: ops whose NumPy evaluation gives views of their first input
MOVING = frozenset(
    (
        "reshape",
        "flatten",
        "transpose",
        "expand_dims",
        "squeeze",
        "broadcast_to",
        "diagonal",
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
MOST_DIMS = 8
OWN = -2
#: products larger than this many multiplications are left to BLAS
SMALL_PRODUCT = 32768


@dataclass(frozen=True, slots=True)
class ArrayInstruction:
    """One instruction: its description, operands as (input of the node, byte offset in it), where in the output.

    Input -1 is ``constant``, OWN what an earlier step wrote. ``places`` marks a copy of a whole input to one place of
    the output: whoever makes that input can as well write it there at once.
    """

    array: dict[str, Any]
    operands: tuple[tuple[int, int], ...]
    delta: int = 0
    constant: np.ndarray | None = None
    places: bool = False


@dataclass(frozen=True, slots=True)
class ArrayCode:
    """Per output either steps that write it or (in ``views``) the byte offset in the first input where it stands."""

    steps: dict[int, list[ArrayInstruction]] = field(default_factory=dict)
    views: dict[int, int] = field(default_factory=dict)


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
        return _running(node, spec, ins, outs[0])
    if spec.name in REDUCTIONS and not node.attrs.get("_as_numpy"):
        return _reduced(node, spec, ins, outs[0], values)
    if spec.name in ("matmul", "dot") and len(ins) == 2:
        if spec.name == "matmul" and node.attrs.get("exact"):
            return _exact_product(node, ins, outs[0])
        return _product(ins, outs[0]) if plain else None
    if plain and spec.name == "relu":
        return _above_zero(ins[0], outs[0])
    if plain and 1 <= len(ins) <= 3:
        return _elementwise(spec, ins, outs[0])
    return None


# -- element by element --------------------------------------------------------------------------------------
def _elementwise(spec: OpSpec, ins: Sequence[TensorType], out: TensorType) -> ArrayCode | None:
    loop = find_loop(spec, [t.dtype for t in ins], out.dtype)
    shapes = [dims_of(t) for t in ins]
    if loop is None or np.broadcast_shapes(*shapes) != dims_of(out):
        return None
    array = loop_over(loop, [*(spread(t, dims_of(out)) for t in ins), spread(out, dims_of(out))], dims_of(out))
    return None if array is None else ArrayCode({0: [ArrayInstruction(array, tuple((k, 0) for k in range(len(ins))))]})


def _above_zero(x: TensorType, out: TensorType) -> ArrayCode | None:
    """relu is the maximum of one zero of its dtype and x, in the order in which -0 stays (ops: relu)."""
    loop, dims = find_loop(REGISTRY["maximum"], [x.dtype, x.dtype], out.dtype), dims_of(out)
    order = slice(None, None, 1 if x.dtype == "float16" else -1)
    both = [spread(x, dims), (0,) * len(dims)][order]
    array = None if loop is None else loop_over(loop, [*both, spread(out, dims)], dims)
    operands = ((0, 0), (-1, 0)) if x.dtype == "float16" else ((-1, 0), (0, 0))
    zero = np.zeros((), numpy_dtype(x.dtype))
    return None if array is None else ArrayCode({0: [ArrayInstruction(array, operands, constant=zero)]})


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
    return {
        "kind": "nest",
        "fn": loop.strided,
        "data": loop.data,
        "raises": loop.raises,
        "n_in": len(strides) - 1,
        "dims": dims,
        "steps": strides,
    }


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
    """Fewest dimensions that walk the same items: those of size 1 go, neighbours that all run through merge."""
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


def dynamic_code(loop: ArrayLoop, operands: Sequence[Any], dtype: np.dtype) -> tuple[Any, np.dtype, Any] | None:
    """An element-wise instruction for operands of these (dtype, shape, strides or None where they lie contiguous in a
    row), with dtype and shape of its result; None where broadcasting fails or the result is empty."""
    shapes = [tuple(shape) for _, shape, _ in operands]
    try:
        dims = np.broadcast_shapes(*shapes)
    except ValueError:
        return None  # the callable says what is wrong
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
    if any(v is None for v in values[1:]) or spec.evaluate is None:
        return None
    x = np.empty(dims_of(ins[0]), numpy_dtype(ins[0].dtype))
    try:
        results = spec.evaluate([x, *values[1:]], node.attrs)
    except (IndexError, ValueError, WorkbenchError):
        return None  # the callable says what is wrong
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


def copy_step(
    source: int, delta: int, strides: Sequence[int], type_: TensorType, to: Sequence[int], at: int = 0
) -> ArrayInstruction | None:
    """Copy ``type_.shape`` items that lie ``strides`` apart to places ``to`` apart."""
    dims, (one, two) = merge_dims(dims_of(type_), [strides, to])
    if len(dims) > MOST_DIMS:
        return None
    item = numpy_dtype(type_.dtype).itemsize
    array = {"kind": "copy", "n_in": 1, "item": item, "dims": dims, "steps": (one, two)}
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
    """The borders, slab by slab, and the array inside."""
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
            # slabs of earlier axes are whole, those of later ones lie between them
            box = [(low[a], inside[a]) if a < axis else (0, dims[a]) for a in range(len(dims))]
            box[axis] = (start, stop - start)
            slab = TensorType(out.dtype, tuple(n for _, n in box))
            if stop > start:
                at = sum(k * step for (k, _), step in zip(box, to, strict=True))
                steps.append(copy_step(-1, 0, (0,) * len(dims), slab, to, at))
    at = sum(k * step for k, step in zip(low, to, strict=True))
    steps.append(copy_step(0, 0, spread(ins[0], inside), ins[0], to, at))
    return ArrayCode({0: [replace(s, constant=fill) for s in steps if s is not None]}) if None not in steps else None


def _written(node: Node, ins: Sequence[TensorType], out: TensorType) -> ArrayCode | None:
    """x with a part replaced: a copy of x, then the part."""
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


# -- reductions and products ---------------------------------------------------------------------------------
def _reduced(
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
    return ArrayCode({0: [ArrayInstruction({"kind": "reduce", "fn": address, "n_in": 1, **sizes}, ((0, 0),))]})


def _running(node: Node, spec: OpSpec, ins: Sequence[TensorType], out: TensorType) -> ArrayCode | None:
    address, dims = find_reduction(spec.name, ins[0].dtype, out.dtype), dims_of(ins[0])
    plain = plain_attrs(node, spec, ("axis", "dtype"))
    axis = node.attrs.get("axis")
    if address is None or len(ins) > 1 or not plain or (axis is None and len(dims) != 1) or dims_of(out) != dims:
        return None
    at = 0 if axis is None else int(axis) % len(dims)
    sizes = {"outer": math.prod(dims[:at]), "n": dims[at], "inner": math.prod(dims[at + 1 :])}
    return ArrayCode({0: [ArrayInstruction({"kind": "reduce", "fn": address, "n_in": 1, **sizes}, ((0, 0),))]})


def _product(ins: Sequence[TensorType], out: TensorType) -> ArrayCode | None:
    a, b = dims_of(ins[0]), dims_of(ins[1])
    address = find_matmul(ins[0].dtype, out.dtype) if ins[0].dtype == ins[1].dtype else None
    if address is None or not (1 <= len(a) <= 2 and 1 <= len(b) <= 2):
        return None
    m, k, n = (a[0] if len(a) == 2 else 1), a[-1], (b[1] if len(b) == 2 else 1)
    if not 0 < m * k * n <= SMALL_PRODUCT:
        return None
    array = {"kind": "matmul", "fn": address, "n_in": 2, "outer": 1, "dims": (m, k, n)}
    return ArrayCode({0: [ArrayInstruction(array, ((0, 0), (1, 0)))]})


def _exact_product(node: Node, ins: Sequence[TensorType], out: TensorType) -> ArrayCode | None:
    """NumPy's own loop on the operands as they lie there, turned by their steps as NumPy's views are."""
    loop = numpy_matmul(ins[0].dtype, out.dtype) if ins[0].dtype == ins[1].dtype else None
    a, b = dims_of(ins[0]), dims_of(ins[1])
    if loop is None or not (1 <= len(a) <= 2 and 1 <= len(b) <= 2) or 0 in (*a, *b):
        return None
    steps_a, steps_b = np.empty(a, numpy_dtype(out.dtype)).strides, np.empty(b, numpy_dtype(out.dtype)).strides
    if node.attrs.get("transpose_a") and len(a) == 2:
        a, steps_a = a[::-1], steps_a[::-1]
    if node.attrs.get("transpose_b") and len(b) == 2:
        b, steps_b = b[::-1], steps_b[::-1]
    to = np.empty(dims_of(out), numpy_dtype(out.dtype)).strides
    n, m = (a[0] if len(a) == 2 else 1), (b[1] if len(b) == 2 else 1)
    at = iter(to)
    steps = (
        steps_a if len(a) == 2 else (0, *steps_a),
        steps_b if len(b) == 2 else (*steps_b, 0),
        (next(at) if len(a) == 2 else 0, next(at) if len(b) == 2 else 0),
    )
    array = {"kind": "core", "fn": loop[0], "data": loop[1], "n_in": 2, "dims": (n, a[-1], m), "steps": steps}
    return ArrayCode({0: [ArrayInstruction(array, ((0, 0), (1, 0)))]})


def statistics_step(address: int, type_: TensorType) -> dict[str, Any]:
    """The instruction that leaves the seven numbers of an array (kernels: statistics)."""
    item = numpy_dtype(type_.dtype).itemsize
    return {"kind": "stats", "fn": address, "n_in": 1, "n": math.prod(dims_of(type_)), "stride": (item, 0, 0, 0)}


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
    """Bytes per step of a contiguous array; 0 where there is only one."""
    steps = []
    for size in reversed(dims):
        steps.append(0 if size == 1 else item)
        item *= size
    return tuple(reversed(steps))
