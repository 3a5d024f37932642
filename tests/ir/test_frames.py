"""Raw frame ops, the frame tree, immutability and look-up."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import workbench as wb
from tests.ir.programs import count, nested
from workbench.errors import GraphError
from workbench.ir import LoopVariable, Node, Ref, Tag
from workbench.ir.node import FrozenAttrs


def raw_loop() -> wb.Graph:
    """x = x0; while x < limit: x = x * 2, from the six frame ops alone."""
    b = wb.GraphBuilder("raw")
    x0, limit = b.placeholder("x0"), b.placeholder("limit")
    entered = b.enter(x0, "loop", name="enter")
    bound = b.enter(limit, "loop", is_constant=True, name="bound")
    merged, _ = b.merge(entered, name="merge")
    pred = b.loop_cond(b.less(merged, bound, name="less"), name="cond")
    leaving, going = b.switch(merged, pred, name="switch")
    back = b.next_iteration(b.add(going, going, name="double"), name="next")
    b.add_back_edge(merged, back)
    b.alias("x", merged)
    return b.build({"x_final": b.exit(leaving, name="exit")})


def test_a_raw_loop_runs_and_has_its_frame():
    graph = raw_loop()
    assert graph.run(x0=1.0, limit=20.0) == {"x_final": 32.0}
    frame = graph.frames[("loop",)]
    assert (frame.name, frame.depth, frame.parent, frame.children, frame.loop_cond) == ("loop", 1, (), (), "cond")
    assert set(frame.enters) == {"enter", "bound"} and frame.exits == ("exit",) and frame.merges == ("merge",)
    assert frame.switches == ("switch",) and frame.next_iterations == ("next",)
    assert frame.variables == (LoopVariable("x", "enter", "merge", "next", "switch", "exit"),)


def test_nested_frames_form_a_tree():
    graph = nested()
    assert list(graph.frames) == [(), ("outer",), ("outer", "inner")]
    assert graph.frames[()].children == (("outer",),)
    assert graph.frames[("outer",)].children == (("outer", "inner"),)
    assert [v.name for v in graph.frames[("outer", "inner")].variables] == ["j", "a"]
    assert sorted(n for f in graph.frames.values() for n in f.nodes) == sorted(graph.nodes)
    for name in graph.nodes:
        assert name in graph.frames[graph.frame_of(name)].nodes
    assert graph.frame_of("outer/acc/Exit") == ("outer",)


def test_nodes_are_in_a_valid_order():
    graph = nested()
    position = {n: k for k, n in enumerate(graph.nodes)}
    for node in graph.nodes.values():
        for source in (*(r.node for r in node.inputs), *node.control):
            back = node.op == "Merge" and graph.nodes[source].op == "NextIteration"
            assert back or position[source] < position[node.name]
            assert node.name in graph.consumers(source)


def test_raw_switch_and_merge_outside_of_any_frame():
    b = wb.GraphBuilder()
    x, p = b.placeholder("x"), b.placeholder("p", "bool")
    off, on = b.switch(x, p)
    merged, index = b.merge(off * 10.0, on + 1.0)
    graph = b.build({"y": merged, "which": index})
    assert graph.run(x=2.0, p=True) == {"y": 3.0, "which": 1}
    assert graph.run(x=2.0, p=False) == {"y": 20.0, "which": 0}


def test_a_merge_of_three():
    b = wb.GraphBuilder()
    x, p, q = b.placeholder("x"), b.placeholder("p", "bool"), b.placeholder("q", "bool")
    rest, first = b.switch(x, p)
    third, second = b.switch(rest, q)
    merged, index = b.merge(first + 1.0, second + 2.0, third + 3.0)
    graph = b.build({"y": merged, "which": index})
    for (p_, q_), expected in {(1, 0): (1.0, 0), (1, 1): (1.0, 0), (0, 1): (2.0, 1), (0, 0): (3.0, 2)}.items():
        assert tuple(graph.run(x=0.0, p=bool(p_), q=bool(q_)).values()) == expected


@pytest.mark.parametrize(
    "change",
    [
        lambda g: setattr(g, "name", "other"),
        lambda g: delattr(g, "name"),
        lambda g: g.nodes.__setitem__("new", None),
        lambda g: g.outputs.clear(),
        lambda g: g.names.update(a=1),
        lambda g: g.frames.pop(()),
        lambda g: setattr(g.nodes["start"], "op", "other"),
        lambda g: g.nodes["start"].attrs.__setitem__("dtype", "int8"),
        lambda g: g.nodes["while/Const"].attrs["value"].__setitem__((), 1.0),
        lambda g: setattr(g.frames[()], "path", ("a",)),
        lambda g: setattr(g.type_of("x"), "dtype", "int8"),
    ],
)
def test_nothing_of_a_graph_can_be_changed(change):
    graph = count()
    before = graph.fingerprint
    with pytest.raises((AttributeError, TypeError, ValueError, dataclasses.FrozenInstanceError)):
        change(graph)
    assert graph.fingerprint == before


def test_a_constant_is_a_copy():
    array = np.zeros(3)
    b = wb.GraphBuilder()
    graph = b.build({"c": b.constant(array)})
    array[:] = 7
    assert graph.run()["c"].tolist() == [0.0, 0.0, 0.0]


def test_a_graph_is_only_made_by_its_doors():
    with pytest.raises(TypeError, match="GraphBuilder"):
        wb.Graph()


@pytest.mark.parametrize(
    ("name", "ref"),
    [
        ("x", "while/x/Merge:0"),
        ("start", "start:0"),
        ("while/x/Switch:1", "while/x/Switch:1"),
        ("while/less", "while/less:0"),
    ],
)
def test_look_up(name, ref):
    assert str(count().value(name)) == ref


@pytest.mark.parametrize("name", ["y", "while/x/Switch:2", "", "while/lesss"])
def test_look_up_of_nothing_names_what_was_asked(name):
    with pytest.raises(GraphError) as caught:
        count().value(name)
    assert caught.value.slug == "unknown-value" and repr(name) in str(caught.value)
    if name == "while/lesss":
        assert "did you mean 'while/less'" in str(caught.value)


def test_refs_tags_and_attrs():
    assert Ref.parse("a:b:3") == Ref("a:b", 3) and str(Ref("n", 2)) == "n:2" and Ref.parse("a/b") == Ref("a/b", 0)
    assert str(Tag("n", 1, ("o", "i"), (3, 7))) == "n:1[o 3, i 7]" and hash(Tag("n")) == hash(Tag("n"))
    nan = FrozenAttrs({"b": float("nan"), "a": np.array([np.nan, 1.0])})
    assert nan == FrozenAttrs({"a": np.array([np.nan, 1.0]), "b": float("nan")}) and list(nan) == ["a", "b"]
    assert FrozenAttrs({"a": 1}) != FrozenAttrs({"a": True}) and FrozenAttrs({"a": 1}) != FrozenAttrs({"a": 1.0})
    assert FrozenAttrs({"a": 0.0}) != FrozenAttrs({"a": -0.0})
    assert Node("a", "NoOp").ref(1) == Ref("a", 1)
