"""Gradients of ONNX models: against finite differences, at other points, of second order."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.frontends.models import onnx
from workbench.errors import UnknownOpError
from workbench.frontends import from_onnx

HEAD = '<ir_version: 8, opset_import: ["" : 17, "ai.onnx.preview.training" : 1]>\n'


def graph_of(text: str) -> wb.Graph:
    return from_onnx(onnx.parser.parse_model(HEAD + text))


def differences(graph: wb.Graph, feeds: dict[str, np.ndarray], name: str, step: float = 1e-6) -> np.ndarray:
    """Central differences of the sum of output y, which correspond to a gradient that begins with ones."""
    base = feeds[name]
    found = np.zeros_like(base)
    for index in np.ndindex(base.shape):
        sums = []
        for sign in (1, -1):
            moved = base.copy()
            moved[index] += sign * step
            sums.append(graph.run({**feeds, name: moved})["y"].sum())
        found[index] = (sums[0] - sums[1]) / (2 * step)
    return found


#: body of a model of a, b (2x3 each), v (3) and s (a number); all are above 0
BODIES = {
    "broadcast arithmetic": "p = Mul(a, v) q = Div(p, b) r = Sub(q, s) y = Add(r, v)",
    "powers": "p = Pow(a, b) q = Sqrt(p) y = Reciprocal(q)",
    "smooth functions": "p = Exp(v) q = Log(a) r = Tanh(q) t = Sigmoid(r) u = Sin(t) w = Cos(u) z = Softplus(w) "
    "y = Mul(z, p)",
    "kinks": "p = Sub(a, b) q = Relu(p) r = Abs(p) t = Neg(r) u = Greater(a, v) w = Where(u, q, s) y = Add(w, t)",
    "matrix product": "k = Transpose <perm = [1, 0]> (b) m = MatMul(a, k) y = Mul(m, s)",
    "gemm": "m = Gemm <alpha = 0.5, beta = 2.0, transB = 1> (a, b, s) y = Mul(m, m)",
    "gemm, transposed": "m = Gemm <transA = 1> (a, b, v) k = Gemm <transA = 1, transB = 1> (m, m) y = Mul(k, k)",
    "sums and shapes": "e = ReduceSum <keepdims = 0> (a) h = Constant <value_ints = [3, 2]> () r = Reshape(b, h) "
    "x = Constant <value_ints = [1]> () t = ReduceSum <keepdims = 0> (r, x) "
    "g = Unsqueeze(t, x) o = Mul(g, e) y = Mul(o, r)",
    "a value used twice": "p = Mul(a, a) q = Mul(p, a) y = Add(q, p)",
}


@pytest.mark.parametrize("name", BODIES)
def test_equal_to_finite_differences(name):
    text = """g (double[2,3] a, double[2,3] b, double[3] v, double s) => (y, da, db, dv, ds) {
        BODY
        da, db, dv, ds = ai.onnx.preview.training.Gradient <xs = ["a", "b", "v", "s"], y = "y"> (a, b, v, s)
    }""".replace("BODY", BODIES[name])
    graph = graph_of(text)
    rng = np.random.default_rng(3)
    shapes = {"a": (2, 3), "b": (2, 3), "v": (3,), "s": ()}
    feeds = {n: np.asarray(rng.uniform(0.5, 2.0, shape)) for n, shape in shapes.items()}
    out = graph.run(feeds)
    for variable in feeds:
        wanted = differences(graph, feeds, variable)
        assert out[f"d{variable}"].shape == wanted.shape
        np.testing.assert_allclose(out[f"d{variable}"], wanted, rtol=1e-6, atol=1e-7, err_msg=variable)


def test_at_another_point_the_nodes_between_run_again():
    graph = graph_of("""g (double x, double x1) => (double y, double dy) {
        k = Mul(x, x) y = Mul(k, x)
        [at_x1] dy = ai.onnx.preview.training.Gradient <xs = ["x"], y = "y"> (x1)
    }""")
    out = graph.run({"x": 2.0, "x1": 5.0})
    assert out["y"] == 8 and out["dy"] == 75
    copies = [n for n in graph.nodes.values() if n.region == "at_x1"]
    assert len(copies) > 2 and all(n.region in (None, "at_x1") for n in graph.nodes.values())


def test_second_order_and_an_intermediate_variable():
    graph = graph_of("""g (double x) => (double d1, double d2, double dk) {
        k = Mul(x, x) y = Mul(k, x)
        d1 = ai.onnx.preview.training.Gradient <xs = ["x"], y = "y"> (x)
        d2 = ai.onnx.preview.training.Gradient <xs = ["x"], y = "d1"> (x)
        dk = ai.onnx.preview.training.Gradient <xs = ["k"], zs = ["x"], y = "y"> (k, x)
    }""")
    out = graph.run({"x": 3.0})
    assert (out["d1"], out["d2"], out["dk"]) == (27, 18, 3)


def test_a_variable_that_has_no_part_in_the_result():
    graph = graph_of("""g (double x, double[2] z) => (dz) {
        y = Exp(x)
        dx, dz = ai.onnx.preview.training.Gradient <xs = ["x", "z"], y = "y"> (x, z)
    }""")
    assert graph.run({"x": 1.0, "z": np.ones(2)})["dz"].tolist() == [0, 0]


def test_what_has_no_derivative_is_named():
    with pytest.raises(UnknownOpError, match="no derivative of erf"):
        graph_of("""g (float x) => (d) {
            y = Erf(x) d = ai.onnx.preview.training.Gradient <xs = ["x"], y = "y"> (x)
        }""")
