"""Making of arrays: shapes and sizes, ranges, constants, one-hot rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.frontends.samediff.rules.base import FlatRule, Parts, dtype_attr, to
from workbench.ir.types import numpy_dtype


def _one_hot(p: Parts) -> bool:
    """Axis and depth are arguments, or the depth and the two values are inputs."""
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
    """Numbers that are inputs, or the op's arguments, in the type of the result."""

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
        return p.result(
            op,
            *(
                p.value(
                    suffix,
                    np.asarray(v).astype(numpy_dtype("int32" if suffix == "num" else dtype)),
                    "int32" if suffix == "num" else dtype,
                )
                for v, suffix in zip(numbers, suffixes, strict=False)
            ),
        )

    return rule


def _lin_space(p: Parts) -> bool:
    """Start, end and count as inputs, or two numbers and the count as arguments.

    A flag says whether the second number is the end or the step. Without inputs and without the flag libnd4j has read
    it as the one and as the other, depending on its version: such a node is refused.
    """
    flags, numbers = p.node.bools, p.node.floats
    if p.inputs or len(numbers) >= 3:
        return not (flags and not flags[0]) and _of_result("LinSpace", ("start", "stop", "num"))(p)
    dtype, count = p.out_dtype("float32"), p.int_at(0)
    if len(numbers) < 2 or not p.node.ints or dtype in (None, "string", "bool") or not (flags or count == 1):
        return False
    start, end = (float(v) for v in numbers[:2])
    if flags and not flags[0]:
        end = start + end * (count - 1)
    ends = (p.value(part, np.asarray(v).astype(numpy_dtype(str(dtype))), str(dtype)) for part, v in
            (("start", start), ("stop", end)))  # fmt: skip
    return p.result("LinSpace", *ends, p.value("num", np.int32(count), "int32"))


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
