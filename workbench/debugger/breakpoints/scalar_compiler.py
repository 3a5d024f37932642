"""Compiles conditions on one number into the postfix code that the executor evaluates (executor/conditions.h).

Conditions that compute with + - * / % and compare, the simple value checks, and "it changed" are compiled. Conjunctions
of comparisons with constants, the most frequent kind, have a separate form ("quick").
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.debugger.breakpoints.armed import ArmedBreakpoint
from workbench.debugger.conditions.grammar import Term
from workbench.debugger.conditions.value_checks import GROWTH

#: maximum operations of one condition
MAX_CODE = 200
#: maximum entries of the stack
DEPTH = 20
Code = list[tuple[str, float]]
_SIMPLE = {"value": 0, "previous": 0, "iteration": 0}
_MAPS = ("abs", "isnan", "isinf", "isfinite", "sqrt")
_SAME = ("min", "max", "mean", "sum", "any", "all")


def compile_number(armed: ArmedBreakpoint, dtype: str) -> dict[str, Any] | None:
    """The compiled condition on a number of this dtype; None if the executor cannot evaluate it."""
    compares = dtype not in ("uint16", "uint32")
    if compares and (armed.point.watch is not None or armed.health == ("unchanged",)):
        return {"kind": "changed" if armed.point.watch is not None else "same"}
    if armed.health and set(armed.health) == {"nan", "inf"} and dtype.startswith("float"):
        return {"kind": "quick", "items": [("value", "isfinite", False, 0.0)]}
    code = postfix_code(armed, dtype)
    if code is None:
        return None
    quick = _quick(code)
    return {"kind": "code", "code": code} if quick is None else {"kind": "quick", "items": quick}


def postfix_code(armed: ArmedBreakpoint, dtype: str) -> Code | None:
    """The condition on a number in postfix order; None if the executor cannot evaluate it."""
    point = armed.point
    if point.watch is not None:
        return [*_same(dtype), ("not", 0.0), *_has_previous(), ("and", 0.0)]
    if armed.health:
        codes = [_health(name, dtype) for name in armed.health]
        if any(c is None for c in codes):
            return None
        found: Code = []
        for k, one in enumerate(codes):
            found += one or []
            found += [("or", 0.0)] if k else []
        return found
    assert point.when is not None
    code: Code = []
    if not _write(point.when.tree, code) or len(code) > MAX_CODE or _depth(code) > DEPTH:
        return None
    return code


def _has_previous() -> Code:
    """Code that is True if there is a previous iteration: comparisons with a missing value are False."""
    return [("previous", 0.0), ("isnan", 0.0), ("previous", 0.0), ("isnan", 0.0), ("not", 0.0), ("or", 0.0)]


def _same(dtype: str) -> Code:
    """Code that is True if the value equals that of the previous iteration; NaN equals NaN."""
    same: Code = [("value", 0.0), ("previous", 0.0), ("==", 0.0)]
    if dtype.startswith("float"):
        same += [("value", 0.0), ("isnan", 0.0), ("previous", 0.0), ("isnan", 0.0), ("both", 0.0), ("or", 0.0)]
    return same


def _size(of: str) -> Code:
    return [(of, 0.0), ("abs", 0.0)]


def _health(name: str, dtype: str) -> Code | None:
    value: Code = [("value", 0.0)]
    floats = dtype.startswith("float")
    if name in ("nan", "inf"):
        return [*value, (f"is{name}", 0.0)] if floats else [("number", 0.0), ("isnan", 0.0)]
    if name == "zero":
        return [*value, ("number", 0.0), ("==", 0.0)]
    if name == "unchanged":
        return _same(dtype)
    if name == "overflow" and floats:
        return [*_size("value"), ("number", float(np.finfo(dtype).max) / 16), (">", 0.0)]
    if name == "underflow" and floats:
        tiny = float(np.finfo(dtype).smallest_normal)
        small: Code = [*_size("value"), ("number", tiny), ("<", 0.0)]
        return [*small, *_size("value"), ("number", 0.0), (">", 0.0), ("and", 0.0)]
    if name == "exploding":
        grown: Code = [*_size("value"), *_size("previous"), ("number", GROWTH), ("*", 0.0), (">", 0.0)]
        return [*grown, *_size("previous"), ("number", 0.0), (">", 0.0), ("and", 0.0)]
    if name == "vanishing":
        return [*_size("value"), ("number", GROWTH), ("*", 0.0), *_size("previous"), ("<", 0.0)]
    return None


def _quick(code: Code) -> list[tuple[str, str, bool, float]] | None:
    """The code as comparisons that must all hold, (operand, op, True for its magnitude, number); otherwise None."""
    found: list[tuple[str, str, bool, float]] = []
    at = 0
    while at < len(code):
        ops = [op for op, _ in code[at : at + 5]]
        of = "delta" if ops[:3] == ["value", "previous", "-"] else ops[0]
        at += 3 if of == "delta" else 1
        magnitude = at < len(code) and code[at][0] == "abs"
        at += magnitude
        if of not in ("value", "previous", "delta", "iteration") or at >= len(code):
            return None
        if code[at][0] in ("isnan", "isinf"):
            found.append((of, code[at][0], False, 0.0))
            at += 1
        elif code[at][0] == "number" and at + 1 < len(code) and code[at + 1][0] in ("<", "<=", ">", ">=", "==", "!="):
            found.append((of, code[at + 1][0], magnitude, code[at][1]))
            at += 2
        else:
            return None
        if len(found) > 1:
            if at >= len(code) or code[at][0] != "and":
                return None
            at += 1
    return found


def _write(term: Term, code: Code) -> bool:
    """Append a tree in postfix order; False if it contains operations that the executor does not have."""
    kind, what = term.kind, term.what
    if kind == "number":
        number = float(what)
        if isinstance(what, int) and int(number) != what:
            return False
        code.append(("number", number))
        return True
    if kind == "name":
        if what == "delta":
            code += [("value", 0.0), ("previous", 0.0), ("-", 0.0)]
        elif what in _SIMPLE:
            code.append((what, 0.0))
        else:
            return False
        return True
    if kind == "neg":
        if not _write(term.parts[0], code):
            return False
        code += [("neg", 0.0)] if what == "-" else []
        return True
    if kind == "call":
        if what not in (*_MAPS, *_SAME) or not _write(term.parts[0], code):
            return False
        if what in ("any", "all"):
            code += [("number", 0.0), ("!=", 0.0)]
        elif what in _MAPS:
            code.append((what, 0.0))
        return True
    if kind == "binary":
        if what not in ("+", "-", "*", "/", "%") or not all(_write(p, code) for p in term.parts):
            return False
        code.append((what, 0.0))
        return True
    if kind in ("and", "or"):
        for k, part in enumerate(term.parts):
            if not _write(part, code):
                return False
            code += [(kind, 0.0)] if k else []
        return True
    if kind == "not":
        if not _write(term.parts[0], code):
            return False
        code.append(("not", 0.0))
        return True
    if kind == "compare":
        for k, sign in enumerate(what):
            if not all(_write(p, code) for p in term.parts[k : k + 2]):
                return False
            code.append((sign, 0.0))
            code += [("both", 0.0)] if k else []
        return True
    return False


def _depth(code: Code) -> int:
    depth = most = 0
    for op, _ in code:
        if op in ("value", "previous", "iteration", "number"):
            depth += 1
        elif op not in ("neg", "not", *_MAPS):
            depth -= 1
        most = max(most, depth)
    return most
