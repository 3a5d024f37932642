"""Python's syntax on values under capture: operators, comparisons, truth, indexing, attributes, calls.

The capture of a function walks its syntax tree and calls this module to evaluate expressions. Operands are Values of
the builder or *statics*: Python objects known at capture (numbers, tuples, arrays, modules, functions). If all operands
are statics, so is the result; if the evaluation fails, it is left to the graph, because Python would raise when the
line runs, not before.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.errors import GraphError, TypeMismatchError
from workbench.frontends.python.values import attributes, foreign, indexing, numbers
from workbench.frontends.python.values.attributes import BoundMethod
from workbench.frontends.python.values.numbers import PyNumber, is_number, python_number
from workbench.frontends.python.values.products import product
from workbench.frontends.python.values.promotion import as_array, holds_value, is_array, together
from workbench.frontends.python.values.truthiness import both, either, truth
from workbench.ir.builder.builder import GraphBuilder
from workbench.ir.builder.value import Value

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "Pow": operator.pow,
    "MatMult": operator.matmul,
    "BitAnd": operator.and_,
    "BitOr": operator.or_,
    "BitXor": operator.xor,
    "LShift": operator.lshift,
    "RShift": operator.rshift,
}
_UNARY: dict[str, Callable[[Any], Any]] = {"USub": operator.neg, "UAdd": operator.pos, "Invert": operator.invert}
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Eq": operator.eq,
    "NotEq": operator.ne,
}
#: limit of ints that the capture computes; larger ones would take much time and memory
_LARGEST_STATIC = 4096


def is_value(x: Any) -> bool:
    """True if ``x`` is known only when the graph runs."""
    return isinstance(x, Value)


def lift(builder: GraphBuilder, static: Any) -> Value:
    """A static as a Value: Python's numbers as :class:`PyNumber`, arrays and NumPy scalars as constants."""
    if isinstance(static, Value):
        return static
    if is_number(static):
        return python_number(builder, static)
    if isinstance(static, (str, bytes)):
        return builder.constant(static)
    return as_array(builder, static)


def _static(function: Callable[..., Any], *operands: Any) -> Any:
    """Python's result, or NotImplemented if Python raises; the graph then raises when the line runs."""
    if any(type(o) is int and o.bit_length() > _LARGEST_STATIC for o in operands):
        return NotImplemented
    try:
        with np.errstate(all="ignore"):
            found = function(*operands)
        # a complex power of real numbers has a real type in a graph, where computing it fails
        grown = type(found) is complex and not any(isinstance(o, (complex, np.ndarray)) for o in operands)
        return NotImplemented if grown else found
    except (ArithmeticError, ValueError, MemoryError):
        return NotImplemented
    except TypeError as error:
        raise TypeMismatchError(f"Python cannot compute this: {error}.", slug="wrong-dtype") from error


def _small(op: str, left: Any, right: Any) -> bool:
    """True if Python can compute the static quickly."""
    if type(left) in (int, bool) and type(right) in (int, bool):
        if op == "Pow":
            return right <= 0 or left.bit_length() * right <= _LARGEST_STATIC
        if op == "LShift":
            return right <= _LARGEST_STATIC
    return True


def binary(builder: GraphBuilder, op: str, left: Any, right: Any) -> Any:
    """``left op right``; ``op`` is the name of the operator's class in ``ast``, such as "Add"."""
    foreign.refuse((left, right), foreign.ARITHMETIC)
    if not (is_value(left) or is_value(right)):
        found = _static(_BINARY[op], left, right) if _small(op, left, right) else NotImplemented
        if found is not NotImplemented:
            return found
    right = _as_float(builder, left, right) if op not in ("FloorDiv", "Mod") else right  # complex numbers have neither
    if is_number(left) and is_number(right):
        return numbers.arithmetic(builder, op, left, right)
    if is_array(left) or is_array(right):
        for other in (left, right):
            if not (is_number(other) or is_array(other) or isinstance(other, (tuple, list))):
                raise _no_operator(op, left, right)
        pair = together(builder, [_listed(builder, left), _listed(builder, right)], wide=op == "Div")
        if op == "Pow":
            return _power(builder, pair[0], pair[1], right)
        return product(builder, *pair) if op == "MatMult" else builder.op(numbers.BINARY[op], *pair)
    raise _no_operator(op, left, right)


def _as_float(builder: GraphBuilder, left: Any, right: Any) -> Any:
    """The right operand of a complex number; np.float64 is a Python float, so Python computes and not NumPy."""
    if not is_number(left) or numbers.kind_of(left) is not complex or not is_array(right):
        return right
    if isinstance(right, Value) and right.shape == () and right.dtype == "float64":
        return python_number(builder, right)
    return float(right) if type(right) is np.float64 else right


def _power(builder: GraphBuilder, x: Value, y: Value, exponent: Any) -> Value:
    """``x ** y`` as NumPy's operator computes it, which may differ from np.power in the last digit."""
    known = exponent if type(exponent) in (int, float) else None
    if x.dtype == "bool" and is_number(exponent):
        raise TypeMismatchError(
            "The dtype of a power of bools depends on the exponent's value in NumPy.",
            slug="wrong-dtype",
            fix="cast the bools first, as in x.astype(int) ** y.",
        )
    if x.type.rank and "float" in x.dtype and known in (2, 0.5) and type(known) is (int if known == 2 else float):
        return builder.op("square" if known == 2 else "sqrt", x)
    if known is None and is_number(exponent):
        return builder.op("power", x, y, operator=True, number=True)
    return builder.op("power", x, y, operator=True, exponent=known)


