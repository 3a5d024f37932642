"""Items, slices and attributes of captured objects.

Source: https://docs.python.org/3/reference/expressions.html#primaries
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.frontends.python.engine import Engine, expression
from workbench.frontends.python.objects import (
    ArrayCell,
    ArrayView,
    DictCell,
    ListCell,
    LocalFunction,
    Method,
    Range,
    Several,
)
from workbench.frontends.python.values import operators
from workbench.frontends.python.values.sequences import position_of, shown
from workbench.ir.builder.value import Value

#: attributes that return an array with shared memory
SHARING = frozenset(("T", "mT", "real", "imag", "flat", "base"))


@expression(ast.Subscript)
def _subscript(engine: Engine, node: ast.Subscript) -> Any:
    holder = engine.evaluate(node.value)
    return item(engine, node, holder, engine.evaluate(node.slice))


def item(engine: Engine, node: ast.AST, holder: Any, index: Any) -> Any:
    """``holder[index]``; a view of an array if NumPy gives a view."""
    if type(holder) is tuple or isinstance(holder, ListCell):
        items = engine.heap[holder] if isinstance(holder, ListCell) else holder
        if isinstance(index, slice):
            part = items[engine.raw(index)]
            return part if type(holder) is tuple else engine.new_list(part)
        if operators.is_value(index):
            return engine.wrap(operators.subscript(engine.builder, engine.raw(holder), index))
        return items[position_of(engine, index, len(items), node)]
    if isinstance(holder, DictCell):
        key = engine.raw(index)
        pairs = dict(engine.heap[holder])
        if operators.is_value(key) or key not in pairs:
            engine.fail(
                node,
                "computed-key" if operators.is_value(key) else "missing-key",
                "The key of a dict must be known when the function is captured, and be in the dict.",
                "use an array with a computed index.",
                construct="dict",
            )
        return pairs[key]
    raw = engine.raw(index)
    if isinstance(holder, (ArrayCell, ArrayView)):
        content = engine.content(holder)
        part = operators.subscript(engine.builder, content, raw)
        if isinstance(part, Value) and part.shape == () and _all_numbers(index):
            return part
        if isinstance(part, np.generic):  # an item of a known array
            return part
        if _basic(index):
            return ArrayView(holder, raw, part, content)
        return engine.wrap(part)
    try:
        return engine.wrap(operators.subscript(engine.builder, holder, raw), owner="an array from outside")
    except WorkbenchError:
        raise
    except Exception as error:
        engine.python_error(node, error)


def _basic(index: Any) -> bool:
    """True if NumPy gives a view for this index: numbers, slices, None and ``...`` only."""
    items = index if type(index) is tuple else (index,)
    return all(
        i is None
        or i is Ellipsis
        or isinstance(i, slice)
        or (isinstance(i, (int, np.integer)) and not isinstance(i, bool))
        or (isinstance(i, Value) and i.shape == () and i.dtype != "bool")
        for i in items
    )


def _all_numbers(index: Any) -> bool:
    items = index if type(index) is tuple else (index,)
    return not any(isinstance(i, slice) or i is Ellipsis for i in items)


@expression(ast.Attribute)
def _attribute(engine: Engine, node: ast.Attribute) -> Any:
    owner = engine.holder(node.value)
    name = node.attr
    if isinstance(owner, np.ndarray):
        owner = engine.wrap(owner, owner="an array from outside")
    if isinstance(owner, (ListCell, DictCell)):
        return Method(owner, name)
    if isinstance(owner, (ArrayCell, ArrayView)):
        content = operators.lift(engine.builder, engine.content(owner))
        if name in ("fill", "sort", "partition", "put", "itemset", "resize", "setfield", "setflags", "byteswap"):
            return Method(owner, name)
        found = operators.attribute(engine.builder, content, name)
        if isinstance(found, operators.BoundMethod):
            return Method(owner, name)
        return engine.wrap(found, base=owner if name in SHARING else None)
    if isinstance(owner, Value):
        return engine.wrap(operators.attribute(engine.builder, owner, name))
    if isinstance(owner, (LocalFunction, Range, Several)) or type(owner) is tuple and not hasattr(tuple, name):
        engine.fail(node, "unknown-attribute", f"The attribute {name!r} of {shown(owner)} cannot be put into a graph.")
    if not hasattr(owner, name):
        engine.fail(node, "unknown-attribute", f"{shown(owner)} has no attribute {name!r}.", construct="attribute")
    found = getattr(owner, name)
    if type(owner) is not tuple:
        engine.outside.note(owner, name, found)
    return found


__all__ = ["item"]
