"""Random ops of ONNX: the same numbers in every replay, others in every trip, from the right distribution."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.frontends.models import f, i, model
from workbench.errors import ExecutionError
from workbench.frontends import from_onnx

reference = pytest.importorskip("onnx.reference")

LOOP = """g (int64 M) => (float[K,3] ys) {
    true = Constant <value = bool {1}> ()
    ys = Loop (M, true) <body = body (int64 it, bool c) => (bool co, float[3] y) {
      y = RandomNormal <shape = [3] SEED> ()
      co = Identity(c)
    }>
}"""


@pytest.mark.parametrize("seed", ["", ", seed = 5.0"])
def test_each_trip_draws_its_own_numbers_and_a_replay_the_same(seed):
    graph = from_onnx(model(LOOP.replace("SEED", seed)))
    first = graph.run({"M": i(20)})["ys"]
    assert len(np.unique(first)) == 60
    np.testing.assert_array_equal(graph.run({"M": i(20)})["ys"], first)
    with wb.Session(graph, {"M": i(20)}, trace="off") as session:
        session.run()
        for k in (19, 3, 7):
            np.testing.assert_array_equal(session.value("y", iteration=k), first[k])
        session.step_back(5)
        session.resume()
        np.testing.assert_array_equal(session.outputs["ys"], first)


def test_two_nodes_draw_apart():
    graph = from_onnx(
        model(
            "g () => (float[4] y, float[4] z) { y = RandomUniform <shape = [4]> () z = RandomUniform <shape = [4]> () }"
        )
    )
    out = graph.run({})
    assert len(np.unique([out["y"], out["z"]])) == 8


@pytest.mark.parametrize(
    "text",
    [
        "g () => (float[5] y) { y = RandomNormal <shape = [5], seed = 7.0, mean = 2.0, scale = 3.0> () }",
        "g () => (double[5] y) { y = RandomUniform <shape = [5], seed = 7.0, low = -1.0, high = 3.0, dtype = 11> () }",
        "g (float[2,3] x) => (float[2,3] y) { y = RandomUniformLike <seed = 1.0> (x) }",
        "g (float[2,3] x) => (float[2,3] y, bool[2,3] m) { r = Constant <value = float {0.3}> () "
        "t = Constant <value = bool {1}> () y, m = Dropout <seed = 3> (x, r, t) }",
    ],
)
def test_a_seed_gives_what_the_reference_evaluator_draws(text):
    proto = model(text)
    feeds = {v.name: f([[1, 2, 3], [4, 5, 6]]) for v in proto.graph.input}
    wanted = reference.ReferenceEvaluator(proto).run(None, feeds)
    got = from_onnx(proto).run(feeds)
    for one, other in zip(got.values(), wanted, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_distributions():
    graph = from_onnx(
        model("""g (float[40000] p, float[2,3] w) =>
            (float[40000] n, float[40000] u, float[40000] b, int64[2,40000] k, float[40000] d, bool[40000] m) {
        n = RandomNormal <shape = [40000], mean = 2.0, scale = 3.0> ()
        u = RandomUniform <shape = [40000], low = -1.0, high = 3.0> ()
        b = Bernoulli (p)
        k = Multinomial <sample_size = 40000, dtype = 7> (w)
        r = Constant <value = float {0.25}> ()
        t = Constant <value = bool {1}> ()
        d, m = Dropout (p, r, t)
    }""")
    )
    weights = np.array([[1, 2, 5], [0, 1, 0]])
    with np.errstate(divide="ignore"):
        out = graph.run({"p": np.full(40000, 0.3, np.float32), "w": np.log(weights).astype(np.float32)})
    # five standard errors each
    assert abs(out["n"].mean() - 2) < 5 * 3 / 200 and abs(out["n"].std() - 3) < 5 * 3 / 283
    assert abs(out["u"].mean() - 1) < 5 * 1.155 / 200 and out["u"].min() >= -1 and out["u"].max() <= 3
    assert abs(out["b"].mean() - 0.3) < 5 * 0.458 / 200 and set(np.unique(out["b"])) == {0, 1}
    counts = np.bincount(out["k"][0], minlength=3) / 40000
    np.testing.assert_allclose(counts, weights[0] / 8, atol=5 * 0.5 / 200)
    assert (out["k"][1] == 1).all() and out["k"].dtype == np.int64
    assert abs(out["m"].mean() - 0.75) < 5 * 0.433 / 200
    np.testing.assert_allclose(out["d"], np.where(out["m"], np.float32(0.4), 0), rtol=1e-6)


def test_a_ratio_that_drops_everything_is_refused():
    graph = from_onnx(model("g (float[2] x, float r, bool t) => (float[2] y) { y = Dropout (x, r, t) }"))
    assert graph.run({"x": f([1, 2]), "r": f(1), "t": np.array(False)})["y"].tolist() == [1, 2]
    with pytest.raises(ExecutionError, match="from 0 to below 1"):
        graph.run({"x": f([1, 2]), "r": f(1), "t": np.array(True)})
