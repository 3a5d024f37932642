"""Binary operators on captured objects, with a new result (``x + y``) and in place (``x += y``).

Tuples and lists keep the identity of their items; everything else is computed by ``operators``.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.frontends.python.engine import Engine
from workbench.frontends.python.objects import ArrayCell, ArrayView, DictCell, ListCell, LocalFunction, Range, Several
from workbench.frontends.python.values import operators
from workbench.frontends.python.values.iteration_space import MAX_UNROLLED, items_of
from workbench.frontends.python.values.sequences import shown
from workbench.ir.builder.value import Value
from workbench.ir.types import ANY, numpy_dtype


def binary(engine: Engine, node: ast.AST, op: str, left: Any, right: Any) -> Any:
    """``left op right``; tuples and lists keep the identity of their items."""
    for one, other in ((left, right), (right, left)):
        if op == "Mult" and type(other) is int and (type(one) is tuple or isinstance(one, ListCell)):
            items = items_of(engine, one, node)
            repeated = items_of(engine, items * min(other, MAX_UNROLLED // max(len(items), 1) + 1), node)
            return repeated if type(one) is tuple else engine.new_list(repeated)
    if op == "Add":
        if type(left) is tuple and type(right) is tuple:
            return left + right
        if isinstance(left, ListCell) and isinstance(right, (ListCell, list)):
            return engine.new_list(engine.heap[left] + items_of(engine, right, node))
    for thing in (left, right):
        if isinstance(thing, (LocalFunction, Range, Several, DictCell)):
            engine.fail(node, "wrong-operand", f"Python's {op} cannot be put into a graph for {shown(thing)}.")
    try:
        return engine.wrap(operators.binary(engine.builder, op, engine.raw(left), engine.raw(right)))
    except WorkbenchError:
        raise
    except Exception as error:  # both are known, and Python itself refuses them
        engine.python_error(node, error)


def in_place(engine: Engine, node: ast.AST, op: str, old: Any, other: Any) -> Any:
    """``old op= other``: arrays and lists are changed and returned, any other object is replaced with a new one."""
    if isinstance(old, ListCell) and op == "Add":
        engine.write(old, (*engine.heap[old], *items_of(engine, other, node)), node)
        return old
    if not isinstance(old, (ArrayCell, ArrayView)):
        return binary(engine, node, op, old, other)
    before = engine.content(old)
    after = operators.lift(engine.builder, operators.binary(engine.builder, op, engine.raw(old), engine.raw(other)))
    before = operators.lift(engine.builder, before)
    if before.dtype not in (ANY, after.dtype) and after.dtype != ANY:
        if not np.can_cast(numpy_dtype(after.dtype), numpy_dtype(before.dtype), "same_kind"):
            engine.fail(
                node,
                "in-place-dtype",
                f"An array of {before.dtype} cannot take the {after.dtype} result in place.",
                "write x = x + y instead of x += y, or convert one with .astype(...).",
                construct="augmented assignment",
            )
        after = engine.builder.op("cast", after, dtype=before.dtype)
    if None not in (before.shape, after.shape) and before.shape != after.shape and _grows(before, after):
        engine.fail(
            node,
            "in-place-shape",
            f"An array of shape {before.shape} cannot take a result of shape {after.shape} in place.",
            "write x = x + y instead of x += y.",
            construct="augmented assignment",
        )
    engine.write(old, after, node)
    return old


def _grows(before: Value, after: Value) -> bool:
    one, two = before.shape or (), after.shape or ()
    return len(one) != len(two) or any(None not in (a, b) and a != b for a, b in zip(one, two, strict=True))
