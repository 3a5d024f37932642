"""Regions: the structured constructs (loops, branches, calls) of the source that nodes came from, as a tree.

A Loop, Scan, While, If or function call becomes frames, Switches and Merges at import; its nodes keep the construct's
name in ``Node.region``. Regions nest by their names: ``training/choice`` is inside ``training``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.graph.frames import FramePath
from workbench.graph.node import Node

LOOP, BRANCH, CALL = "loop", "branch", "call"


@dataclass(frozen=True, slots=True)
class Region:
    """One construct. ``nodes`` are its own, in graph order, without those of the regions inside it (``children``).

    ``kind`` is loop, branch or call; ``frame`` is the path of a loop's own frame, None for the others.
    """

    name: str
    kind: str
    nodes: tuple[str, ...]
    parent: str | None
    children: tuple[str, ...]
    frame: FramePath | None


def find_regions(nodes: Mapping[str, Node], where: Mapping[str, FramePath]) -> dict[str, Region]:
    """Region name -> region, outer ones first."""
    members: dict[str, list[str]] = {}
    for node in nodes.values():
        if node.region is not None:
            members.setdefault(node.region, []).append(node.name)
    names = sorted(members, key=lambda name: (name.count("/"), name))
    parents = {name: _parent(name, members) for name in names}
    found = {}
    for name in names:
        conds = [n for n in members[name] if nodes[n].op == "LoopCond"]
        kind = LOOP if conds else BRANCH if any(nodes[n].op in ("Switch", "Merge") for n in members[name]) else CALL
        found[name] = Region(
            name, kind, tuple(members[name]), parents[name], tuple(c for c in names if parents[c] == name),
            where[conds[0]] if conds else None,
        )  # fmt: skip
    return found


def _parent(name: str, members: Mapping[str, object]) -> str | None:
    """The nearest region whose name is the beginning of this one's."""
    outer = name.rpartition("/")[0]
    while outer:
        if outer in members:
            return outer
        outer = outer.rpartition("/")[0]
    return None
