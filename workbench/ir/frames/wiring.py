"""Loops and branches recognised from the wiring of frame ops alone, as written by TensorFlow 1.

A loop is a frame. A branch is the nodes between the Switches of one predicate and the Merges of its two sides::

    value -> Switch(pred) -+-> true side  -+-> Merge
                           +-> false side -+

A frame inside a branch counts as one unit of the branch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from workbench.ir.frames.deadness import Deadness, Needs
from workbench.ir.frames.frame_tree import FramePath
from workbench.ir.node import Node, Ref

#: a node, or a direct child frame of the current frame
Unit = str | FramePath


@dataclass(frozen=True, slots=True)
class WiredBranch:
    """One branch of a frame. ``units`` are its nodes and frames, including those of inner branches; ``outer`` is one of
    its units in the same outer branches (None if there are none).
    """

    name: str
    units: tuple[Unit, ...]
    outer: Unit | None


def loop_name(path: FramePath, inside: Sequence[Node]) -> str:
    """The name of a loop: the scope of its LoopCond if the frame is named after it, else the frame's name."""
    frame = path[-1].strip("/") or "loop"
    scopes = [n.name.rpartition("/")[0] for n in inside if n.op == "LoopCond"]
    return scopes[0] if len(scopes) == 1 and scopes[0] and f"{frame}/".startswith(f"{scopes[0]}/") else frame


def branches_of(nodes: Mapping[str, Node], where: Mapping[str, FramePath]) -> dict[FramePath, list[WiredBranch]]:
    """Frame -> its branches, outer ones first, without those whose nodes name a region."""
    merges = [n for n in nodes.values() if n.op == "Merge" and n.region is None and not _closes(nodes, n)]
    if not merges:
        return {}
    deadness = Deadness(nodes, tuple(nodes), where)
    decided: dict[tuple[FramePath, Ref, Needs], list[Node]] = {}
    for merge in merges:
        needs = [deadness.of_value(r) for r in merge.inputs]
        common = frozenset.intersection(*needs)
        predicates = {p for p, side in needs[0] - common if all((p, not side) in n for n in needs[1:])}
        if len(predicates) == 1:
            decided.setdefault((where[merge.name], predicates.pop(), common), []).append(merge)
    found: dict[FramePath, list[tuple[int, WiredBranch]]] = {}
    needs_of = _needs_of_units(nodes, where, deadness, {predicate for _, predicate, _ in decided})
    for (path, predicate, common), joins in decided.items():
        for units, outer in _parts(nodes, where, needs_of[path, predicate], path, predicate, common, joins):
            scope = next(n.name for n in joins if n.name in units)
            branch = WiredBranch(scope.rpartition("/")[0] or scope, tuple(units), outer)
            found.setdefault(path, []).append((len(common), branch))
    return {path: [b for _, b in sorted(each, key=lambda e: e[0])] for path, each in found.items()}


def _closes(nodes: Mapping[str, Node], merge: Node) -> bool:
    return any(nodes[r.node].op == "NextIteration" for r in merge.inputs)


def _needs_of_units(
    nodes: Mapping[str, Node], where: Mapping[str, FramePath], deadness: Deadness, predicates: Set[Ref]
) -> dict[tuple[FramePath, Ref], dict[Unit, Needs]]:
    """By frame and predicate: the units that depend on it, with their needs, and the Switches that decide by it."""
    found: dict[tuple[FramePath, Ref], dict[Unit, Needs]] = {}
    units: list[tuple[FramePath, Unit, Needs]] = [(where[n], n, deadness.needs[n]) for n in nodes]
    units += [(path[:-1], path, needs) for path, needs in deadness.starts.items()]
    for path, unit, needs in units:
        tested = {predicate for predicate, _ in needs}
        if isinstance(unit, str) and nodes[unit].op == "Switch":
            tested.add(deadness.root(nodes[unit].inputs[1]))
        for predicate in tested & predicates:
            found.setdefault((path, predicate), {})[unit] = needs
    return found


def _parts(
    nodes: Mapping[str, Node],
    where: Mapping[str, FramePath],
    needs: Mapping[Unit, Needs],
    path: FramePath,
    predicate: Ref,
    common: Needs,
    joins: Sequence[Node],
) -> list[tuple[list[Unit], Unit | None]]:
    """The connected components between Switches and Merges, which separate two branches of one predicate."""
    sides = ({*common, (predicate, False)}, {*common, (predicate, True)})
    # the Switches of the branch need the decisions around it
    members: dict[Unit, Unit] = {u: u for u, n in needs.items() if n == common or any(n >= side for side in sides)}
    merges = {n.name for n in joins}
    members.update((n, n) for n in merges)

    def root(unit: Unit) -> Unit:
        while members[unit] != unit:
            members[unit] = members[members[unit]]
            unit = members[unit]
        return unit

    def unit_of(name: str) -> Unit:
        at = where[name]
        return name if at == path else at[: len(path) + 1]

    readers = [nodes[u] for u in members if isinstance(u, str)]
    frames = {u for u in members if not isinstance(u, str)}
    if frames:
        readers += [n for n in nodes.values() if n.op == "Enter" and where[n.name] in frames]
    for node in readers:
        reader = unit_of(node.name)
        switch = node.op == "Switch" and needs.get(reader) == common
        if reader not in members or switch:  # the inputs of the branch's Switches are computed before the branch
            continue
        for source in (*(r.node for r in node.inputs), *node.control):
            known = unit_of(source)
            if known in members and known != reader and known not in merges:
                members[root(known)] = root(reader)
    groups: dict[Unit, list[Unit]] = {}
    for unit in members:
        groups.setdefault(root(unit), []).append(unit)
    kept = [g for g in groups.values() if any(u in merges for u in g)]
    named = [g for g in kept if not any(isinstance(u, str) and nodes[u].region is not None for u in g)]
    return [(g, next((u for u in g if u in merges), None) if common else None) for g in named]
