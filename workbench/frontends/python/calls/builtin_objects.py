"""Builtins for Python's sequences: range, zip, list, dict ...; and builtins that a graph refuses."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from workbench.frontends.python.engine import Engine
from workbench.frontends.python.objects import DictCell, ListCell, Range, Several
from workbench.frontends.python.values import operators
from workbench.frontends.python.values.iteration_space import items_of
from workbench.frontends.python.values.numbers import PyNumber
from workbench.frontends.python.values.sequences import shown
from workbench.ir.builder.value import Value

Special = Callable[[Engine, ast.Call, list[Any], dict[str, Any]], Any]


def _integer(engine: Engine, node: ast.Call, thing: Any) -> Any:
    if isinstance(thing, Value) and thing.shape == () and thing.dtype.startswith(("int", "uint")):
        return thing if thing.dtype == "int64" else engine.builder.op("cast", thing, dtype="int64")
    if isinstance(thing, PyNumber) and thing.dtype == "bool":
        return engine.builder.op("cast", thing, dtype="int64")
    if not isinstance(thing, Value) and hasattr(thing, "__index__"):
        return thing.__index__()
    engine.fail(
        node,
        "range-number",
        f"range takes whole numbers, got {shown(thing)}.",
        "convert it with int(...).",
        construct="range",
    )


def _range(engine: Engine, node: ast.Call, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if kwargs or not 1 <= len(args) <= 3:
        engine.fail(node, "bad-call", "range takes one to three positional arguments.", construct="range")
    parts = [_integer(engine, node, a) for a in args]
    start, stop, step = (0, parts[0], 1) if len(parts) == 1 else (*parts, 1)[:3]
    if not isinstance(step, Value) and step == 0:
        engine.fail(
            node, "python-error", "Python raises ValueError here: range() arg 3 must not be zero.", construct="range"
        )
    if any(isinstance(p, Value) for p in (start, stop, step)):
        return Range(start, stop, step)
    return range(start, stop, step)


def _enumerate(engine: Engine, node: ast.Call, args: list[Any], kwargs: dict[str, Any]) -> Any:
    start = args[1] if len(args) > 1 else kwargs.get("start", 0)
    return Several("enumerate", (args[0],), start)


def _zip(engine: Engine, node: ast.Call, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if kwargs.get("strict", False) is not False:
        engine.fail(
            node,
            "zip-strict",
            "zip(strict=True) cannot be put into a graph.",
            "leave strict out, or compare the lengths before.",
            construct="zip",
        )
    return Several("zip", tuple(args))


def _reversed(engine: Engine, node: ast.Call, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if isinstance(args[0], range):
        return args[0][::-1]
    return Several("reversed", (args[0],))


def _list(engine: Engine, node: ast.Call, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return engine.new_list(items_of(engine, args[0], node) if args else ())


def _tuple(engine: Engine, node: ast.Call, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return items_of(engine, args[0], node) if args else ()


def _dict(engine: Engine, node: ast.Call, args: list[Any], kwargs: dict[str, Any]) -> Any:
    pairs: dict[Any, Any] = {}
    if args and isinstance(args[0], DictCell):
        pairs.update(engine.heap[args[0]])
    elif args and isinstance(args[0], dict):
        pairs.update(args[0])
    elif args:
        for pair in items_of(engine, args[0], node):
            key, value = items_of(engine, pair, node)
            pairs[engine.raw(key)] = value
    pairs.update(kwargs)
    if any(map(operators.is_value, pairs)):
        engine.fail(
            node,
            "computed-key",
            "The key of a dict must be known when the function is captured.",
            "use an array with a computed index.",
            construct="dict",
        )
    return engine.new_dict(tuple(pairs.items()))


def _print(engine: Engine, node: ast.Call, args: list[Any], kwargs: dict[str, Any]) -> Any:
    engine.fail(
        node,
        "unsupported-print",
        "print cannot be put into a graph.",
        "return the value, or look at it in the trace of a session.",
        construct="print",
    )


def _refused(name: str, fix: str) -> Special:
    def refuse(engine: Engine, node: ast.Call, args: list[Any], kwargs: dict[str, Any]) -> Any:
        engine.fail(node, f"unsupported-{name}", f"{name!r} cannot be put into a graph.", fix, construct=name)

    return refuse


def _len(engine: Engine, node: ast.Call, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if len(args) == 1 and isinstance(args[0], (ListCell, DictCell)):
        return len(engine.heap[args[0]])
    return len(args[0]) if len(args) == 1 and type(args[0]) is tuple else NotImplemented


def _isinstance(engine: Engine, node: ast.Call, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if len(args) == 2 and isinstance(args[0], (ListCell, DictCell)):
        kind = list if isinstance(args[0], ListCell) else dict
        return issubclass(kind, args[1])
    return NotImplemented


#: builtins that call no other function; ``call_dispatch`` adds the rest
SPECIAL: dict[Any, Special] = {
    range: _range,
    enumerate: _enumerate,
    zip: _zip,
    reversed: _reversed,
    list: _list,
    tuple: _tuple,
    dict: _dict,
    print: _print,
    len: _len,
    isinstance: _isinstance,
    input: _refused("input", "give it as an argument."),
    open: _refused("open", "read the file outside."),
    eval: _refused("eval", "write the expression out."),
    exec: _refused("exec", "write the statements out."),
    globals: _refused("globals", "name what you need."),
    locals: _refused("locals", "name what you need."),
    setattr: _refused("setattr", "keep the value in a variable."),
    iter: _refused("iter", "use a for loop."),
    next: _refused("next", "use a for loop, or an index."),
    set: _refused("set", "use a tuple or an array."),
    super: _refused("super", "call the method of the class by its name."),
}
