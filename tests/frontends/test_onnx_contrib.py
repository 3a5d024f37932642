"""Ops of onnxruntime outside the standard: each loads, runs, and gives onnxruntime's own bits."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import workbench as wb
from tests.frontends.contrib import ML, MS, NCHWC, Case, cases, info
from tests.frontends.contrib_newer import newer
from tests.work import Work
from workbench.execution import prepare_feeds
from workbench.frontends import from_onnx
from workbench.frontends.onnx.foreign import entry, gate, runtime
from workbench.ir.types import STRING
from workbench.session import plan_for

ort = pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
if isinstance(runtime.runtime(), str):
    pytest.skip(f"no onnxruntime to call: {runtime.runtime()}", allow_module_level=True)

CASES = {str(c): c for c in (*cases(), *newer())}
#: CPU kernels without a case, and why
LEFT_OUT = {
    "BeamSearch": "has graphs of its own",
    "GreedySearch": "has graphs of its own",
    "Sampling": "has graphs of its own",
    "WhisperBeamSearch": "has graphs of its own",
    "SparseToDenseMatMul": "takes a sparse tensor",
    "SparseAttention": "wants outputs in the memory of its inputs",
    **dict.fromkeys(("GatherPacked", "MatMulFpQ4"), "takes weights in a packed format that only its own tools write"),
}


def by_onnxruntime(model: onnx.ModelProto, feeds: dict) -> list:
    options = ort.SessionOptions()
    options.log_severity_level = 4  # the default threads: DynamicQuantizeLSTM quantises the part of each thread
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, feeds)


def microsoft(op: str, source: str, result: str) -> onnx.NodeProto:
    return helper.make_node(op, [source], [result], domain=MS)


def model_of(nodes, inputs, outputs, opset=18, **more) -> onnx.ModelProto:
    graph = helper.make_graph(nodes, "g", inputs, outputs, **more)
    domains = {n.domain for n in nodes} - {""}
    sets = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in domains)]
    return helper.make_model(graph, opset_imports=sets, ir_version=9)


def same(wanted, got) -> None:
    if isinstance(wanted, list):
        assert list(got) == wanted
        return
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)


def packed(array: np.ndarray) -> bool:
    """True if the Python interface of onnxruntime does not accept an array."""
    return array.dtype.kind == "V"


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_an_op_of_onnxruntime(name):
    """With the weights as constants and as inputs, both give the same types and bits; types are right."""
    case = CASES[name]
    for fed in (False, True):
        model, feeds = case.model(fed=fed), {**case.feeds, **(case.weights if fed else {})}
        graph = from_onnx(model)
        found = graph.run(feeds)
        again = {**case.feeds, **({} if any(map(packed, case.feeds.values())) else case.weights if fed else {})}
        if not any(map(packed, again.values())):
            for wanted, got in zip(by_onnxruntime(model, again), found.values(), strict=True):
                same(wanted, got)
        for output, ref in graph.outputs.items():
            declared = graph.type_of(ref)
            assert declared.dtype == (STRING if found[output].dtype == object else found[output].dtype.name)
            assert declared.shape is None or all(
                a in (None, b) for a, b in zip(declared.shape, found[output].shape, strict=True)
            )
        with wb.Session(graph, feeds, trace="all") as session:
            session.run()
            for output in graph.outputs:
                np.testing.assert_array_equal(session.value(output), found[output])
            assert "onnxruntime" in {slug for slug, _ in session.plan.reasons.values()}


def test_all_cpu_kernels_have_a_case_or_a_reason():
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    kernels = {(k.domain, k.op_name) for k in state.get_all_opkernel_def() if k.domain in (MS, NCHWC)}
    have = {(c.domain, c.op) for c in CASES.values()}
    newer = kernels - have - {(MS, op) for op in LEFT_OUT}
    if ort.__version__.startswith("1.32."):  # later releases have more
        assert not newer


def body_of(kind: str, inner: list, result: str) -> onnx.ModelProto:
    """A model with the ``inner`` nodes, from x to ``result``, in the body of a Loop or an If."""
    f3 = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    if kind == "If":
        outs = [onnx.ValueInfoProto(name=result)]
        other = helper.make_graph([helper.make_node("Neg", ["x"], ["no"])], "e", [], [onnx.ValueInfoProto(name="no")])
        node = helper.make_node(
            "If", ["c"], ["y"], then_branch=helper.make_graph(inner, "t", [], outs), else_branch=other
        )
        inputs = [f3, helper.make_tensor_value_info("c", TensorProto.BOOL, [])]
    else:
        for n in inner:
            n.input[:] = ["v" if i == "x" else i for i in n.input]
        body = helper.make_graph(
            [*inner, helper.make_node("Identity", ["c"], ["d"])],
            "b",
            [
                helper.make_tensor_value_info("i", TensorProto.INT64, []),
                helper.make_tensor_value_info("c", TensorProto.BOOL, []),
                helper.make_tensor_value_info("v", TensorProto.FLOAT, [2, 3]),
            ],
            [
                helper.make_tensor_value_info("d", TensorProto.BOOL, []),
                helper.make_tensor_value_info(result, TensorProto.FLOAT, [2, 3]),
            ],
        )
        node = helper.make_node("Loop", ["n", "", "x"], ["y"], body=body)
        inputs = [f3, helper.make_tensor_value_info("n", TensorProto.INT64, [])]
    made = model_of([node], inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])])
    made.opset_import.add(domain=MS, version=1)
    return made


@pytest.mark.parametrize("kind", ["Loop", "If"])
def test_in_bodies(kind):
    inner = [microsoft("QuickGelu", "x", "a"), microsoft("FastGelu", "a", "z")]
    model = body_of(kind, inner, "z")
    feeds = {"x": np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)}
    feeds |= {"c": np.array(True)} if kind == "If" else {"n": np.array(3, np.int64)}
    same(by_onnxruntime(model, feeds)[0], from_onnx(model).run(feeds)["y"])


def chain(nodes: int, op: str = "FusedConv", seed: int = 0) -> onnx.ModelProto:
    rng = np.random.default_rng(seed)
    weights = {f"w{k}": rng.standard_normal((4, 4, 1, 1)).astype(np.float32) for k in range(nodes)}
    made = [
        helper.make_node(op, [f"x{k}", f"w{k}"], [f"x{k + 1}"], domain=MS, activation="Relu", kernel_shape=[1, 1])
        for k in range(nodes)
    ]
    x, last = info("x0", np.zeros((1, 4, 5, 5), np.float32)), onnx.ValueInfoProto(name=f"x{nodes}")
    constants = [onnx.numpy_helper.from_array(a, n) for n, a in weights.items()]
    return model_of(made, [x], [last], initializer=constants)


def test_loading_asks_once_for_equal_nodes_and_makes_no_session_that_stays(monkeypatch):
    made, asked = [], []
    real, question = entry.NodeSession, gate.result_types
    monkeypatch.setattr(entry, "NodeSession", lambda *a: made.append(1) or real(*a))
    monkeypatch.setattr(gate, "result_types", lambda *a: asked.append(1) or question(*a))
    gate._cached_types.cache_clear()
    model = chain(1000)
    with Work() as work:
        graph = from_onnx(model)
    assert work.calls < 1500 * 1000, "calls for each node"
    assert len(asked) == 1 and not made
    x = np.ones((1, 4, 5, 5), np.float32)
    graph = from_onnx(chain(20))
    same(by_onnxruntime(chain(20), {"x0": x})[0], graph.run({"x0": x})["x20"])
    assert len(made) == 20


def test_types_go_on_behind_ops_of_onnxruntime():
    """ONNX's own inference ends at an op that it does not know."""
    nodes = [
        microsoft("QuickGelu", "x", "a"),
        helper.make_node("MaxPool", ["a"], ["b"], kernel_shape=[2, 2]),
        helper.make_node("Exp", ["b"], ["c"]),
        microsoft("FastGelu", "c", "y"),
    ]
    x = info("x", np.zeros((1, 2, 6, 6), np.float32))
    made = from_onnx(model_of(nodes, [x], [onnx.ValueInfoProto(name="y")]))
    assert [str(made.type_of(made.names[n])) for n in "abcy"] == ["float32[1,2,6,6]", *["float32[1,2,5,5]"] * 3]


