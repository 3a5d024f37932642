"""Two programs that should compute the same: nodes with errors are named, rounding and wrong names are not."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper

import workbench as wb
from tests.analysis.diff.test_quantised import STYLES, WEIGHTS, X, float_model
from workbench.analysis.diff.metrics import cosine, range_error, sqnr_of
from workbench.errors import FeedError, LoadError, WorkbenchError

pytest.importorskip("onnxruntime")

LOOP = """
<ir_version: 8, opset_import: ["" : 17]>
root (float a, float start) => (float x_end) {
  yes = Constant <value = bool {1}> ()
  limit = Constant <value = int64 {6}> ()
  x_end = Loop (limit, yes, start) <
    body = step (int64 trip, bool going, float x) => (bool go_on, float x_next) {
      half = Constant <value = float {0.5}> ()
      quotient = Div (a, x)
      both = Add (x, quotient)
      x_next = Mul (both, half)
      go_on = Identity (going)
    }>
}
"""
NORM = """
<ir_version: 8, opset_import: ["" : 18]>
norm (float[3,8] x, float[8] w, float[8] b) => (float[3,8] y) {
  h = Tanh (x)
  n = LayerNormalization <axis = -1, epsilon = 1e-5> (h, w, b)
  y = Exp (n)
}
"""
PARTS = """
<ir_version: 8, opset_import: ["" : 18]>
norm (float[3,8] x, float[8] w, float[8] b) => (float[3,8] y) {
  h = Tanh (x)
  axes = Constant <value = int64[1] {-1}> ()
  e = Constant <value = float {1e-5}> ()
  m = ReduceMean (h, axes)
  d = Sub (h, m)
  s = Mul (d, d)
  v = ReduceMean (s, axes)
  r = Add (v, e)
  q = Sqrt (r)
  z = Div (d, q)
  k = Mul (z, w)
  n = Add (k, b)
  y = Exp (n)
}
"""
FEEDS = {"a": np.float32(2.0), "start": np.float32(1.0)}


def parsed(text):
    return onnx.parser.parse_model(text)


def normed():
    rng = np.random.default_rng(3)
    return tuple(rng.normal(size=shape).astype(np.float32) for shape in ((3, 8), (8,), (8,)))


def test_a_node_and_the_nodes_that_it_stands_for_agree():
    found = wb.diff(parsed(NORM), parsed(PARTS), normed())
    assert found.equal and "n" in found.rounded, str(found)
    assert "as far as rounding allows" in str(found) and "8 roundings in float64" in str(found)


def test_an_epsilon_is_found_though_it_moves_the_sixth_digit():
    found = wb.diff(parsed(NORM), parsed(PARTS.replace("1e-5}", "1e-6}")), normed())
    (row,) = found.introduced
    assert (row.name, row.other_op, row.own.fault) == ("n", "add", "function")
    assert row.max_rel < 1e-3 and set(row.own.nodes) >= {"e", "v", "z"}
    assert row.own.nodes and "h" not in row.own.nodes
    assert "on the inputs of a its result, evaluated in float64" in str(found)


def test_what_comes_of_an_error_is_listed_and_not_blamed():
    found = wb.diff(parsed(NORM), parsed(PARTS.replace("n = Add (k, b)", "n = Sub (k, b)")), normed())
    assert [(r.name, r.introduces) for r in found] == [("n", True), ("y", False)]
    first, *_ = found.ranking()
    assert first.name == "n" and first.own.own > 100 * first.own.allowed
    assert found["y"].own.own == 0.0 < found["y"].own.total


@pytest.mark.parametrize(
    ("old", "new", "name", "iteration"),
    [
        ("{0.5}", "{0.499}", "half", (0,)),
        ("both = Add", "both = Sub", "both", (0,)),
        ("Div (a, x)", "Mul (a, x)", "quotient", (1,)),
    ],
)
def test_the_node_in_a_loop_is_named_with_its_iteration(old, new, name, iteration):
    found = wb.diff(parsed(LOOP), parsed(LOOP.replace(old, new)), FEEDS)
    assert found.introduced[0].name == name and found.introduced[0].iteration == iteration


def test_a_trip_count_is_named_and_the_decision_follows():
    found = wb.diff(parsed(LOOP), parsed(LOOP.replace("{6}", "{5}")), FEEDS)
    assert [r.name for r in found.introduced] == ["limit"] and not found.equal
    assert found.flips[0].iteration == (5,) and (found.lengths[0].a, found.lengths[0].b) == (7, 6)


def test_wrong_names_blame_nothing():
    swapped = PARTS.replace("z = Div (d, q)", "k = Div (d, q)").replace("k = Mul (z, w)", "z = Mul (k, w)")
    found = wb.diff(parsed(PARTS), parsed(swapped.replace("n = Add (k, b)", "n = Add (z, b)")), normed())
    assert found.equal and not found.introduced, str(found)


def test_a_part_in_two_steps_is_not_blamed_for_what_reads_it():
    two = """
