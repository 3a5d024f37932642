"""Values of other frameworks, also inside loops and branches, compared with ours; and errors."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import workbench as wb
from tests.frontends.models import CASES, HEAD, f, i, model, onnx
from workbench.frontends import from_onnx

pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")

NESTED = """g (float x0, int64 M) => (float xN) {{
    yes = Constant <value = bool {{1}}> ()
    xN = Loop (M, yes, x0) <body = outer (int64 i, bool c, float x) => (bool co, float xo) {{
        co = Identity (c)
        half = Constant <value = float {{0.5}}> ()
        zero = Constant <value = float {{0.0}}> ()
        three = Constant <value = int64 {{3}}> ()
        big = Greater (x, zero)
        y = Loop (three, c, x) <body = inner (int64 j, bool d, float v) => (bool do, float vo) {{
            do = Identity (d)
            w = {op} (v, half)
            vo = Sin (w)
        }}>
        xo = If (big) <then_branch = t () => (float a) {{ a = Add (y, half) }},
                       else_branch = e () => (float a) {{ a = Sub (y, half) }}>
    }}>
}}"""


@pytest.mark.parametrize("framework", ["onnxruntime", "reference"])
@pytest.mark.parametrize("name", CASES)
def test_every_value_of_every_trip(framework, name):
    text, runs = CASES[name]
    proto = model(text)
    for feeds in runs:
        record = wb.run_with(framework, proto, feeds)
        with wb.Session(from_onnx(proto), feeds) as session:
            session.run()
            found = wb.diff(session, record, rtol=1e-5, atol=1e-6)
            assert found.equal, found
            computed = {n for n in record.names() if n in session.trace}
            for value in computed:
                assert len(record[value]) == len(session.trace[value]), value
            ours = {n for n in session.graph.names if "/" not in n and n in session.trace and len(session.trace[n])}
            assert ours - set(record.names()) <= {t.name for t in proto.graph.initializer}
        assert not record.notes


def test_the_first_node_that_differs_inside_of_a_loop():
    """The export multiplies where the original adds, deep inside; the outputs alone would not show where."""
    good, bad = model(NESTED.format(op="Mul")), model(NESTED.format(op="Add"))
    feeds = {"x0": f(0.3), "M": i(4)}
    record = wb.run_with("onnxruntime", good, feeds)
    with wb.Session(from_onnx(bad), feeds) as session:
        session.run()
        found = wb.diff(session, record, rtol=1e-6)
        assert found.first.name == "w" and found.first.iteration == (0, 0) and found.first.introduces
        assert len(found.first.frame) == 2 and found.introduced[0] is found.first
        assert found["xN"].kind.name == "VALUE" and found["y"].iteration == (0,)
    with wb.Session(from_onnx(good), feeds) as session:
        session.run()
        assert wb.diff(session, record, rtol=1e-6).equal


def test_values_of_one_name_in_both_branches():
    feeds = {"x0": f(0.3), "M": i(3)}
    proto = model(NESTED.format(op="Sub"))
    record = wb.run_with("onnxruntime", proto, feeds)
    names = [n for n in record.names() if n == "a" or n.endswith("/a")]
    with wb.Session(from_onnx(proto), feeds) as session:
        session.run()
        assert len(names) == 2, "each branch was taken at least once"
        for name in names:
            assert np.array_equal(record[name].iterations, session.trace[name].iterations)
            np.testing.assert_allclose(record[name].values, session.trace[name].values, rtol=1e-6)


def test_a_record_is_read_like_a_trace():
    proto = model(CASES["condition only"][0])
    feeds = CASES["condition only"][1][0]
    record = wb.run_with("onnxruntime", proto, feeds)
    name = next(n for n in record.names() if len(record[n].frame) == 1 and len(record[n]) > 2)
    series = record[name]
    assert len(record.firings(name)) == len(series) == len(series.values)
    assert np.array_equal(series.at((2,)), series[2]) and series.iterations[2].tolist() == [2]
    assert set(record.outputs) == {o.name for o in proto.graph.output}
    with pytest.raises(wb.WorkbenchError, match="not-recorded"):
        record["nothing"]
    with pytest.raises(wb.WorkbenchError, match="not-recorded"):
        series.at(10**6)


def test_functions_and_initializers():
    text = """<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
    g (float[2] x) => (float[2] y) <float[2] w = {2.0, 3.0}> { z = own.twice (x)  y = Mul (z, w) }
    <opset_import: ["" : 17], domain: "own"> twice (u) => (v) {
        two = Constant <value = float {2.0}> ()
        v = Mul (u, two)
    }
    """
    proto = onnx.parser.parse_model(text)
    record = wb.run_with("onnxruntime", proto, x=f([1, 2]))
    assert record["y"][0].tolist() == [4.0, 12.0]
    with wb.Session(from_onnx(proto), {"x": f([1, 2])}) as session:
        session.run()
        found = wb.diff(session, record)
        assert found.equal and found.values >= 3


def test_sequences():
    text = """g (seq(float[N]) xs) => (seq(float[N]) ys) {
        ys = SequenceMap (xs) <body = b (float[N] x) => (float[N] y) { y = Add (x, x) }>
    }"""
    proto = onnx.parser.parse_model(HEAD + text)
    feeds = {"xs": [f([1, 2]), f([3])]}
    record = wb.run_with("onnxruntime", proto, feeds)
    with wb.Session(from_onnx(proto), feeds) as session:
        session.run()
        found = wb.diff(session, record)
        assert found.equal and not found.only_b
        assert len(record["y"]) == 2


def test_the_memory_of_a_record_is_bounded():
    text, runs = CASES["newton with trip count, condition and scan output"]
    record = wb.run_with("onnxruntime", model(text), runs[0], memory=2000)
    assert "not recorded" in record.notes[0] and record.outputs
    with wb.Session(from_onnx(model(text)), runs[0]) as session:
        session.run()
        found = wb.diff(session, record, rtol=1e-5)
        assert not found.rows and "not recorded" in found.text()


ENDLESS = """g (float x) => (float y) {
    yes = Constant <value = bool {1}> ()
    y = Loop (, yes, x) <body = b (int64 i, bool c, float v) => (bool co, float vo) {
        co = Identity (c)
        vo = Add (v, v)
    }>
}"""


def test_what_cannot_be_run(monkeypatch):
    proto = model(CASES["condition only"][0])
    feeds = CASES["condition only"][1][0]
    for arguments, slug in (
        (("caffe", proto, feeds), "unknown-framework"),
        (("onnxruntime", from_onnx(proto), feeds), "no-model"),
        (("onnxruntime", proto, {}), "missing-feed"),
        (("onnxruntime", proto, {**feeds, "zz": 1}), "unknown-feed"),
        (("onnxruntime", b"", {}), "empty"),
        (("onnxruntime", "/no/such/model.onnx", {}), "no-such-file"),
        (("onnxruntime", 3, {}), "not-a-model"),
    ):
        with pytest.raises(wb.WorkbenchError) as caught:
            wb.run_with(*arguments)
        assert caught.value.slug == slug
    with pytest.raises(wb.WorkbenchError, match="too-many-trips"):
        wb.run_with("onnxruntime", model(ENDLESS), x=1.0, max_trips=50)
    with pytest.raises(wb.WorkbenchError, match="bad-limit"):
        wb.run_with("onnxruntime", proto, feeds, memory=0)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(wb.WorkbenchError, match="missing-extra"):
        wb.run_with("onnxruntime", proto, feeds)


def test_a_node_that_the_framework_does_not_take():
    text = """<ir_version: 8, opset_import: ["" : 17, "nobody" : 1]>
    g (float x) => (float y) { y = nobody.knows (x) }"""
    with pytest.raises(wb.WorkbenchError):
        wb.run_with("onnxruntime", onnx.parser.parse_model(text), x=1.0)
    shapes = model("g (float[N] x, float[M] w) => (float[K] y) { y = Add (x, w) }")
    with pytest.raises(wb.WorkbenchError, match="framework-failed"):
        wb.run_with("onnxruntime", shapes, x=f([1, 2]), w=f([1, 2, 3]))
