"""Blocks of statements, executed in turn until one leaves the block.

A known condition decides an ``if`` at capture, without a branch. If one side always leaves (return, break, continue),
the statements after the ``if`` belong to the other side; if a side may leave, they become conditional.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from workbench.frontends.python.control.branching import branch
from workbench.frontends.python.control.logic import truth
from workbench.frontends.python.engine import STATEMENTS, Engine
from workbench.frontends.python.objects import FLAGS
from workbench.frontends.python.source_text import always_leaves
from workbench.frontends.python.values import operators


def execute(engine: Engine, statements: Sequence[ast.stmt]) -> None:
    """Execute statements until one leaves; the statements after one that may leave become conditional."""
    for position, node in enumerate(statements):
        flags = [engine.scope.vars.get(flag, False) for flag in FLAGS]
        if any(flag is True for flag in flags):
            return
        if any(flag is not False for flag in flags):
            with engine.at(node):
                _unless_left(engine, node, lambda: execute(engine, statements[position:]))  # noqa: B023
            return
        with engine.at(node):
            if isinstance(node, ast.If):
                if _if(engine, node, statements[position + 1 :]):
                    return
                continue
            visit = STATEMENTS.get(type(node))
            if visit is None:
                engine.fail(node, "unsupported-statement", f"{type(node).__name__} cannot be put into a graph.")
            visit(engine, node)


def _if(engine: Engine, node: ast.If, rest: Sequence[ast.stmt]) -> bool:
    """Execute an ``if``; True if this included the statements after it."""
    test = truth(engine, node.test)
    if not operators.is_value(test):
        execute(engine, node.body if test else node.orelse)
        return False
    on_true, on_false, done = list(node.body), list(node.orelse), False
    if always_leaves(on_true) and not always_leaves(on_false):
        on_false, done = [*on_false, *rest], True
    elif always_leaves(on_false) and not always_leaves(on_true):
        on_true, done = [*on_true, *rest], True
    branch(engine, test, lambda: execute(engine, on_true), lambda: execute(engine, on_false), node, "if")
    return done


def _unless_left(engine: Engine, node: ast.AST, rest: Callable[[], None]) -> None:
    """Execute ``rest`` under the condition that no flag is set, so that these statements were not left."""
    flags = [f for f in FLAGS if operators.is_value(engine.scope.vars.get(f, False))]
    left: Any = False
    for flag in flags:
        left = operators.either(engine.builder, left, engine.scope.vars[flag])

    def stay() -> None:
        if len(flags) == 1:
            engine.scope.vars[flags[0]] = True

    def go_on() -> None:
        for flag in flags:
            engine.scope.vars[flag] = False
        rest()

    branch(engine, left, stay, go_on, node, "unless_" + "_".join(flags))
