"""The open boxes of a graph, from which its picture (``graph_model``) is drawn.

At most 500 boxes are shown at once: opening one more closes those opened longest ago, but never the selected ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from functools import cached_property

from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.widgets.graph.model.constant_inlining import Folding, fold
from workbench.widgets.graph.model.group import ROOT, Group, Path, frame_id
from workbench.widgets.graph.model.groups import find_groups
from workbench.widgets.graph.model.structure import find_structure

MAX_BOXES = 500
#: a graph with at most so many boxes starts with all frames open, a larger one with all closed
PLAIN = 60

#: pictures drawn to find which boxes may be open at first: fewer for larger graphs
FEWEST_TRIALS, MOST_TRIALS, TRIED_NODES = 2, 24, 20_000

#: source value, reading node, kind ("data", "back" or "control"), and the value that is read, which an op without a box
#: may have passed on
RawEdge = tuple[Ref, str, str, Ref]


class Scene:
    """The nested boxes of ``graph``, and which of them are open."""

    def __init__(self, graph: Graph, dataflow_ops: bool = False) -> None:
        self.graph = graph
        self._direction = "down"
        self._across = math.inf
        #: counts changes of the open boxes and of the direction
        self.version = 0
        self._divide(dataflow_ops)

    def _divide(self, dataflow_ops: bool) -> None:
        self._dataflow_ops = dataflow_ops
        self.folding: Folding = fold(self.graph, None if dataflow_ops else find_structure(self.graph))
        self.groups: dict[str, Group] = find_groups(self.graph, self.folding)
        #: the group of an item (a node with a box, or a group)
        self.holder = {item: group.id for group in self.groups.values() for item in group.items}
        self._open: dict[str, None] = {ROOT: None}
        self.__dict__.pop("edges", None)
        if len(self.folding.drawn) <= PLAIN:
            for group in self.groups.values():
                closed = ("call", "repeat", "block")
                if not any(self.groups[k].kind in closed for k in (*self.around(group.id), group.id)):
                    self._open[group.id] = None

    @property
    def dataflow_ops(self) -> bool:
        """True if Enter, Merge, Switch, Exit, NextIteration and LoopCond are drawn as nodes."""
        return self._dataflow_ops

    @dataflow_ops.setter
    def dataflow_ops(self, value: bool) -> None:
        if value != self._dataflow_ops:
            opened, known = self._open, self.groups
            self._divide(value)
            kept = {key for key in self._open if key not in known or key in opened} | (
                opened.keys() & self.groups.keys()
            )
            # groups of both pictures stay open or closed, and no group inside a closed one is open
            order = sorted(kept, key=lambda key: len(self.around(key)))
            self._open = {key: None for key in order if kept.issuperset(self.around(key))}
            self._changed()

    # -- open groups -----------------------------------------------------------------------------------------------
    @property
    def open(self) -> tuple[str, ...]:
        """Ids of the open groups, the latest last; a group is visible only if those around it are open."""
        return tuple(self._open)

    @property
    def closed_frames(self) -> tuple[Path, ...]:
        """Paths of the loops that are drawn as one box or hidden in one."""
        return tuple(sorted(g.frame for g in self.groups.values() if g.kind == "loop" and g.id not in self._open))

    def set_closed_frames(self, paths: Collection[Path]) -> None:
        """Close exactly these loops; the groups around the others are opened, as many as may be."""
        closed = {frame_id(tuple(p)) for p in paths if p}
        loops = [g for g in self.groups.values() if g.kind == "loop"]
        for group in loops:
            if group.id in closed:
                self._open.pop(group.id, None)
        for group in sorted((g for g in loops if g.id not in closed), key=lambda g: -len(g.frame)):
            if not any(frame_id(group.frame[:d]) in closed for d in range(1, len(group.frame))):
                for key in self.around(group.id):
                    self._open.setdefault(key)
            self._open.setdefault(group.id)
        self._fit(())
        self._changed()

    def toggle(self, key: str) -> None:
        """Open a group, or close it."""
        if key in self.groups and key != ROOT:
            self.close(key) if key in self._open else self.show(key, inside=True)

    def close(self, key: str) -> None:
        """Draw a group as one box; the groups inside close, too."""
        if key == ROOT or key not in self._open:
            return
        for other in [k for k in self._open if key in self.around(k)]:
            del self._open[other]
        del self._open[key]
        self._changed()

    def show(self, item: str, inside: bool = False) -> bool:
        """Open the groups around an item (with ``inside`` the item, too); True if that changed the picture."""
        keys = self._with_lanes([*self.around(item), *([item] if inside and item in self.groups else [])])
        if all(key in self._open for key in keys):
            return False
        for key in keys:  # the latest are closed last
            self._open.pop(key, None)
            self._open[key] = None
        self._fit(keys)
        self._changed()
        return True

    def all(self, opened: bool) -> None:
        """Open as many groups as may be, outermost first, or close all."""
        keys = sorted(self.groups, key=lambda k: (len(self.around(k)), self.groups[k].kind == "repeat"))
        self._open = {ROOT: None}
        if opened:
            count = self.boxes
            for key in keys:
                more = len(self.groups[key].items) - 1
                if key != ROOT and self.groups[key].parent in self._open and count + more <= MAX_BOXES:
                    self._open[key] = None
                    count += more
        self._changed()

    def unfold(self, needed: Iterable[str], fits: Callable[[float], bool], legible: float, whole: float) -> None:
        """Open the groups that fit: the outermost and loops first, those ``needed`` before all others, and also if they
        fit only at the smaller of two zooms.
        """
        before = self._open
        self._open = {ROOT: None}
        order = {"loop": 0, "branch": 1, "lane": 1, "repeat": 3, "block": 3}
        first = set(needed)
        depth = {key: len(self.around(key)) for key in self.groups}
        keys = sorted(self.groups, key=lambda k: (k not in first, depth[k], order.get(self.groups[k].kind, 2)))
        left = max(FEWEST_TRIALS, min(MOST_TRIALS, TRIED_NODES // max(1, len(self.graph.nodes))))
        for key in keys:
            if (left or key in first) and key not in self._open and self.groups[key].parent in self._open:
                left -= 1
                kept = dict(self._open)
                self._open.update(dict.fromkeys(self._with_lanes([key])))
                if self.boxes > MAX_BOXES or not fits(whole if key in first else legible):
                    self._open = kept
        if self._open.keys() != before.keys():
            self._changed()

    def _with_lanes(self, keys: Iterable[str]) -> list[str]:
        """The groups, and the sides of the branches among them, which open together."""
        groups = self.groups
        found: dict[str, None] = {}
        for key in keys:
            found[key] = None
            found |= {k: None for k in groups[key].items if k in groups and groups[k].kind == "lane"}
        return list(found)

    def around(self, item: str) -> list[str]:
        """Ids of the groups around an item, outermost (the root) first."""
        found = []
        at = self.holder.get(item) if item != ROOT else None
        while at is not None:
            found.append(at)
            at = self.groups[at].parent
        return found[::-1]

    @property
    def boxes(self) -> int:
        """The number of boxes shown."""
        return len(self.visible())

    def visible(self) -> list[str]:
        """The items that have a box now, in graph order."""
        found: list[str] = []
        stack = [ROOT]
        while stack:
            item = stack.pop()
            if item in self._open:
                stack.extend(reversed(self.groups[item].items))
            else:
                found.append(item)
        return found

    def shown(self) -> list[str]:
        """The groups drawn as frames, outer ones first."""
        found, stack = [], [ROOT]
        while stack:
            key = stack.pop()
            found.append(key)
            stack += [item for item in reversed(self.groups[key].items) if item in self._open]
        return found[1:]

    def nodes_in(self, key: str) -> list[str]:
        """The nodes with boxes in a group, at any depth."""
        found, stack = [], [key]
        while stack:
            item = stack.pop()
            if item in self.groups:
                stack.extend(self.groups[item].items)
            else:
                found.append(item)
        return found

    def _fit(self, needed: Iterable[str]) -> None:
        keep = {ROOT, *needed}
        count = self.boxes
        for key in list(self._open):
            if count <= MAX_BOXES:
                break
            if key not in keep and not any(key in self.around(k) for k in keep):
                for other in [k for k in self._open if k == key or key in self.around(k)]:
                    del self._open[other]
                count = self.boxes

    def _changed(self) -> None:
        self.version += 1

    # -- for the picture -------------------------------------------------------------------------------------
    @property
    def direction(self) -> str:
        """The direction in which data flows: "down" or "right"."""
        return self._direction

    @direction.setter
    def direction(self, value: str) -> None:
        if value != self._direction:
            self._direction = value
            self._changed()

    @property
    def across(self) -> float:
        """Width across the flow, in pixels at zoom 1, that the picture keeps if possible."""
        return self._across

    @across.setter
    def across(self, value: float) -> None:
        if value != self._across:
            self._across = value
            self._changed()

    def homes(self) -> dict[str, str]:
        """Node -> id of the box that represents it now, for all nodes; see :meth:`box_of` for one."""
        closed = {key: next((k for k in (*self.around(key), key) if k not in self._open), None) for key in self.groups}
        found = {}
        for node in self.graph.nodes:
            item = self.folding.home.get(node, node)
            found[node] = closed.get(self.holder.get(item, "")) or item
        return found

    def box_of(self, node: str) -> str:
        """Id of the box that represents a node now."""
        item = self.folding.home.get(node, node)
        for key in self.around(item):
            if key not in self._open:
                return key
        return item

    @cached_property
    def edges(self) -> list[RawEdge]:
        """All edges between nodes with boxes; folded values are traced to their sources."""
        drawn = set(self.folding.drawn)
        nodes = self.graph.nodes
        structure = self.folding.structure
        found: list[RawEdge] = []
        for name in self.folding.drawn:
            node = nodes[name]
            for ref in node.inputs:
                back = node.op == "Merge" and nodes[ref.node].op == "NextIteration"
                self._join(found, ref, name, "back" if back else "data")
            for other in structure.decides.get(name, ()) if structure is not None else ():
                for ref in nodes[other].inputs:
                    self._join(found, ref, name, "data")
            found += [(Ref(c, 0), name, "control", Ref(c, 0)) for c in node.control if c in drawn]
        return found

    def _join(self, found: list[RawEdge], ref: Ref, name: str, kind: str) -> None:
        real = self.folding.source.get(ref, ref)
        if real is not None:
            while ref in self.folding.source and self.graph.nodes[ref.node].op == "Identity":
                ref = self.graph.nodes[ref.node].inputs[0]
            found.append((real, name, kind, ref))