def _listed(builder: GraphBuilder, item: Any) -> Any:
    """A tuple or list as an array, for an operation with arrays."""
    return as_array(builder, item) if isinstance(item, (tuple, list)) else item


def unary(builder: GraphBuilder, op: str, operand: Any) -> Any:
    """``-x``, ``+x``, ``~x`` or ``not x``, as USub, UAdd, Invert or Not."""
    if op == "Not":
        decided = truth(builder, operand)
        if not is_value(decided):
            return not decided
        return python_number(builder, builder.op("logical_not", decided))
    foreign.refuse((operand,), foreign.UNARY)
    if not is_value(operand):
        return _static(_UNARY[op], operand)
    if isinstance(operand, PyNumber):
        return numbers.unary(builder, op, operand)
    return builder.op({"USub": "negative", "UAdd": "positive", "Invert": "invert"}[op], operand)


def compare(builder: GraphBuilder, op: str, left: Any, right: Any) -> Any:
    """One comparison; ``op`` is the name of its class in ``ast``: Lt, LtE, Gt, GtE, Eq, NotEq, Is, IsNot, In, NotIn."""
    if op in ("Is", "IsNot"):
        return _identity(op, left, right)
    foreign.refuse((left, right), foreign.ORDER)
    if op in ("In", "NotIn"):
        foreign.refuse((right,), foreign.ITEMS)
        found = _contains(builder, left, right)
        return found if op == "In" else unary(builder, "Not", found)
    if not (holds_value(left) or holds_value(right)):
        return _static(_COMPARE[op], left, right)
    right = _as_float(builder, left, right) if op in ("Eq", "NotEq") else right  # complex numbers have no order
    if is_number(left) and is_number(right):
        return numbers.comparison(builder, op, left, right)
    if isinstance(left, (tuple, list)) and isinstance(right, (tuple, list)):
        return _sequences(builder, op, left, right)
    plain = [is_number(i) or is_array(i) or isinstance(i, (tuple, list)) for i in (left, right)]
    if all(plain):
        pair = together(builder, [_listed(builder, left), _listed(builder, right)], wide=True)
        return builder.op(numbers.COMPARE[op], *pair)
    if op in ("Eq", "NotEq"):
        return op == "NotEq"  # a number never equals a string, None or a function
    raise _no_operator(op, left, right)


def _identity(op: str, left: Any, right: Any) -> bool:
    if not (is_value(left) or is_value(right)):
        same = left is right
    elif left is None or right is None or left is Ellipsis or right is Ellipsis:
        same = False
    else:
        raise GraphError(
            "'is' asks whether two things are one object, which the values of a graph have no answer to.",
            slug="identity",
            fix="compare with == or !=.",
        )
    return same if op == "Is" else not same


def _sequences(builder: GraphBuilder, op: str, left: Any, right: Any) -> Any:
    if op not in ("Eq", "NotEq"):
        raise GraphError(
            "Tuples of computed values cannot be put in order.", slug="tuple-order", fix="compare their items."
        )
    if type(left) is not type(right) or len(left) != len(right):
        return op == "NotEq"
    result: Any = True
    for a, b in zip(left, right, strict=True):
        result = both(builder, result, truth(builder, compare(builder, "Eq", a, b)))
    return result if op == "Eq" else unary(builder, "Not", result)


def _contains(builder: GraphBuilder, item: Any, container: Any) -> Any:
    if not (holds_value(item) or holds_value(container)):
        return item in container
    if is_array(container):
        found = builder.op("any", as_array(builder, compare(builder, "Eq", container, item)))
        return python_number(builder, found)
    if isinstance(container, range) and isinstance(item, PyNumber) and item.kind in (int, bool):
        return _in_range(builder, item, container)
    if isinstance(container, (str, bytes)) or not hasattr(container, "__iter__"):
        raise _no_operator("In", item, container)
    result: Any = False
    for member in container:
        result = either(builder, result, truth(builder, compare(builder, "Eq", item, member)))
    return result


def _in_range(builder: GraphBuilder, item: PyNumber, numbers_: range) -> Any:
    if not numbers_:
        return False
    low, high = min(numbers_), max(numbers_)
    inside = both(builder, compare(builder, "GtE", item, low), compare(builder, "LtE", item, high))
    step = abs(numbers_.step)
    if step == 1:
        return inside
    rest = binary(builder, "Mod", item, step)
    return both(builder, inside, compare(builder, "Eq", rest, low % step))


def _no_operator(op: str, left: Any, right: Any) -> TypeMismatchError:
    names = " and ".join(str(i.type) if is_value(i) else type(i).__name__ for i in (left, right))
    return TypeMismatchError(
        f"Python's {op} cannot be put into a graph for {names}.",
        slug="wrong-dtype",
        fix="use numbers, arrays, or tuples whose items are known.",
    )


def subscript(builder: GraphBuilder, value: Any, index: Any) -> Any:
    """``value[index]``; see :mod:`workbench.frontends.python.values.indexing`."""
    return indexing.subscript(builder, value, index)


def store_subscript(builder: GraphBuilder, value: Any, index: Any, new: Any) -> Value:
    """The array after ``value[index] = new``; ``value`` itself is unchanged."""
    return indexing.store(builder, value, index, new)


def attribute(builder: GraphBuilder, value: Any, name: str) -> Any:
    """``value.name``: a Value, a static, or a :class:`BoundMethod` for ``library_calls.call``."""
    return attributes.attribute(builder, value, name)


__all__ = [
    "BoundMethod",
    "attribute",
    "binary",
    "both",
    "compare",
    "either",
    "is_value",
    "lift",
    "store_subscript",
    "subscript",
    "truth",
    "unary",
]
