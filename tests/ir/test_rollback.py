"""Additions to a builder are rolled back; loop variables with wider types."""

import numpy as np

import workbench as wb
from workbench.ir.builder.rollback import RollbackPoint
from workbench.ir.node import Source
from workbench.ir.types import TensorType


def test_roll_back_at_the_outermost_level():
    b = wb.GraphBuilder()
    x = b.placeholder("x")
    y = x + 1
    before = b.build(y).text()
    mark = RollbackPoint(b)
    b.alias("y", b.while_loop(lambda v: v < 3, lambda v: v + 1, [x])[0])
    b.placeholder("z")
    assert b.build(y).text() != before
    mark.roll_back()
    assert b.build(y).text() == before
    assert b.placeholder("z").ref.node == "z"


def test_roll_back_inside_of_a_loop_and_a_branch():
    def graph(tries):
        b = wb.GraphBuilder()
        x, limit = b.placeholder("x"), b.placeholder("limit")

        def body(v):
            def side():
                for _ in range(tries):
                    mark = RollbackPoint(b)
                    b.constant(3.0) + limit * v
                    mark.roll_back()
                return v + limit

            return b.cond(v < 2, side, lambda: v * 2)

        return b.build({"out": b.while_loop(lambda v: v < limit, body, [x])[0]})

    assert graph(3).fingerprint == graph(0).fingerprint
    assert graph(3).run(x=1.0, limit=5.0)["out"] == 6.0


def test_wider_types_of_loop_variables():
    b = wb.GraphBuilder()
    n = b.placeholder("n", "int64")
    start = b.constant(np.zeros(1))
    seen = []

    def body(i, x):
        seen.append(x.type)
        return i + 1, b.op("concat", x, b.constant(np.ones(1)), axis=0)

    wide = TensorType("float64", (None,))
    out = b.while_loop(lambda i, x: i < n, body, [0, start], types={"x": wide})[1]
    assert seen == [wide] and out.type == wide
    assert b.build({"out": out}).run(n=2)["out"].tolist() == [0.0, 1.0, 1.0]


def test_source_of_nodes():
    b = wb.GraphBuilder()
    b.source = Source("model.py", 7, "x + 1")
    x = b.placeholder("x") + 1
    assert b.node(x.ref.node).source == Source("model.py", 7, "x + 1")
    b.source = None
    assert b.node((x * 2).ref.node).source.file == __file__
