"""Expressions other than conditions and calls.

Source: https://docs.python.org/3/reference/expressions.html
"""

from __future__ import annotations

import ast
from typing import Any

from workbench.errors import WorkbenchError
from workbench.frontends.python.assigning import assign
from workbench.frontends.python.engine import Engine, expression
from workbench.frontends.python.objects import DictCell, Missing
from workbench.frontends.python.scopes import PythonScope, lookup_outside
from workbench.frontends.python.statements import local_function
from workbench.frontends.python.values import operators
from workbench.frontends.python.values.arithmetic import binary
from workbench.frontends.python.values.iteration_space import items_of

UNSUPPORTED: dict[str, tuple[str, str, str]] = {
    "Yield": ("unsupported-yield", "yield", "collect the results in an array, and return it."),
    "YieldFrom": ("unsupported-yield", "yield from", "collect the results in an array, and return it."),
    "Await": ("unsupported-async", "await", "write a plain function with def."),
    "SetComp": ("unsupported-set", "a set comprehension", "use an array or a tuple."),
    "Set": ("unsupported-set", "a set", "use a tuple."),
}


def _unsupported(engine: Engine, node: ast.expr) -> None:
    slug, name, fix = UNSUPPORTED[type(node).__name__]
    engine.fail(node, slug, f"{name!r} cannot be put into a graph.", fix, construct=name)


for _kind in UNSUPPORTED:
    expression(getattr(ast, _kind))(_unsupported)


@expression(ast.Constant)
def _constant(engine: Engine, node: ast.Constant) -> Any:
    return node.value


@expression(ast.Name)
def _name(engine: Engine, node: ast.Name) -> Any:
    name, scope = node.id, engine.scope
    at: PythonScope | None = scope
    while at is not None:
        if name in at.local:
            thing = at.vars.get(name)
            if name not in at.vars:
                thing = Missing(f"{name!r} has no value here.")
            return engine.need(thing, node)
        at = at.parent
    found, value, where = lookup_outside(scope.function, name, engine.outside)
    if not found:
        engine.fail(node, "unknown-name", f"The name {name!r} is not defined.", construct="variable")
    return value


@expression(ast.NamedExpr)
def _walrus(engine: Engine, node: ast.NamedExpr) -> Any:
    thing = engine.evaluate(node.value)
    assign(engine, node.target, thing)
    return thing


@expression(ast.BinOp)
def _binary(engine: Engine, node: ast.BinOp) -> Any:
    left = engine.evaluate(node.left)
    return binary(engine, node, type(node.op).__name__, left, engine.evaluate(node.right))


@expression(ast.UnaryOp)
def _unary(engine: Engine, node: ast.UnaryOp) -> Any:
    operand = engine.evaluate(node.operand)
    try:
        return engine.wrap(operators.unary(engine.builder, type(node.op).__name__, engine.raw(operand)))
    except WorkbenchError:
        raise
    except Exception as error:
        engine.python_error(node, error)


@expression(ast.Tuple)
def _tuple(engine: Engine, node: ast.Tuple) -> Any:
    return _items(engine, node.elts)


@expression(ast.List)
def _list(engine: Engine, node: ast.List) -> Any:
    return engine.new_list(_items(engine, node.elts))


def _items(engine: Engine, nodes: list[ast.expr]) -> tuple[Any, ...]:
    found: list[Any] = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            found.extend(items_of(engine, engine.evaluate(node.value), node))
        else:
            found.append(engine.evaluate(node))
    return tuple(found)


@expression(ast.Dict)
def _dict(engine: Engine, node: ast.Dict) -> Any:
    pairs: dict[Any, Any] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            other = engine.evaluate(value)
            pairs.update(dict(engine.heap[other]) if isinstance(other, DictCell) else other)
            continue
        found = engine.raw(engine.evaluate(key))
        if operators.is_value(found):
            engine.fail(
                key,
                "computed-key",
                "The key of a dict must be known when the function is captured.",
                "use an array with a computed index.",
                construct="dict",
            )
        pairs[found] = engine.evaluate(value)
    return engine.new_dict(tuple(pairs.items()))


@expression(ast.Slice)
def _slice(engine: Engine, node: ast.Slice) -> Any:
    return slice(*(None if part is None else engine.evaluate(part) for part in (node.lower, node.upper, node.step)))


@expression(ast.Lambda)
def _lambda(engine: Engine, node: ast.Lambda) -> Any:
    return local_function(engine, node, "<lambda>")
