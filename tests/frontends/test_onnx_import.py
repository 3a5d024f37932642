"""ONNX model -> graph: frames, branches, names, types; and one clear error for what cannot be imported."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from tests.frontends.models import CASES, HEAD, model, onnx
from workbench.errors import LoadError, UnknownOpError, WorkbenchError
from workbench.frontends import from_onnx
from workbench.ir.node import Ref
from workbench.ir.text import parse


def graph(name: str):
    return from_onnx(model(CASES[name][0]))


@pytest.mark.parametrize("name", CASES)
def test_every_case_is_imported_and_its_text_reads_back(name):
    made = graph(name)
    assert parse(made.text()) == made
    proto = model(CASES[name][0])
    assert list(made.inputs) == [v.name for v in proto.graph.input]
    assert list(made.outputs) == [v.name for v in proto.graph.output]


def test_a_loop_becomes_a_frame_with_the_models_names():
    made = graph("newton with trip count, condition and scan output")
    loop = made.frames[("loop",)]
    assert [v.name for v in loop.variables] == ["loop/it", "loop/c", "loop/x", "loop/x_each/list"]
    # a name of the body is the value in the body, which fires once a trip; the Merge fires once more
    assert made.value("x") == Ref("loop/x/Switch", 1) and made.value("loop/x") == Ref("loop/x/Merge")
    assert made.frame_of("ad") == ("loop",) and made.nodes["ad"].region == "loop"
    assert made.nodes[made.value("xN").node].op == "Exit"
    assert str(made.type_of("xs")) == "float32[?]" and str(made.type_of("xo")) == "float32[]"
    assert made.nodes["half"].control == ("loop/pivot",)


def test_nested_loops_are_nested_frames():
    made = graph("nested loops, captured values, scan outputs of both")
    inner = ("loop", "loop/loop")
    assert set(made.frames) == {(), ("loop",), inner}
    assert made.frame_of("t") == inner
    # a value of the outermost graph enters both frames as an invariant
    enters = [made.nodes[n] for n in made.frames[inner].enters]
    assert sum(n.attrs["is_constant"] for n in enters) >= 2


def test_a_branch_has_switches_and_a_merge():
    made = graph("branches in a loop")
    merge = made.nodes["xo"]
    assert merge.op == "Merge" and [r.node for r in merge.inputs] == ["r2", "r"] and merge.region == "loop/if"
    assert made.frame_of("r") == ("loop",)
    # a constant in a branch lives only there
    assert made.nodes[made.nodes["three"].control[0]].op == "Identity"


def test_names_that_occur_twice():
    text = """g (bool p, float x) => (float y) {
        y = If (p) <then_branch = t () => (float r) { one = Constant <value = float {1}> () r = Add(x, one) },
                    else_branch = e () => (float r2) { one = Constant <value = float {2}> () r2 = Add(x, one) }>
    }"""
    made = from_onnx(model(text))
    ones = [made.value("one"), made.value("if/one")]
    assert [float(made.nodes[r.node].attrs["value"]) for r in ones] == [2.0, 1.0]


def test_a_limit_that_means_none_is_left_out():
    text = """g (float x0) => (float xN) {
        M = Constant <value = int64 {9223372036854775807}> ()
        true = Constant <value = bool {1}> ()
        xN = Loop (M, true, x0) <body = body (int64 it, bool c, float x) => (bool co, float xo) {
          lim = Constant <value = float {5}> ()
          xo = Add(x, lim)
          co = Less(xo, lim)
        }>
    }"""
    made = from_onnx(model(text))
    assert not any(n.op == "less" and n.region == "loop" and n.name != "co" for n in made.nodes.values())


def test_opset_variants_give_the_same_ops():
    new = from_onnx(
        model(
            "g (float[2,1,3] x) => (float[2] y) { a = Constant <value = int64[1] {1}> () "
            "s = Squeeze(x, a) y = ReduceMax <axes = [1], keepdims = 0> (s) }"
        )
    )
    old = from_onnx(
        model(
            "g (float[2,1,3] x) => (float[2] y) { s = Squeeze <axes = [1]> (x) "
            "y = ReduceMax <axes = [1], keepdims = 0> (s) }",
            '<ir_version: 7, opset_import: ["" : 11]>\n',
        )
    )
    for made in (new, old):
        assert [n.op for n in made.nodes.values() if n.op not in ("Placeholder", "Const")] == ["squeeze", "max"]
        assert str(made.type_of("y")) == "float32[2]"


def test_integer_division_goes_towards_zero():
    made = from_onnx(model("g (int32[2] x, int32[2] y) => (int32[2] z) { z = Div(x, y) }"))
    assert made.nodes["z"].op == "truncate_divide"


def test_initializers_and_old_default_inputs():
    proto = model("g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }")
    proto.graph.input.append(onnx.helper.make_tensor_value_info("w", 1, [2]))
    made = from_onnx(proto)
    assert list(made.inputs) == ["x"]
    np.testing.assert_array_equal(made.nodes["w"].attrs["value"], np.array([1, 2], np.float32))


def test_foreign_ops_carry_their_node_and_their_type():
    made = graph("ops that only the reference evaluator has")
    node = made.nodes["y"]
    assert node.op == "onnx:ThresholdedRelu" and made.type_of("y").dtype == "float32"
    assert onnx.NodeProto.FromString(node.attrs["node"]).op_type == "ThresholdedRelu"


def test_functions_of_the_model_are_inlined():
    text = """<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
        g (float x) => (float y) { y = own.twice(x) }
        <domain: "own", opset_import: ["" : 17]> twice (a) => (b) { b = Add(a, a) }"""
    made = from_onnx(onnx.parser.parse_model(text))
    assert made.nodes[made.outputs["y"].node].op == "add"


def test_all_unknown_ops_in_one_error():
    proto = onnx.helper.make_model(
        onnx.helper.make_graph(
            [
                onnx.helper.make_node("Foo", ["x"], ["a"], "first", domain="com.example"),
                onnx.helper.make_node("Bar", ["a"], ["y"], "second"),
            ],
            "g",
            [onnx.helper.make_tensor_value_info("x", 1, [])],
            [onnx.helper.make_tensor_value_info("y", 1, [])],
        )
    )
    with pytest.raises(UnknownOpError) as caught:
        from_onnx(proto)
    assert all(part in str(caught.value) for part in ("com.example:Foo", "'first'", "Bar", "'second'"))


def test_outputs_can_be_chosen():
    proto = model("g (float x) => (float y) { a = Neg(x) y = Exp(a) }")
    assert list(from_onnx(proto, outputs=["a"]).outputs) == ["a"]
    with pytest.raises(LoadError) as caught:
        from_onnx(proto, outputs=["aa"])
    assert caught.value.slug == "no-such-output" and "a" in str(caught.value.fix)


def test_the_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(LoadError) as caught:
        from_onnx(b"")
    assert caught.value.slug == "missing-extra" and "onnxruntime>=" in str(caught.value)


def twice():
    proto = model("g (float x) => (float y) { a = Neg(x) y = Exp(a) }")
    proto.graph.node.append(proto.graph.node[0])
    return proto


def bodyless():
    proto = model(CASES["trip count only"][0])
    del proto.graph.node[0].attribute[:]
    return proto


def short_body():
    proto = model(CASES["trip count only"][0])
    del proto.graph.node[0].attribute[0].g.output[1:]
    return proto


def bad_tensor():
    proto = model("g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }")
    proto.graph.initializer[0].dims[0] = 10**12
    return proto


def float6():
    """An element type without a counterpart in arrays."""
    proto = onnx.parser.parse_model(HEAD + "g () => (float y) <float w = {1}> { y = Identity(w) }")
    proto.graph.initializer[0].data_type = getattr(onnx.TensorProto, "FLOAT6E2M3", 99)  # not in onnx 1.16
    return proto


BAD = {
    "a value made twice": (twice, "duplicate-name"),
    "a loop without a body": (bodyless, "bad-model"),
    "a body with too few outputs": (short_body, "bad-loop"),
    "a tensor that lies": (bad_tensor, "bad-tensor"),
    "nothing in it": (lambda: onnx.ModelProto(), "not-onnx"),
    "float6": (float6, "unknown-dtype"),
    "wrong shapes": (
        lambda: onnx.parser.parse_model(HEAD + "g (float[2,3] a, float[2,3] b) => (float[2,2] c) { c = MatMul(a, b) }"),
        "wrong-shape",
    ),
}


@pytest.mark.parametrize("make, slug", BAD.values(), ids=BAD)
def test_bad_models(make, slug):
    with pytest.raises(WorkbenchError) as caught:
        from_onnx(make())
    assert caught.value.slug == slug, caught.value
