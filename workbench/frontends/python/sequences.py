"""Tuples, lists and dicts of captured things: their items, and positions in them."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from workbench.frontends.python import operators
from workbench.frontends.python.engine import Engine
from workbench.frontends.python.objects import ArrayCell, Cell, DictCell, ListCell, Range, Several, View
from workbench.graph.value import Value

#: items that a tuple, list or comprehension may have where each is captured on its own
MAX_UNROLLED = 1000


def items_of(engine: Engine, thing: Any, node: ast.AST, limit: int = MAX_UNROLLED) -> tuple[Any, ...]:
    """All items of something whose length is known now: tuples, lists, dicts (their keys), arrays (their rows)."""
    from workbench.frontends.python.counting import counted

    if type(thing) is tuple:
        items: tuple[Any, ...] = thing
    elif isinstance(thing, ListCell):
        items = engine.heap[thing]
    elif isinstance(thing, DictCell):
        items = tuple(k for k, _ in engine.heap[thing])
    elif isinstance(thing, (ArrayCell, View, Range, Several, np.ndarray, range)):
        found = counted(engine, thing, node)
        if isinstance(found, tuple):
            items = found
        else:
            length = found.length()
            if length is None:
                engine.fail(node, "unknown-length", "How many items this has is only known when the graph runs.",
                            "go over it with a for loop, and keep what is needed in variables or an array.",
                            construct="sequence")  # fmt: skip
            if length > limit:
                _too_many(engine, node, length)
            b = engine.builder
            items = tuple(found.item(found.start + k * found.step) if isinstance(found.start, int) and
                          isinstance(found.step, int) else found.item(b.constant(k, "int64"))
                          for k in range(length))  # fmt: skip
    elif isinstance(thing, Value):
        engine.fail(node, "not-a-sequence", f"A single number ({thing.type}) has no items.", construct="sequence")
    else:
        try:
            size = len(thing)
            if size <= limit:
                items = tuple(thing)
        except TypeError:
            engine.fail(node, "not-a-sequence", f"{shown(thing)} has no items to go over.",
                        "use a tuple, list, dict, range or array.", construct="sequence")  # fmt: skip
        if size > limit:
            _too_many(engine, node, size)
    if len(items) > limit:
        _too_many(engine, node, len(items))
    return items


def _too_many(engine: Engine, node: ast.AST, count: int) -> None:
    engine.fail(
        node, "too-many-items", f"{count} items would each be captured on their own; {MAX_UNROLLED} may be.",
        "put them into an array, or go over a range.", construct="sequence",
    )  # fmt: skip


def position_of(engine: Engine, index: Any, length: int, node: ast.AST) -> int:
    """A position in a list or tuple that must be known now."""
    if operators.is_value(index):
        engine.fail(
            node, "computed-position", "The position in a list or tuple must be known when the function is captured.",
            "use an array, such as np.array([...]), with a computed index.", construct="item",
        )  # fmt: skip
    try:
        at = index.__index__()
    except (AttributeError, TypeError):
        engine.fail(node, "bad-index", f"{shown(index)} is no position in a list or tuple.", construct="item")
    if not -length <= at < length:
        engine.fail(node, "index-range", f"Position {at} is outside of a sequence of {length} items.", construct="item")
    return at % length


def shown(thing: Any) -> str:
    """What something is, for a message."""
    if isinstance(thing, Cell):
        return {"ListCell": "a list", "DictCell": "a dict"}.get(type(thing).__name__, "an array")
    if isinstance(thing, Value):
        return f"a value {thing.type}"
    if thing is None or type(thing) in (bool, int, float, str):
        return repr(thing)[:60]
    return f"a {type(thing).__name__}"
