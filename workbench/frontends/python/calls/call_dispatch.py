"""Calls: plain Python functions are inlined, Python and NumPy functions go to ``library_calls``."""

from __future__ import annotations

import ast
import functools
import types
from typing import Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.frontends.python.calls import builtin_objects, library_calls
from workbench.frontends.python.calls.builtin_objects import Special
from workbench.frontends.python.calls.inlining import inline
from workbench.frontends.python.calls.methods import SHARING, method
from workbench.frontends.python.engine import Engine, expression
from workbench.frontends.python.objects import (
    ArrayCell,
    ArrayView,
    DictCell,
    LocalFunction,
    Method,
    Missing,
    Range,
    Several,
)
from workbench.frontends.python.source_text import text_of
from workbench.frontends.python.values import foreign
from workbench.frontends.python.values.iteration_space import items_of
from workbench.ir.builder.value import Value

_PURE_OWNERS = (str, bytes, tuple, dict, range, list, int, float, complex, bool, np.dtype)


@expression(ast.Call)
def _call(engine: Engine, node: ast.Call) -> Any:
    function = engine.evaluate(node.func)
    args: list[Any] = []
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            args.extend(items_of(engine, engine.evaluate(argument.value), argument))
        else:
            args.append(engine.evaluate(argument))
    kwargs: dict[str, Any] = {}
    for keyword in node.keywords:
        thing = engine.evaluate(keyword.value)
        given = {keyword.arg: thing}
        if keyword.arg is None:
            given = dict(engine.heap[thing]) if isinstance(thing, DictCell) else thing
        for name, value in given.items():
            if name in kwargs:
                engine.fail(node, "bad-call", f"The argument {name!r} is given twice.", construct="call")
            kwargs[str(name)] = value
    return call(engine, node, function, args, kwargs)


def call(engine: Engine, node: ast.Call, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The result of ``function(*args, **kwargs)``."""
    if isinstance(function, Method):
        return method(engine, node, function, args, kwargs)
    if isinstance(function, LocalFunction):
        scope = function.scope
        return inline(
            engine,
            node,
            scope.text,
            function.tree,
            function.name,
            scope,
            scope.function,
            args,
            kwargs,
            function.defaults,
            function.keyword_defaults,
        )
    if isinstance(function, functools.partial):
        return call(engine, node, function.func, [*function.args, *args], {**function.keywords, **kwargs})
    if isinstance(function, types.MethodType):
        return call(engine, node, function.__func__, [function.__self__, *args], kwargs)
    captured = getattr(function, "captured_function", None)
    if captured is not None and not isinstance(function, type):
        return call(engine, node, captured, args, kwargs)
    special = SPECIAL.get(function) if _hashable(function) else None
    if special is not None:
        result = special(engine, node, args, kwargs)
        if result is not NotImplemented:
            return result
    return _known(engine, node, function, args, kwargs)


def _hashable(function: Any) -> bool:
    try:
        hash(function)
    except TypeError:
        return False
    return True


def _known(engine: Engine, node: ast.Call, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The result of a Python, NumPy or math function, or of a plain function, which is inlined."""
    name = getattr(function, "__name__", type(function).__name__)
    if kwargs.get("out") is not None:
        engine.fail(
            node,
            "out-argument",
            "The argument 'out' changes an array, which a function call of a graph cannot.",
            "assign the result: x[...] = f(...).",
            construct="call",
        )
    if getattr(function, "__module__", None) == "numpy" and name in (
        "copyto",
        "put",
        "place",
        "fill_diagonal",
        "putmask",
    ):
        engine.fail(
            node,
            "in-place-call",
            f"np.{name} changes an array, which a function call of a graph cannot.",
            "assign to the items: x[...] = values.",
            construct="call",
        )
    things = [*args, *kwargs.values()]
    if not any(isinstance(t, (LocalFunction, Range, Several)) for t in things) and not _is_plain(function):
        raw, named = [engine.raw(a) for a in args], {k: engine.raw(v) for k, v in kwargs.items()}
        try:
            result = library_calls.call(engine.builder, function, tuple(raw), named)
            if result is NotImplemented and _pure(function) and not any(map(_computed, (*raw, *named.values()))):
                foreign.refuse((raw, named))
                result = function(*raw, **named)
        except WorkbenchError:
            raise
        except Exception as error:
            engine.fail(node, "python-error", f"Python raises {type(error).__name__} here: {error}.", construct="call")
        if result is not NotImplemented:
            shares = [a for a in things if isinstance(a, (ArrayCell, ArrayView))] if name in SHARING else []
            outside = name in SHARING and any(isinstance(a, np.ndarray) for a in things)
            return engine.wrap(result, shares[0] if shares else None, "an array from outside" if outside else None)
    if isinstance(function, types.FunctionType):
        text = text_of(function)
        return inline(
            engine,
            node,
            text,
            text.tree,
            function.__qualname__.rpartition(".")[2],
            None,
            function,
            args,
            kwargs,
            function.__defaults__ or (),
            function.__kwdefaults__ or {},
        )
    foreign.refuse((getattr(function, "__self__", None), *map(engine.raw, things)))
    where = getattr(function, "__module__", None)
    engine.fail(
        node,
        "unknown-call",
        f"The call of {f'{where}.' if where else ''}{name} cannot be put into a graph.",
        "call it outside of the function and give the result as an argument, or write it in Python.",
        construct="call",
    )


def _is_plain(function: Any) -> bool:
    """True for a user's function, which belongs to no known library."""
    module = str(getattr(function, "__module__", ""))
    return isinstance(function, types.FunctionType) and module.partition(".")[0] not in ("numpy", "math", "workbench")


def _pure(function: Any) -> bool:
    owner = getattr(function, "__self__", None)
    if isinstance(function, (types.BuiltinMethodType, types.MethodWrapperType)) and (
        type(owner) in _PURE_OWNERS or isinstance(owner, np.generic)
    ):
        return getattr(function, "__name__", "") not in (
            "append",
            "extend",
            "pop",
            "clear",
            "update",
            "setdefault",
            "insert",
            "remove",
            "reverse",
            "sort",
            "popitem",
        )
    return function in _PURE_OWNERS or isinstance(function, type) and issubclass(function, np.generic)


def _computed(raw: Any) -> bool:
    if isinstance(raw, (tuple, list)):
        return any(map(_computed, raw))
    if isinstance(raw, dict):
        return any(map(_computed, raw.values()))
    return isinstance(raw, (Value, Missing))


def _map(engine: Engine, node: ast.Call, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if len(args) < 2:
        return NotImplemented
    rows = zip(*(items_of(engine, a, node) for a in args[1:]), strict=False)
    return engine.new_list(tuple(call(engine, node, args[0], list(row), {}) for row in rows))


def _unrolled(engine: Engine, node: ast.Call, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The result of sum, min, max, any, all or sorted over the items of a list, tuple or dict."""
    function = engine.evaluate(node.func)
    if args and isinstance(args[0], (Range, Several)) or args and isinstance(args[0], range) and len(args[0]) > 0:
        if isinstance(args[0], range):
            return NotImplemented
        return call(engine, node, function, [items_of(engine, args[0], node), *args[1:]], kwargs)
    return NotImplemented


SPECIAL: dict[Any, Special] = {
    **builtin_objects.SPECIAL,
    map: _map,
    **dict.fromkeys((sum, min, max, any, all), _unrolled),
}

__all__ = ["call"]
