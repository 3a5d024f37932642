"""Reshaping, indexing and joining of arrays. Parameters that are inputs in TensorFlow may be arguments here, or
both.
"""

from __future__ import annotations

import numpy as np

from workbench.frontends.samediff.rules.base import FlatRule, Parts, same_types, to
from workbench.ir.types import numpy_dtype

#: leading argument of reshape -> order of the elements
_ORDERS = {-99: "c", -102: "f"}


def listed(op: str, values: str = "ints", least: int = 1, part: str = "list") -> FlatRule:
    """A rule for an op with a list of integers, which is the second input or the op's arguments."""

    def rule(p: Parts) -> bool:
        if p.has(2):
            return p.result(op, *p.inputs[:2])
        found = getattr(p.node, values)
        if not p.has(1) or len(found) < least:
            return False
        return p.result(op, p.inputs[0], p.value(part, list(found), "int64"))

    return rule


def _reshape(p: Parts) -> bool:
    shape = list(p.node.ints)
    if shape and shape[0] in _ORDERS:
        if _ORDERS[shape[0]] != "c":
            return False
        shape = shape[1:]
    if p.has(2):
        return p.result("Reshape", *p.inputs[:2])
    return p.has(1) and p.result("Reshape", p.inputs[0], p.value("shape", shape, "int64"))


def _transpose(p: Parts) -> bool:
    if p.has(2):
        return p.result("Transpose", *p.inputs[:2])
    order = list(p.node.ints or p.node.dimensions)
    if not order:
        return p.has(1) and p.result("Transpose", p.inputs[0])
    return p.has(1) and p.result("Transpose", p.inputs[0], p.value("perm", order))


def _expand_dims(p: Parts) -> bool:
    if p.has(2):
        return p.result("ExpandDims", *p.inputs[:2])
    return p.has(1) and bool(p.node.ints) and p.result("ExpandDims", p.inputs[0], p.value("axis", p.int_at(0)))


def _squeeze(p: Parts) -> bool:
    axes = list(p.node.ints)
    if p.has(2):
        value = p.constant(p.inputs[1])
        if value is None:
            return False
        axes = [int(v) for v in value.reshape(-1)]
    return p.has(1) and p.result("Squeeze", p.inputs[0], squeeze_dims=axes)


def _concat(p: Parts) -> bool:
    if p.bool_at(0):  # the axis is the last input
        return p.has(2) and p.result("ConcatV2", *same_types(p, p.inputs[:-1], p.dtypes[:-1]), p.inputs[-1])
    axis = p.value("axis", p.int_at(0, int(p.prop("concatDimension", 0) or 0)))
    return p.has(1) and p.result("ConcatV2", *same_types(p, p.inputs, p.dtypes), axis)


def _stack(p: Parts) -> bool:
    return p.has(1) and p.result("Pack", *same_types(p, p.inputs, p.dtypes), axis=p.int_at(0))


def _unstack(p: Parts) -> bool:
    return p.has(1) and p.result("Unpack", p.inputs[0], axis=p.int_at(0), num=len(p.node.outputs))


def _split(p: Parts) -> bool:
    """Split, which in TensorFlow has the axis as its first input, and in SameDiff's own op number and axis as
    arguments.
    """
    parts = len(p.node.outputs)
    if p.has(2):
        return p.result("Split", *p.inputs[:2], num_split=parts)
    return p.has(1) and p.result("Split", p.value("axis", p.int_at(1)), p.inputs[0], num_split=parts)


def _split_v(p: Parts) -> bool:
    parts = len(p.node.outputs)
    if p.has(3):
        return p.result("SplitV", *p.inputs[:3], num_split=parts)
    return p.has(2) and p.result("SplitV", *p.inputs[:2], p.value("axis", p.int_at(0)), num_split=parts)


def _gather(p: Parts) -> bool:
    if p.has(3):
        return p.result("GatherV2", *p.inputs[:3])
    return len(p.node.ints) < 2 and p.has(2) and p.result("GatherV2", *p.inputs[:2], p.value("axis", p.int_at(0)))


