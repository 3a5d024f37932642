"""Conditions of breakpoints: a small expression language over ``value``, read as a tree and never evaluated as Python.

Allowed: numbers, ``True``, ``False``, ``value``, ``iteration``, + - * / // %, comparisons (chained too), and, or,
not, and the functions abs, min, max, mean, isnan, isinf, isfinite, any, all. A condition on an array holds when it
holds anywhere.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.errors import SessionError

_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
_COMPARE: dict[type, Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}  # fmt: skip
_UNARY: dict[type, Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: np.logical_not}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": np.abs, "min": np.min, "max": np.max, "mean": np.mean, "isnan": np.isnan, "isinf": np.isinf,
    "isfinite": np.isfinite, "any": np.any, "all": np.all,
}  # fmt: skip
_NAMES = ("value", "iteration")
MAX_LENGTH = 500


class Predicate:
    """``Predicate("abs(value) > 1e6")(value, iteration)`` -> bool. Raises SessionError for anything else than it
    allows."""

    def __init__(self, text: str) -> None:
        self.text = text
        if len(text) > MAX_LENGTH:
            raise self._refuse(f"it is longer than {MAX_LENGTH} characters")
        try:
            tree = ast.parse(text.strip(), mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise self._refuse(f"it cannot be read ({error})") from None
        self._tree = tree.body
        self._check(self._tree)

    def __call__(self, value: Any, iteration: int = 0) -> bool:
        with np.errstate(all="ignore"):
            try:
                return bool(
                    np.any(self._value(self._tree, {"value": np.asarray(value), "iteration": np.int64(iteration)}))
                )
            except (TypeError, ValueError, ArithmeticError) as error:
                raise self._refuse(f"it does not fit a value of dtype {np.asarray(value).dtype} ({error})") from error

    def __repr__(self) -> str:
        return f"Predicate({self.text!r})"

    def _check(self, node: ast.AST) -> None:
        if isinstance(node, ast.BoolOp):
            parts: list[ast.AST] = list(node.values)
        elif isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            parts = [node.left, node.right]
        elif isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
            parts = [node.operand]
        elif isinstance(node, ast.Compare) and all(type(o) in _COMPARE for o in node.ops):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS:
            if node.keywords or len(node.args) != 1:
                raise self._refuse(f"{node.func.id} takes one argument")
            parts = list(node.args)
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
            parts = []
        elif isinstance(node, ast.Name) and node.id in _NAMES:
            parts = []
        else:
            raise self._refuse(f"{ast.unparse(node)[:40]!r} is not allowed in it")
        for part in parts:
            self._check(part)

    def _value(self, node: ast.AST, names: dict[str, Any]) -> Any:
        if isinstance(node, ast.Constant):
            return np.float64(node.value) if isinstance(node.value, float) else np.asarray(node.value)[()]
        if isinstance(node, ast.Name):
            return names[node.id]
        if isinstance(node, ast.BinOp):
            return _BINARY[type(node.op)](self._value(node.left, names), self._value(node.right, names))
        if isinstance(node, ast.UnaryOp):
            return _UNARY[type(node.op)](self._value(node.operand, names))
        if isinstance(node, ast.Call):
            return _FUNCTIONS[node.func.id](self._value(node.args[0], names))  # type: ignore[attr-defined]
        if isinstance(node, ast.BoolOp):
            parts = [self._value(v, names) for v in node.values]
            return (np.logical_and if isinstance(node.op, ast.And) else np.logical_or).reduce(
                np.broadcast_arrays(*parts)
            )
        assert isinstance(node, ast.Compare)
        left, result = self._value(node.left, names), np.True_
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right = self._value(comparator, names)
            result = np.logical_and(result, _COMPARE[type(op)](left, right))
            left = right
        return result

    def _refuse(self, why: str) -> SessionError:
        return SessionError(
            f"The condition {self.text[:80]!r} cannot be used: {why}.", slug="bad-condition",
            fix='write something like "value > 1e6", "isnan(value)" or "abs(value) < 1e-9 and iteration > 3".',
        )  # fmt: skip
