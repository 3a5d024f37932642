"""A model's own functions are inlined, and refused if they are recursive or would exhaust the memory."""

from __future__ import annotations

import numpy as np
import pytest

from tests.frontends.models import onnx
from tests.work import Work
from workbench.errors import LoadError
from workbench.frontends import from_onnx

helper = onnx.helper
OPSETS = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]


def function(name: str, *callees: str):
    """``name`` calls its callees one after the other."""
    nodes, last = [], "a"
    for k, callee in enumerate(callees):
        domain = "own" if callee.islower() else ""
        nodes.append(helper.make_node(callee, [last], [f"v{k}"], domain=domain))
        last = f"v{k}"
    return helper.make_function("own", name, ["a"], [last], nodes, OPSETS)


def calling(first: str, *functions):
    graph = helper.make_graph(
        [helper.make_node(first, ["x"], ["y"], domain="own")],
        "g",
        [helper.make_tensor_value_info("x", 1, [])],
        [helper.make_tensor_value_info("y", 1, [])],
    )
    return helper.make_model(graph, functions=functions, opset_imports=OPSETS)


def test_functions_of_functions():
    graph = from_onnx(calling("f", function("f", "g", "Neg", "g"), function("g", "Exp", "Sqrt")))
    x = np.float32(0.5)
    np.testing.assert_allclose(graph.run(x=x)["y"], np.sqrt(np.exp(-np.sqrt(np.exp(x)))), rtol=1e-6)
    assert sum(n.op == "exp" for n in graph.nodes.values()) == 2
    parents = {r.name: r.parent for r in graph.regions.values()}
    assert parents == {"y": None, "y/v0": "y", "y/y_2": "y"}


@pytest.mark.parametrize(
    "functions",
    [[function("f", "f")], [function("f", "g"), function("g", "h"), function("h", "Exp", "f")]],
    ids=["itself", "round about"],
)
def test_recursion_is_refused(functions):
    with pytest.raises(LoadError) as caught:
        from_onnx(calling("f", *functions))
    assert caught.value.slug == "recursive-function" and caught.value.fix


def test_functions_that_would_fill_the_memory_are_refused_before_they_do():
    chain = [function(f"f{k}", f"f{k + 1}", f"f{k + 1}") for k in range(60)]
    model = calling("f0", *chain, function("f60", "Exp"))
    with pytest.raises(LoadError) as caught, Work() as work:
        from_onnx(model)
    assert caught.value.slug == "too-large" and work.calls < 50_000


def test_a_long_chain_of_calls_is_no_recursion():
    chain = [function(f"f{k}", f"f{k + 1}") for k in range(200)]
    graph = from_onnx(calling("f0", *chain, function("f200", "Neg")))
    assert graph.run(x=np.float32(2))["y"] == -2
    with pytest.raises(LoadError, match="levels deep"):
        from_onnx(calling("f0", *[function(f"f{k}", f"f{k + 1}") for k in range(3000)], function("f3000", "Neg")))


NORM = """<ir_version: 10, opset_import: ["" : 17, "own" : 1]>
g (float[2,3] x, float[2,3] z, int64 M) => (float[2,3] y, float[2,3] t) {
    [first] a = own.norm <eps = 0.5> (x)
    true = Constant <value = bool {1}> ()
    [train] y = Loop (M, true, a) <body = body (int64 it, bool c, float[2,3] v) => (bool co, float[2,3] w) {
        [again] w = own.norm (v)
        co = Identity(c)
    }>
    t = own.pick (z)
}
<domain: "own", opset_import: ["" : 17]>
norm <eps: float = 0.25> (x) => (y) {
    m = ReduceMean <axes = [1]> (x)
    d = Sub(x, m)
    e = Constant <value_float: float = @eps> ()
    s = Mul(d, d)
    k = ReduceMean <axes = [1]> (s)
    q = Add(k, e)
    r = Sqrt(q)
    y = Div(d, r)
}
<domain: "own", opset_import: ["" : 17, "own" : 1]>
pick (x) => (r) {
    zero = Constant <value_float = 0.0> ()
    total = ReduceSum <keepdims = 0> (x)
    p = Greater(total, zero)
    [side] r = If (p) <then_branch = then () => (float[2,3] u) { u = own.norm (x) },
                       else_branch = else () => (float[2,3] v) { v = Neg(x) }>
}
"""


