"""The library that evaluates an ONNX node, onnxruntime if it can, otherwise the reference evaluator; and the reason."""

from __future__ import annotations

import gc

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

import workbench as wb
from workbench.frontends import from_onnx
from workbench.frontends.onnx.foreign import entry, runtime
from workbench.ir.types import TensorType

ort = pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
if isinstance(runtime.runtime(), str):
    pytest.skip(f"no onnxruntime to call: {runtime.runtime()}", allow_module_level=True)

F = TensorProto.FLOAT


def one_node(op, inputs, outputs, constants=None, opset=17, domain="", **attrs) -> onnx.ModelProto:
    """A model of one node. inputs, outputs: name -> (element type, shape); constants: name -> array."""
    node = helper.make_node(op, [*inputs, *(constants or {})], list(outputs), domain=domain, **attrs)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info(n, *t) for n, t in inputs.items()],
        [helper.make_tensor_value_info(n, *t) for n, t in outputs.items()],
        [onnx.numpy_helper.from_array(a, n) for n, a in (constants or {}).items()],
    )
    sets = [helper.make_opsetid("", opset), *([helper.make_opsetid(domain, 1)] if domain else [])]
    return helper.make_model(graph, opset_imports=sets, ir_version=9)


def conv(seed=0, dtype=F, kernel=3) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    numpy = helper.tensor_dtype_to_np_dtype(dtype)
    weights = {"w": rng.standard_normal((16, 16, kernel, kernel)).astype(numpy), "b": np.ones(16, numpy)}
    pads = [kernel // 2] * 4
    model = one_node("Conv", {"x": (dtype, [1, 16, 40, 40])}, {"y": (dtype, [1, 16, 40, 40])}, weights, pads=pads)
    return model, {"x": rng.standard_normal((1, 16, 40, 40)).astype(numpy)}


def reasons(graph: wb.Graph, feeds, **more) -> dict[str, tuple[str, str]]:
    with wb.Session(graph, feeds, **more) as session:
        session.run()
        return dict(session.plan.reasons)


@pytest.mark.parametrize("kernel", [1, 3])
@pytest.mark.parametrize("trace", ["all", "stats", "off"])
def test_a_convolution_runs_on_onnxruntime(trace, kernel):
    model, feeds = conv(kernel=kernel)
    graph = from_onnx(model)
    wanted = ReferenceEvaluator(model).run(None, feeds)[0]
    with wb.Session(graph, feeds, trace=trace) as session:
        session.run()
        np.testing.assert_allclose(session.outputs["y"], wanted, rtol=1e-4, atol=1e-4)
        slug, why = session.plan.reasons["y"]
        assert slug == "onnxruntime" and "Conv" in why and "float32" in why
        if trace == "stats":
            record = session.trace["y"].statistics[0]
            assert record["size"] == wanted.size
            np.testing.assert_allclose(record["max"], wanted.max(), rtol=1e-4)


def test_every_run_gives_the_same_bits_however_it_is_traced():
    model, feeds = conv()
    graph = from_onnx(model)
    first = graph.run(feeds)["y"]
    for trace in ("all", "stats", "off"):
        for _ in range(3):
            with wb.Session(graph, feeds, trace=trace) as session:
                session.run()
                np.testing.assert_array_equal(session.outputs["y"], first)
                np.testing.assert_array_equal(session.value("y"), first)
    assert first.flags.owndata


def test_recorded_results_cannot_be_changed():
    model, feeds = conv()
    with wb.Session(from_onnx(model), feeds, trace="all") as session:
        session.run()
        wanted = session.value("y").copy()
        found = session.trace.firings("y")[0]
        if found.flags.writeable:
            found[...] = 0  # a copy
        np.testing.assert_array_equal(session.value("y"), wanted)


def test_what_onnxruntime_has_no_kernel_for_runs_on_the_reference_evaluator():
    """Its CPU kernels of Unique are those for float, double, int64, int8 and text."""
    model = one_node("Unique", {"x": (TensorProto.INT32, [4])}, {"y": (TensorProto.INT32, ["n"])}, sorted=1)
    graph = from_onnx(model)
    feeds = {"x": np.array([3, 1, 3, 2], np.int32)}
    found = [r for n, r in reasons(graph, feeds).items() if graph.nodes[n].op == "onnx:Unique"]
    if not found:
        pytest.skip("Unique has an op of ours")
    assert found[0][0] == "onnx-reference" and "onnxruntime" in found[0][1]
    np.testing.assert_array_equal(graph.run(feeds)["y"], [1, 2, 3])


def test_frames_of_a_signal_without_an_axis_of_parts():
    """A signal (batch, samples) as in speech models, which the reference evaluator splits into wrong frames."""
    kinds = TensorProto.FLOAT, TensorProto.INT64
    node = helper.make_node("STFT", ["x", "hop", "window"], ["y"], onesided=1)
    values = [helper.make_tensor_value_info("x", kinds[0], [1, 64])]
    constants = [
        helper.make_tensor("hop", kinds[1], [], [8]),
        helper.make_tensor("window", kinds[0], [16], np.hanning(16).astype("f")),
    ]
    outputs = [helper.make_tensor_value_info("y", kinds[0], None)]
    graph = helper.make_graph([node], "frames", values, outputs, constants)
    signal = np.random.default_rng(0).normal(size=(1, 64)).astype("f")
    found = from_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])).run({"x": signal})["y"]
    frames = np.lib.stride_tricks.sliding_window_view(signal[0], 16)[::8] * np.hanning(16)
    wanted = np.fft.rfft(frames)
    np.testing.assert_allclose(found[0], np.stack([wanted.real, wanted.imag], -1), atol=1e-5)


