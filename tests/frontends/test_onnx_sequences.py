"""Sequences and optionals of ONNX: immutable lists, in and out of graphs, through loops and branches."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.frontends.models import f, i, model
from workbench.errors import ExecutionError, FeedError
from workbench.frontends import from_onnx
from workbench.ir.opspec import REGISTRY
from workbench.ir.values import NOTHING, ArrayList, array_list, from_graph

ort = pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
A, B, C = f([1, 2]), f([3]), f([4, 5, 6])


def call(name: str, *arrays, **attrs):
    (result,) = REGISTRY[name].evaluate(list(arrays), attrs)
    return result


def same(got, wanted) -> None:
    assert len(got) == len(wanted)
    for one, other in zip(got, wanted, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def test_inserting_and_erasing_leave_the_list_alone():
    items = array_list([A, B])
    same(call("sequence_insert", items, C), [A, B, C])
    same(call("sequence_insert", items, C, i(0)), [C, A, B])
    same(call("sequence_insert", items, C, i(-1)), [A, C, B])
    same(call("sequence_insert", items, C, i([2])), [A, B, C])
    same(call("sequence_erase", items), [A])
    same(call("sequence_erase", items, i(-2)), [B])
    same(items, [A, B])
    assert call("sequence_at", items, i(-1)) is items[1]
    assert call("sequence_length", items) == 2 and call("sequence_length", items).dtype == np.int64


@pytest.mark.parametrize(
    "name, arrays, slug",
    [
        ("sequence_at", (array_list([A]), i(1)), "out-of-range"),
        ("sequence_at", (array_list([A]), i([0, 0])), "wrong-shape"),
        ("sequence_at", (NOTHING, i(0)), "wrong-dtype"),
        ("sequence_insert", (array_list([A]), B, i(2)), "out-of-range"),
        ("sequence_insert", (array_list([A]), B, i(-2)), "out-of-range"),
        ("sequence_erase", (ArrayList(),), "out-of-range"),
        ("sequence_split", (A, i(-1)), "wrong-shape"),
        ("sequence_split", (A, i([1, 2])), "wrong-shape"),
        ("sequence_concat", (array_list([A, f([[1]])]),), "wrong-shape"),
        ("optional_get_element", (NOTHING,), "no-value"),
    ],
)
def test_what_is_refused(name, arrays, slug):
    with pytest.raises(ExecutionError) as caught:
        call(name, *arrays, axis=0)
    assert caught.value.slug == slug


def test_split():
    x = f(np.arange(10).reshape(5, 2))
    same(call("sequence_split", x), [x[k : k + 1] for k in range(5)])
    same(call("sequence_split", x, keepdims=False), list(x))
    same(call("sequence_split", x, i(2)), [x[:2], x[2:4], x[4:]])
    same(call("sequence_split", x, i([1, 0, 4])), [x[:1], x[1:1], x[1:]])
    same(call("sequence_split", x, axis=-1), [x[:, :1], x[:, 1:]])


def test_fed_and_given_back():
    text = """g (seq(float[N]) s, float[M] x) => (seq(float[N]) t, int64 n) {
        t = SequenceInsert(s, x)
        n = SequenceLength(t)
    }"""
    graph = from_onnx(model(text))
    given = [A.copy(), B]
    out = graph.run({"s": given, "x": C})
    same(from_graph(out["t"]), [A, B, C])
    assert out["n"] == 3 and isinstance(out["t"], ArrayList)
    given[0][:] = 9  # the feed was copied
    assert out["t"][0].tolist() == [1, 2] and not out["t"][0].flags.writeable
    for wrong in (3.0, {"a": 1}, "text", A):
        with pytest.raises(FeedError):
            graph.run({"s": wrong, "x": C})
    with pytest.raises(FeedError):
        graph.run({"s": given, "x": None})


def test_a_sequence_that_a_loop_carries():
    """Equal to onnxruntime's, and every version of the list is in the trace."""
    text = """g (int64 M, float[2] x) => (float[P] y, int64 n) {
        true = Constant <value = bool {1}> ()
        empty = SequenceEmpty <dtype = 1> ()
        s = Loop (M, true, empty) <body = body (int64 it, bool c, seq(float[N]) t) => (bool co, seq(float[N]) u) {
          k = Cast <to = 1> (it)
          z = Mul(x, k)
          u = SequenceInsert(t, z)
          co = Identity(c)
        }>
        y = ConcatFromSequence <axis = 0> (s)
        n = SequenceLength(s)
    }"""
    proto, feeds = model(text), {"M": i(4), "x": f([1, 10])}
    session = ort.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    wanted = session.run(["y", "n"], feeds)
    graph = from_onnx(proto)
    out = graph.run(feeds)
    np.testing.assert_array_equal(out["y"], wanted[0])
    assert out["n"] == wanted[1] == 4
    with wb.Session(graph, feeds, trace="all") as stepped:
        stepped.run()
        lists = stepped.trace.firings("u")
        assert [len(v) for v in lists] == [1, 2, 3, 4]
        same(lists[1], [f([0, 0]), f([1, 10])])
        assert [len(v) for v in stepped.trace.firings("t")] == [0, 1, 2, 3]
        assert len(stepped.value("u", iteration=2)) == 3


MAP = """g (seq(float[N]) a, seq(float[N]) b, float w) => (seq(float[N]) sums, seq(int64[1]) sizes) {
    [map] sums, sizes = SequenceMap (a, b, w) <
      body = body (float[N] x, float[N] y, float v) => (float[N] r, int64[1] n) {
        p = Mul(y, v)
        r = Add(x, p)
        n = Shape(x)
      }>
}"""


@pytest.mark.parametrize("count", [3, 0])
def test_sequence_map_is_a_loop(count):
    graph = from_onnx(model(MAP))
    a, b = [A, B, C][:count], [f([10, 20]), f([30]), f([40, 50, 60])]
    feeds = {"a": a, "b": b, "w": f(2)}
    with wb.Session(graph, feeds, trace="all") as session:
        session.run()
        out = session.outputs
        assert len(session.trace.firings("r")) == count and len(session.trace.firings("x")) == count
    same(out["sums"], [x + 2 * y for x, y in zip(a, b, strict=False)])
    same(out["sizes"], [i(x.shape) for x in a])
    assert wb.parse(graph.text()) == graph
    (loop,) = [path for path in graph.frames if path]
    assert loop == ("map",) and graph.frame_of("r") == loop
    assert [v.name for v in graph.frames[loop].variables] == ["map/trip", "map/r/list", "map/n/list"]


OPTIONAL = """g (optional(float[N]) o, bool p) => (float[N] y, bool has) {
    has = OptionalHasElement(o)
    y = If (has) <
      then_branch = then () => (float[N] v) { v = OptionalGetElement(o) },
      else_branch = else () => (float[N] w) { w = Constant <value = float[1] {-1}> () }>
}"""


def test_an_optional_with_and_without_a_value():
    graph = from_onnx(model(OPTIONAL, head='<ir_version: 8, opset_import: ["" : 18]>\n'))
    out = graph.run({"o": A, "p": True})
    assert out["has"] and out["y"].tolist() == [1, 2]
    out = graph.run({"o": None, "p": True})
    assert not out["has"] and out["y"].tolist() == [-1]
    with wb.Session(graph, {"o": None, "p": True}, trace="all") as session:
        session.run()
        assert session.trace.firings("w") and not session.trace.firings("v")
        assert from_graph(session.trace.firings("o")[0]) is None