def _slice(p: Parts) -> bool:
    if p.has(3):
        return p.result("Slice", *p.inputs[:3])
    ints = list(p.node.ints)
    if not p.has(1) or not ints or len(ints) % 2:
        return False
    half = len(ints) // 2
    return p.result("Slice", p.inputs[0], p.value("begin", ints[:half]), p.value("size", ints[half:]))


def _strided_slice(p: Parts) -> bool:
    """Strided slice: the arguments are five masks, then begin, end and strides, unless these are inputs."""
    names = ("begin_mask", "ellipsis_mask", "end_mask", "new_axis_mask", "shrink_axis_mask")
    masks = {name: p.int_at(i) for i, name in enumerate(names)}
    if p.has(4):
        return p.result("StridedSlice", *p.inputs[:4], **masks)
    if p.has(3):
        return False
    rest = list(p.node.ints[5:])
    if not p.has(1) or not rest or len(rest) % 3:
        return False
    n = len(rest) // 3
    lists = [p.value(part, rest[i * n : (i + 1) * n]) for i, part in enumerate(("begin", "end", "strides"))]
    return p.result("StridedSlice", p.inputs[0], *lists, **masks)


def _pad(p: Parts) -> bool:
    mode = p.int_at(0)
    if not p.has(2) or mode not in (0, 1, 2):
        return False
    if mode:
        return p.result("MirrorPad", *p.inputs[:2], mode=b"REFLECT" if mode == 1 else b"SYMMETRIC")
    if p.has(3):
        return p.result("PadV2", *p.inputs[:3])
    value, dtype = p.float_at(0), p.dtypes[0]
    if not value:
        return p.result("Pad", *p.inputs[:2])
    if dtype is None or dtype == "string":
        return False
    return p.result("PadV2", *p.inputs[:2], p.value("value", np.asarray(value).astype(numpy_dtype(dtype)), dtype))


def _mirror_pad(p: Parts) -> bool:
    return p.has(2) and p.result("MirrorPad", *p.inputs[:2], mode=b"SYMMETRIC" if p.int_at(0) else b"REFLECT")


def _where(p: Parts) -> bool:
    """A choice between two arrays; with one input, the indices of its true elements."""
    if p.has(3):
        return p.result("Select", *p.inputs[:3])
    return p.has(1) and not p.has(2) and p.result("Where", p.inputs[0])


def _reverse_sequence(p: Parts) -> bool:
    return p.has(2) and p.result("ReverseSequence", *p.inputs[:2], seq_dim=p.int_at(0), batch_dim=p.int_at(1))


RULES: dict[str, FlatRule] = {
    "reshape": _reshape,
    "permute": _transpose,
    "transpose": _transpose,
    "expand_dims": _expand_dims,
    "squeeze": _squeeze,
    "concat": _concat,
    "stack": _stack,
    "parallel_stack": _stack,
    "unstack": _unstack,
    "split": _split,
    "split_v": _split_v,
    "gather": _gather,
    "gather_nd": to("GatherNd", 2),
    "slice": _slice,
    "strided_slice": _strided_slice,
    "tile": listed("Tile", part="multiples"),
    "broadcast_to": to("BroadcastTo", 2),
    "reverse": listed("ReverseV2", part="axes"),
    "pad": _pad,
    "mirror_pad": _mirror_pad,
    "Where": _where,
    "where_np": _where,
    "select": _where,
    "reverse_sequence": _reverse_sequence,
    "invert_permutation": to("InvertPermutation", 1),
    "scatter_nd": to("ScatterNd", 3),
    "scatter_nd_update": to("TensorScatterUpdate", 3),
    "scatter_nd_add": to("TensorScatterAdd", 3),
    "scatter_nd_sub": to("TensorScatterSub", 3),
    "matrix_band_part": to("MatrixBandPart", 3),
    "matrix_diag": to("MatrixDiag", 1),
    "matrix_diag_part": to("MatrixDiagPart", 1),
    "matrix_set_diag": to("MatrixSetDiag", 2),
    "diag": to("Diag", 1),
    "diag_part": to("DiagPart", 1),
    "dynamic_stitch": to("DynamicStitch"),
    "broadcast_dynamic_shape": to("BroadcastArgs", 2),
}
