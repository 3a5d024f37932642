"""Positions in captured tuples and lists, and descriptions of objects for messages."""

from __future__ import annotations

import ast
from typing import Any

from workbench.frontends.python.engine import Engine
from workbench.frontends.python.objects import Cell
from workbench.frontends.python.values import operators
from workbench.ir.builder.value import Value


def position_of(engine: Engine, index: Any, length: int, node: ast.AST) -> int:
    """A position in a list or tuple; it must be known."""
    if operators.is_value(index):
        engine.fail(
            node,
            "computed-position",
            "The position in a list or tuple must be known when the function is captured.",
            "use an array, such as np.array([...]), with a computed index.",
            construct="item",
        )
    try:
        at = index.__index__()
    except (AttributeError, TypeError):
        engine.fail(node, "bad-index", f"{shown(index)} is not a position in a list or tuple.", construct="item")
    if not -length <= at < length:
        engine.fail(node, "index-range", f"Position {at} is outside of a sequence of {length} items.", construct="item")
    return at % length


def shown(thing: Any) -> str:
    """Describe an object for a message."""
    if isinstance(thing, Cell):
        return {"ListCell": "a list", "DictCell": "a dict"}.get(type(thing).__name__, "an array")
    if isinstance(thing, Value):
        return f"a value {thing.type}"
    if thing is None or type(thing) in (bool, int, float, str):
        return repr(thing)[:60]
    return f"a {type(thing).__name__}"
