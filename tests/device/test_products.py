"""Large products of matrices on a device, and the ops that programs made at random do not reach."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.device.programs import STRICT, TINY
from tests.plan.checks import same

pytest.importorskip("array_api_strict")


@pytest.mark.parametrize("device", [TINY, STRICT], ids=lambda d: d.name)
@pytest.mark.parametrize(
    "shapes", [((64, 64), (64, 64)), ((40000,), (40000,)), ((3, 64, 64), (64, 32)), ((300, 300), (300,))]
)
def test_products(device, shapes):
    b = wb.GraphBuilder("product")
    x, y = (b.placeholder(n, "float64", s) for n, s in zip("xy", shapes, strict=True))
    graph = b.build({"z": b.op("matmul", x, y)})
    draw = np.random.default_rng(0)
    feeds = {n: draw.normal(size=s) for n, s in zip("xy", shapes, strict=True)}
    with wb.Session(graph, feeds, device=device) as session:
        session.run()
        assert session.plan.reasons["matmul"][0] == "device"
        assert same(session.outputs["z"], graph.run(feeds)["z"])


OPS = [
    ("sort", {"axis": 0}, ["float64"]),
    ("cumsum", {"axis": 1}, ["float32"]),
    ("cumprod", {"axis": 0}, ["float64"]),
    ("roll", {"shift": 3, "axis": 1}, ["int32"]),
    ("argmax", {"axis": 1}, ["float64"]),
    ("argmin", {"axis": None}, ["int64"]),
    ("prod", {"axis": (0, 1)}, ["float32"]),
    ("mean", {"axis": 0}, ["int32"]),
    ("all", {"axis": 1}, ["bool"]),
    ("floor_divide", {}, ["int16", "int16"]),
    ("remainder", {}, ["int64", "int32"]),
    ("left_shift", {}, ["int32", "int32"]),
    ("power", {}, ["float64", "float64"]),
    ("sign", {}, ["float32"]),
    ("cast", {"dtype": "int8"}, ["float32"]),
    ("where", {}, ["bool", "float32", "float32"]),
    ("stack", {"axis": 1}, ["uint8", "uint8"]),
]


def one_op(op, attrs, dtypes):
    """The graph of one op and its feeds, with NaN and infinities where the dtype has them."""
    draw, b = np.random.default_rng(1), wb.GraphBuilder("op")
    values = [(draw.normal(size=(6, 5)) * 3).astype(d) for d in dtypes]
    if dtypes[0].startswith("float"):
        values[0][2, 1:4] = np.nan, np.inf, -np.inf
    inputs = [b.placeholder(f"x{k}", d, (6, 5)) for k, d in enumerate(dtypes)]
    graph = b.build({"y": b.op(op, *inputs, **attrs)})
    feeds = {f"x{k}": v for k, v in enumerate(values)}
    return graph, feeds


@pytest.mark.parametrize("device", [TINY, STRICT], ids=lambda d: d.name)
@pytest.mark.parametrize("op, attrs, dtypes", OPS, ids=lambda v: v if isinstance(v, str) else "")
def test_ops_with_a_rule(device, op, attrs, dtypes):
    graph, feeds = one_op(op, attrs, dtypes)
    with wb.Session(graph, feeds, device=device) as session:
        session.run()
        assert session.plan.reasons[op][0] == "device"
        assert same(np.asarray(session.outputs["y"]), np.asarray(graph.run(feeds)["y"]))


@pytest.mark.parametrize("device", [TINY, STRICT], ids=lambda d: d.name)
def test_an_index_out_of_bounds_fails_at_its_node(device):
    b = wb.GraphBuilder("gather")
    x, k = b.placeholder("x", "float64", (5,)), b.placeholder("k", "int64", (3,))
    graph = b.build({"y": b.op("gather", x, k)})
    with wb.Session(graph, {"x": np.arange(5.0), "k": [0, 7, 1]}, device=device) as session:
        stop = session.run()
        assert stop.reason is wb.StopReason.FAILED and "7 is out of bounds" in stop.error.message
        session.set_value("k", np.array([0, -5, 1]))
        session.resume()
        assert same(session.outputs["y"], np.array([0.0, 0.0, 1.0]))
