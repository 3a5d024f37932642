"""Programs and devices for the tests of this folder."""

from __future__ import annotations

from typing import Any

import numpy as np

import workbench as wb
from tests.plan.checks import same
from workbench.execution import Run
from workbench.ir import Graph, Ref

#: every array lives on the device, however small
TINY = wb.Device("numpy", least_bytes=1)
STRICT = wb.Device("array-api-strict", least_bytes=1)


def heat(points: int = 64, trips: int = 12) -> tuple[Graph, dict[str, Any]]:
    """A stencil in a loop that ends by a condition on a reduction of the array."""
    b = wb.GraphBuilder("heat")
    u = b.placeholder("u", "float64", (points,))

    def body(x: Any, i: Any) -> Any:
        sides = b.alias("sides", x[:-2] + x[2:])
        inner = b.alias("inner", 0.5 * x[1:-1] + 0.25 * sides)
        return b.op("pad", inner, pad_width=((1, 1),)), i + 1

    def on(x: Any, i: Any) -> Any:
        return b.op("logical_and", i < trips, b.op("max", x) > 1e-3)

    x, i = b.while_loop(on, body, [u, 0], name="loop")
    graph = b.build({"x": x, "i": i, "total": b.op("sum", x)})
    return graph, {"u": np.random.default_rng(0).normal(size=points)}


def firings(run: Run) -> dict[Ref, dict[tuple[int, ...], Any]]:
    """Every value of a run by its iteration path."""
    found = {}
    for key in run.plan.layout.values:
        series = run.trace[Ref(*key)]
        found[Ref(*key)] = dict(zip(map(tuple, series.iterations.tolist()), series.firings(), strict=True))
    return found


def assert_same(found: Run, expected: Run) -> None:
    """All values of two runs are the same, bit for bit."""
    ours, theirs = firings(found), firings(expected)
    assert ours.keys() == theirs.keys()
    for ref, values in ours.items():
        assert values.keys() == theirs[ref].keys(), ref
        for path, value in values.items():
            assert same(value, theirs[ref][path]), f"{ref} at {path}: {value!r}, on the host {theirs[ref][path]!r}"
