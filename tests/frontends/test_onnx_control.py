"""Control flow of ONNX as frames: Scan of version 8, axes and directions, regions, values of narrow dtypes."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

import workbench as wb
from tests.frontends.models import CASES, b, f, i, model, onnx
from tests.frontends.test_onnx_sequences import MAP
from workbench.frontends import from_onnx

ort = pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
ort.set_default_logger_severity(4)

SCAN_8 = """<ir_version: 4, opset_import: ["" : 8]>
g (int64[2] lens, float[2,1] s0, float[2,4,1] xs, float[2,4,2] vs) => (float[2,1] sN, float[2,N,2] ys) {
    [scan] sN, ys = Scan <num_scan_inputs = 2, directions = [DIRECTIONS],
        body = body (float[1] s, float[1] x, float[2] v) => (float[1] so, float[2] y) {
      so = Add(s, x)
      y = Mul(v, so)
    }> (LENS, s0, xs, vs)
}"""


@pytest.mark.parametrize("directions", ["0, 0", "1, 0", "1, 1"])
@pytest.mark.parametrize("lengths", [None, [4, 2], [1, 3]])
def test_scan_8_equals_onnxruntime(directions, lengths):
    text = SCAN_8.replace("DIRECTIONS", directions).replace("LENS", "lens" if lengths else "")
    proto = onnx.parser.parse_model(text)
    rng = np.random.default_rng(1)
    feeds = {
        "lens": i(lengths or [4, 4]),
        "s0": f(rng.normal(size=(2, 1))),
        "xs": f(rng.normal(size=(2, 4, 1))),
        "vs": f(rng.normal(size=(2, 4, 2))),
    }
    session = ort.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    wanted = session.run(["sN", "ys"], {n.name: feeds[n.name] for n in session.get_inputs()})
    graph = from_onnx(proto)
    out = graph.run(feeds)
    for got, other in zip(out.values(), wanted, strict=True):
        assert got.shape == other.shape and got.dtype == other.dtype
        np.testing.assert_allclose(got, other, rtol=1e-6)
    assert set(graph.frames) == {(), ("scan",), ("scan", "scan/sequence")}
    with wb.Session(graph, feeds, trace="all") as stepped:
        stepped.run()
        assert len(stepped.trace.firings("so")) == sum(lengths or [4, 4])
        first = stepped.value("x", iteration=(1, 0))
        length = (lengths or [4, 4])[1]
        np.testing.assert_array_equal(first, feeds["xs"][1, length - 1 if directions[0] == "1" else 0])


def test_scan_8_over_an_empty_batch():
    text = SCAN_8.replace("DIRECTIONS", "0, 0").replace("LENS", "")
    proto = onnx.parser.parse_model(text.replace("[2,", "[B,").replace("[2]", "[B]", 1))
    out = from_onnx(proto).run(
        {"lens": i([]), "s0": f(np.ones((0, 1))), "xs": f(np.ones((0, 4, 1))), "vs": f(np.ones((0, 4, 2)))}
    )
    assert out["sN"].shape[0] == 0 and out["ys"].shape[0] == 0 and out["ys"].dtype == np.float32


@pytest.mark.parametrize(
    "axis, turned, out_axis, out_turned", list(itertools.product((0, 1, 2, -1, -3), (0, 1), (0, 2, -1, -2), (0, 1)))
)
def test_axes_and_directions_of_a_scan(axis, turned, out_axis, out_turned):
    text = f"""g (float[2,3,4] xs, float s) => (ys) {{
        sN, ys = Scan <num_scan_inputs = 1, scan_input_axes = [{axis}], scan_input_directions = [{turned}],
            scan_output_axes = [{out_axis}], scan_output_directions = [{out_turned}],
            body = body (float u, float[M,N] x) => (float uo, float[M,N] y) {{
          uo = Add(u, u)
          y = Mul(x, uo)
        }}> (s, xs)
    }}"""
    xs = f(np.random.default_rng(2).normal(size=(2, 3, 4)))
    slices = list(np.moveaxis(xs, axis, 0))
    made = [x * np.float32(2.0 ** (k + 1)) for k, x in enumerate(slices[::-1] if turned else slices)]
    wanted = np.stack(made[::-1] if out_turned else made, out_axis)
    got = from_onnx(onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 17]>' + text)).run(xs=xs, s=f(1))
    np.testing.assert_array_equal(got["ys"], wanted)


def region_of(graph: wb.Graph) -> dict[str, set[str]]:
    """region -> its nodes."""
    found: dict[str, set[str]] = {}
    for node in graph.nodes.values():
        if node.region is not None:
            found.setdefault(node.region, set()).add(node.name)
    return found


NAMED = """g (int64 M, float x0, float[4] xs, bool p) => (float xN, float[K,4] zs) {
    true = Constant <value = bool {1}> ()
    [training] xN, zs = Loop (M, true, x0) <
        body = outer (int64 it, bool c, float x) => (bool co, float xo, float[4] z) {
      [choice] xo = If (p) <
        then_branch = then () => (float r) {
          [rows] r, all = Scan <num_scan_inputs = 1, body = inner (float u, float v) => (float uo, float e) {
            uo = Add(u, v)
            e = Identity(uo)
          }> (x, xs)
        },
        else_branch = else () => (float q) { q = Neg(x) }>
      z = Mul(xs, xo)
      co = Identity(c)
    }>
}"""


def test_regions_nest_under_the_names_of_the_source():
    graph = from_onnx(model(NAMED))
    regions = region_of(graph)
    assert set(regions) == {"training", "training/choice", "training/choice/rows"}
    assert set(graph.frames) == {(), ("training",), ("training", "rows")}
    # nodes in the frame of a construct, and its nodes outside the frame, belong to its region or one inside it
    for path, region in ((("training",), "training"), (("training", "rows"), "training/choice/rows")):
        assert all((graph.nodes[n].region or "").startswith(region) for n in graph.frames[path].nodes)
    assert {"z", "co", "training/LoopCond", "training/trip/start", "zs", "xN"} <= regions["training"]
    assert {"xo", "q", "choice/pred"} <= regions["training/choice"]
    assert {"e", "uo", "rows/length", "rows/LoopCond"} <= regions["training/choice/rows"]
    inputs = {r.node for r in graph.inputs.values()}
    assert {n.name for n in graph.nodes.values() if n.region is None} == inputs | {"true"}
    found = {r.name: (r.kind, r.parent, r.frame) for r in graph.regions.values()}
    assert found == {
        "training": ("loop", None, ("training",)),
        "training/choice": ("branch", "training", None),
        "training/choice/rows": ("loop", "training/choice", ("training", "rows")),
    }


@pytest.mark.parametrize("name", [n for n, (text, _) in CASES.items() if "Loop" in text or "Scan" in text])
def test_all_nodes_of_a_frame_have_a_region(name):
    graph = from_onnx(model(CASES[name][0]))
    for path, frame in graph.frames.items():
        if path:
            regions = {graph.nodes[n].region for n in frame.nodes}
            assert None not in regions
            (own,) = [r for r in regions if graph.nodes[frame.loop_cond].region == r]
            assert all(r == own or r.startswith(f"{own}/") for r in regions)
            assert all(
                graph.nodes[n].region == own
                for n in (*frame.enters, *frame.exits, *frame.merges)
                if graph.nodes[n].op != "Merge"
                or len(graph.nodes[n].inputs) == 2
                and n in {v.merge for v in frame.variables}
            )


def test_a_sequence_map_is_one_region():
    graph = from_onnx(model(MAP))
    assert set(region_of(graph)) == {"map"}
    inputs = {r.node for r in graph.inputs.values()}
    assert {n.name for n in graph.nodes.values() if n.region is None} == inputs


def test_narrow_dtypes_are_carried_chosen_and_recorded():
    text = """<ir_version: 11, opset_import: ["" : 21]>
    g (int64 M, float8e4m3fn[2] x0, int4[3] k, bool p) => (float8e4m3fn[2] xN, int4[N,3] ks, float[2] y) {
        true = Constant <value = bool {1}> ()
        xN, ks = Loop (M, true, x0) <body = body (int64 it, bool c, float8e4m3fn[2] x) => (bool co, float8e4m3fn[2] xo,
                                                                                      int4[3] e) {
          w = Cast <to = 1> (x)
          h = Add(w, w)
          xo = Cast <to = 17> (h)
          e = If (p) <then_branch = t () => (int4[3] a) { a = Identity(k) },
                      else_branch = o () => (int4[3] z) {
                        l = Constant <value_floats = [1.0, -2.0, 7.0]> ()
                        z = Cast <to = 22> (l)
                      }>
          co = Identity(c)
        }>
        y = Cast <to = 1> (xN)
    }"""
    graph = from_onnx(onnx.parser.parse_model(text))
    assert str(graph.type_of("x0")) == "float8_e4m3fn[2]"
    assert wb.parse(graph.text()) == graph
    x0 = np.array([1, 1.5], ml_dtypes.float8_e4m3fn)
    feeds = {"M": i(3), "x0": x0, "k": np.array([3, -8, 0], ml_dtypes.int4), "p": b(False)}
    with wb.Session(graph, feeds, trace="all") as session:
        session.run()
        out = session.outputs
        assert out["xN"].dtype == ml_dtypes.float8_e4m3fn and out["y"].tolist() == [8, 12]
        assert out["ks"].dtype == ml_dtypes.int4 and out["ks"].astype(int).tolist() == [[1, -2, 7]] * 3
        assert [v.astype(float).tolist() for v in session.trace.firings("xo")] == [[2, 3], [4, 6], [8, 12]]
    assert graph.run({**feeds, "p": b(True)})["ks"].astype(int).tolist() == [[3, -8, 0]] * 3
