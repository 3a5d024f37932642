"""Extracts the values of an object at the leaves of a template, and rebuilds objects from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.frontends.python.objects import ArrayCell, ArrayView, Cell, DictCell, ListCell, Missing
from workbench.frontends.python.values.numbers import python_number
from workbench.frontends.python.values.pytree import Conflict, Fixed, Gone, Leaf, Many, Template
from workbench.ir.builder.value import Value
from workbench.ir.types import ANY, OPAQUE, STRING, numpy_dtype

if TYPE_CHECKING:
    from workbench.frontends.python.engine import Engine


def leaves(engine: Engine, template: Template, thing: Any) -> list[Value]:
    """The values of ``thing`` at the leaves of the template, cast to the leaves' dtypes in the builder's current
    context.
    """
    if isinstance(template, Leaf):
        return [coerce(engine, thing, template)]
    if isinstance(template, Many):
        return [v for t, i in zip(template.items, items_of(engine, thing), strict=True) for v in leaves(engine, t, i)]
    return []


def items_of(engine: Engine, thing: Any) -> tuple[Any, ...]:
    if isinstance(thing, DictCell):
        return tuple(i for _, i in engine.heap[thing])
    return engine.heap[thing] if isinstance(thing, ListCell) else thing


def coerce(engine: Engine, thing: Any, leaf: Leaf) -> Value:
    b = engine.builder
    content = engine.content(thing) if isinstance(thing, Cell) else thing
    if isinstance(content, Missing):
        return dummy(engine, leaf)
    if not isinstance(content, Value):
        dtype = None if leaf.type.dtype in (ANY, STRING, OPAQUE) else leaf.type.dtype
        if isinstance(content, int) and leaf.python and dtype == "int64":
            content = python_number(b, content)
        else:
            content = b.constant(content, dtype)
    if content.dtype != leaf.type.dtype and leaf.type.dtype != ANY:
        content = b.op("cast", content, dtype=leaf.type.dtype)
    return b._lift([content])[0]


def dummy(engine: Engine, leaf: Leaf) -> Value:
    """An unused value, in place of a value that exists only in the other branch."""
    dtype = leaf.type.dtype
    if dtype in (ANY, OPAQUE, STRING):
        raise Conflict(f"nothing and {leaf}")
    shape = tuple(d or 0 for d in leaf.type.shape or ())
    return engine.builder.constant(np.zeros(shape, numpy_dtype(dtype)))


def dummy_thing(template: Template) -> Any:
    """An object without values for the template; its leaves become dummies."""
    if isinstance(template, Many):
        return _Dummies(tuple(dummy_thing(i) for i in template.items))
    return Missing("nothing")


class _Dummies(tuple):
    pass


def rebuild(
    engine: Engine, template: Template, values: list[Value], tied: Callable[[Cell], None] = lambda cell: None
) -> Any:
    """The object with these values at its leaves (taken from the front of the list)."""
    if isinstance(template, Gone):
        return template.missing
    if isinstance(template, Fixed):
        return template.value
    if isinstance(template, Leaf):
        value = values.pop(0)
        if template.python:
            return python_number(engine.builder, value)
        if template.array:
            cell = engine.new_array(value)
            tied(cell)
            return cell
        return value
    items = tuple(rebuild(engine, i, values, tied) for i in template.items)
    if template.kind == "tuple":
        return items
    pairs = zip(template.keys, items, strict=False)
    made = engine.new_list(items) if template.kind == "list" else engine.new_dict(tuple(pairs))
    tied(made)
    return made


def places_in(thing: Any, heap: dict[Cell, Any], place: tuple[Any, ...] = ()) -> dict[tuple[Any, ...], Cell]:
    """Arrays, lists and dicts in an object, by the positions and keys that lead to them."""
    found: dict[tuple[Any, ...], Cell] = {place: thing} if isinstance(thing, Cell) else {}
    content = heap.get(thing, ()) if isinstance(thing, (ListCell, DictCell)) else thing
    if isinstance(content, Missing) or isinstance(thing, (ArrayCell, ArrayView)) or type(content) is not tuple:
        return found
    for k, item in enumerate(content):
        key, inner = item if isinstance(thing, DictCell) else (k, item)
        found.update(places_in(inner, heap, (*place, key)))
    return found


def cells_in(thing: Any, heap: dict[Cell, Any]) -> list[Cell]:
    """Arrays, lists and dicts in an object."""
    return list(places_in(thing, heap).values())


__all__ = ["cells_in", "coerce", "dummy_thing", "items_of", "leaves", "places_in", "rebuild"]