def refusal(node: onnx.NodeProto, dtype: int = TensorProto.FLOAT) -> str:
    inputs = [helper.make_tensor_value_info(n, dtype, [2, 2]) for n in node.input]
    with pytest.raises(wb.WorkbenchError) as caught:
        from_onnx(model_of([node], inputs, [onnx.ValueInfoProto(name=o) for o in node.output]))
    assert caught.value.slug == "unknown-op"
    return str(caught.value)


def test_refusals_say_why():
    assert "neither" in refusal(helper.make_node("Foo", ["x"], ["y"], domain=MS))
    assert "neither" in refusal(helper.make_node("Foo", ["x"], ["y"], domain="my.own"))
    said = refusal(helper.make_node("QuickGelu", ["x"], ["y"], domain=MS), TensorProto.INT64)
    assert "onnxruntime does not take it" in said and "int64" in said
    norm = helper.make_node("GroupNorm", ["x", "g", "b"], ["y"], domain=MS, groups=1, activation=0)
    assert "implementation" in refusal(norm)
    body = helper.make_graph([], "b", [], [])
    said = refusal(helper.make_node("GreedySearch", ["x", "n"], ["y"], domain=MS, decoder=body))
    assert "graph of its own" in said


def test_extensions_are_asked_for_by_name(monkeypatch):
    monkeypatch.setattr(gate.extensions.importlib.util, "find_spec", lambda name: None)
    for domain in gate.extensions.DOMAINS:
        said = refusal(helper.make_node("BertTokenizer", ["x"], ["a", "b"], domain=domain), TensorProto.STRING)
        assert "onnxruntime_extensions, which is not installed" in said


