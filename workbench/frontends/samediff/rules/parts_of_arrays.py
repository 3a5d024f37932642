"""Segments, parts and scattered elements, images, blocks and matrices: ops with other names in TensorFlow."""

from __future__ import annotations

import numpy as np

from workbench.frontends.samediff.rules.base import FlatRule, Parts, dtype_attr, to
from workbench.frontends.samediff.schema import DTYPES
from workbench.ir.types import numpy_dtype


def _unsorted(op: str) -> FlatRule:
    """A rule for segment ops; the number of segments is the third input, or an argument."""

    def rule(p: Parts) -> bool:
        if p.has(3):
            return p.result(op, *p.inputs[:3])
        return p.has(2) and bool(p.node.ints) and p.result(op, *p.inputs[:2], p.value("count", p.int_at(0)))

    return rule


def _scatter(op: str) -> FlatRule:
    """A rule that scatters into rows of x by row index; TensorFlow's op takes lists of indices."""

    def rule(p: Parts) -> bool:
        if len(p.inputs) != 3:
            return False
        listed = p.add("listed", "ExpandDims", p.inputs[1], p.value("axis", -1))
        return p.result(op, p.inputs[0], listed, p.inputs[2])

    return rule


def _partition(p: Parts) -> bool:
    return p.has(2) and p.result("DynamicPartition", *p.inputs[:2], num_partitions=len(p.node.outputs))


def _roll(p: Parts) -> bool:
    if p.has(3):
        return p.result("Roll", *p.inputs[:3])
    ints = p.node.ints
    if not p.has(1) or len(ints) != 2:
        return False
    return p.result("Roll", p.inputs[0], p.value("shift", ints[0]), p.value("axis", ints[1]))


def _resize(op: str) -> FlatRule:
    """A rule for resizing; height and width are an input, or arguments."""

    def rule(p: Parts) -> bool:
        given = p.inputs[1] if p.has(2) else p.value("size", list(p.node.ints[:2])) if len(p.node.ints) >= 2 else None
        if given is None or not p.has(1):
            return False
        return p.result(op, p.inputs[0], given, align_corners=p.bool_at(0), half_pixel_centers=p.bool_at(1))

    return rule


def _blocks(op: str) -> FlatRule:
    """A rule for block ops; the arguments are block size and a flag for channels last."""

    def rule(p: Parts) -> bool:
        size, last = p.int_at(0), bool(p.int_at(1, 1))
        return p.has(1) and size > 1 and last and p.result(op, p.inputs[0], block_size=size)

    return rule


def _patches(p: Parts) -> bool:
    if not p.has(1) or len(p.node.ints) < 7:
        return False
    lists = [[1, *p.node.ints[k : k + 2], 1] for k in (0, 2, 4)]
    same = b"SAME" if p.node.ints[6] else b"VALID"
    return p.result("ExtractImagePatches", p.inputs[0], ksizes=lists[0], strides=lists[1], rates=lists[2], padding=same)


def _embedding(p: Parts) -> bool:
    return len(p.inputs) == 2 and p.result("GatherV2", *p.inputs, p.value("axis", 0))


def _bitcast(p: Parts) -> bool:
    dtype = p.stated_dtype()
    return p.has(1) and dtype not in (None, "string") and p.result("Bitcast", p.inputs[0], type=dtype_attr(str(dtype)))


def _made(p: Parts, make: object, least: int) -> bool:
    """A constant matrix from the arguments alone."""
    dtype, ints = p.out_dtype(), [*p.node.ints]
    if ints and ints[0] in (99, 102):  # an order of the elements
        ints = ints[1:]
    if dtype in (None, "string") or len(ints) < least or not callable(make):
        return False
    if any(not 0 < n <= 1 << 14 for n in ints[:least]):
        return False
    return p.result("Identity", p.value("matrix", make(*ints).astype(numpy_dtype(str(dtype))), str(dtype)))


