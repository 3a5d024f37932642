"""Scalar ops without checks as LLVM IR: the same as in C in ``kernels_pyx/scalar_ops.py``, with the same bits.

Integers wrap, multiplications and additions are not fused, divisions round down as in Python.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from workbench.plan.native.code import TYPES, Code

ORDER = {"equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge"}
PLAIN = {
    "add": ("add", "fadd"),
    "subtract": ("sub", "fsub"),
    "multiply": ("mul", "fmul"),
    "divide": (None, "fdiv"),
    "bitwise_and": ("and", None),
    "bitwise_or": ("or", None),
    "bitwise_xor": ("xor", None),
}
#: ops that may be computed although their branch is not taken -> their time in units of an addition
COSTS = {"divide": 4, "sqrt": 4, "floor_divide": 20, "truncate_divide": 20, "remainder": 20}


@dataclass(frozen=True)
class ScalarOp:
    """The parts of a name such as ``checked_add_int64_int64_int64``."""

    op: str
    inputs: tuple[str, ...]
    output: str
    checked: bool

    @property
    def cost(self) -> int:
        return COSTS.get(self.op, 1)


def _byte(code: Code, condition: str) -> str:
    return code.let(f"zext i1 {condition} to i8")


def _plain(code: Code, op: ScalarOp, operands: list[str], constant: int | None) -> str:
    dtype, (a, b) = op.inputs[0], operands
    return code.let(f"{PLAIN[op.op][dtype.startswith('float')]} {TYPES[dtype]} {a}, {b}")


def _compare(code: Code, op: ScalarOp, operands: list[str], constant: int | None) -> str:
    dtype, (a, b) = op.inputs[0], operands
    how = ORDER[op.op]
    if dtype.startswith("float"):
        return _byte(code, code.let(f"fcmp {'une' if how == 'ne' else 'o' + how} {TYPES[dtype]} {a}, {b}"))
    signed = how if how in ("eq", "ne") else "s" + how
    return _byte(code, code.let(f"icmp {signed} {TYPES[dtype]} {a}, {b}"))


def _logical(code: Code, op: ScalarOp, operands: list[str], constant: int | None) -> str:
    truths = [code.let(f"icmp ne i8 {v}, 0") for v in operands]
    return _byte(code, code.let(f"{op.op.removeprefix('logical_')} i1 {truths[0]}, {truths[1]}"))


def _logical_not(code: Code, op: ScalarOp, operands: list[str], constant: int | None) -> str:
    return _byte(code, code.let(f"icmp eq i8 {operands[0]}, 0"))


def _power_of_two(constant: int | None) -> bool:
    return constant is not None and constant > 0 and constant & (constant - 1) == 0


def _safe(code: Code, t: str, b: str, constant: int | None) -> tuple[str, str, str]:
    """A divisor that is safe on all processors, and an i1 that is true if the real one is 0 or -1."""
    if constant is not None and constant not in (0, -1):
        return b, "false", "false"
    zero, minus = code.let(f"icmp eq {t} {b}, 0"), code.let(f"icmp eq {t} {b}, -1")
    return code.let(f"select i1 {code.any(zero, minus)}, {t} 1, {t} {b}"), zero, minus


def _differ(code: Code, t: str, a: str, b: str) -> str:
    """The i1 that is true if the signs of two integers differ."""
    return code.let(f"icmp slt {t} {code.let(f'xor {t} {a}, {b}')}, 0")


def floor_divide(code: Code, op: ScalarOp, operands: list[str], constant: int | None) -> str:
    t, (a, b) = TYPES[op.inputs[0]], operands
    if constant is not None and _power_of_two(constant):
        return code.let(f"ashr {t} {a}, {constant.bit_length() - 1}")
    by, zero, minus = _safe(code, t, b, constant)
    quotient = code.let(f"sdiv {t} {a}, {by}")
    left = code.let(f"sub {t} {a}, {code.let(f'mul {t} {quotient}, {by}')}")
    down = code.let(f"and i1 {code.let(f'icmp ne {t} {left}, 0')}, {_differ(code, t, a, by)}")
    found = code.let(f"sub {t} {quotient}, {code.let(f'zext i1 {down} to {t}')}")
    found = code.let(f"select i1 {minus}, {t} {code.let(f'sub {t} 0, {a}')}, {t} {found}")
    return code.let(f"select i1 {zero}, {t} 0, {t} {found}")


def _truncate_divide(code: Code, op: ScalarOp, operands: list[str], constant: int | None) -> str:
    t, (a, b) = TYPES[op.inputs[0]], operands
    by, zero, minus = _safe(code, t, b, constant)
    found = code.let(f"sdiv {t} {a}, {by}")
    found = code.let(f"select i1 {minus}, {t} {code.let(f'sub {t} 0, {a}')}, {t} {found}")
    return code.let(f"select i1 {zero}, {t} 0, {t} {found}")


def remainder(code: Code, op: ScalarOp, operands: list[str], constant: int | None) -> str:
    t, (a, b) = TYPES[op.inputs[0]], operands
    if constant is not None and _power_of_two(constant):
        return code.let(f"and {t} {a}, {constant - 1}")
    by, zero, minus = _safe(code, t, b, constant)
    left = code.let(f"srem {t} {a}, {by}")
    other = code.let(f"and i1 {code.let(f'icmp ne {t} {left}, 0')}, {_differ(code, t, left, by)}")
    found = code.let(f"add {t} {left}, {code.let(f'select i1 {other}, {t} {by}, {t} 0')}")
    return code.let(f"select i1 {code.any(zero, minus)}, {t} 0, {t} {found}")


def negative(code: Code, op: ScalarOp, operands: list[str], constant: int | None) -> str:
    t = TYPES[op.inputs[0]]
    return code.let(f"fneg {t} {operands[0]}" if op.inputs[0].startswith("float") else f"sub {t} 0, {operands[0]}")


def _square(code: Code, op: ScalarOp, operands: list[str], constant: int | None) -> str:
    t, a = TYPES[op.inputs[0]], operands[0]
    return code.let(f"{'fmul' if op.inputs[0].startswith('float') else 'mul'} {t} {a}, {a}")


def absolute(code: Code, op: ScalarOp, operands: list[str], constant: int | None) -> str:
    t, a = TYPES[op.inputs[0]], operands[0]
    if op.inputs[0].startswith("float"):
        return code.call(t, f"llvm.fabs.f{64 if t == 'double' else 32}", (t, a))
    below = code.let(f"icmp slt {t} {a}, 0")
    return code.let(f"select i1 {below}, {t} {code.let(f'sub {t} 0, {a}')}, {t} {a}")


def square_root(code: Code, op: ScalarOp, operands: list[str], constant: int | None) -> str:
    t = TYPES[op.inputs[0]]
    return code.call(t, f"llvm.sqrt.f{64 if t == 'double' else 32}", (t, operands[0]))


def _cast(code: Code, op: ScalarOp, operands: list[str], constant: int | None) -> str:
    source, target, a = op.inputs[0], op.output, operands[0]
    s, t = TYPES[source], TYPES[target]
    if source.startswith("float"):
        return code.let(f"{'fpext' if target == 'float64' else 'fptrunc'} {s} {a} to {t}")
    if target.startswith("float"):
        return code.let(f"{'uitofp' if source == 'bool' else 'sitofp'} {s} {a} to {t}")
    if source == "bool":
        return code.let(f"zext i8 {a} to {t}")
    return code.let(f"{'sext' if target == 'int64' else 'trunc'} {s} {a} to {t}")


PLAINLY: dict[str, Callable[[Code, ScalarOp, list[str], int | None], str]] = {
    **dict.fromkeys(PLAIN, _plain),
    **dict.fromkeys(ORDER, _compare),
    **dict.fromkeys(("logical_and", "logical_or", "logical_xor"), _logical),
    "logical_not": _logical_not,
    "floor_divide": floor_divide,
    "truncate_divide": _truncate_divide,
    "remainder": remainder,
    "negative": negative,
    "square": _square,
    "abs": absolute,
    "sqrt": square_root,
    "cast": _cast,
}
