"""Iteration space of a ``for`` loop, and the items of objects of known length.

Ranges, arrays, and enumerate, zip and reversed of these are iterated by a counter; tuples, lists and dicts item by
item.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.frontends.python.engine import Engine
from workbench.frontends.python.objects import ArrayCell, ArrayView, DictCell, ListCell, Range, Several
from workbench.frontends.python.values import foreign, operators
from workbench.frontends.python.values.items import item
from workbench.frontends.python.values.numbers import python_number
from workbench.frontends.python.values.sequences import shown
from workbench.ir.builder.value import Value

#: maximum number of items of a tuple, list or comprehension that is unrolled
MAX_UNROLLED = 1000


@dataclass(frozen=True)
class Counted:
    """An iteration by a counter from ``start`` in steps of ``step`` to ``stop`` (exclusive); ``item`` returns the item
    of a counter.
    """

    start: Any
    stop: Any
    step: Any
    item: Callable[[Any], Any]

    def length(self) -> int | None:
        if all(isinstance(p, int) for p in (self.start, self.stop, self.step)):
            return len(range(self.start, self.stop, self.step))
        return None


def counted(engine: Engine, things: Any, node: ast.AST) -> Counted | tuple[Any, ...]:
    """The iteration over an object: by a counter, or the tuple of its items."""
    b = engine.builder
    if isinstance(things, (range, Range)):
        return Counted(
            things.start, things.stop, things.step, lambda k: python_number(b, k) if isinstance(k, Value) else k
        )
    if isinstance(things, np.ndarray):
        things = engine.wrap(things, owner="an array from outside") if things.ndim else things
    if isinstance(things, (ArrayCell, ArrayView)):
        content = operators.lift(b, engine.content(things))
        if content.shape == ():
            engine.fail(node, "not-a-sequence", "An array without dimensions has no rows to go over.", construct="for")
        length = content.shape[0] if content.shape else None
        if length is None:
            length = operators.attribute(b, content, "shape")[0]
        cell = things
        return Counted(0, length, 1, lambda k: item(engine, node, cell, k))
    if isinstance(things, Several):
        return _several(engine, things, node)
    if isinstance(things, Value):
        engine.fail(
            node,
            "not-a-sequence",
            f"A single number ({things.type}) cannot be gone over.",
            "use range(n) to count.",
            construct="for",
        )
    return items_of(engine, things, node)


def items_of(engine: Engine, thing: Any, node: ast.AST, limit: int = MAX_UNROLLED) -> tuple[Any, ...]:
    """All items of an object of known length: tuples, lists, dicts (their keys), arrays (their rows)."""
    if type(thing) is tuple:
        items: tuple[Any, ...] = thing
    elif isinstance(thing, ListCell):
        items = engine.heap[thing]
    elif isinstance(thing, DictCell):
        items = tuple(k for k, _ in engine.heap[thing])
    elif isinstance(thing, (ArrayCell, ArrayView, Range, Several, np.ndarray, range)):
        found = counted(engine, thing, node)
        if isinstance(found, tuple):
            items = found
        else:
            length = found.length()
            if length is None:
                engine.fail(
                    node,
                    "unknown-length",
                    "How many items this has is only known when the graph runs.",
                    "go over it with a for loop, and keep what is needed in variables or an array.",
                    construct="sequence",
                )
            if length > limit:
                _too_many(engine, node, length)
            b = engine.builder
            items = tuple(
                found.item(found.start + k * found.step)
                if isinstance(found.start, int) and isinstance(found.step, int)
                else found.item(b.constant(k, "int64"))
                for k in range(length)
            )
    elif isinstance(thing, Value):
        engine.fail(node, "not-a-sequence", f"A single number ({thing.type}) has no items.", construct="sequence")
    else:
        with engine.at(node):
            foreign.refuse((thing,), foreign.ITEMS)
        try:
            size = len(thing)
            if size <= limit:
                items = tuple(thing)
        except TypeError:
            engine.fail(
                node,
                "not-a-sequence",
                f"{shown(thing)} has no items to go over.",
                "use a tuple, list, dict, range or array.",
                construct="sequence",
            )
        if size > limit:
            _too_many(engine, node, size)
    if len(items) > limit:
        _too_many(engine, node, len(items))
    return items


def _too_many(engine: Engine, node: ast.AST, count: int) -> None:
    engine.fail(
        node,
        "too-many-items",
        f"{count} items would each be captured on their own; {MAX_UNROLLED} may be.",
        "put them into an array, or go over a range.",
        construct="sequence",
    )


def _several(engine: Engine, several: Several, node: ast.AST) -> Counted | tuple[Any, ...]:
    b = engine.builder
    parts = [counted(engine, part, node) for part in several.parts]
    part = parts[0] if parts else ()
    if several.kind == "reversed":
        if isinstance(part, tuple):
            return part[::-1]
        length = _length(engine, part)
        last = length - 1 if isinstance(length, int) else b.op("subtract", length, 1)
        back = part
        return Counted(last, -1, -1, lambda k: back.item(_at(engine, back, k)))
    if several.kind == "enumerate":
        start = several.start
        if isinstance(part, tuple):
            return tuple((operators.binary(b, "Add", engine.raw(start), k), thing) for k, thing in enumerate(part))

        each = part

        def pair(k: Any) -> Any:
            number = python_number(b, k) if isinstance(k, Value) else k
            if operators.is_value(start) or start != 0:
                number = operators.binary(b, "Add", engine.raw(start), number)
            return (number, each.item(_at(engine, each, k)))

        return Counted(0, _length(engine, part), 1, pair)
    if any(isinstance(p, tuple) for p in parts):  # as many as the shortest, whose length must be known
        rows = [p if isinstance(p, tuple) else _listed(engine, p, node) for p in parts]
        return tuple(zip(*rows, strict=False))
    lengths = [_length(engine, p) for p in parts if isinstance(p, Counted)]
    known = [n for n in lengths if isinstance(n, int)]
    shortest: Any = min(known) if known else None
    for length in lengths:
        if not isinstance(length, int):
            shortest = length if shortest is None else b.op("minimum", length, shortest)
    return Counted(
        0,
        0 if shortest is None else shortest,
        1,
        lambda k: tuple(p.item(_at(engine, p, k)) for p in parts if isinstance(p, Counted)),
    )


def _listed(engine: Engine, part: Counted, node: ast.AST) -> tuple[Any, ...]:
    length = part.length()
    if length is None or not isinstance(part.start, int) or not isinstance(part.step, int):
        engine.fail(
            node,
            "unknown-length",
            "How many items this has is only known when the graph runs.",
            "go over arrays of known length together with tuples and lists.",
            construct="zip",
        )
    return tuple(part.item(part.start + k * part.step) for k in range(min(length, 1000)))


def _at(engine: Engine, part: Counted, k: Any) -> Any:
    """The part's own counter in its k-th step."""
    b = engine.builder
    if isinstance(part.start, int) and part.start == 0 and isinstance(part.step, int) and part.step == 1:
        return k
    if all(isinstance(p, int) for p in (part.start, part.step, k)):
        return part.start + k * part.step
    stride = k if isinstance(part.step, int) and part.step == 1 else b.op("multiply", k, part.step)
    return b.op("add", stride, part.start)


def _length(engine: Engine, part: Counted) -> Any:
    """Number of steps of a part: a known number, or max(0, ceil((stop - start) / step))."""
    known = part.length()
    if known is not None:
        return known
    b = engine.builder
    if isinstance(part.start, int) and part.start == 0 and isinstance(part.step, int) and part.step == 1:
        return b.op("maximum", part.stop, 0)
    span = b.op("subtract", _value(engine, part.stop), part.start)
    trips = b.op("negative", b.op("floor_divide", b.op("negative", span), part.step))
    return b.op("maximum", trips, 0)


def _value(engine: Engine, number: Any) -> Value:
    return plain_value(number) if isinstance(number, Value) else engine.builder.constant(number, "int64")


def plain_value(value: Value) -> Value:
    return Value(value.builder, value.ref, value.type, value.context, value.label)


__all__ = ["MAX_UNROLLED", "Counted", "counted", "items_of", "plain_value"]
