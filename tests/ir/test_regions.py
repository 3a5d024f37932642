"""The regions of a graph: its loops and branches as a tree."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.conformance.corpora import MISSING, open_corpus
from tests.ir.programs import nested
from workbench.ir.graph import Graph
from workbench.ir.node import FrozenAttrs, Node, Ref


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


def without_names(graph):
    """The same wiring, as TensorFlow 1 writes it: no node says which construct it belongs to."""
    nodes = [Node(n.name, n.op, n.inputs, n.control, n.attrs) for n in graph.nodes.values()]
    return Graph.from_nodes(graph.name, nodes, inputs=graph.inputs, outputs=graph.outputs)


def test_nested_loops_and_a_branch_are_told_from_the_wiring():
    named, wired = nested().regions, without_names(nested()).regions
    assert {(r.kind, r.frame) for r in wired.values()} == {(r.kind, r.frame) for r in named.values()}
    kinds = {name: (r.kind, None if r.parent is None else wired[r.parent].kind) for name, r in wired.items()}
    assert sorted(kinds.values(), key=str) == [("branch", "loop"), ("loop", "loop"), ("loop", None)]


def test_a_loop_in_a_branch_in_a_loop_is_told_from_the_wiring():
    b = wb.GraphBuilder("g")
    a = b.placeholder("a")

    def body(x):
        return b.cond(x > 3.0, lambda: b.while_loop(lambda y: y < 5.0, lambda y: y + 1.0, {"y": x})["y"], lambda: x + a)

    graph = without_names(b.build(b.while_loop(lambda x: x < 9.0, body, {"x": a})))
    outer, branch, inner = graph.regions.values()
    assert [r.kind for r in (outer, branch, inner)] == ["loop", "branch", "loop"]
    assert (outer.parent, branch.parent, inner.parent) == (None, outer.name, branch.name)
    assert outer.frame == inner.frame[:1] and set(inner.nodes) == set(graph.frames[inner.frame].nodes)
    assert {*outer.nodes, *branch.nodes} == set(graph.frames[outer.frame].nodes)
    assert wb.parse(graph.text()).regions == graph.regions


def test_two_branches_of_one_predicate_are_two_regions():
    p, x = Ref("p"), Ref("x")
    nodes = [
        Node("p", "Placeholder", (), (), FrozenAttrs({"dtype": "bool", "shape": ()})),
        Node("x", "Placeholder", (), (), FrozenAttrs({"dtype": "float32", "shape": ()})),
    ]
    for scope, value in (("one", x), ("two", Ref("one/Merge"))):
        nodes += [
            Node(f"{scope}/Switch", "Switch", (value, p)),
            Node(f"{scope}/neg", "negative", (Ref(f"{scope}/Switch", 1),)),
            Node(f"{scope}/Merge", "Merge", (Ref(f"{scope}/Switch", 0), Ref(f"{scope}/neg"))),
        ]
    graph = Graph.from_nodes("g", nodes, inputs={"p": p, "x": x}, outputs={"y": Ref("two/Merge")})
    found = {r.name: (r.kind, r.nodes) for r in graph.regions.values()}
    assert found == {s: ("branch", (f"{s}/Switch", f"{s}/neg", f"{s}/Merge")) for s in ("one", "two")}


@pytest.mark.skipif(open_corpus() is None, reason=MISSING)
def test_every_frame_of_tensorflow_1_is_a_region():
    corpus = open_corpus()
    branches = 0
    for name in corpus.names():
        graph = corpus.graph(name)
        loops = {r.frame: r for r in graph.regions.values() if r.kind == "loop"}
        assert set(loops) == set(graph.frames) - {()}, name
        seen = [n for r in graph.regions.values() for n in r.nodes]
        assert len(seen) == len(set(seen)), name
        for path, loop in loops.items():
            inside = {
                *loop.nodes,
                *(n for c in loop.children if graph.regions[c].kind == "branch" for n in graph.regions[c].nodes),
            }
            assert inside == set(graph.frames[path].nodes), name
            assert loop.parent == (loops[path[:-1]].name if len(path) > 1 else None), name
        # tf.cond puts what it makes under its own name; its Switches and its Merge are in the region of that name
        for region in graph.regions.values():
            if region.kind == "branch":
                branches += 1
                assert all(
                    n.startswith(f"{region.name}/") or graph.nodes[n].op in ("Switch", "Identity", "Const")
                    for n in region.nodes
                ), (name, region)
        told = {n for n in seen if graph.nodes[n].op == "Merge"}
        assert told == {n.name for n in graph.nodes.values() if n.op == "Merge"}, name
    assert branches == 83
