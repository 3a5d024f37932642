"""Long chains of large arrays, of which an update computes whole stretches in one piece."""

from __future__ import annotations

import random

import numpy as np
import pytest

import workbench as wb
from tests.session.updates import check_update

N = 30


def chain(n: int, at: int = -1) -> wb.Graph:
    """``n`` sums and products one after the other, a cut at ``at``, and results from the middle and the end."""
    b = wb.GraphBuilder("chain")
    x, y = b.placeholder("x", "float64", (64, 64)), b.placeholder("y", "float64", (64, 64))
    value, middle = x, x
    for k in range(n):
        value = b.op("sign", value) if k == at else value * 0.75 + float(k) if k % 3 else value + y
        middle = value if k == n // 2 else middle
    turned = b.op("transpose", middle)
    return b.build({"value": value, "sum": b.op("sum", value), "middle": turned + y})


@pytest.mark.parametrize("at", [-1, 2, 11, 20, N - 1])
def test_an_update_leaves_the_bits_of_a_full_run(at):
    graph, chance = chain(N, at), random.Random(at)
    rng = np.random.default_rng(3)
    feeds = {name: rng.random((64, 64)) + 1.0 for name in ("x", "y")}
    with wb.Session(graph, feeds) as session:
        session.run()
        for name in ("x", "y", "x", "y"):
            feeds[name] = feeds[name] * 1.5 + (rng.random((64, 64)) < 0.01)
            update = session.update({name: feeds[name]})
            assert update.full is None
            check_update(session, update, graph, feeds, chance)
        assert update.recomputed > N // 3


def test_a_failure_within_a_stretch_stops_in_front_of_it():
    b = wb.GraphBuilder("failing")
    value = b.placeholder("x", "float64", (64, 64))
    for _ in range(12):
        value = value * 1.5 + 1.0
    value = b.op("check_numerics", value, message="not finite", name="checked")
    for _ in range(12):
        value = value * 0.5 + 3.0
    graph = b.build({"value": value})
    good, bad = {"x": np.full((64, 64), 0.01)}, np.full((64, 64), 1e307)
    with wb.Session(graph, good) as session:
        session.run()
        update = session.update(x=bad)
        assert not update.finished and session.position.node == "checked"
        check_update(session, update, graph, {"x": bad}, random.Random(0))
        update = session.update(x=good["x"] * 2)
        check_update(session, update, graph, {"x": good["x"] * 2}, random.Random(0))
