"""Rollback of additions to a builder, for frontends that process the body of a loop again."""

from __future__ import annotations

from typing import Any

from workbench.ir.builder.builder import GraphBuilder
from workbench.ir.builder.context import BranchContext, Context, LoopContext


class RollbackPoint:
    """The state of a builder at one moment; :meth:`roll_back` removes all nodes added since.

    Earlier nodes must not have been changed since: open loops and branches stay open, and no back edge was added to one
    of their Merges.
    """

    def __init__(self, builder: GraphBuilder) -> None:
        self._builder, self._count = builder, len(builder._nodes)
        self._counts, self._names, self._inputs = dict(builder._counts), dict(builder._names), dict(builder._inputs)
        self._context = builder.context
        self._source = builder.source
        self._states = [(c, _state(c)) for c in _upwards(builder.context)]

    def roll_back(self) -> None:
        builder = self._builder
        while len(builder._nodes) > self._count:
            builder._nodes.popitem()
        builder._counts, builder._names, builder._inputs = dict(self._counts), dict(self._names), dict(self._inputs)
        builder.context, builder.source = self._context, self._source
        for context, state in self._states:
            for key, value in state.items():
                old = getattr(context, key)
                if isinstance(old, dict):  # both sides of a branch share one list
                    old.clear()
                    old.update(value)
                else:
                    setattr(context, key, value)


def _upwards(context: Context | None) -> list[Context]:
    found = []
    while context is not None:
        found.append(context)
        context = context.parent
    return found


def _state(context: Context) -> dict[str, Any]:
    keys: tuple[str, ...] = ()
    if isinstance(context, LoopContext):
        keys = ("_invariants", "header_pivot", "body_source", "_body_pivot")
    elif isinstance(context, BranchContext):
        keys = ("_switches", "_pivot")
    return {k: dict(v) if isinstance(v := getattr(context, k), dict) else v for k in keys}
