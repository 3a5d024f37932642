"""Values that represent Python's numbers, and Python's arithmetic on them.

A :class:`PyNumber` is a Value of int64, float64, bool or complex128 that a Python int, float, bool or complex would be
in plain Python. Arithmetic between such numbers follows Python, by ops with the attribute ``checked``
(:mod:`workbench.ops.checked`): a result that does not fit 64 bits, or a division by zero, is an error that stops the
run before the node. Float sums and products are NumPy's, which are the same.

Source: https://docs.python.org/3/reference/expressions.html#binary-arithmetic-operations
"""

from __future__ import annotations

from typing import Any

from workbench.errors import ExecutionError, TypeMismatchError
from workbench.ir.builder.builder import GraphBuilder
from workbench.ir.builder.value import Value
from workbench.ops.checked import HIGHEST, LOWEST, too_large

#: types of Python's numbers with their dtypes, from narrow to wide
KINDS: dict[str, type] = {"bool": bool, "int64": int, "float64": float, "complex128": complex}
DTYPES = {kind: dtype for dtype, kind in KINDS.items()}
_RANK = list(KINDS)

BINARY = {
    "Add": "add",
    "Sub": "subtract",
    "Mult": "multiply",
    "Div": "divide",
    "FloorDiv": "floor_divide",
    "Mod": "remainder",
    "Pow": "power",
    "MatMult": "matmul",
    "BitAnd": "bitwise_and",
    "BitOr": "bitwise_or",
    "BitXor": "bitwise_xor",
    "LShift": "left_shift",
    "RShift": "right_shift",
}
COMPARE = {
    "Lt": "less",
    "LtE": "less_equal",
    "Gt": "greater",
    "GtE": "greater_equal",
    "Eq": "equal",
    "NotEq": "not_equal",
}
#: ops on floats that cannot fail and have Python's results
_FREE = ("add", "subtract", "multiply")
_BITS = ("bitwise_and", "bitwise_or", "bitwise_xor")


class PyNumber(Value):
    """A Value that is a Python number: an int of 64 bits, a float, a bool or a complex."""

    __slots__ = ()

    @property
    def kind(self) -> type:
        """int, float, bool or complex."""
        return KINDS[self.type.dtype]


def is_number(item: Any) -> bool:
    """True if ``item`` is a Python number, known or a Value; false for NumPy scalars."""
    return isinstance(item, PyNumber) or type(item) in DTYPES


def python_number(builder: GraphBuilder, value: Any) -> PyNumber:
    """``value`` as a Python number: a known number, or a scalar Value of bool, int64, float64 or complex128.

    Other integers and floats are converted exactly. Raises TypeMismatchError if no Python number has the type, and
    ExecutionError (integer-overflow) for a known int beyond 64 bits.
    """
    if isinstance(value, PyNumber):
        return value
    if not isinstance(value, Value):
        if type(value) is int and not LOWEST <= value <= HIGHEST:
            error = too_large(f"the constant {str(value)[:40]}" if abs(value) < 10**60 else "a constant")
            raise ExecutionError(error.message.replace("The result of ", "The int of "), slug=error.slug, fix=error.fix)
        if type(value) not in DTYPES:
            raise TypeMismatchError(f"{value!r} is no Python number.", slug="wrong-dtype")
        value = builder.constant(value, DTYPES[type(value)])
    if value.shape is None:
        value = builder.op("reshape", value, shape=())
    if value.shape != ():
        raise TypeMismatchError(
            f"{value.type} is not a single number.",
            slug="wrong-shape",
            node=value.ref.node,
            fix="take one element of it, or reduce it with np.sum, np.any ...",
        )
    if value.dtype not in KINDS:
        value = _widened(builder, value)
    return PyNumber(builder, value.ref, value.type, value.context, value.label)


def _widened(builder: GraphBuilder, value: Value) -> Value:
    dtype = value.dtype
    wider = "float64" if dtype in ("float16", "bfloat16", "float32") else "int64" if "int" in dtype else "complex128"
    if dtype in ("string", "any", "opaque"):
        raise TypeMismatchError(
            f"{value.type} is not a number.", slug="wrong-dtype", node=value.ref.node, fix="use a numeric value here."
        )
    if dtype == "uint64":
        return builder.op("cast", value, dtype=wider, checked=True)
    return builder.op("cast", value, dtype=wider)


def kind_of(item: Any) -> type:
    """The Python type of a known number or a :class:`PyNumber`."""
    return item.kind if isinstance(item, PyNumber) else type(item)


def as_kind(builder: GraphBuilder, item: Any, kind: type) -> PyNumber:
    """A number as ``kind``, which is at least as wide as its own kind: bool to int to float to complex."""
    if not isinstance(item, Value):
        try:
            return python_number(builder, kind(item))
        except OverflowError as error:
            raise TypeMismatchError(f"{item!r} does not fit a {kind.__name__}: {error}.", slug="out-of-range") from None
    value = python_number(builder, item)
    if value.kind is kind:
        return value
    return python_number(builder, builder.op("cast", value, dtype=DTYPES[kind]))


