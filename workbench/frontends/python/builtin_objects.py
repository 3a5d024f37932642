"""Builtins and methods that deal with Python's sequences: range, zip, list, dict ..., and what changes them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from workbench.frontends.python import operators
from workbench.frontends.python.engine import Engine
from workbench.frontends.python.numbers import PyNumber
from workbench.frontends.python.objects import (
    ArrayCell,
    DictCell,
    ListCell,
    LocalFunction,
    Method,
    Range,
    Several,
    View,
)
from workbench.frontends.python.sequences import items_of, position_of, shown
from workbench.graph.value import Value

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
        f"range takes whole numbers, but {shown(thing)} came.",
        "convert it with int(...).",
        construct="range",
    )


def _range(engine: Engine, node: ast.Call, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if kwargs or not 1 <= len(args) <= 3:
        engine.fail(node, "bad-call", "range takes one to three positional arguments.", construct="range")
    parts = [_integer(engine, node, a) for a in args]
    start, stop, step = (0, parts[0], 1) if len(parts) == 1 else (*parts, 1)[:3]
    if not isinstance(step, Value) and step == 0:
        engine.fail(node, "python-error", "Python raises ValueError here: range() arg 3 must not be zero.",
                    construct="range")  # fmt: skip
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
        engine.fail(node, "computed-key", "The key of a dict must be known when the function is captured.",
                    "use an array with a computed index.", construct="dict")  # fmt: skip
    return engine.new_dict(tuple(pairs.items()))


def _print(engine: Engine, node: ast.Call, args: list[Any], kwargs: dict[str, Any]) -> Any:
    engine.fail(node, "unsupported-print", "print cannot be put into a graph.",
                "return the value, or look at it in the trace of a session.", construct="print")  # fmt: skip


def _refused(name: str, fix: str) -> Special:
    def refuse(engine: Engine, node: ast.Call, args: list[Any], kwargs: dict[str, Any]) -> Any:
        engine.fail(node, f"unsupported-{name}", f"{name!r} cannot be put into a graph.", fix, construct=name)

    return refuse


def _len(engine: Engine, node: ast.Call, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if len(args) == 1 and isinstance(args[0], (ListCell, DictCell)):
        return len(engine.heap[args[0]])
    return len(args[0]) if len(args) == 1 and type(args[0]) is tuple else NotImplemented


def _map(engine: Engine, node: ast.Call, args: list[Any], kwargs: dict[str, Any]) -> Any:
    from workbench.frontends.python.calling import call

    if len(args) < 2:
        return NotImplemented
    rows = zip(*(items_of(engine, a, node) for a in args[1:]), strict=False)
    return engine.new_list(tuple(call(engine, node, args[0], list(row), {}) for row in rows))


def _isinstance(engine: Engine, node: ast.Call, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if len(args) == 2 and isinstance(args[0], (ListCell, DictCell)):
        kind = list if isinstance(args[0], ListCell) else dict
        return issubclass(kind, args[1])
    return NotImplemented


def _unrolled(engine: Engine, node: ast.Call, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """sum, min, max, any, all, sorted of what is no array: of its items."""
    from workbench.frontends.python.calling import call

    function = engine.evaluate(node.func)
    if args and isinstance(args[0], (Range, Several)) or args and isinstance(args[0], range) and len(args[0]) > 0:
        if isinstance(args[0], range):
            return NotImplemented
        return call(engine, node, function, [items_of(engine, args[0], node), *args[1:]], kwargs)
    return NotImplemented


SPECIAL: dict[Any, Special] = {
    range: _range, enumerate: _enumerate, zip: _zip, reversed: _reversed, list: _list, tuple: _tuple, dict: _dict,
    print: _print, len: _len, map: _map, isinstance: _isinstance, sum: _unrolled, min: _unrolled, max: _unrolled,
    any: _unrolled, all: _unrolled,
    input: _refused("input", "give it as an argument."), open: _refused("open", "read the file outside."),
    eval: _refused("eval", "write the expression out."), exec: _refused("exec", "write the statements out."),
    globals: _refused("globals", "name what you need."), locals: _refused("locals", "name what you need."),
    setattr: _refused("setattr", "keep the value in a variable."), iter: _refused("iter", "use a for loop."),
    next: _refused("next", "use a for loop, or an index."), set: _refused("set", "use a tuple or an array."),
    super: _refused("super", "call the method of the class by its name."),
}  # fmt: skip


def method(engine: Engine, node: ast.Call, bound: Method, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """A method of an array, list or dict."""
    from workbench.frontends.python.calling import SHARING

    cell, name = bound.cell, bound.name
    if isinstance(cell, ListCell):
        return _of_list(engine, node, cell, name, args)
    if isinstance(cell, DictCell):
        return _of_dict(engine, node, cell, name, args)
    assert isinstance(cell, (ArrayCell, View))
    content = operators.lift(engine.builder, engine.content(cell))
    if name == "fill" and len(args) == 1:
        engine.write(cell, operators.store_subscript(engine.builder, content, Ellipsis, engine.raw(args[0])), node)
        return None
    if name == "sort" and not args and not kwargs:
        axis = len(content.shape or (0,)) - 1
        engine.write(cell, engine.builder.op("sort", content, axis=axis), node)
        return None
    if name in ("sort", "fill", "partition", "put", "itemset", "resize", "setfield", "setflags", "byteswap"):
        engine.fail(
            node,
            "in-place-method",
            f"The array method {name!r} with these arguments cannot be put into a graph.",
            "assign the result of a function: x[...] = np.sort(x), for instance.",
            construct="method",
        )
    found = operators.attribute(engine.builder, content, name)
    if any(isinstance(a, LocalFunction) for a in args):
        engine.fail(node, "unknown-call", f"The array method {name!r} does not take a function.", construct="method")
    result = operators.call(
        engine.builder, found, [engine.raw(a) for a in args], {k: engine.raw(v) for k, v in kwargs.items()}
    )
    return engine.wrap(result, cell if name in SHARING else None)


def _of_list(engine: Engine, node: ast.Call, cell: ListCell, name: str, args: list[Any]) -> Any:
    items = engine.heap[cell]
    if name == "append" and len(args) == 1:
        engine.write(cell, (*items, args[0]), node)
    elif name == "extend" and len(args) == 1:
        engine.write(cell, (*items, *items_of(engine, args[0], node)), node)
    elif name == "insert" and len(args) == 2 and isinstance(args[0], int):
        changed = list(items)
        changed.insert(args[0], args[1])
        engine.write(cell, tuple(changed), node)
    elif name == "pop" and len(args) <= 1 and items:
        at = position_of(engine, args[0] if args else -1, len(items), node)
        engine.write(cell, (*items[:at], *items[at + 1 :]), node)
        return items[at]
    elif name == "copy" and not args:
        return engine.new_list(items)
    elif name == "reverse" and not args:
        engine.write(cell, items[::-1], node)
    elif name == "clear" and not args:
        engine.write(cell, (), node)
    else:
        engine.fail(node, "list-method", f"The list method {name!r} cannot be put into a graph here.",
                    "lists have append, extend, insert, pop, copy, reverse and clear; arrays have more.",
                    construct="method")  # fmt: skip
    return None


def _of_dict(engine: Engine, node: ast.Call, cell: DictCell, name: str, args: list[Any]) -> Any:
    pairs = engine.heap[cell]
    if name == "items":
        return pairs
    if name == "keys":
        return tuple(k for k, _ in pairs)
    if name == "values":
        return tuple(v for _, v in pairs)
    if name == "copy":
        return engine.new_dict(pairs)
    if name == "get" and args and not operators.is_value(engine.raw(args[0])):
        return dict(pairs).get(engine.raw(args[0]), args[1] if len(args) > 1 else None)
    engine.fail(node, "dict-method", f"The dict method {name!r} cannot be put into a graph here.",
                "dicts have items, keys, values, get and copy.", construct="method")  # fmt: skip
