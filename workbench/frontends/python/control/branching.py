"""Branches: both sides are captured from the same state, and their final states are merged."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from workbench.frontends.python.control.branch_state import BranchSide
from workbench.frontends.python.control.merging import Merger
from workbench.frontends.python.engine import Engine
from workbench.ir.builder.context import BranchContext
from workbench.ir.builder.value import Value
from workbench.ir.node import Ref


def branch(
    engine: Engine, pred: Value, on_true: Callable[[], Any], on_false: Callable[[], Any], node: ast.AST, label: str
) -> Any:
    """Capture both sides and merge their states; returns the merged results of the functions. Raises CaptureError if
    they cannot be merged.
    """
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
        sides.append(BranchSide(context, scope.vars, scope.lines, engine.heap, value))
    b.source = source
    merger = Merger(engine, name, line, sides, outer)
    scope.vars, scope.lines, engine.heap = before
    known = list(engine.heap)  # merging variables creates new arrays
    scope.vars = merger.variables(before[0])
    scope.lines = {k: max(s.lines.get(k, 0) for s in sides) for k in {**sides[0].lines, **sides[1].lines}}
    merger.contents(known, node)
    result = merger.merge("value", sides[0].value, sides[1].value)
    return engine.need(result, node)