def norm(x, eps):
    d = x - x.mean(axis=1, keepdims=True)
    return d / np.sqrt((d * d).mean(axis=1, keepdims=True) + np.float32(eps))


def test_calls_are_regions_with_their_attributes_and_defaults():
    graph = from_onnx(onnx.parser.parse_model(NORM))
    x = np.array([[1, 2, 4], [0, -3, 5]], np.float32)
    for z in (x, -x):
        out = graph.run(x=x, z=z, M=np.int64(2))
        np.testing.assert_allclose(out["y"], norm(norm(norm(x, 0.5), 0.25), 0.25), rtol=1e-5)
        np.testing.assert_allclose(out["t"], norm(z, 0.25) if z.sum() > 0 else -z, rtol=1e-5)
    regions = {r.name: (r.kind, r.parent) for r in graph.regions.values()}
    assert regions == {
        "first": ("call", None),
        "train": ("loop", None),
        "train/again": ("call", "train"),
        "t": ("call", None),
        "t/side": ("branch", "t"),
        "t/side/t/u": ("call", "t/side"),
    }
    assert {"first/m", "first/r", "a"} <= set(graph.regions["first"].nodes)
    assert graph.frame_of("again/m") == ("train",)


def test_calls_equal_onnxruntime():
    ort = pytest.importorskip("onnxruntime")
    model = onnx.parser.parse_model(NORM)
    x = np.array([[1, 2, 4], [0, -3, 5]], np.float32)
    feeds = {"x": x, "z": x, "M": np.array(3)}
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for got, wanted in zip(from_onnx(model).run(feeds).values(), session.run(["y", "t"], feeds), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-5)


def test_a_function_that_gives_back_its_input_and_leaves_one_out():
    text = """<ir_version: 10, opset_import: ["" : 17, "own" : 1]>
    g (float x, float hi) => (float y, float z) { y, z = own.clip (x, , hi) }
    <domain: "own", opset_import: ["" : 17]>
    clip (x, lo, hi) => (x, c) { c = Clip(x, lo, hi) }
    """
    out = from_onnx(onnx.parser.parse_model(text)).run(x=np.float32(3), hi=np.float32(1))
    assert (out["y"], out["z"]) == (3, 1)


def test_functions_keep_the_versions_that_they_were_written_for():
    """Until version 13 the axes of Softmax from `axis` on counted as one, and ReduceSum's axes were an attribute."""
    text = """<ir_version: 10, opset_import: ["" : 17, "own" : 1]>
    g (float[2,3,2] x, bool p) => (y, z, s) {
        y, s = own.old (x, p)
        z = Softmax <axis = 1> (x)
    }
    <domain: "own", opset_import: ["" : 11]>
    old (x, p) => (y, s) {
        s = ReduceSum <axes = [0, 1], keepdims = 0> (x)
        y = If (p) <then_branch = then () => (float[2,3,2] u) { u = Softmax(x) },
                    else_branch = else () => (float[2,3,2] v) { v = Neg(x) }>
    }
    """
    x = np.random.default_rng(5).normal(size=(2, 3, 2)).astype(np.float32)
    out = from_onnx(onnx.parser.parse_model(text)).run(x=x, p=True)
    e = np.exp(x)
    np.testing.assert_allclose(out["y"], e / e.sum(axis=(1, 2), keepdims=True), rtol=1e-5)
    np.testing.assert_allclose(out["z"], e / e.sum(axis=1, keepdims=True), rtol=1e-5)
    np.testing.assert_allclose(out["s"], x.sum(axis=(0, 1)), rtol=1e-4)
