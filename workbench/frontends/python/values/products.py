"""Products of vectors and matrices that agree with NumPy to the last digit.

NumPy calls BLAS, which has its own order of summation. The op ``matmul`` with ``exact`` calls the same loop on operands
with the same strides: ``A.T @ b`` reads ``A`` itself with swapped strides and gets NumPy's bits. Other strided views
(``A[:, 0] @ b``) are copied first in a graph, so the last digits may differ; this also holds for the norm and the inner
product of complex matrices.

Source: https://numpy.org/doc/stable/reference/routines.linalg.html
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.errors import UnknownOpError
from workbench.frontends.python.calls.numpy_table import floating, listed, put
from workbench.frontends.python.values.promotion import as_array, together
from workbench.ir.builder.builder import GraphBuilder
from workbench.ir.builder.value import Value
from workbench.ir.types import numpy_dtype
from workbench.ops import numpy_functions


def product(builder: GraphBuilder, left: Value, right: Value) -> Any:
    """``left @ right``."""
    (a, turn_a), (b, turn_b) = _turned(builder, left), _turned(builder, right)
    turns: dict[str, Any] = {name: True for name, turn in (("transpose_a", turn_a), ("transpose_b", turn_b)) if turn}
    return builder.op("matmul", a, b, exact=True, **turns)


def _turned(builder: GraphBuilder, value: Value) -> tuple[Value, bool]:
    """A matrix and whether to read it by columns; for a transpose, the original matrix and true."""
    node = builder.node(value.ref.node)
    if node.op != "transpose" or len(node.inputs) != 1 or value.shape is None or len(value.shape) != 2:
        return value, False
    if node.attrs.get("perm") not in (None, (1, 0)):
        return value, False
    source = node.inputs[0]
    type_ = builder.node(source.node).types[source.index]
    return Value(builder, source, type_, value.context), True


def _operands(builder: GraphBuilder, a: Any, b: Any) -> list[Value]:
    return together(builder, [listed(builder, a), listed(builder, b)])


def _ranks(*values: Value) -> tuple[int | None, ...]:
    return tuple(None if v.shape is None else len(v.shape) for v in values)


@put(np.matmul)
def matmul(builder: GraphBuilder, a: Any, b: Any) -> Any:
    """``np.matmul``."""
    return product(builder, as_array(builder, a), as_array(builder, b))


@put(np.dot)
def dot(builder: GraphBuilder, a: Any, b: Any) -> Any:
    """``np.dot``, the matrix product of vectors and matrices; other ranks follow different rules."""
    left, right = _operands(builder, a, b)
    flat = all(rank in (1, 2) for rank in _ranks(left, right))
    flat = flat and numpy_dtype(left.dtype).kind != "c"  # NumPy's dot and matmul differ here in the last digits
    return product(builder, left, right) if flat else builder.op("dot", left, right)


@put(np.inner)
def inner(builder: GraphBuilder, a: Any, b: Any) -> Any:
    """``np.inner``: products over the last axes of both."""
    left, right = _operands(builder, a, b)
    ranks = _ranks(left, right)
    if 0 in ranks:
        return builder.op("multiply", left, right)
    if ranks == (1, 1):
        return product(builder, left, right)
    if ranks == (2, 1):
        return product(builder, left, right)
    if ranks == (2, 2):
        return product(builder, left, builder.op("transpose", right))
    raise UnknownOpError(
        f"np.inner of arrays with {ranks[0]} and {ranks[1]} axes cannot be put into a graph.",
        slug="unknown-op",
        fix="write it with @ and transpose, or np.tensordot.",
    )


@put(np.vdot)
def vdot(builder: GraphBuilder, a: Any, b: Any) -> Any:
    """``np.vdot``: the sum of all products of two arrays, the first one conjugated."""
    left, right = (v if _ranks(v) == (1,) else builder.op("flatten", v) for v in _operands(builder, a, b))
    if numpy_dtype(left.dtype).kind == "c":
        left = builder.op("conj", left)
    return product(builder, left, right)


@put(np.linalg.norm)
def norm(builder: GraphBuilder, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:  # noqa: A002
    """``np.linalg.norm``: without axis and order the root of a dot product, otherwise the root of a sum."""
    value = floating(builder, x)
    if ord is None and axis is None and not keepdims and "complex" not in value.dtype:
        flat = builder.op("flatten", value)
        return builder.op("sqrt", product(builder, flat, flat))
    inputs, attrs = numpy_functions[np.linalg.norm][1]([value], {"ord": ord, "axis": axis, "keepdims": keepdims})
    return builder.op("norm", *inputs, **attrs)