def common(*items: Any) -> type:
    """The widest of the numbers' types, at least int."""
    return KINDS[max((DTYPES[kind_of(i)] for i in items), key=_RANK.index, default="int64")]


def arithmetic(builder: GraphBuilder, op: str, left: Any, right: Any) -> PyNumber:
    """``left op right`` of two Python numbers as Python computes it; ``op`` is the name of a class of ``ast``."""
    name = BINARY[op]
    kind = common(left, right)
    if name in _BITS or name.endswith("shift"):
        if kind not in (bool, int):
            raise _unsupported(op, left, right)
        if kind is bool and name in _BITS:
            return python_number(builder, builder.op(name, python_number(builder, left), python_number(builder, right)))
        kind = int
    elif name == "matmul":
        raise _unsupported(op, left, right)
    kind = int if kind is bool else kind
    if name == "power" and kind is int:
        return _int_power(builder, left, right)
    if kind is complex and name in ("floor_divide", "remainder"):
        raise _unsupported(op, left, right)
    pair = as_kind(builder, left, kind), as_kind(builder, right, kind)
    free = name in _BITS or (kind is float and name in _FREE)
    return python_number(builder, builder.op(name, *pair) if free else builder.op(name, *pair, checked=True))


def _int_power(builder: GraphBuilder, left: Any, right: Any) -> PyNumber:
    """A power of ints, which in Python is a float for a negative exponent: allowed for known exponents only."""
    kind = float if not isinstance(right, Value) and right < 0 else int
    pair = as_kind(builder, left, kind), as_kind(builder, right, kind)
    return python_number(builder, builder.op("power", *pair, checked=True))


def comparison(builder: GraphBuilder, op: str, left: Any, right: Any) -> PyNumber:
    """``left op right`` for ``op`` Lt, LtE, Gt, GtE, Eq or NotEq; ints and floats are compared exactly."""
    kinds = {kind_of(left), kind_of(right)}
    if complex in kinds:
        if op not in ("Eq", "NotEq"):
            raise _unsupported(op, left, right)
        pair = as_kind(builder, left, complex), as_kind(builder, right, complex)
        return python_number(builder, builder.op(COMPARE[op], *pair))
    if kinds == {bool} and op in ("Eq", "NotEq"):
        pair = python_number(builder, left), python_number(builder, right)
        return python_number(builder, builder.op(COMPARE[op], *pair))
    if kinds <= {bool, int}:
        pair = as_kind(builder, left, int), as_kind(builder, right, int)
        return python_number(builder, builder.op(COMPARE[op], *pair))
    # a known int that is exact as a float is converted at once
    left, right = (float(i) if type(i) in (bool, int) and abs(i) <= 2**53 else i for i in (left, right))
    pair = tuple(as_kind(builder, i, float if kind_of(i) is float else int) for i in (left, right))
    if pair[0].kind is pair[1].kind:
        return python_number(builder, builder.op(COMPARE[op], *pair))
    return python_number(builder, builder.op(COMPARE[op], *pair, checked=True))


def unary(builder: GraphBuilder, op: str, operand: Any) -> PyNumber:
    """-x, +x or ~x of a Python number; ``op`` is USub, UAdd or Invert."""
    kind = int if kind_of(operand) is bool else kind_of(operand)
    if op == "Invert":
        if kind is not int:
            raise TypeMismatchError(f"~ is not defined for {kind.__name__}.", slug="wrong-dtype", fix="use an int.")
        return python_number(builder, builder.op("invert", as_kind(builder, operand, int)))
    value = as_kind(builder, operand, kind)
    if op == "UAdd":
        return value
    negated = builder.op("negative", value, checked=True) if kind is int else builder.op("negative", value)
    return python_number(builder, negated)


def to_int(builder: GraphBuilder, value: Value) -> PyNumber:
    """``int(value)``: floats are truncated; nan, inf and values that do not fit 64 bits fail."""
    number = python_number(builder, value)
    if number.kind is complex:
        raise TypeMismatchError("int() takes no complex number.", slug="wrong-dtype", fix="take its .real first.")
    if number.kind is float:
        return python_number(builder, builder.op("cast", number, dtype="int64", checked=True))
    return as_kind(builder, number, int)


def to_float(builder: GraphBuilder, value: Value) -> PyNumber:
    """``float(value)``."""
    number = python_number(builder, value)
    if number.kind is complex:
        raise TypeMismatchError("float() takes no complex number.", slug="wrong-dtype", fix="take its .real first.")
    return as_kind(builder, number, float)


def _unsupported(op: str, left: Any, right: Any) -> TypeMismatchError:
    names = f"{kind_of(left).__name__} and {kind_of(right).__name__}"
    return TypeMismatchError(
        f"Python's {op} is not defined for {names}.", slug="wrong-dtype", fix="convert the operands first."
    )
