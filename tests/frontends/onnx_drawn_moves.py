"""Random inputs and attributes of ops that create, move, cut and join arrays; see ``onnx_drawn_ops``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import helper

from workbench.frontends.onnx.tensors import NUMBERS

Draw = Callable[[Any, str], Any]


def reshape(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0))
    shape = list(m.rng.permutation(m.values[x].shape).astype(int)) or [1]
    if m.chance(0.4):
        shape = [int(np.prod(shape[:2])), *shape[2:]]
    if m.chance(0.4) and 0 not in shape:
        shape[m.integer(0, len(shape) - 1)] = -1
    attrs = {"allowzero": 1} if m.opset >= 14 and (0 in shape or m.chance(0.2)) else {}
    return [x, m.ints(shape)], attrs


def transpose(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0))
    perm = m.rng.permutation(m.values[x].ndim).tolist()
    return [x], {"perm": perm} if m.chance(0.7) else {}


def axes(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0))
    shape = m.values[x].shape
    if op == "Squeeze":
        ones = [a - (len(shape) if m.chance(0.3) else 0) for a, d in enumerate(shape) if d == 1 and m.chance(0.7)]
        if not ones:
            return [x], {}
    else:
        rank = len(shape) + m.integer(1, 2)
        ones = [int(a) for a in m.rng.permutation(rank)[: rank - len(shape)]]
    return ([x, m.ints(ones)], {}) if m.opset >= 13 else ([x], {"axes": ones})


def flatten(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0))
    return [x], {"axis": m.integer(-m.values[x].ndim, m.values[x].ndim)}


def expand(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0))
    shape = [m.integer(0, 3) if d == 1 and m.chance(0.6) else d if m.chance(0.8) else 1 for d in m.values[x].shape]
    shape = (
        [m.integer(1, 3), *shape] if m.chance(0.4) else shape[m.integer(0, len(shape)) :] if m.chance(0.3) else shape
    )
    return [x, m.ints(np.array(shape, np.int64))], {}


def tile(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0))
    return [x, m.ints(np.array([m.integer(0, 3) for _ in m.values[x].shape], np.int64))], {}


def concat(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0), range(1, 5))
    array, axis = m.values[x], m.axis(x)
    parts = [x]
    for _ in range(m.integer(0, 3)):
        shape = list(array.shape)
        shape[axis] = m.integer(0, 3)
        parts.append(m.fresh([array.dtype.name], shape))
    return [parts[int(k)] for k in m.rng.permutation(len(parts))], {"axis": axis}


def split(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0), range(1, 5))
    axis = m.axis(x)
    size = m.values[x].shape[axis]
    first = m.integer(0, size)
    if m.opset < 13:
        return [x], {"axis": axis, "split": [first, size - first]}, 2
    return [x, m.ints([first, size - first])], {"axis": axis}, 2


def slice_(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0), range(1, 5))
    rank = m.values[x].ndim
    chosen = m.rng.permutation(rank)[: m.integer(1, rank)].tolist()
    far = [-(2**31), 2**31 - 2, 2**62]  # onnxruntime treats 2**31 - 1 as the end in both directions
    starts, ends = ([m.integer(-9, 9) if m.chance(0.9) else int(m.rng.choice(far)) for _ in chosen] for _ in range(2))
    steps = [int(m.rng.choice([-2, -1, 1, 1, 1, 2, 3])) for _ in chosen]
    kind = m.rng.choice([np.int32, np.int64]) if max(map(abs, starts + ends)) < 2**31 - 1 else np.int64
    parts = [m.ints(v, kind) for v in (starts, ends, chosen, steps)]
    return [x, *parts[: 3 + m.integer(0, 1)]], {}


def pad(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0), range(1, 4))
    rank, name = m.values[x].ndim, m.values[x].dtype.name
    modes = ["constant", "constant", "edge", "reflect"] + (["wrap"] if m.opset >= 19 else [])
    mode = str(m.rng.choice(modes))
    low = -1 if mode == "constant" else 0
    widths = [m.integer(low, 2) for _ in range(2 * rank)]
    return [x, m.ints(widths), *([m.fresh([name], ())] if mode == "constant" and m.chance(0.5) else [])], {"mode": mode}


def shape(m: Any, op: str) -> Any:
    attrs = {k: m.integer(-3, 3) for k in ("start", "end") if m.chance(0.4)} if m.opset >= 15 and op == "Shape" else {}
    return [m.value(m.allowed(op, 0))], attrs


def range_(m: Any, op: str) -> Any:
    kind = m.dtype(m.allowed(op, 0))
    if kind in ("float16", "bfloat16"):
        return None
    start, limit = (np.asarray(m.integer(-5, 9), m.kind(kind)) for _ in range(2))
    delta = np.asarray(m.rng.choice([-2, -1, 1, 2, 0.5 if "float" in kind else 3]), m.kind(kind))
    return [m.add(v) for v in (start, limit, delta)], {}


def constant_of_shape(m: Any, op: str) -> Any:
    kind = m.dtype(d for d in ("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int64", "bool"))
    value = helper.make_tensor("v", NUMBERS[kind], [1], m.numbers(kind, (1,)).tobytes(), raw=True)
    return [m.ints(np.array(m.shape(), np.int64))], {"value": value} if m.chance(0.8) else {}


def eye_like(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0), range(2, 3))
    return [x], {"k": m.integer(-2, 2), **({"dtype": NUMBERS[m.dtype(m.results(op, 0))]} if m.chance(0.5) else {})}


def trilu(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0), range(2, 5))
    return [x, *([m.ints(m.integer(-3, 3))] if m.chance(0.6) else [])], {"upper": m.integer(0, 1)}


def blocks(m: Any, op: str) -> Any:
    if op == "DepthToSpace":
        return [m.fresh(m.allowed(op, 0), (m.integer(1, 2), 4 * m.integer(1, 2), 2, 3))], {
            "blocksize": 2,
            "mode": str(m.rng.choice(["DCR", "CRD"])),
        }
    return [m.fresh(m.allowed(op, 0), (m.integer(1, 2), 3, 4, 2))], {"blocksize": 2}


def one_hot(m: Any, op: str) -> Any:
    depth = m.integer(1, 5)
    kind = m.rng.choice([d for d in m.allowed(op, 0) if "float" not in d and not d.startswith("u")])
    indices = m.rng.integers(-depth, depth + 1, m.shape(m.integer(0, 2))).astype(m.kind(kind))
    kind = m.dtype(m.allowed(op, 2))  # onnxruntime adds off and on times zero, which for an infinity is NaN
    sides = m.add(np.asarray(m.rng.permutation(5)[:2]).astype(m.kind(kind)))
    return [m.add(indices), m.ints(depth), sides], {"axis": m.integer(-indices.ndim - 1, indices.ndim)}


def compress(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0), range(1, 5))
    axis = m.axis(x)
    return [x, m.fresh(["bool"], (m.integer(0, m.values[x].shape[axis]),))], {"axis": axis}


def gather(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0), range(1, 5))
    array, axis = m.values[x], m.axis(x)
    size = array.shape[axis]
    at = m.shape(m.integer(0, 2))
    if op != "Gather":
        at = tuple(m.integer(0, d) for d in array.shape)
        at = tuple(m.integer(0, 4) if k == axis % array.ndim else d for k, d in enumerate(at))
    if not size and np.prod(at):
        return None
    indices = m.rng.integers(-size, size, at) if size else np.zeros(at)
    return [x, m.ints(indices, m.rng.choice([np.int32, np.int64]))], {"axis": axis}


def gather_nd(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0), range(1, 5))
    dims = m.values[x].shape
    if 0 in dims:
        return None
    batch = m.integer(0, len(dims) - 1) if m.opset >= 12 and m.chance(0.4) else 0
    last = m.integer(1, len(dims) - batch)
    lead = (*dims[:batch], *m.shape(m.integer(0, 1)))
    columns = [m.rng.integers(-dims[batch + k], dims[batch + k], lead) for k in range(last)]
    return [x, m.ints(np.stack(columns, -1))], {"batch_dims": batch} if batch else {}


def scatter(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0), range(1, 5))
    array, axis = m.values[x], m.axis(x)
    if 0 in array.shape:
        return None
    shape = tuple(m.integer(1, d) for d in array.shape)
    modes = ["none", "none"] + (["add", "mul"] if m.opset >= 16 else []) + (["max", "min"] if m.opset >= 18 else [])
    mode = str(m.rng.choice(modes))
    size = array.shape[axis]
    indices = m.rng.integers(-size, size, shape)
    if mode == "none":  # for two updates of one position, the winner is unspecified
        indices = np.argsort(m.rng.random((*shape[: axis % array.ndim], size, *shape[axis % array.ndim + 1 :])), axis)
        indices = indices.take(np.arange(shape[axis]), axis)
    return [x, m.ints(indices), m.fresh([array.dtype.name], shape)], {
        "axis": axis,
        **({"reduction": mode} if m.opset >= 16 else {}),
    }


def scatter_nd(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0), range(1, 5))
    array = m.values[x]
    if 0 in array.shape:
        return None
    last = m.integer(1, array.ndim)
    rows = int(np.prod(array.shape[:last]))
    count = m.integer(0, min(4, rows))
    modes = ["none", "none"] + (["add", "mul"] if m.opset >= 16 else []) + (["max", "min"] if m.opset >= 18 else [])
    mode = str(m.rng.choice(modes))
    flat = m.rng.permutation(rows)[:count] if mode == "none" else m.rng.integers(0, rows, count)
    indices = np.stack(np.unravel_index(flat, array.shape[:last]), -1).reshape(count, last)
    updates = m.fresh([array.dtype.name], (count, *array.shape[last:]))
    return [x, m.ints(indices), updates], {"reduction": mode} if m.opset >= 16 else {}


def reverse_sequence(m: Any, op: str) -> Any:
    x = m.value(m.allowed(op, 0), range(2, 5))
    time, batch = m.rng.permutation(2).tolist()
    dims = m.values[x].shape
    lengths = [m.integer(1, dims[time]) for _ in range(dims[batch])] if dims[time] else None
    return (
        None
        if lengths is None
        else ([x, m.ints(np.array(lengths, np.int64))], {"time_axis": time, "batch_axis": batch})
    )


MOVES: dict[str, Draw] = {
    "Reshape": reshape,
    "Transpose": transpose,
    "Squeeze": axes,
    "Unsqueeze": axes,
    "Flatten": flatten,
    "Expand": expand,
    "Tile": tile,
    "Concat": concat,
    "Split": split,
    "Slice": slice_,
    "Pad": pad,
    "Shape": shape,
    "Range": range_,
    "ConstantOfShape": constant_of_shape,
    "EyeLike": eye_like,
    "Trilu": trilu,
    "DepthToSpace": blocks,
    "SpaceToDepth": blocks,
    "OneHot": one_hot,
    "Compress": compress,
    "Gather": gather,
    "GatherElements": gather,
    "GatherND": gather_nd,
    "ScatterElements": scatter,
    "ScatterND": scatter_nd,
    "ReverseSequence": reverse_sequence,
}
