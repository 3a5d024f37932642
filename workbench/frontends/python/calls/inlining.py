"""Inlines plain Python functions: arguments are bound by Python's rules, the body has a separate scope.

Recursion works if values known at capture end it. A recursive call with the same known values as an outer call would
never end.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Sequence
from typing import Any

from workbench.frontends.python.control.blocks import execute
from workbench.frontends.python.engine import Engine
from workbench.frontends.python.objects import (
    FLAGS,
    RESULT,
    RETURNED,
    ArrayCell,
    ArrayView,
    Cell,
    DictCell,
    ListCell,
    LocalFunction,
    Missing,
)
from workbench.frontends.python.scopes import PythonScope, token
from workbench.frontends.python.source_text import FunctionText, names_in
from workbench.ir.builder.value import Value

#: maximum depth of calls
MAX_DEPTH = 64


def inline(
    engine: Engine,
    node: ast.AST,
    text: FunctionText,
    tree: ast.FunctionDef | ast.Lambda,
    name: str,
    parent: PythonScope | None,
    function: types.FunctionType | None,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    defaults: Sequence[Any],
    keyword_defaults: dict[str, Any],
) -> Any:
    """Execute the body of a function in a new scope; returns its return value."""
    bound = bind_arguments(engine, node, tree, name, args, kwargs, defaults, keyword_defaults)
    _refuse(engine, node, tree, text)
    mark = (tree, tuple((k, _signature(engine, v)) for k, v in bound.items()))
    for _, known in engine.stack:
        if known == mark:
            engine.fail(
                node,
                "recursion",
                f"{name!r} calls itself, and when that ends is only known when the graph runs.",
                "write it as a loop.",
                construct="recursion",
            )
    if len(engine.stack) >= MAX_DEPTH:
        engine.fail(
            node,
            "recursion",
            f"More than {MAX_DEPTH} calls inside of one another: {name!r} is the last.",
            "write it as a loop.",
            construct="recursion",
        )
    outer, builder = engine.scope if engine.stack else None, engine.builder
    names = names_in(tree.body) if isinstance(tree, ast.FunctionDef) else None
    local = frozenset(bound) | (frozenset(names.bound | names.augmented) if names else frozenset())
    scope = PythonScope(text, name, local, parent, function)
    scope.vars.update(bound)
    scope.lines.update(dict.fromkeys(bound, text.line(tree)))
    scope.vars.update(dict.fromkeys(FLAGS, False))
    source = builder.source
    engine.scope = scope
    engine.stack.append((scope, mark))
    try:
        if isinstance(tree, ast.Lambda):
            return engine.evaluate(tree.body)
        execute(engine, tree.body)
        return _result(engine, tree, scope)
    finally:
        engine.stack.pop()
        builder.source = source
        if outer is not None:
            engine.scope = outer


def _result(engine: Engine, tree: ast.FunctionDef, scope: PythonScope) -> Any:
    returned, result = scope.vars[RETURNED], scope.vars.get(RESULT)
    if returned is False:
        return None
    if returned is not True:
        if result is None:
            return None
        line = scope.lines.get(RESULT)
        engine.fail(
            tree.body[-1],
            "missing-return",
            f"{scope.name!r} returns a value on some paths (line {line}), and None where its end is reached.",
            "end it with a return of the same kind of value.",
            construct="return",
        )
    if isinstance(result, Missing):
        engine.fail(
            tree.body[-1],
            "return-types" if result.slug != "unbound" else "unbound",
            result.sentence,
            "return the same kind of value on every path: numbers, or arrays of one dtype.",
            construct="return",
        )
    return result


def _refuse(engine: Engine, node: ast.AST, tree: ast.FunctionDef | ast.Lambda, text: FunctionText) -> None:
    """Refuse a function with a yield: it is a generator, of which no statement runs when it is called."""
    stack: list[ast.AST] = list(tree.body) if isinstance(tree, ast.FunctionDef) else [tree.body]
    while stack:
        part = stack.pop()
        if isinstance(part, (ast.Yield, ast.YieldFrom)):
            engine.fail(
                part,
                "unsupported-yield",
                f"{getattr(tree, 'name', 'The lambda')!r} is a generator, which has no graph.",
                "collect the results in an array, and return it.",
                construct="yield",
                source=text.source(part),
            )
        if not isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.GeneratorExp)):
            stack.extend(ast.iter_child_nodes(part))


def _signature(engine: Engine, thing: Any) -> Any:
    """The part of an argument that is known at capture."""
    if isinstance(thing, Value):
        return (type(thing), thing.type)
    if isinstance(thing, (ArrayCell, ArrayView)):
        content = engine.content(thing)
        return ("array", content.type if isinstance(content, Value) else content.shape)
    if isinstance(thing, ListCell):
        return ("list", *(_signature(engine, i) for i in engine.heap[thing]))
    if isinstance(thing, DictCell):
        return ("dict", *((k, _signature(engine, i)) for k, i in engine.heap[thing]))
    if type(thing) is tuple:
        return ("tuple", *(_signature(engine, i) for i in thing))
    return thing if isinstance(thing, (LocalFunction, Cell)) else token(thing)


def bind_arguments(
    engine: Engine,
    node: ast.AST,
    tree: ast.FunctionDef | ast.Lambda,
    name: str,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    defaults: Sequence[Any],
    keyword_defaults: dict[str, Any],
) -> dict[str, Any]:
    """Parameters with their values, by Python's rules.

    Source: https://docs.python.org/3/reference/expressions.html#calls
    """
    declared = tree.args
    positional = [a.arg for a in (*declared.posonlyargs, *declared.args)]
    names_only = {a.arg for a in declared.posonlyargs}
    bound: dict[str, Any] = dict(zip(positional, args, strict=False))
    rest = dict(kwargs)
    problem = None
    if len(args) > len(positional):
        if declared.vararg is None:
            problem = f"takes {len(positional)} positional arguments, but {len(args)} are given"
    for key in list(rest):
        if key in positional and key not in names_only or key in {a.arg for a in declared.kwonlyargs}:
            if key in bound:
                problem = f"gets the argument {key!r} twice"
            bound[key] = rest.pop(key)
    for key, default in zip(positional[len(positional) - len(defaults) :], defaults, strict=True):
        bound.setdefault(key, default)
    for key, default in keyword_defaults.items():
        bound.setdefault(key, default)
    missing = [k for k in (*positional, *(a.arg for a in declared.kwonlyargs)) if k not in bound]
    if missing:
        problem = f"misses the argument{'s' if len(missing) > 1 else ''} {', '.join(missing)}"
    if rest and declared.kwarg is None:
        problem = f"does not know the argument {next(iter(rest))!r}"
    if problem is not None:
        engine.fail(node, "bad-call", f"{name} {problem}.", construct="call")
    if declared.vararg is not None:
        bound[declared.vararg.arg] = tuple(args[len(positional) :])
    if declared.kwarg is not None:
        bound[declared.kwarg.arg] = engine.new_dict(tuple(rest.items()))
    return bound


__all__ = ["bind_arguments", "inline"]