def test_without_onnxruntime_the_reference_evaluator_does_it_all(monkeypatch):
    from workbench.frontends.onnx.foreign import session as sessions

    monkeypatch.setattr(sessions, "runtime", lambda: "it is not installed")
    entry._plain_session.cache_clear()
    model, feeds = conv(seed=7)
    graph = from_onnx(model)
    assert reasons(graph, feeds)["y"] == (
        "onnx-reference",
        "Conv is computed by the onnx library's reference evaluator, not by onnxruntime: it is not installed",
    )
    entry._plain_session.cache_clear()
    np.testing.assert_allclose(graph.run(feeds)["y"], ReferenceEvaluator(model).run(None, feeds)[0], rtol=1e-4)


def test_an_operator_set_that_onnxruntime_does_not_know_yet():
    """The op itself is older: the version that defined it is used."""
    model, feeds = conv()
    newest = onnx.defs.onnx_opset_version()
    model.opset_import[0].version = newest
    graph = from_onnx(model)
    assert reasons(graph, feeds)["y"][0] == "onnxruntime"
    np.testing.assert_allclose(
        graph.run(feeds)["y"], ReferenceEvaluator(conv()[0]).run(None, feeds)[0], rtol=1e-4, atol=1e-4
    )


def test_types_that_come_with_the_values():
    model = one_node("MaxPool", {"x": (F, None)}, {"y": (F, None)}, kernel_shape=[2, 2])
    graph = from_onnx(model)
    x = np.random.default_rng(0).random((1, 2, 5, 5), np.float32)
    wanted = ReferenceEvaluator(model).run(None, {"x": x})[0]
    np.testing.assert_array_equal(graph.run({"x": x})["y"], wanted)


def test_an_input_given_twice_and_inputs_left_out():
    model = one_node("Resize", {"x": (F, [1, 1, 2, 2])}, {"y": (F, [1, 1, 4, 4])}, mode="nearest")
    node = model.graph.node[0]
    del node.input[:]
    node.input.extend(["x", "", "s"])
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "s"))
    x = np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2)
    np.testing.assert_array_equal(from_onnx(model).run({"x": x})["y"], ReferenceEvaluator(model).run(None, {"x": x})[0])
    twice = one_node("MatMulInteger", {"x": (TensorProto.UINT8, [3, 3])}, {"y": (TensorProto.INT32, [3, 3])})
    twice.graph.node[0].input.append("x")
    x8 = np.arange(9, dtype=np.uint8).reshape(3, 3)
    np.testing.assert_array_equal(from_onnx(twice).run({"x": x8})["y"], x8.astype(np.int32) @ x8.astype(np.int32))


def test_a_node_that_fails_names_itself_and_the_reason():
    model = one_node(
        "Resize", {"x": (F, [1, 1, 2, 2]), "roi": (F, [0]), "s": (F, ["n"])}, {"y": (F, None)}, mode="nearest"
    )
    graph = from_onnx(model)
    x = np.zeros((1, 1, 2, 2), np.float32)
    with pytest.raises(wb.WorkbenchError) as caught:
        graph.run({"x": x, "roi": np.zeros(0, np.float32), "s": np.array([1, 2], np.float32)})
    assert caught.value.node is not None


def test_plans_share_a_session_and_let_it_go():
    from workbench.plan import PLANS

    PLANS.clear()
    gc.collect()  # entries of other tests
    before = len(entry._BOUND)
    model, feeds = conv(seed=3)
    graph = from_onnx(model)
    graph.run(feeds)
    reasons(graph, feeds, trace="stats")
    assert len(entry._BOUND) == before + 1
    PLANS.clear()
    del graph
    gc.collect()
    assert len(entry._BOUND) <= before