def test_without_onnxruntime(monkeypatch):
    monkeypatch.setattr(gate, "runtime", lambda: "it is not installed")
    gate._cached_types.cache_clear()
    assert "onnxruntime is not available: it is not installed" in refusal(microsoft("Gelu", "x", "y"))
    gate._cached_types.cache_clear()


def test_types_that_come_with_the_values():
    """The op is known, its inputs are not: it loads, and reports the error when it runs."""
    nodes = [helper.make_node("OptionalGetElement", ["o"], ["x"]), microsoft("QuickGelu", "x", "y")]
    kind = helper.make_optional_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None))
    model = model_of(nodes, [helper.make_value_info("o", kind)], [onnx.ValueInfoProto(name="y")])
    x = np.linspace(-1, 1, 5, dtype=np.float32)
    made = from_onnx(model)
    wanted = Case("QuickGelu", {"x": x}).model()
    same(by_onnxruntime(wanted, {"x": x})[0], made.run({"o": x})["y"])


def classifier(strings: bool) -> onnx.ModelProto:
    """The default output of skl2onnx."""
    labels = {"classlabels_strings": ["a", "b", "c"]} if strings else {"classlabels_ints": [1, 5, 9]}
    theirs = {"classlabels_int64s" if k == "classlabels_ints" else k: v for k, v in labels.items()}
    key = TensorProto.STRING if strings else TensorProto.INT64
    nodes = [
        helper.make_node(
            "LinearClassifier",
            ["x"],
            ["label", "p"],
            domain=ML,
            post_transform="SOFTMAX",
            multi_class=1,
            coefficients=[1.0, 2, 3, 4, 5, 6],
            intercepts=[0.0, 1, 2],
            **labels,
        ),
        helper.make_node("ZipMap", ["p"], ["probabilities"], domain=ML, **theirs),
    ]
    pairs = helper.make_map_type_proto(key, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
    return model_of(
        nodes,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 2])],
        [
            helper.make_tensor_value_info("label", key, [None]),
            helper.make_value_info("probabilities", helper.make_sequence_type_proto(pairs)),
        ],
        opset=15,
    )


@pytest.mark.parametrize("strings", [True, False])
def test_probabilities_by_label(strings, tmp_path):
    model, feeds = classifier(strings), {"x": np.array([[1, 2], [3, -4]], np.float32)}
    label, wanted = by_onnxruntime(model, feeds)
    graph = from_onnx(model)
    found = graph.run(feeds)
    same(label, found["label"])
    assert type(found["probabilities"]) is list and found["probabilities"] == wanted
    with wb.Session(graph, feeds, trace="all") as session:
        session.run()
        assert session.outputs["probabilities"] == wanted == session.value("probabilities")
        session.value("probabilities")[0].clear()
        session.outputs["probabilities"].clear()
        assert session.value("probabilities") == wanted  # recorded values are read-only
        assert "list of 2" in str(session.explain("probabilities"))
        session.trace.save(tmp_path / "t.wbtrace")
    loaded = wb.Trace.load(tmp_path / "t.wbtrace")
    assert loaded.firings("probabilities") == [wanted] and loaded["probabilities"].values[0] == wanted


