"""Assignments: names, starred tuples, items and slices, and ``+=`` with Python's in-place semantics.

Source: https://docs.python.org/3/reference/simple_stmts.html#assignment-statements
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from workbench.frontends.python.engine import Engine, statement
from workbench.frontends.python.objects import ArrayCell, ArrayView, DictCell, ListCell
from workbench.frontends.python.values import operators
from workbench.frontends.python.values.arithmetic import in_place
from workbench.frontends.python.values.items import item
from workbench.frontends.python.values.iteration_space import items_of
from workbench.frontends.python.values.sequences import position_of, shown


@statement(ast.Assign)
def _assign(engine: Engine, node: ast.Assign) -> None:
    thing = engine.evaluate(node.value)
    for target in node.targets:
        assign(engine, target, thing)


@statement(ast.AnnAssign)
def _annotated(engine: Engine, node: ast.AnnAssign) -> None:
    if node.value is not None:
        assign(engine, node.target, engine.evaluate(node.value))


def assign(engine: Engine, target: ast.expr, thing: Any) -> None:
    """Assign an object to a target: a name, an item of an array, list or dict, or a tuple of targets."""
    if isinstance(target, ast.Name):
        engine.bind(target.id, thing, target)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(engine, target, thing)
    elif isinstance(target, ast.Subscript):
        with engine.at(target):
            store(engine, target, engine.evaluate(target.value), engine.evaluate(target.slice), thing)
    elif isinstance(target, ast.Starred):
        assign(engine, target.value, thing)
    else:
        engine.fail(
            target,
            "unsupported-attribute-assignment",
            "The attributes of an object cannot be changed by a graph.",
            "keep the value in a variable, and return it.",
            construct="attribute",
        )


def _unpack(engine: Engine, target: ast.Tuple | ast.List, thing: Any) -> None:
    with engine.at(target):
        items = items_of(engine, thing, target)
    wanted = target.elts
    starred = [k for k, t in enumerate(wanted) if isinstance(t, ast.Starred)]
    if not starred:
        if len(items) != len(wanted):
            engine.fail(
                target,
                "unpack-count",
                f"{len(items)} values cannot be given to {len(wanted)} targets.",
                "write as many targets as there are values.",
                construct="unpacking",
            )
        for one, item in zip(wanted, items, strict=True):
            assign(engine, one, item)
        return
    if len(items) < len(wanted) - 1:
        engine.fail(
            target,
            "unpack-count",
            f"{len(items)} values are too few for {len(wanted)} targets.",
            "write fewer targets.",
            construct="unpacking",
        )
    first, last = starred[0], len(wanted) - starred[0] - 1
    middle = engine.new_list(tuple(items[first : len(items) - last]))
    for one, item in zip(wanted, (*items[:first], middle, *items[len(items) - last :]), strict=True):
        assign(engine, one, item)


def store(engine: Engine, node: ast.AST, holder: Any, index: Any, thing: Any) -> None:
    """``holder[index] = thing``."""
    if isinstance(holder, (ArrayCell, ArrayView)):
        content = engine.content(holder)
        new = operators.store_subscript(
            engine.builder, operators.lift(engine.builder, content), engine.raw(index), engine.raw(thing)
        )
        engine.write(holder, new, node)
    elif isinstance(holder, ListCell):
        items = engine.heap[holder]
        if isinstance(index, slice):
            changed = list(items)
            changed[engine.raw(index)] = items_of(engine, thing, node)
            engine.write(holder, tuple(changed), node)
            return
        at = position_of(engine, index, len(items), node)
        engine.write(holder, (*items[:at], thing, *items[at + 1 :]), node)
    elif isinstance(holder, DictCell):
        if operators.is_value(engine.raw(index)):
            engine.fail(
                node,
                "computed-key",
                "The key of a dict must be known when the function is captured.",
                "use an array with a computed index.",
                construct="dict",
            )
        pairs = dict(engine.heap[holder])
        pairs[engine.raw(index)] = thing
        engine.write(holder, tuple(pairs.items()), node)
    elif isinstance(holder, (np.ndarray, list, dict)):
        engine.fail(
            node,
            "outside-mutation",
            "This changes an array, list or dict from outside of the function, which a graph cannot do.",
            "copy it inside of the function first.",
            construct="mutation",
        )
    else:
        engine.fail(
            node,
            "item-assignment",
            f"Items of {shown(holder)} cannot be assigned.",
            "only arrays, lists and dicts have items that change.",
            construct="item",
        )


@statement(ast.AugAssign)
def _augmented(engine: Engine, node: ast.AugAssign) -> None:
    target, op = node.target, type(node.op).__name__
    if isinstance(target, ast.Name):
        with engine.at(target):
            name = ast.copy_location(ast.Name(target.id, ast.Load()), target)
        old = engine.evaluate(name)
        new = in_place(engine, node, op, old, engine.evaluate(node.value))
        if new is not old:
            engine.bind(target.id, new, node)
    elif isinstance(target, ast.Subscript):
        holder, index = engine.evaluate(target.value), engine.evaluate(target.slice)
        old = item(engine, target, holder, index)
        new = in_place(engine, node, op, old, engine.evaluate(node.value))
        if new is not old or not isinstance(old, (ArrayCell, ArrayView)):
            store(engine, target, holder, index, new)
        elif isinstance(old, ArrayCell) and isinstance(
            holder, (ArrayCell, ArrayView)
        ):  # advanced indexing gave a copy: store it back
            store(engine, target, holder, index, old)
    else:
        assign(engine, target, None)
