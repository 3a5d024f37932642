"""Firings whose value a user replaced: their rows hold values that no op computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.trace.describe import short

Path = tuple[int, ...]


class Written(Protocol):
    """An edit as readers of a trace see it: ``value`` was written over ``before`` at ``tags``, one of them ``ref``'s;
    the position of the run was ``stand``: frame, instruction, iteration path."""

    @property
    def ref(self) -> Ref: ...
    @property
    def tags(self) -> tuple[tuple[Ref, Path], ...]: ...
    @property
    def stand(self) -> tuple[tuple[str, ...], int, Path]: ...
    @property
    def value(self) -> Any: ...
    @property
    def before(self) -> Any: ...
    @property
    def event(self) -> int: ...


def edit_text(written: Sequence[Written], side: str = "") -> str:
    """``set by hand to 3.0 in b, was 1.416`` for the edits of one firing, oldest first; empty without any."""
    if not written:
        return ""
    before = "" if written[0].before is None else f", was {short(written[0].before)}"
    return f"set by hand to {short(written[-1].value)}{f' in {side}' if side else ''}{before}"


def outside(graph: Graph, ref: Ref, path: Path) -> tuple[Ref, Path]:
    """A loop invariant under its name outside of the loop; any other value as it is."""
    node = graph.nodes[ref.node]
    while node.op == "Enter" and node.attrs.get("is_constant") and path:
        ref, path = node.inputs[0], path[:-1]
        node = graph.nodes[ref.node]
    return ref, path


class Edits:
    """The edits of a trace, by the firings that they wrote over."""

    def __init__(self, graph: Graph, edits: Sequence[Written]) -> None:
        self.graph, self.all = graph, list(edits)
        self._by_tag: dict[tuple[Ref, Path], list[Written]] = {}
        for edit in self.all:
            for tag in edit.tags:
                self._by_tag.setdefault(tag, []).append(edit)

    def of(self, ref: Ref, path: Path) -> list[Written]:
        """Those of a firing, oldest first; those of an invariant under its name in a loop, too."""
        return self._by_tag.get(outside(self.graph, ref, path), [])

    def stays(self, edit: Written) -> bool:
        """True if something may have read it: no other edit was made of the same value at the same event."""
        return [e for e in self.all if (e.event, e.ref) == (edit.event, edit.ref)][-1] is edit
