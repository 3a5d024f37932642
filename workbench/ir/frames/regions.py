"""Regions: a tree of the structured constructs (loops, branches, calls) of the source to which nodes belong.

A Loop, Scan, While, If or function call becomes frames, Switches and Merges at import; its nodes keep the construct's
name in ``Node.region``. Regions nest by their names: ``training/choice`` is inside ``training``. If the source itself
has frames, as in TensorFlow 1, nodes have no region, and the loops and branches are derived from the wiring.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.ir.frames.frame_tree import ROOT, FramePath
from workbench.ir.frames.wiring import branches_of, loop_name
from workbench.ir.node import Node

LOOP, BRANCH, CALL = "loop", "branch", "call"


@dataclass(frozen=True, slots=True)
class Region:
    """One construct. ``nodes`` are its own, in graph order, without those of its inner regions (``children``).

    ``kind`` is loop, branch or call; ``frame`` is the path of a loop's own frame, None for the others.
    """

    name: str
    kind: str
    nodes: tuple[str, ...]
    parent: str | None
    children: tuple[str, ...]
    frame: FramePath | None


@dataclass(slots=True)
class _Found:
    kind: str
    nodes: list[str]
    parent: str | None
    frame: FramePath | None = None


def find_regions(nodes: Mapping[str, Node], where: Mapping[str, FramePath]) -> dict[str, Region]:
    """Region name -> region, outer ones first. ``nodes`` are in a valid order, ``where`` has the frame of each."""
    found = _named(nodes, where)
    _add_wired(found, nodes, where)
    depths: dict[str, int] = {}
    for name in found:
        depth, at = 0, found[name].parent
        while at is not None:
            depth, at = depth + 1, found[at].parent
        depths[name] = depth
    children: dict[str, list[str]] = {name: [] for name in found}
    names = sorted(found, key=lambda name: (depths[name], name))
    for name in names:
        parent = found[name].parent
        if parent is not None:
            children[parent].append(name)
    return {
        name: Region(name, r.kind, tuple(r.nodes), r.parent, tuple(children[name]), r.frame)
        for name, r in ((name, found[name]) for name in names)
    }


def _named(nodes: Mapping[str, Node], where: Mapping[str, FramePath]) -> dict[str, _Found]:
    """The regions that nodes name."""
    members: dict[str, list[str]] = {}
    for node in nodes.values():
        if node.region is not None:
            members.setdefault(node.region, []).append(node.name)
    found = {}
    for name, inside in members.items():
        conds = [n for n in inside if nodes[n].op == "LoopCond"]
        kind = LOOP if conds else BRANCH if any(nodes[n].op in ("Switch", "Merge") for n in inside) else CALL
        found[name] = _Found(kind, inside, _parent(name, members), where[conds[0]] if conds else None)
    return found


def _parent(name: str, members: Mapping[str, object]) -> str | None:
    """The region with the longest name that is a prefix of this one's."""
    outer = name.rpartition("/")[0]
    while outer:
        if outer in members:
            return outer
        outer = outer.rpartition("/")[0]
    return None


def _add_wired(found: dict[str, _Found], nodes: Mapping[str, Node], where: Mapping[str, FramePath]) -> None:
    """Add the loops and branches of nodes that name no region."""
    # a frame's own region, and the enclosing branch of a node or frame
    loops: dict[FramePath, str] = {r.frame: name for name, r in reversed(found.items()) if r.frame is not None}
    around: dict[str | FramePath, str] = {}
    members: dict[FramePath, list[Node]] = {}
    for name, path in where.items():
        # a graph without frames and Merges has no loops or branches
        if (path or nodes[name].op == "Merge") and path not in members:
            for depth in range(len(path) + 1):
                members.setdefault(path[:depth], [])
    for node in nodes.values():
        if where[node.name] in members:
            members[where[node.name]].append(node)
    wired = branches_of(nodes, where)
    for path in sorted(members, key=len):
        inside = members[path]
        if path and path not in loops and all(n.region is None for n in inside):
            parent = around.get(path) or loops.get(path[:-1])
            loops[path] = _put(found, loop_name(path, inside), _Found(LOOP, [], parent, path))
        for branch in wired.get(path, ()):
            outer = None if branch.outer is None else around.get(branch.outer)
            name = _put(found, branch.name, _Found(BRANCH, [], outer or loops.get(path)))
            around.update((unit, name) for unit in branch.units)
        for node in inside:
            own = around.get(node.name) or loops.get(path, "")
            if node.region is None and own and not (path == ROOT and node.name not in around):
                if not _is_named(found[own], nodes):
                    found[own].nodes.append(node.name)


def _is_named(region: _Found, nodes: Mapping[str, Node]) -> bool:
    return bool(region.nodes) and nodes[region.nodes[0]].region is not None


def _put(found: dict[str, _Found], name: str, region: _Found) -> str:
    """Add a region under its name within its parent's; a name that is already used gets a number."""
    if region.parent is not None and not name.startswith(f"{region.parent}/"):
        name = f"{region.parent}/{name}"
    free, number = name, 0
    while free in found:
        number += 1
        free = f"{name}_{number}"
    found[free] = region
    return free
