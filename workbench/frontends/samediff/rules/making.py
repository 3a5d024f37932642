"""Creation of arrays: shapes and sizes, ranges, constants, one-hot rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.frontends.samediff.rules.base import FlatRule, Parts, dtype_attr, is_float, to
from workbench.ir.types import numpy_dtype


def _one_hot(p: Parts) -> bool:
    """One-hot rows: axis and depth are arguments, or the depth and the two values are inputs."""
    dtype = p.out_dtype() or "float32"
    if dtype == "string" or not p.has(1):
        return False
    axis = p.int_at(0, -1)
    values = [p.float_at(0, 1.0), p.float_at(1, 0.0)]
    depth = p.inputs[1] if p.has(2) else p.value("depth", p.int_at(1))
    if p.has(4):
        return p.result("OneHot", *p.inputs[:4], axis=axis)
    if not p.has(2) and len(p.node.ints) < 2:
        return False
    on, off = (
        p.value(part, np.asarray(v).astype(numpy_dtype(dtype)), dtype)
        for part, v in zip(("on", "off"), values, strict=True)
    )
    return p.result("OneHot", p.inputs[0], depth, on, off, axis=axis)


def _shape(op: str) -> FlatRule:
    def rule(p: Parts) -> bool:
        return p.has(1) and p.result(op, p.inputs[0], out_type=dtype_attr(p.out_dtype() or "int64"))

    return rule


def _of_result(op: str, suffixes: Sequence[str]) -> FlatRule:
    """A rule for an op on numbers, which are inputs or the op's arguments, in the type of the result."""

    def rule(p: Parts) -> bool:
        dtype = p.out_dtype() or next((d for d in p.dtypes if d), None)
        if dtype is None or dtype in ("string", "bool"):
            return False
        if p.has(len(suffixes)):
            cast = [
                x if d in (dtype, None) or suffix == "num" else p.cast(f"cast_{suffix}", x, dtype)
                for x, d, suffix in zip(p.inputs, p.dtypes, suffixes, strict=False)
            ]
            return p.result(op, *cast)
        numbers: Sequence[Any] = p.node.floats if len(p.node.floats) >= len(suffixes) else p.node.ints
        if p.inputs or len(numbers) < len(suffixes):
            return False
        return _of_numbers(p, op, suffixes, numbers, dtype)

    return rule


def _of_numbers(p: Parts, op: str, suffixes: Sequence[str], numbers: Sequence[Any], dtype: str) -> bool:
    """Apply the op to constants in the type of the result; a count is an integer."""
    types = ["int64" if suffix == "num" else dtype for suffix in suffixes]
    arrays = (np.asarray(v).astype(numpy_dtype(t)) for v, t in zip(numbers, types, strict=False))
    return p.result(op, *(p.value(suffix, a, t) for suffix, a, t in zip(suffixes, arrays, types, strict=True)))


_LIN_SPACE = ("LinSpace", ("start", "stop", "num"))


def _lin_space(p: Parts) -> bool:
    """Start, end and count as inputs or as three arguments, or two numbers and the count as arguments.

    A flag selects whether the second number is the end or the step. Two numbers without the flag are refused, because
    the meaning of the second depends on the version of libnd4j.
    """
    flags, floats, count = p.node.bools, p.node.floats, p.int_at(0)
    by_step = bool(flags) and not flags[0]
    if p.inputs or len(floats) != 2:
        return not by_step and _of_result(*_LIN_SPACE)(p)
    dtype = p.out_dtype("float32")
    if not p.node.ints or not is_float(dtype) or not (flags or count == 1):
        return False
    start, end = floats
    return _of_numbers(p, *_LIN_SPACE, (start, start + end * (count - 1) if by_step else end, count), str(dtype))


def _fill(p: Parts) -> bool:
    dtype = p.out_dtype()
    if p.has(2):
        value = p.inputs[1]
        if dtype and p.dtypes[1] and p.dtypes[1] != dtype and "string" not in (dtype, p.dtypes[1]):
            value = p.cast("cast", value, dtype)
        return p.result("Fill", p.inputs[0], value)
    numbers: Sequence[Any] = p.node.floats or p.node.ints
    if not p.has(1) or not numbers or dtype in (None, "string"):
        return False
    return p.result(
        "Fill", p.inputs[0], p.value("value", np.asarray(numbers[0]).astype(numpy_dtype(str(dtype))), str(dtype))
    )


def _like(op: str) -> FlatRule:
    def rule(p: Parts) -> bool:
        dtype = p.out_dtype()
        if not p.has(1):
            return False
        if dtype is None or dtype == p.dtypes[0] or p.dtypes[0] is None:
            return p.result(op, p.inputs[0])
        return p.result("Cast", p.add("like", op, p.inputs[0]), DstT=dtype_attr(dtype))

    return rule


RULES: dict[str, FlatRule] = {
    "onehot": _one_hot,
    "shape_of": _shape("Shape"),
    "shape": _shape("Shape"),
    "size": _shape("Size"),
    "rank": to("Rank", 1),
    "range": _of_result("Range", ("start", "limit", "delta")),
    "lin_space": _lin_space,
    "linspace": _lin_space,
    "fill": _fill,
    "zeros_as": _like("ZerosLike"),
    "zeroslike": _like("ZerosLike"),
    "ones_as": _like("OnesLike"),
    "oneslike": _like("OnesLike"),
}
