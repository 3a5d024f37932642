"""Conditions on the value of every node of a loop with a branch: hit exactly where the trace says the value fits."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb


def program() -> wb.Graph:
    b = wb.GraphBuilder("conditions")
    n = b.placeholder("n", "int64")

    def body(x, i):
        x = b.cond(x > 10.0, lambda: x - 8.5, lambda: x * 2.0)
        return x, i + 1

    x, i = b.while_loop(lambda x, i: i < n, body, [1.0, 0])
    return b.build({"x": x, "i": i})


GRAPH = program()
with wb.Session(GRAPH, {"n": 9}) as _all:
    _all.run()
    NUMBERS = [
        (f"{node}:{index}", float(np.median(series.values)))
        for (node, index) in _all.plan.layout.values
        if len(series := _all.trace[f"{node}:{index}"]) and series.values.dtype.kind in "fi"
    ]
    EXPECTED = {
        name: [tuple(i) for i, v in zip(s.iterations.tolist(), s.values, strict=True) if v >= middle]
        for name, middle in NUMBERS
        for s in [_all.trace[name]]
    }


@pytest.mark.parametrize(("name", "middle"), NUMBERS)
def test_every_hit(name, middle):
    if GRAPH.nodes[name.rpartition(":")[0]].op == "Const" or "/Enter" in name:
        pytest.skip("constants and invariants are never stopped at")
    with wb.Session(GRAPH, {"n": 9}) as session:
        session.breakpoints.add(name, when=f"value >= {middle!r}")
        hits = []
        while (stop := session.run()).reason is wb.StopReason.BREAKPOINT:
            where = stop.detail.rpartition("[")[2].rstrip("].").split(", ") if "[" in stop.detail else []
            hits.append(tuple(int(part.split()[-1]) for part in where))
        assert hits == EXPECTED[name]