@pytest.mark.parametrize("texts", [["b", "a"], [["c"], ["b"], ["d"]], [], [["ä", "a b"]], "c"])
@pytest.mark.parametrize("zeros", [0, 1, None])
def test_categories_of_strings(zeros, texts):
    """The array of onnxruntime, or an error that names the categories if onnxruntime fails."""
    categories = ["b", "a", "c", "ä", ""]
    more = {} if zeros is None else {"zeros": zeros}
    node = helper.make_node("OneHotEncoder", ["x"], ["y"], domain=ML, cats_strings=categories, **more)
    feeds = {"x": np.array(texts, object)}
    dims = [None] * feeds["x"].ndim
    model = model_of(
        [node],
        [helper.make_tensor_value_info("x", TensorProto.STRING, dims)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [*dims, len(categories)])],
        opset=15,
    )
    graph = from_onnx(model)
    if zeros == 0 and not set(feeds["x"].reshape(-1)) <= set(categories):
        with pytest.raises(wb.WorkbenchError, match="categories 'b', 'a'"):
            graph.run(feeds)
        return
    same(by_onnxruntime(model, feeds)[0], graph.run(feeds)["y"])


def test_weights_are_dequantised_with_the_plan():
    """Weights are dequantised once, by the call that runs would make; large ones stay quantised."""
    for columns, steps in ((4, 1), (1 << 15, 2)):
        weights = np.arange(12 * columns).reshape(12, columns).astype(np.int8)
        nodes = [
            helper.make_node("DequantizeLinear", ["w", "scale", "zero"], ["d"]),
            helper.make_node("MatMul", ["x", "d"], ["y"]),
        ]
        model = model_of(
            nodes,
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 12])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, columns])],
            initializer=[
                numpy_helper.from_array(weights, "w"),
                numpy_helper.from_array(np.array(0.25, np.float32), "scale"),
                numpy_helper.from_array(np.array(3, np.int8), "zero"),
            ],
            opset=15,
        )
        feeds = {"x": np.ones((2, 12), np.float32)}
        graph = from_onnx(model)
        run = plan_for(graph, prepare_feeds(graph, feeds), None, lean=True).straight
        same(by_onnxruntime(model, feeds)[0], graph.run(feeds)["y"])
        assert len(run.steps) == steps


@pytest.mark.parametrize("value", [TensorProto.FLOAT, TensorProto.INT64, TensorProto.DOUBLE, TensorProto.STRING])
@pytest.mark.parametrize("key", [TensorProto.STRING, TensorProto.INT64])
def test_dicts_as_inputs(key, value):
    """They have the declared type, whatever the Python numbers in them."""
    words = ["a", "c"] if key == TensorProto.STRING else [1, 3]
    vocabulary: dict = {"string_vocabulary": ["a", "b", "c"]}
    vocabulary = vocabulary if key == TensorProto.STRING else {"int64_vocabulary": [1, 2, 3]}
    if key == TensorProto.INT64 and value == TensorProto.INT64 or key == value:
        pytest.skip("the standard has no such map for this op")
    kind = helper.make_map_type_proto(key, helper.make_tensor_type_proto(value, []))
    node = helper.make_node("DictVectorizer", ["x"], ["y"], domain=ML, **vocabulary)
    output = helper.make_tensor_value_info("y", value, None)
    made = from_onnx(model_of([node], [helper.make_value_info("x", kind)], [output], opset=15))
    if value == TensorProto.STRING:
        assert made.run({"x": dict(zip(words, "pq", strict=True))})["y"].tolist() == [["p", "", "q"]]
        with pytest.raises(wb.WorkbenchError, match="DictVectorizer"):
            made.run({"x": [np.zeros(2)]})
        return
    found = made.run({"x": dict(zip(words, (1, 3), strict=True))})["y"]
    assert found.tolist() == [[1, 0, 3]] and found.dtype == helper.tensor_dtype_to_np_dtype(value)
    with pytest.raises(wb.WorkbenchError, match="does not fit"):
        made.run({"x": {words[0]: "many"}})
