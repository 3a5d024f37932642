"""Methods of arrays, lists and dicts, including those that change them."""

from __future__ import annotations

import ast
from typing import Any

from workbench.frontends.python.calls import library_calls
from workbench.frontends.python.engine import Engine
from workbench.frontends.python.objects import ArrayCell, ArrayView, DictCell, ListCell, LocalFunction, Method
from workbench.frontends.python.values import operators
from workbench.frontends.python.values.iteration_space import items_of
from workbench.frontends.python.values.sequences import position_of

#: NumPy functions and methods whose result may share memory with an argument
SHARING = frozenset(
    "array_split asanyarray asarray ascontiguousarray asfortranarray atleast_1d atleast_2d atleast_3d "
    "broadcast_arrays broadcast_to diag diagonal dsplit expand_dims flip fliplr flipud hsplit imag matrix_transpose "
    "moveaxis permute_dims ravel real require reshape rollaxis rot90 split squeeze swapaxes transpose view "
    "vsplit".split()
)


def method(engine: Engine, node: ast.Call, bound: Method, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The result of a method of an array, list or dict."""
    cell, name = bound.cell, bound.name
    if isinstance(cell, ListCell):
        return _of_list(engine, node, cell, name, args)
    if isinstance(cell, DictCell):
        return _of_dict(engine, node, cell, name, args)
    assert isinstance(cell, (ArrayCell, ArrayView))
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
    result = library_calls.call(
        engine.builder, found, tuple(engine.raw(a) for a in args), {k: engine.raw(v) for k, v in kwargs.items()}
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
        engine.fail(
            node,
            "list-method",
            f"The list method {name!r} cannot be put into a graph here.",
            "lists have append, extend, insert, pop, copy, reverse and clear; arrays have more.",
            construct="method",
        )
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
    engine.fail(
        node,
        "dict-method",
        f"The dict method {name!r} cannot be put into a graph here.",
        "dicts have items, keys, values, get and copy.",
        construct="method",
    )
