"""Expressions of dynamic sizes in an exported program, which PyTorch evaluates as Python code by SymPy.

``size_of`` parses one without evaluating it: a symbol, a number, or arithmetic on these. Only a number gives the size
before the run; the nodes of the program compute the others. PyTorch 2.13 writes them as constructors (``Mul(Integer(2),
Symbol('s83', positive=True, integer=True))``), older versions as formulas (``2*s83``).

Source: torch/_export/serde/serialize.py of PyTorch 2.13, ``_print_sympy`` and ``_parse_sym_expr``.
"""

from __future__ import annotations

import ast
import re

from workbench.frontends.pytorch.reading.archive import refused

#: limits: characters of an expression, digits of a number, and product of nested exponents
MAX_TEXT, MAX_DIGITS, MAX_POWER = 10_000, 40, 64
_SYMBOL = re.compile(r"[a-z]{1,4}\d{1,9}", re.ASCII)
_NUMBER = re.compile(rf"[+-]?\d{{1,{MAX_DIGITS}}}(\.\d{{0,{MAX_DIGITS}}})?(e[+-]?\d{{1,3}})?", re.ASCII)
_CONSTANTS = frozenset(("oo", "int_oo", "true", "false"))
_POWERS = frozenset(("Pow", "PowByNatural", "FloatPow"))
#: functions of SymPy, and those added by PyTorch (torch/utils/_sympy/functions.py)
_FUNCTIONS = _POWERS | frozenset(
    "Add Mul Eq Ne Gt Ge Lt Le Equality Unequality StrictGreaterThan GreaterThan StrictLessThan LessThan And Or Not "
    "Max Min Abs Rational Mod PythonMod FloorDiv CleanDiv CeilDiv CeilToInt FloorToInt RoundToInt TruncToInt "
    "TruncToFloat ToFloat FloatTrueDiv IntTrueDiv ModularIndexing Where IsNonOverlappingAndDenseIndicator".split()
)
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.BitAnd, ast.BitOr)
_ASSUMPTIONS = frozenset(
    "integer positive negative nonnegative nonpositive nonzero zero real finite infinite commutative".split()
)


def size_of(text: str) -> int | None:
    """The size given by an expression, None if it is known only at run time; refused if it is not arithmetic."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body if len(text) <= MAX_TEXT else None
        if tree is not None and _fits(tree, MAX_POWER):
            found = _number_of(tree)
            return found if type(found) is int else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    raise refused(f"it has a size that is not arithmetic: {text[:60]!r}")


def _fits(node: ast.expr, power: float) -> bool:
    """True for arithmetic in which the product of nested exponents is at most ``power``."""
    match node:
        case ast.Name(id=name):
            return name in _CONSTANTS or bool(_SYMBOL.fullmatch(name))
        case ast.Constant(value=value):
            return _is_number(value) or type(value) is bool
        case ast.BinOp(left=base, op=ast.Pow(), right=exponent):
            return _fits_power(base, exponent, power)
        case ast.BinOp(left=left, op=op, right=right):
            return isinstance(op, _OPERATORS) and _fits(left, power) and _fits(right, power)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert(), operand=operand):
            return _fits(operand, power)
        case ast.Compare(left=left, comparators=others):
            return all(_fits(part, power) for part in (left, *others)) and not any(
                isinstance(op, (ast.In, ast.NotIn, ast.Is, ast.IsNot)) for op in node.ops
            )
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
            return _fits_call(name, args, keywords, power)
    return False


def _fits_call(name: str, args: list[ast.expr], keywords: list[ast.keyword], power: float) -> bool:
    if name == "Symbol":
        match args:
            case [ast.Constant(value=str() as symbol)] if _SYMBOL.fullmatch(symbol):
                return all(
                    k.arg in _ASSUMPTIONS and isinstance(k.value, ast.Constant) and type(k.value.value) is bool
                    for k in keywords
                )
        return False
    if name in ("Integer", "Float"):
        match args, keywords:
            case [ast.Constant(value=str() as digits)], []:
                return bool(_NUMBER.fullmatch(digits))
            case [ast.Constant(value=str() as digits)], [
                ast.keyword(arg="precision", value=ast.Constant(value=int(n)))
            ]:
                return bool(_NUMBER.fullmatch(digits)) and 0 < n <= 128
            case [one], []:
                return _number_of(one) is not None
        return False
    if keywords or name not in _FUNCTIONS:
        return False
    if name in _POWERS:
        return len(args) == 2 and _fits_power(args[0], args[1], power)
    return all(_fits(arg, power) for arg in args)


def _fits_power(base: ast.expr, exponent: ast.expr, power: float) -> bool:
    number = _number_of(exponent)
    return number is not None and abs(number) <= power and _fits(base, power / max(1, abs(number)))


def _number_of(node: ast.expr) -> float | None:
    """The number that an expression consists of; None if it is not a number."""
    match node:
        case ast.Constant(value=value) if _is_number(value):
            return value  # type: ignore[return-value]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)) if _is_number(value):
            return -value  # type: ignore[operator,return-value]
        case ast.Call(func=ast.Name(id="Integer"), args=[ast.Constant(value=str() as digits)], keywords=[]):
            return int(digits) if _NUMBER.fullmatch(digits) and digits.lstrip("+-").isdigit() else None
        case ast.Call(func=ast.Name(id="Integer" | "Float"), args=[one], keywords=[]):
            return _number_of(one)
        case ast.Call(func=ast.Name(id="Rational"), args=[top, below], keywords=[]):
            over, under = _number_of(top), _number_of(below)
            return over / under if over is not None and under else None
    return None


def _is_number(value: object) -> bool:
    return type(value) is float or (type(value) is int and abs(value) < 10**MAX_DIGITS)
