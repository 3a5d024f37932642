"""The nested boxes of a graph: loops, name scopes, repeated blocks, and parts of levels that are still too large.

::

    graph ─► frames ─► calls ─► name scopes (where a level holds more than 24 items) ─► repeated blocks ("×12") ─► parts

Every level then has at most about 60 items, so that it can be shown, however large the graph is. A small graph has only
frames, calls and repeated blocks as boxes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.ir.frames.regions import BRANCH, LOOP
from workbench.ir.graph import Graph
from workbench.ir.op_names import bare_op
from workbench.widgets.graph.model.calls import OF, constructs_of, members
from workbench.widgets.graph.model.constant_inlining import Folding
from workbench.widgets.graph.model.group import Group, frame_id, summary
from workbench.widgets.graph.model.repeats import find_repeats
from workbench.widgets.text.labels import short_name
from workbench.widgets.text.numerals import numeral

#: a level with more items is divided by name scopes; one with more than WIDEST even without them
LEVEL, WIDEST = 24, 60
#: maximum parts of a level
PARTS = 40
#: repeated blocks are searched in levels with more items
REPEATS = 11
#: minimum items of a scope
SCOPE = 3
#: maximum nesting of name scopes and parts
DEEPEST = 40


def find_groups(graph: Graph, folding: Folding) -> dict[str, Group]:
    """Group id -> group, for the nodes that have boxes."""
    return _Grouping(graph, folding).groups


def _title_of(call: str) -> str:
    """The last part of the name; if it is a number with those before it, as in ``layers/0/1``."""
    parts = call.rstrip("/").split("/")
    first = next((k for k in range(len(parts) - 1, 0, -1) if not parts[k].isdigit()), 0)
    return "/".join(parts[first:]) or call


class _Grouping:
    def __init__(self, graph: Graph, folding: Folding) -> None:
        self.graph = graph
        self.structured = folding.structure is not None
        behind = folding.structure.behind if folding.structure is not None else {}
        self.groups: dict[str, Group] = {}
        self.order: dict[str, int] = {name: k for k, name in enumerate(graph.nodes)}
        self.holder: dict[str, str] = {}  # item -> its group, during construction
        regions = graph.regions
        self.calls = {name for name, region in regions.items() if region.kind != LOOP}
        for path in sorted(graph.frames, key=len):
            parent = frame_id(path[:-1]) if path else None
            key = frame_id(path)
            kind, title = ("loop", short_name(path[-1])) if path else ("root", "")
            self.groups[key] = Group(key, kind, title, parent, path)
            first = graph.frames[path].nodes
            self.order[key] = self.order[first[0]] if first else len(self.order)
            if parent is not None:
                self._put(key, parent)
        for name in folding.drawn:
            self._put(name, frame_id(behind.get(name, graph.frame_of(name))))
        self._by_calls()
        levels = [g for g in self.groups.values() if g.kind in ("root", "loop", "call", "branch", "lane")]
        for group in sorted(levels, key=lambda g: len(self._around(g)), reverse=True):  # inside out, for kinds
            group.items.sort(key=self.order.__getitem__)
            self._divide(group, 0)
        self._count()

    def _put(self, item: str, group: str) -> None:
        self.groups[group].items.append(item)
        self.holder[item] = group

    def _add(self, kind: str, key: str, title: str, inside: Group, items: list[str], blocks: int = 0) -> Group:
        group = Group(key, kind, title, inside.id, inside.frame, items, 0, blocks)
        self.groups[key] = group
        self.order[key] = self.order[items[0]]
        for item in items:
            self.holder[item] = key
            if item in self.groups:
                self.groups[item].parent = key
        self.holder[key] = inside.id
        return group

    def _around(self, group: Group) -> list[str]:
        """Ids of the groups around a group."""
        found, at = [], group.parent
        while at is not None:
            found.append(at)
            at = self.groups[at].parent
        return found

    # -- calls and branches -----------------------------------------------------------------------------------------
    def _by_calls(self) -> None:
        """A box for each call of a function, with its loops and calls; in a structured picture also for each branch,
        with a box for each side.
        """
        regions = self.graph.regions
        calls = constructs_of(self.graph, self.structured)
        for depth in range(min(max(map(len, calls.values()), default=0), DEEPEST)):
            for (holder, call), items in members(calls, self.holder.items(), depth).items():
                group, inside = self.groups[holder], set(items)
                items.sort(key=self.order.__getitem__)
                kind = "lane" if OF in call else "branch" if regions[call].kind == BRANCH else "call"
                title = call.rpartition(OF)[2] if kind == "lane" else _title_of(call)
                inner = self._add(kind, f"{kind}\n{call}\n{holder}", title, group, items)
                group.items = [*(item for item in group.items if item not in inside), inner.id]

    def _divide(self, group: Group, depth: int) -> None:
        if len(group.items) > LEVEL and depth < DEEPEST:
            self._by_scope(group, depth)
        self._divide_rest(group, depth)

    # -- name scopes ------------------------------------------------------------------------------------------------
    def _parts(self, item: str) -> list[str]:
        """The scopes of an item, from its name and its function or branch."""
        group = self.groups.get(item)
        if group is not None:
            return [p for p in group.frame[-1].split("/") if p] if group.kind == "loop" else []
        region = self.graph.nodes[item].region
        if region in self.calls and region is not None and not item.startswith(region):
            item = f"{region}/{item}"
        return [p for p in item.split("/") if p]

    def _by_scope(self, group: Group, depth: int) -> None:
        parts = {item: self._parts(item)[:DEEPEST] for item in group.items}
        level = 0
        while True:
            scopes: dict[str, list[str]] = {}
            for item, names in parts.items():
                if len(names) > level + 1:
                    scopes.setdefault(names[level], []).append(item)
            # a prefix that nearly all items share is not informative
            if len(scopes) != 1 or len(group.items) - len(*scopes.values()) > LEVEL // 2 or level > DEEPEST:
                break
            level += 1
        self._scopes(group, parts, level, depth)

    def _scopes(self, group: Group, parts: Mapping[str, Sequence[str]], level: int, depth: int) -> None:
        scopes: dict[str, list[str]] = {}
        for item in group.items:
            if len(parts[item]) > level + 1:
                scopes.setdefault(parts[item][level], []).append(item)
        members: dict[str, None] = dict.fromkeys(group.items)
        made = []
        for scope, items in scopes.items():
            if len(items) < SCOPE or len(items) == len(group.items):
                continue
            for item in items:
                del members[item]
            base = group.id if group.id.startswith("scope\n") else f"scope\n{group.id}\n"
            inner = self._add("scope", f"{base}\n{scope}", scope, group, items)
            members[inner.id] = None
            made.append(inner)
        group.items = sorted(members, key=self.order.__getitem__)
        for inner in made:
            if len(inner.items) > LEVEL and depth < DEEPEST:
                self._scopes(inner, parts, level + 1, depth + 1)
            self._divide_rest(inner, depth + 1)

    def _divide_rest(self, group: Group, depth: int) -> None:
        if len(group.items) > REPEATS:
            self._by_repeats(group)
        if len(group.items) > WIDEST:
            self._by_parts(group, depth)

    # -- repeated blocks --------------------------------------------------------------------------------------------
    def _by_repeats(self, group: Group) -> None:
        items, reads = group.items, self.graph.reads
        inside = [self._nodes(item) for item in items]
        place = {node: k for k, nodes in enumerate(inside) for node in nodes}
        sources = [
            sorted({place[s] for node in nodes for s in reads[node] if place.get(s, k) != k})
            for k, nodes in enumerate(inside)
        ]
        kinds = [self._kind(item) for item in items]
        weights = [len(nodes) for nodes in inside]
        rest: list[str] = []
        at = 0
        for repeat in find_repeats(kinds, sources, weights):
            rest += items[at : repeat.start]
            blocks = [items[k : k + repeat.period] for k in range(repeat.start, repeat.stop, repeat.period)]
            rest.append(self._repeat(group, blocks))
            at = repeat.stop
        group.items = rest + items[at:]

    def _repeat(self, group: Group, blocks: list[list[str]]) -> str:
        key = f"repeat\n{group.id}\n{blocks[0][0]}"
        title = self._title(blocks[0])
        whole = self._add("repeat", key, title, group, [b[0] for b in blocks], len(blocks))
        if len(blocks[0]) > 1:
            whole.items = []
            for number, items in enumerate(blocks, 1):
                block = self._add("block", f"{key}\n{number}", f"block {number}", whole, items)
                whole.items.append(block.id)
        if len(whole.items) > WIDEST:
            self._by_parts(whole, 0)
        return key

    def _title(self, items: Sequence[str]) -> str:
        first = items[0]
        if len(items) == 1 and first in self.groups:
            return self.groups[first].title.rstrip("0123456789").rstrip("_.-") or self.groups[first].title
        return summary(self._op(item) for item in items)

    def _op(self, item: str) -> str:
        if item in self.groups:
            return self.groups[item].title
        return bare_op(self.graph.nodes[item].op)

    def _kind(self, item: str) -> tuple[object, ...]:
        """Key of an item; items with equal keys are alike."""
        if item not in self.groups:
            node = self.graph.nodes[item]
            return (node.op, *[(t.dtype, None if t.shape is None else len(t.shape)) for t in node.types])
        group = self.groups[item]
        return (group.kind, *(self.graph.nodes[n].op for n in self._nodes(item)))

    def _nodes(self, item: str) -> list[str]:
        """The nodes in an item, in order."""
        if item not in self.groups:
            return [item]
        found, stack = [], [item]
        while stack:
            current = stack.pop()
            if current in self.groups:
                stack.extend(reversed(self.groups[current].items))
            else:
                found.append(current)
        return found

    # -- parts ------------------------------------------------------------------------------------------------------
    def _by_parts(self, group: Group, depth: int) -> None:
        """Stretches of the execution order, which never depend on each other in a cycle."""
        items = group.items
        many = -(-len(items) // WIDEST)
        size = -(-len(items) // min(max(many, 2), PARTS))
        group.items = []
        for start in range(0, len(items), size):
            piece = items[start : start + size]
            title = f"items {numeral(start + 1)}\u2013{numeral(start + len(piece))}"
            part = self._add("part", f"part\n{group.id}\n{start}", title, group, piece)
            part.note = summary(map(self._op, piece))
            group.items.append(part.id)
            if len(piece) > WIDEST and depth < DEEPEST:
                self._by_parts(part, depth + 1)

    def _count(self) -> None:
        for key in list(self.groups):
            self.groups[key].size = 0
        for item, holder in self.holder.items():
            if item in self.groups:
                continue
            at: str | None = holder
            while at is not None:
                self.groups[at].size += 1
                at = self.groups[at].parent
