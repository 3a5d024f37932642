"""Scalar ops with Python's checks as LLVM IR: a value, and whether Python must compute it instead."""

from __future__ import annotations

from collections.abc import Callable

from workbench.plan.native.code import Code
from workbench.plan.native.plain_ops import ScalarOp, absolute, floor_divide, negative, remainder, square_root

EXACT_INT = 1 << 53


def _overflowing(code: Code, op: ScalarOp, operands: list[str], constant: int | None) -> tuple[str, str]:
    function = {"add": "sadd", "subtract": "ssub", "multiply": "smul"}[op.op]
    pair = code.call("{i64, i1}", f"llvm.{function}.with.overflow.i64", ("i64", operands[0]), ("i64", operands[1]))
    return code.let(f"extractvalue {{i64, i1}} {pair}, 0"), code.let(f"extractvalue {{i64, i1}} {pair}, 1")


def _checked_division(code: Code, op: ScalarOp, operands: list[str], constant: int | None) -> tuple[str, str]:
    a, b = operands
    zero = code.let(f"icmp eq i64 {b}, 0")
    if op.op == "remainder":
        return remainder(code, op, operands, constant), zero
    least = code.let(f"icmp eq i64 {a}, {-(1 << 63)}")
    lost = code.let(f"and i1 {code.let(f'icmp eq i64 {b}, -1')}, {least}")
    return floor_divide(code, op, operands, constant), code.any(zero, lost)


def _inexact(code: Code, a: str) -> str:
    """The i1 that is true if an integer is beyond those that floats represent exactly."""
    moved = code.let(f"add i64 {a}, {EXACT_INT}")
    return code.let(f"icmp ugt i64 {moved}, {2 * EXACT_INT}")


def _checked_divide(code: Code, op: ScalarOp, operands: list[str], constant: int | None) -> tuple[str, str]:
    a, b = operands
    if op.inputs[0] == "float64":
        return code.let(f"fdiv double {a}, {b}"), code.let(f"fcmp oeq double {b}, 0.0")
    zero = code.let(f"icmp eq i64 {b}, 0")
    refused = code.any(zero, _inexact(code, a), _inexact(code, b))
    x, y = (code.let(f"sitofp i64 {v} to double") for v in operands)
    return code.let(f"fdiv double {x}, {y}"), refused


def _checked_sign(code: Code, op: ScalarOp, operands: list[str], constant: int | None) -> tuple[str, str]:
    refused = code.let(f"icmp eq i64 {operands[0]}, {-(1 << 63)}")
    return (negative if op.op == "negative" else absolute)(code, op, operands, constant), refused


def _checked_cast(code: Code, op: ScalarOp, operands: list[str], constant: int | None) -> tuple[str, str]:
    a = operands[0]
    low = code.let(f"fcmp ult double {a}, 0xC3E0000000000000")
    refused = code.any(low, code.let(f"fcmp uge double {a}, 0x43E0000000000000"))
    inside = code.let(f"select i1 {refused}, double 0.0, double {a}")
    return code.let(f"fptosi double {inside} to i64"), refused


def _checked_sqrt(code: Code, op: ScalarOp, operands: list[str], constant: int | None) -> tuple[str, str]:
    return square_root(code, op, operands, constant), code.let(f"fcmp ult double {operands[0]}, 0.0")


CHECKED: dict[str, Callable[[Code, ScalarOp, list[str], int | None], tuple[str, str]]] = {
    **dict.fromkeys(("add", "subtract", "multiply"), _overflowing),
    "floor_divide": _checked_division,
    "remainder": _checked_division,
    "divide": _checked_divide,
    "negative": _checked_sign,
    "abs": _checked_sign,
    "cast": _checked_cast,
    "sqrt": _checked_sqrt,
}
_INTS, _FLOATS = ("int64", "int64"), ("float64", "float64")
CHECKED_INPUTS: dict[str, tuple[tuple[str, ...], ...]] = {
    **dict.fromkeys(("add", "subtract", "multiply", "floor_divide", "remainder"), (_INTS,)),
    "divide": (_INTS, _FLOATS),
    "negative": (_INTS[:1],),
    "abs": (_INTS[:1],),
    "cast": (_FLOATS[:1],),
    "sqrt": (_FLOATS[:1],),
}