def _eye(p: Parts) -> bool:
    ints = [n for n in p.node.ints if n not in (99, 102)]
    if len(ints) > 3 or (len(ints) == 3 and ints[2] not in DTYPES):  # a batch of matrices
        return False
    return _made(p, lambda rows, columns=None, dtype=None: np.eye(rows, columns), 1)


def _tri(p: Parts) -> bool:
    return _made(p, lambda rows, columns=None, diagonal=0: np.tri(rows, columns, diagonal), 1)


def _triu(p: Parts) -> bool:
    """The upper triangle from a diagonal at or below the main one."""
    diagonal = p.int_at(0)
    if not p.has(1) or diagonal > 0:
        return False
    lower, upper = p.value("lower", -diagonal, "int64"), p.value("upper", -1, "int64")
    return p.result("MatrixBandPart", p.inputs[0], lower, upper)


def _trace(p: Parts) -> bool:
    return p.has(1) and p.result("Sum", p.add("diagonal", "MatrixDiagPart", p.inputs[0]), p.value("axis", -1))


def _solve(p: Parts) -> bool:
    return len(p.inputs) == 2 and p.result("MatrixSolve", *p.inputs, adjoint=p.bool_at(0))


def _reshape_as(p: Parts) -> bool:
    return p.has(2) and p.result("Reshape", p.inputs[0], p.add("shape", "Shape", p.inputs[1]))


def _size_at(p: Parts) -> bool:
    if not p.has(1) or not p.node.ints:
        return False
    shape = p.add("shape", "Shape", p.inputs[0], out_type=dtype_attr("int64"))
    axis = p.int_at(0)
    if axis < 0:  # from the end
        shape, axis = p.add("turned", "ReverseV2", shape, p.value("all", [0])), -1 - axis
    return p.result("GatherV2", shape, p.value("at", axis), p.value("axis", 0))


def _flatten(p: Parts) -> bool:
    """All elements of the arrays in order c, concatenated."""
    if not p.has(1) or p.int_at(0, 99) != 99:
        return False
    flat = [p.add(f"flat_{k}", "Reshape", x, p.value(f"all_{k}", [-1])) for k, x in enumerate(p.inputs)]
    return p.result("ConcatV2", *flat, p.value("axis", 0))


RULES: dict[str, FlatRule] = {
    **{f"segment_{n}": to(f"Segment{n.title()}", 2) for n in ("max", "min", "sum", "prod", "mean")},
    **{f"unsorted_segment_{n}": _unsorted(f"UnsortedSegment{n.title()}") for n in ("max", "min", "sum", "prod")},
    "scatter_upd": _scatter("TensorScatterUpdate"),
    "scatter_add": _scatter("TensorScatterAdd"),
    "scatter_sub": _scatter("TensorScatterSub"),
    "dynamic_partition": _partition,
    "unique": to("Unique", 1),
    "unique_with_counts": to("UniqueWithCounts", 1),
    "listdiff": to("ListDiff", 2),
    "roll": _roll,
    "embedding_lookup": _embedding,
    "bitcast": _bitcast,
    "eye": _eye,
    "tri": _tri,
    "triu": _triu,
    "trace": _trace,
    "cross": to("Cross", 2),
    "cholesky": to("Cholesky", 1),
    "matrix_inverse": to("MatrixInverse", 1),
    "matrix_determinant": to("MatrixDeterminant", 1),
    "solve": _solve,
    "reshapeas": _reshape_as,
    "size_at": _size_at,
    "flatten": _flatten,
    "order": to("Identity", 1),
    "print_variable": to("Identity", 1),
    "resize_bilinear": _resize("ResizeBilinear"),
    "resize_nearest_neighbor": _resize("ResizeNearestNeighbor"),
    "depth_to_space": _blocks("DepthToSpace"),
    "space_to_depth": _blocks("SpaceToDepth"),
    "space_to_batch_nd": to("SpaceToBatchND", 3),
    "batch_to_space_nd": to("BatchToSpaceND", 3),
    "extract_image_patches": _patches,
    "compat_sparse_to_dense": to("SparseToDense", 4),
    "toggle_bits": to("Invert", 1),
    "betainc": to("Betainc", 3),
}