def test_other_users_of_onnxruntime_are_left_alone():
    model, feeds = conv()
    graph = from_onnx(model)
    graph.run(feeds)
    own = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(own.run(None, feeds)[0], graph.run(feeds)["y"], rtol=1e-4, atol=1e-4)


def test_dropout_outside_of_training_is_no_work():
    model = one_node("Dropout", {"x": (F, [2, 3])}, {"y": (F, [2, 3]), "mask": (TensorProto.BOOL, [2, 3])}, opset=12)
    graph = from_onnx(model)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    got = graph.run({"x": x})
    np.testing.assert_array_equal(got["y"], x)
    assert got["mask"].dtype == bool and got["mask"].all()
    assert not any(n.op.startswith("onnx:") for n in graph.nodes.values())


def test_many_sessions_share_their_threads():
    import os

    def threads() -> int:
        return len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 0

    models = [conv(seed=s) for s in range(8)]
    from_onnx(models[0][0]).run(models[0][1])
    before = threads()
    graphs = [from_onnx(m) for m, _ in models]
    for graph, (_, feeds) in zip(graphs, models, strict=True):
        graph.run(feeds)
    assert threads() <= before


@pytest.mark.parametrize("shape", [(1, 7, 13, 11), (3, 4, 5), (2, 9), (1, 64, 30, 30)])
@pytest.mark.parametrize("dtype", [F, TensorProto.DOUBLE])
def test_normalization_by_constants_is_compiled(shape, dtype):
    rng = np.random.default_rng(len(shape))
    numpy = helper.tensor_dtype_to_np_dtype(dtype)
    scale, bias, mean = (rng.standard_normal(shape[1]).astype(numpy) for _ in range(3))
    variance = rng.random(shape[1]).astype(numpy) + numpy.type(0.1)
    given = {"s": scale, "b": bias, "m": mean, "v": variance}
    model = one_node("BatchNormalization", {"x": (dtype, shape)}, {"y": (dtype, shape)}, given, epsilon=1e-3)
    graph, feeds = from_onnx(model), {"x": rng.standard_normal(shape).astype(numpy)}
    s, b, m, v = (a.astype(np.longdouble).reshape(-1, *(1,) * (len(shape) - 2)) for a in (scale, bias, mean, variance))
    wanted = (feeds["x"] - m) / np.sqrt(v + np.longdouble(np.float32(1e-3))) * s + b
    got = [graph.run(feeds)["y"]]
    for trace in ("all", "stats"):
        with wb.Session(graph, feeds, trace=trace) as session:
            session.run()
            got.append(session.outputs["y"])
            assert session.plan.reasons["y"][0] == "compiled-array"
    for found in got:
        assert found.dtype == numpy
        np.testing.assert_allclose(found, wanted, rtol=0, atol=16 * np.finfo(numpy).eps * np.abs(wanted).max())
        np.testing.assert_array_equal(found, got[0])


@pytest.mark.parametrize(
    ("size", "scale"), [(23, 19 / 23), (5, 56 / 5), (54, 40 / 54), (19, 3 / 19), (7, 2.0), (9, 0.5)]
)
def test_sizes_of_a_scaled_image_are_products_in_float32_as_in_onnxruntime(size, scale):
    scales = {"roi": np.zeros(0, np.float32), "s": np.array([1, 1, scale, 1], np.float32)}
    x = np.zeros((1, 1, size, 2), np.float32)
    for declared in ([1, 1, size, 2], [1, 1, None, 2]):
        model = one_node("Resize", {"x": (F, declared)}, {"y": (F, None)}, scales, 13, mode="nearest")
        graph = from_onnx(model)
        wanted = (1, 1, int(np.float32(size) * np.float32(scale)), 2)
        assert graph.run({"x": x})["y"].shape == wanted
        assert graph.type_of(graph.outputs["y"]).accepts(TensorType("float32", wanted))


def test_onnxruntime_is_asked_once_for_an_op_that_it_does_not_have(monkeypatch):
    """Also if thousands of nodes have different names and attributes, as after inlining of local functions."""
    from workbench.frontends.onnx.foreign import gate

    asked, counted = gate.result_types, []
    monkeypatch.setattr(gate, "result_types", lambda *given: counted.append(given) or asked(*given))
    node, value = onnx.helper.make_node, onnx.helper.make_tensor_value_info
    nodes = [node("NobodyHas", [f"x{k}"], [f"x{k + 1}"], domain="own", label=f"node {k}") for k in range(300)]
    graph = onnx.helper.make_graph(nodes, "g", [value("x0", 1, [2])], [value("x300", 1, [2])])
    opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("own", 1)]
    with pytest.raises(wb.WorkbenchError, match="NobodyHas"):
        wb.from_onnx(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8))
    assert len(counted) <= 4, "for the first node alone"
