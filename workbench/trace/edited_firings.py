"""Firings whose value a user replaced: their rows contain values that no op computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.trace.describe import short

Path = tuple[int, ...]


class Written(Protocol):
    """An edit as readers of a trace see it: ``value`` replaced ``before`` at ``tags``, one of which belongs to ``ref``;
    ``stand`` is the position of the run then: frame, instruction, iteration path."""

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
    """``set by hand to 3.0 in b, was 1.416`` for the edits of one firing, oldest first; empty if there are none."""
    if not written:
        return ""
    before = "" if written[0].before is None else f", was {short(written[0].before)}"
    return f"set by hand to {short(written[-1].value)}{f' in {side}' if side else ''}{before}"


def outside(graph: Graph, ref: Ref, path: Path) -> tuple[Ref, Path]:
    """(ref, path) of a loop invariant under its name outside the loop; of any other value unchanged."""
    node = graph.nodes[ref.node]
    while node.op == "Enter" and node.attrs.get("is_constant") and path:
        ref, path = node.inputs[0], path[:-1]
        node = graph.nodes[ref.node]
    return ref, path


class Edits:
    """The edits of a trace, indexed by the firings that they replaced."""

    def __init__(self, graph: Graph, edits: Sequence[Written]) -> None:
        self.graph, self.all = graph, list(edits)
        self._by_tag: dict[tuple[Ref, Path], list[Written]] = {}
        for edit in self.all:
            for tag in edit.tags:
                self._by_tag.setdefault(tag, []).append(edit)

    def of(self, ref: Ref, path: Path) -> list[Written]:
        """The edits of a firing, oldest first; an invariant may be given under its name inside a loop."""
        return self._by_tag.get(outside(self.graph, ref, path), [])

    def stays(self, edit: Written) -> bool:
        """True if a node may have read the value: it was not replaced by a later edit at the same event."""
        return [e for e in self.all if (e.event, e.ref) == (edit.event, edit.ref)][-1] is edit
