"""The same graph in another precision: the error of each value."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.analysis.diff.graphs import collatz, finished, nested, newton
from workbench.ir.types import numpy_dtype


def test_a_graph_in_another_dtype_is_that_graph_built_in_it():
    graph = wb.in_dtype(newton(), "float32")
    assert graph.type_of("x").dtype == "float32" and graph.outputs == newton().outputs
    with finished(graph, a=np.float32(2)) as one, finished(newton("float32"), a=np.float32(2)) as other:
        assert wb.diff(one, other, dtypes=True).equal
    assert wb.in_dtype(newton("float32"), "float64").type_of("while/divide").dtype == "float64"
    assert wb.in_dtype(collatz(), "float16").nodes == collatz().nodes, "integers stay"


def test_what_a_precision_costs():
    found = wb.diff_dtypes(newton(tolerance=1e-4), {"a": 2.0}, "float32", rtol=1e-5, atol=1e-6)
    assert found.equal and found.b == "float32" and "x" in found.within
    exact = wb.diff_dtypes(newton(tolerance=1e-4), {"a": 2.0}, "float32", ulp=0)
    assert exact.first.op == "add" and exact.first.iteration == (1,) and exact.first.dtypes == ("float64", "float32")
    coarse = wb.diff_dtypes(nested(), {"x": 1.0}, "bfloat16", rtol=1e-3)
    assert coarse.first is not None and not coarse.lengths
    assert coarse.first.max_rel > 1e-3 and coarse.first.dtypes[1] == "bfloat16"


def test_a_loop_that_never_ends_in_float32():
    b = wb.GraphBuilder("endless")
    a = b.placeholder("a")
    graph = b.build(b.while_loop(lambda x: abs(x * x - a) > 1e-9, lambda x: (x + a / x) * 0.5, {"x": a}))
    found = wb.diff_dtypes(graph, {"a": 2.0}, "float32", rtol=1e-4, atol=1e-5, max_events=20_000)
    assert found.flips[0].iteration == (4,) and "goes on in b" in found.text()
    assert found.lengths and "b has not reached its end" in found.text()


def test_what_cannot_be_put_into_another_dtype():
    for dtype in ("int32", "float8", "", None):
        with pytest.raises(wb.WorkbenchError, match="bad-dtype"):
            wb.in_dtype(newton(), dtype)
    pytest.importorskip("onnxruntime")
    from tests.frontends.models import model
    from workbench.frontends import from_onnx

    graph = from_onnx(model("g (float[4] x, float s, uint8 z) => (uint8[4] y) { y = QuantizeLinear(x, s, z) }"))
    with pytest.raises(wb.WorkbenchError, match="foreign-op"):
        wb.in_dtype(graph, "float64")


def test_an_op_that_a_library_has_for_float32_alone_is_cast_around():
    pytest.importorskip("onnxruntime")
    from tests.frontends.contrib import Case
    from workbench.frontends import from_onnx

    x = np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3)
    graph = from_onnx(Case("BiasGelu", {"x": x}, {"b": np.ones(3, np.float32)}).model())
    for dtype in ("float64", "bfloat16"):
        other = wb.in_dtype(graph, dtype)
        with wb.Session(other, {"x": x.astype(numpy_dtype(dtype))}) as session:
            session.run()
            assert session.plan.reasons["out0"][1].endswith("is cast to float32 before and back after")
            assert session.outputs["out0"].dtype == numpy_dtype(dtype)
        assert wb.diff_dtypes(graph, {"x": x}, dtype, rtol=2e-2, atol=2e-2).equal


NETWORKS = {
    "Conv": """g (float[1,2,6,6] x) => (float[1,3,4,4] y) {
        c = Conv(x, w)
        y = Relu(c)
    }""",
    "LSTM": """g (float[4,1,2] x) => (float[4,1,1,3] y, float[1,1,3] h) {
        y, h = LSTM <hidden_size = 3> (x, w, r)
    }""",
}
SHAPES = {"Conv": {"w": (3, 2, 3, 3)}, "LSTM": {"w": (1, 12, 2), "r": (1, 12, 3)}}


@pytest.mark.parametrize("op", NETWORKS)
@pytest.mark.parametrize(("dtype", "away"), [("float16", 1e-2), ("bfloat16", 5e-2), ("float64", 1e-5)])
def test_what_a_library_computes_is_computed_in_the_dtype_or_cast_around(op, dtype, away):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from workbench.frontends import from_onnx

    rng = np.random.default_rng(5)
    proto = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]>\n{NETWORKS[op]}')
    for name, shape in SHAPES[op].items():
        proto.graph.initializer.append(
            onnx.numpy_helper.from_array(rng.standard_normal(shape).astype(np.float32) / 2, name)
        )
    graph = from_onnx(proto)
    assert [n for n in graph.nodes.values() if n.op == f"onnx:{op}"]
    feeds = {"x": rng.standard_normal((1, 2, 6, 6) if op == "Conv" else (4, 1, 2)).astype(np.float32)}
    found = wb.diff_dtypes(graph, feeds, dtype, rtol=away, atol=away)
    assert found.equal, found.text()
    exact = wb.diff_dtypes(graph, feeds, dtype, ulp=0)
    assert exact.first is not None and exact.first.dtypes == ("float32", dtype)
