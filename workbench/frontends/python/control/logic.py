"""Conditions: ``and``, ``or``, ``not``, chained comparisons and ``x if c else y``, each with Python's short circuit.

Operands that Python would not evaluate are not evaluated: the right side becomes a branch, unless it is so plain
(names, numbers, comparisons of these) that it cannot fail and costs less than a branch. Source:
https://docs.python.org/3/reference/expressions.html#boolean-operations
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from workbench.frontends.python.control.branching import branch
from workbench.frontends.python.engine import Engine, expression
from workbench.frontends.python.values import operators
from workbench.frontends.python.values.numbers import PyNumber
from workbench.ir.builder.value import Value

_PLAIN = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq, ast.Is, ast.IsNot)


def plain(node: ast.expr) -> bool:
    """True if evaluating this cannot fail, so that it is harmless even if Python would not evaluate it."""
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not) and plain(node.operand) or isinstance(node.operand, ast.Constant)
    if isinstance(node, ast.BoolOp):
        return all(map(plain, node.values))
    if isinstance(node, ast.Compare):
        return all(isinstance(op, _PLAIN) for op in node.ops) and all(map(plain, (node.left, *node.comparators)))
    return isinstance(node, (ast.Name, ast.Constant))


def truth(engine: Engine, node: ast.expr) -> Any:
    """The truth of a condition: a known bool, or a Value of bool."""
    with engine.at(node):
        return _test(engine, node)


def _test(engine: Engine, node: ast.expr) -> Any:
    if isinstance(node, ast.BoolOp):
        return _shortcut(engine, node, list(node.values), _test, truths=True)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return operators.unary(engine.builder, "Not", truth(engine, node.operand))
    return operators.truth(engine.builder, engine.raw(engine.evaluate(node)))


def _evaluate(engine: Engine, node: ast.expr) -> Any:
    return engine.evaluate(node)


@expression(ast.BoolOp)
def _bool_op(engine: Engine, node: ast.BoolOp) -> Any:
    return _shortcut(engine, node, list(node.values), _evaluate, truths=False)


def _shortcut(
    engine: Engine, node: ast.BoolOp, values: list[ast.expr], visit: Callable[[Engine, ast.expr], Any], truths: bool
) -> Any:
    first, *rest = values
    with engine.at(first):
        left = visit(engine, first)
    if not rest:
        return left
    stops = isinstance(node.op, ast.Or)  # the truth at which Python stops
    decided = operators.truth(engine.builder, engine.raw(left))
    if not operators.is_value(decided):
        return left if bool(decided) is stops else _shortcut(engine, node, rest, visit, truths)
    join = operators.either if stops else operators.both
    if all(map(plain, rest)) and _is_truth(left):
        right = _shortcut(engine, node, rest, visit, truths)
        if truths or type(right) is bool or _is_truth(right) and type(right) is type(left):
            return _typed(engine, join(engine.builder, left, right), left)
        return branch(engine, decided, *_ways(stops, lambda: left, lambda: right), node, _label(stops))
    return branch(
        engine,
        decided,
        *_ways(stops, lambda: left, lambda: _shortcut(engine, node, rest, visit, truths)),
        node,
        _label(stops),
    )


def _ways(
    stops: bool, stay: Callable[[], Any], go_on: Callable[[], Any]
) -> tuple[Callable[[], Any], Callable[[], Any]]:
    return (stay, go_on) if stops else (go_on, stay)


def _label(stops: bool) -> str:
    return "or" if stops else "and"


def _is_truth(thing: Any) -> bool:
    return isinstance(thing, Value) and thing.dtype == "bool" and thing.shape == ()


def _typed(engine: Engine, result: Any, like: Value) -> Any:
    """The result as a NumPy bool if both operands are NumPy bools."""
    if isinstance(result, PyNumber) and not isinstance(like, PyNumber):
        return Value(engine.builder, result.ref, result.type, result.context, result.label)
    return result


@expression(ast.Compare)
def _compare(engine: Engine, node: ast.Compare) -> Any:
    return _chain(engine, node, engine.evaluate(node.left), 0)


def _chain(engine: Engine, node: ast.Compare, left: Any, position: int) -> Any:
    """``left op comparator ...``; every operand is evaluated once, and none after the first comparison that fails."""
    right = engine.evaluate(node.comparators[position])
    op = type(node.ops[position]).__name__
    one, two = (left, right) if op in ("Is", "IsNot") else (engine.raw(left), engine.raw(right))
    if op in ("Is", "IsNot") and not (operators.is_value(one) or operators.is_value(two)):
        result: Any = (one is two) is (op == "Is")
    else:
        result = engine.wrap(operators.compare(engine.builder, op, one, two))
    if position + 1 == len(node.ops):
        return result
    decided = operators.truth(engine.builder, engine.raw(result))
    if not operators.is_value(decided):
        return _chain(engine, node, right, position + 1) if decided else result
    if all(map(plain, node.comparators[position + 1 :])) and _is_truth(result):
        rest = _chain(engine, node, right, position + 1)
        if type(rest) is bool or _is_truth(rest):
            return _typed(engine, operators.both(engine.builder, result, rest), result)
        return branch(engine, decided, lambda: rest, lambda: result, node, "and")
    return branch(engine, decided, lambda: _chain(engine, node, right, position + 1), lambda: result, node, "and")


@expression(ast.IfExp)
def _if_expression(engine: Engine, node: ast.IfExp) -> Any:
    decided = truth(engine, node.test)
    if not operators.is_value(decided):
        return engine.evaluate(node.body if decided else node.orelse)
    return branch(engine, decided, lambda: engine.evaluate(node.body), lambda: engine.evaluate(node.orelse), node, "if")
