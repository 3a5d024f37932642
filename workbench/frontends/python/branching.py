"""Branches: both sides are captured, each from the same state, and what they leave behind is merged.

What must be known now decides at once, without a branch. Where one side always leaves (return, break, continue), the
statements after the ``if`` belong to the other side; where a side only may leave, they become conditional.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from workbench.frontends.python import operators
from workbench.frontends.python.engine import Engine
from workbench.frontends.python.merging import Merger
from workbench.frontends.python.objects import (
    FLAGS,
)
from workbench.frontends.python.sides import Side
from workbench.frontends.python.text import always_leaves
from workbench.graph.context import BranchContext
from workbench.graph.node import Ref
from workbench.graph.value import Value


def if_statement(engine: Engine, node: ast.If, rest: Sequence[ast.stmt]) -> bool:
    """Carry out an ``if``; True when the statements after it are done too."""
    test = engine.truth(node.test)
    if not operators.is_value(test):
        engine.execute(node.body if test else node.orelse)
        return False
    on_true, on_false, done = list(node.body), list(node.orelse), False
    if always_leaves(on_true) and not always_leaves(on_false):
        on_false, done = [*on_false, *rest], True
    elif always_leaves(on_false) and not always_leaves(on_true):
        on_true, done = [*on_true, *rest], True
    branch(engine, test, lambda: engine.execute(on_true), lambda: engine.execute(on_false), node, "if")
    return done


def unless_left(engine: Engine, node: ast.AST, rest: Callable[[], None]) -> None:
    """``rest`` where no flag says that the program has left these statements."""
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


def branch(
    engine: Engine, pred: Value, on_true: Callable[[], Any], on_false: Callable[[], Any], node: ast.AST, label: str
) -> Any:
    """Both sides, merged; gives what the functions give, merged too. Raises CaptureError where that is impossible."""
    b, scope = engine.builder, engine.scope
    line = scope.text.line(node)
    before = dict(scope.vars), dict(scope.lines), dict(engine.heap)
    outer, source = b.context, b.source
    decision = b._lift([pred])[0]
    name = b.reserve(f"{outer.prefix}/{label}_{line}" if outer.prefix else f"{label}_{line}")
    switches: dict[Ref, str] = {}
    sides = []
    for side, function in ((1, on_true), (0, on_false)):
        scope.vars, scope.lines, engine.heap = dict(before[0]), dict(before[1]), dict(before[2])
        context = BranchContext(b, outer, name, decision, side, switches)
        try:
            b.context = context
            value = function()
        finally:
            b.context = outer
        sides.append(Side(context, scope.vars, scope.lines, engine.heap, value))
    b.source = source
    merger = Merger(engine, name, line, sides, outer)
    scope.vars, scope.lines, engine.heap = before
    known = list(engine.heap)  # merged variables bring new arrays
    scope.vars = merger.variables(before[0])
    scope.lines = {k: max(s.lines.get(k, 0) for s in sides) for k in {**sides[0].lines, **sides[1].lines}}
    merger.contents(known, node)
    result = merger.merge("value", sides[0].value, sides[1].value)
    return engine.need(result, node)


__all__ = ["branch", "if_statement", "unless_left"]
