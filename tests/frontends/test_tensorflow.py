"""GraphDef -> graph: names, frames, outputs, and one clear error for what cannot be imported."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conformance import corpora
from tests.frontends.protobytes import const, data, float32, integer, node, placeholder, shape, tensor, varint
from workbench.errors import FrameError, LoadError, UnknownOpError, WorkbenchError
from workbench.frontends import from_graphdef
from workbench.ir.node import Ref
from workbench.ir.text import parse

FLOAT = integer(6, 1)
ONE = tensor(1, (), float32(5, 1.0))


def frame(name: str, constant: bool = False) -> dict[str, bytes]:
    return {
        "frame_name": data(2, name),
        "is_constant": integer(5, int(constant)),
        "parallel_iterations": integer(3, 10),
    }


#: x + 1 while x < 10, as TensorFlow 1 writes it
LOOP = b"".join(
    [
        placeholder("x"),
        node("Enter", "Enter", "x", T=FLOAT, **frame("loop")),
        node("Merge", "Merge", "Enter", "Next", T=FLOAT),
        const("ten", tensor(1, (), float32(5, 10.0)), "^Merge"),
        node("Less", "Less", "Merge", "ten"),
        node("LoopCond", "LoopCond", "Less"),
        node("Switch", "Switch", "Merge", "LoopCond"),
        node("Identity", "Identity", "Switch:1"),
        const("one", ONE, "^Identity"),
        node("Add", "AddV2", "Identity", "one"),
        node("Next", "NextIteration", "Add"),
        node("Exit", "Exit", "Switch"),
        node("out", "Identity", "Exit:0"),
    ]
)


def test_a_loop_keeps_its_names_and_becomes_a_frame():
    graph = from_graphdef(LOOP)
    assert set(graph.inputs) == {"x:0"} and set(graph.outputs) == {"out:0"}
    assert graph.value("Merge:1") == Ref("Merge", 1) and graph.name_of(Ref("Merge", 0)) == "Merge:0"
    loop = graph.frames[("loop",)]
    assert loop.loop_cond == "LoopCond" and loop.exits == ("Exit",)
    assert [(v.enter, v.merge, v.switch, v.next_iteration, v.exit) for v in loop.variables] == [
        ("Enter", "Merge", "Switch", "Next", "Exit")
    ]
    assert graph.nodes["one"].control == ("Identity",)
    assert graph.frame_of("ten") == ("loop",) and graph.frame_of("out") == ()
    assert parse(graph.text()) == graph


def test_a_path_bytes_and_an_object_give_the_same(tmp_path):
    class GraphDef:
        def SerializeToString(self) -> bytes:  # noqa: N802 - TensorFlow's name
            return LOOP

    path = tmp_path / "graph.pb"
    path.write_bytes(LOOP)
    assert from_graphdef(path) == from_graphdef(LOOP, name="graph") == from_graphdef(GraphDef(), name="graph")
    assert from_graphdef(str(path)).name == "graph"


def test_default_outputs_are_what_nothing_reads():
    raw = b"".join(
        [
            placeholder("x", 10),
            const("a", ONE),
            node("Assert", "Assert", "x", "a"),
            node("NoOp", "NoOp", "^Assert"),
            node("s", "Switch", "a", "x"),
            node("m", "Merge", "s", "s:1"),
            node("parts", "Unpack", "a2", axis=integer(3, 0), num=integer(3, 2)),
            const("a2", tensor(1, (2,), float32(5, 1.0))),
        ]
    )
    assert list(from_graphdef(raw).outputs) == ["m:0", "parts:0", "parts:1"]


def test_named_outputs_leave_the_rest_out():
    raw = const("a", ONE) + node("b", "Identity", "a") + node("c", "NoSuchOp", "b", "^b")
    graph = from_graphdef(raw, outputs=["b"])
    assert list(graph.outputs) == ["b:0"] and set(graph.nodes) == {"a", "b"}
    for wanted in ("d", "b:1"):
        with pytest.raises(LoadError) as caught:
            from_graphdef(raw, outputs=[wanted])
        assert caught.value.slug == "no-such-output"


def test_axes_stay_inputs_and_constant_attributes_become_control_inputs():
    raw = b"".join(
        [
            placeholder("x", 1, 4, 2),
            const("axis", tensor(3, (1,), integer(7, 1))),
            node("sum", "Sum", "x", "axis", keep_dims=integer(5, 1)),
            const("dim", tensor(3, (), integer(7, 0))),
            node("split", "Split", "dim", "sum", num_split=integer(3, 2)),
            node("cat", "ConcatV2", "split:1", "split", "dim"),
        ]
    )
    graph = from_graphdef(raw)
    assert graph.nodes["sum"].inputs == (Ref("x"), Ref("axis")) and graph.nodes["sum"].attrs["keepdims"] is True
    assert graph.nodes["split"].control == ("dim",) and graph.nodes["split"].attrs["axis"] == 0
    assert str(graph.type_of("cat:0")) == "float32[4,1]"


def test_an_output_of_another_number_here_keeps_its_name():
    raw = const("x", tensor(1, (3,), float32(5, 1.0))) + node("u", "Unique", "x", out_idx=integer(6, 3))
    graph = from_graphdef(raw)
    assert graph.outputs["u:1"] == graph.value("u:1") == Ref("u", 2)


def test_all_unknown_ops_in_one_error():
    raw = const("a", ONE) + node("b", "Foo", "a") + node("c", "Bar", "b") + node("d", "Foo", "c")
    with pytest.raises(UnknownOpError) as caught:
        from_graphdef(raw)
    text = str(caught.value)
    assert caught.value.slug == "unknown-op" and all(part in text for part in ("Foo at 'b', 'd'", "Bar at 'c'"))


BAD = {
    "missing input": (node("b", "Identity", "a"), "no-such-node"),
    "missing control input": (const("a", ONE, "^z"), "no-such-node"),
    "no such output": (const("a", ONE) + node("b", "Identity", "a:1"), "no-such-output"),
    "too many inputs": (const("a", ONE) + node("b", "Sqrt", "a", "a"), "wrong-arity"),
    "wrong shape": (
        const("a", tensor(1, (2, 3))) + const("b", tensor(1, (2, 3))) + node("c", "MatMul", "a", "b"),
        "wrong-shape",
    ),
    "nothing is an output": (const("a", ONE) + node("b", "NoOp", "^a"), "no-outputs"),
    "cycle": (node("a", "Identity", "b") + node("b", "Identity", "a") + node("c", "Identity", "b"), "cycle"),
    "next iteration outside": (const("a", ONE) + node("b", "NextIteration", "a"), "frame-not-open"),
    "senseless attribute": (const("a", ONE) + node("b", "Cast", "a", DstT=integer(6, 77)), "unknown-dtype"),
}


@pytest.mark.parametrize("raw, slug", BAD.values(), ids=BAD)
def test_bad_graphs(raw, slug):
    with pytest.raises(WorkbenchError) as caught:
        from_graphdef(raw)
    assert caught.value.slug == slug, caught.value


def test_inputs_from_two_frames_name_both():
    raw = LOOP + const("outer", ONE) + node("bad", "Add", "Identity", "outer") + node("e", "Exit", "bad")
    with pytest.raises(FrameError) as caught:
        from_graphdef(raw)
    assert (
        caught.value.slug == "different-frames" and "'outer'" in str(caught.value) and "'Identity'" in str(caught.value)
    )


def test_something_else_than_a_graphdef():
    with pytest.raises(LoadError) as caught:
        from_graphdef(3.5)
    assert caught.value.slug == "not-a-graphdef"


def test_shapes_of_placeholders():
    raw = placeholder("a", 1, 2, -1) + node("b", "Placeholder", dtype=FLOAT) + node("c", "Add", "a", "b")
    graph = from_graphdef(raw + node("d", "Placeholder", dtype=FLOAT, shape=data(7, shape())))
    assert str(graph.type_of("a:0")) == "float32[2,?]"
    assert str(graph.type_of("b:0")) == "float32[...]" and str(graph.type_of("d:0")) == "float32[]"


def test_packed_lists_in_attributes():
    raw = const("a", tensor(1, (1, 2, 1))) + node(
        "b", "Squeeze", "a", squeeze_dims=data(1, data(3, varint(0) + varint(-1)))
    )
    assert str(from_graphdef(raw).type_of("b:0")) == "float32[2]"


# -- graphs that TensorFlow wrote -----------------------------------------------------------------------------------

#: graph -> frames (path -> names of the loop variables' Merges), Switches outside of loops
STRUCTURE = {
    "simplewhile_1": ({("while/while/",): ["while/Merge", "while/Merge_1"]}, 0),
    "simplewhile_nested": (
        {
            ("while/while/",): ["while/Merge", "while/Merge_1"],
            ("while/while/", "while/while/while/while/"): ["while/while/Merge", "while/while/Merge_1"],
        },
        0,
    ),
    "simple_while": ({("while/while/",): ["while/Merge"]}, 0),
    "while1/iter_3": ({("while/while_context",): ["while/Merge", "while/Merge_1"]}, 0),
    "simple_cond": ({}, 8),
    "case/cond_2": ({}, 12),
}


@pytest.mark.parametrize("name", STRUCTURE)
def test_structure_of_real_graphs(name):
    corpus = corpora.open_corpus()
    if corpus is None:
        pytest.skip(corpora.MISSING)
    graph, item = corpus.graph(name), corpus.item(name)
    frames, switches = STRUCTURE[name]
    assert {p: [v.merge for v in f.variables] for p, f in graph.frames.items() if p} == frames
    assert all(v.switch and v.exit for f in graph.frames.values() for v in f.variables)
    assert len(graph.frames[()].switches) == switches
    assert set(graph.outputs) == set(item.outputs) and set(graph.inputs) == set(item.inputs)
    for label, array in item.outputs.items():
        assert graph.type_of(label).dtype in (str(array.dtype), "any")
    assert parse(graph.text()) == graph


def test_every_graph_of_the_corpus_is_imported_or_refused_clearly():
    corpus = corpora.open_corpus()
    if corpus is None:
        pytest.skip(corpora.MISSING)
    imported = 0
    for name in corpus.names():
        try:
            graph = corpus.graph(name)
        except UnknownOpError as error:
            assert " at '" in str(error), name
            continue
        imported += 1
        assert set(graph.outputs) == set(corpus.item(name).outputs), name
    assert imported >= 56


def test_constants_are_those_that_were_recorded():
    """Constants outside loops fired once, so their recorded values are the reference for the reader."""
    corpus = corpora.open_corpus()
    if corpus is None:
        pytest.skip(corpora.MISSING)
    compared = 0
    for name in STRUCTURE:
        graph, recorded = corpus.graph(name), corpus.trace(name)
        for node_ in graph.nodes.values():
            if node_.op == "Const" and f"{node_.name}:0" in recorded:
                np.testing.assert_array_equal(node_.attrs["value"], recorded[f"{node_.name}:0"][0])
                compared += 1
    assert compared > 20