<ir_version: 8, opset_import: ["" : 18]>
pool (float[2,3,4] x) => (float[2] y) {
  h = Tanh (x)
  last = Constant <value = int64[1] {-1}> ()
  rows = ReduceMean <keepdims = 0> (h, last)
  mean = ReduceMean <keepdims = 0> (rows, last)
  w = Constant <value = float {3.0}> ()
  y = Mul (mean, w)
}
"""
    one = """
<ir_version: 8, opset_import: ["" : 18]>
pool (float[2,3,4] x) => (float[2] y) {
  h = Tanh (x)
  axes = Constant <value = int64[2] {-1, -2}> ()
  pooled = ReduceMean <keepdims = 0> (h, axes)
  v = Constant <value = float {3.0}> ()
  y = Mul (pooled, v)
}
"""
    x = np.random.default_rng(4).normal(size=(2, 3, 4)).astype(np.float32)
    assert wb.diff(parsed(two), parsed(one), (x,)).equal
    found = wb.diff(parsed(two), parsed(one.replace("{3.0}", "{3.1}")), (x,))
    assert [r.name for r in found.introduced] in (["y"], ["w"]), str(found)


def test_an_overflow_of_a_narrow_dtype_is_named():
    text = NORM.replace("h = Tanh (x)", "g = Exp (x)\n  h = Sqrt (g)")
    narrow = text.replace("g = Exp (x)", "x16 = Cast <to = 10> (x)\n  e16 = Exp (x16)\n  g = Cast <to = 1> (e16)")
    x, w, b = normed()
    found = wb.diff(parsed(text), parsed(narrow), (x, w, b))
    assert found.introduced[0].name == "g" and found.introduced[0].own.fault == "rounding"
    found = wb.diff(parsed(text), parsed(narrow), (x + 20, w, b))
    assert found.introduced[0].name == "g" and found.introduced[0].own.fault == "kind"


@pytest.mark.parametrize("style", STYLES)
def test_rounding_to_steps_is_no_error(style):
    found = wb.diff(float_model(), STYLES[style](), {"x": X})
    assert found.equal and found.values >= 3, str(found)
    assert all("int" not in d for r in found.made for d in r.dtypes)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("weight", WEIGHTS)
def test_a_wrong_scale_of_a_weight_is_found_in_its_layer(style, weight):
    found = wb.diff(float_model(), STYLES[style](("scale", weight)), {"x": X})
    assert found.introduced and not found.equal
    layer = {"w1": ("w1", "h1", "r1"), "w2": ("w2", "h2", "r2"), "w3": ("w3", "y")}[weight]
    assert found.introduced[0].name in layer, str(found)
    assert found.introduced[0].own.fault in ("steps", "function")


def test_numbers_of_a_value_as_a_whole():
    a, b = np.array([3.0, 4.0]), np.array([3.0, 4.5])
    assert range_error(a, b) == 0.5 and range_error(a, a + 1) == 1.0 and range_error(np.ones(3), np.ones(3)) is None
    assert cosine(a, 2 * a) == pytest.approx(1.0) and cosine(a, -a) == pytest.approx(-1.0)
    assert cosine(np.array([1e200, 0.0]), np.array([1e200, 1e200])) == pytest.approx(2**-0.5)
    assert sqnr_of(a, b) == pytest.approx(20.0) and sqnr_of(a, a) == np.inf and sqnr_of(np.zeros(2), b) is None
    assert sqnr_of(a, np.zeros(3)) is None and sqnr_of(np.array(["x"], object), b) is None


def test_the_ranking_as_table_picture_and_data():
    ranking = wb.diff(parsed(NORM), parsed(PARTS.replace("1e-5}", "1e-4}")), normed()).ranking()
    head, first, *_ = str(ranking).splitlines()
    assert head.startswith("where the error is made") and first.split()[0] == "n" and "####" in first
    assert "<table>" in ranking._repr_html_() and len(ranking.figure().data) == 3
    assert ranking.table()[0]["fault"] == "function" and len(ranking.table()) == len(ranking)


def test_what_cannot_be_compared_is_said():
    with pytest.raises(FeedError, match="takes 3 inputs"):
        wb.diff(parsed(NORM), parsed(PARTS), normed()[:2])
    with pytest.raises(FeedError, match="were not given"):
        wb.diff(parsed(NORM), parsed(PARTS), {"x": normed()[0]})
    with pytest.raises(LoadError, match="no file"):
        wb.diff(parsed(NORM), "no/such.onnx", normed())
    with pytest.raises(WorkbenchError, match="not a program"):
        wb.diff(parsed(NORM), 7, normed())
    with pytest.raises(WorkbenchError, match="float program first"):
        wb.diff(STYLES["qdq"](), float_model(), {"x": X})


def test_a_run_that_fails_is_compared_as_far_as_it_goes():
    broken = parsed(NORM)
    broken.graph.node[2].op_type = "Reshape"
    broken.graph.node[2].input.append("shape")
    broken.graph.initializer.append(helper.make_tensor("shape", onnx.TensorProto.INT64, [1], [7]))
    try:
        found = wb.diff(parsed(NORM), broken, normed())
    except WorkbenchError as error:
        assert "7" in error.message
    else:
        assert any("ended early" in note for note in found.notes) and not found.complete
