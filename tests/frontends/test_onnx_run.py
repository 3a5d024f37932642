"""Runs of ONNX loops and branches: outputs equal onnxruntime's, and values in bodies fire once a trip."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.frontends.models import CASES, b, f, i, model
from tests.work import Work
from workbench.frontends import from_onnx

ort = pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
ort.set_default_logger_severity(4)


def expected(proto, feeds) -> dict[str, np.ndarray]:
    session = ort.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds), strict=True))


def check(got, wanted) -> None:
    assert set(got) == set(wanted)
    for name, array in wanted.items():
        assert got[name].dtype == array.dtype and got[name].shape == array.shape, name
        np.testing.assert_allclose(got[name], array, rtol=1e-6, err_msg=name)


@pytest.mark.parametrize("name", CASES)
def test_outputs_equal_onnxruntime(name):
    text, runs = CASES[name]
    proto = model(text)
    graph = from_onnx(proto)
    for feeds in runs:
        check(graph.run(feeds), expected(proto, feeds))


def test_a_trip_count_and_a_condition_of_shape_1():
    text = """g (int64[1] M, bool[1] c0, float x0) => (float xN) {
        xN = Loop (M, c0, x0) <body = body (int64 it, bool[1] c, float x) => (bool[1] co, float xo) {
          xo = Add(x, x)
          co = Identity(c)
        }>
    }"""
    proto = model(text)
    graph = from_onnx(proto)
    for trips, go in ((3, True), (3, False), (0, True)):
        feeds = {"M": i([trips]), "c0": b([go]), "x0": f(1)}
        check(graph.run(feeds), {"xN": f(2 ** (trips if go else 0))})


def test_values_of_a_body_fire_once_a_trip():
    text, runs = CASES["newton with trip count, condition and scan output"]
    proto, feeds = model(text), runs[0]
    wanted = expected(proto, feeds)["xs"]
    with wb.Session(from_onnx(proto), feeds, trace="all") as session:
        session.run()
        trace = session.trace
        for name in ("xo", "x_each"):
            np.testing.assert_array_equal(trace.firings(name), wanted)
        np.testing.assert_array_equal(trace.firings("x"), [feeds["x0"], *wanted[:-1]])
        assert [int(v) for v in trace.firings("it")] == list(range(len(wanted)))
        # the loop variable itself also has the value with which the loop ends
        assert len(trace.firings("loop/x")) == len(wanted) + 1
        for name in ("half", "q", "co", "tol"):
            assert len(trace.firings(name)) == len(wanted), name


def test_only_the_side_taken_fires():
    text, runs = CASES["branches in a loop"]
    with wb.Session(from_onnx(model(text)), runs[0], trace="all") as session:
        session.run()
        taken, other = session.trace.firings("r"), session.trace.firings("r2")
        assert len(taken) + len(other) == 12 and len(taken) > 0 and len(other) > 0
        assert len(session.trace.firings("three")) == len(taken)
        assert len(session.trace.firings("q")) == 12 and not session.trace.firings("q2")


def test_an_inner_loop_runs_once_for_each_trip_of_the_outer_one():
    text, runs = CASES["inner loop that reads nothing of the outer one"]
    with wb.Session(from_onnx(model(text)), runs[0], trace="all") as session:
        session.run()
        assert len(session.trace.firings("yo")) == 3 * 2
        assert len(session.trace.firings("s")) == 3


def test_a_foreign_op_whose_definition_depends_on_dtypes():
    text = """<ir_version: 10, opset_import: ["" : 21]>
        g (float[1,4,2] x, float[4] s, float[4] b) => (float[1,4,2] y) {
          y = GroupNormalization <num_groups = 2> (x, s, b)
        }"""
    proto = model(text, head="")
    feeds = {"x": f(np.arange(8).reshape(1, 4, 2)), "s": f([1, 2, 3, 4]), "b": f([0, 1, 2, 3])}
    got, wanted = from_onnx(proto).run(feeds), expected(proto, feeds)
    np.testing.assert_allclose(got["y"], wanted["y"], rtol=1e-5, atol=1e-5)


def test_a_scan_over_nothing():
    """onnxruntime fails here; the specification does not."""
    out = from_onnx(model(CASES["scan, forward"][0])).run({"s0": f(1), "xs": f(np.zeros((0, 2)))})
    assert out["sN"] == 1 and out["ys"].shape == (0, 2) and out["ys"].dtype == np.float32


def test_a_long_loop_with_a_scan_output_takes_linear_time():
    text = CASES["scan output only"][0]
    graph = from_onnx(model(text))
    calls = []
    for trips in (2_000, 20_000):
        with Work() as work:
            out = graph.run({"M": i(trips)})["squares"]
        calls.append(work.calls)
        assert len(out) == trips and out[-1] == (trips - 1) ** 2
    assert calls[1] < 12 * calls[0]  # ten times the trips
