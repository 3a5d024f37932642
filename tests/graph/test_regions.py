"""The regions of a graph: its loops and branches as a tree."""

from __future__ import annotations

import workbench as wb
from tests.graph.programs import nested


def test_a_branch_in_a_loop():
    b = wb.GraphBuilder("g")
    a = b.placeholder("a")
    x = b.while_loop(lambda x: x < 9.0, lambda x: b.cond(x > 3.0, lambda: x * 2.0, lambda: x + a), {"x": a})
    graph = b.build(x)
    assert list(graph.regions) == ["while", "while/cond"]
    loop, branch = graph.regions.values()
    assert (loop.kind, loop.parent, loop.frame, loop.children) == ("loop", None, ("while",), ("while/cond",))
    assert (branch.kind, branch.parent, branch.frame, branch.children) == ("branch", "while", None, ())
    assert "while/LoopCond" in loop.nodes and "while/cond/Merge" in branch.nodes
    assert not set(loop.nodes) & set(branch.nodes)
    assert {n for r in (loop, branch) for n in r.nodes} == {n.name for n in graph.nodes.values() if n.region}


def test_nested_loops_have_their_own_frames():
    regions = nested().regions
    inner = next(r for r in regions.values() if r.parent is not None)
    assert inner.kind == "loop" and inner.frame is not None and len(inner.frame) == 2
    assert regions[inner.parent].frame == inner.frame[:1] and inner.name in regions[inner.parent].children


def test_a_graph_without_constructs_has_none():
    b = wb.GraphBuilder("g")
    assert not b.build(b.placeholder("a") + 1.0).regions
