"""The memory of the executor in a long loop does not depend on its length."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.execution import NEWEST_CHECKPOINTS

ITEMS = 64


pytestmark = pytest.mark.usefixtures("steady_pace")


def known() -> wb.Graph:
    b = wb.GraphBuilder("known")
    n = b.placeholder("n", "int64")
    x, _ = b.while_loop(lambda x, i: i < n, lambda x, i: (x * 0.5 + 1.0, i + 1), [b.constant(np.ones(ITEMS)), 0])
    return b.build({"x": x})


def unknown() -> wb.Graph:
    """An array whose size only the run knows."""
    b = wb.GraphBuilder("unknown")
    n = b.placeholder("n", "int64")
    size = b.op("reshape", b.op("remainder", n, b.constant(10)) + ITEMS, shape=(1,))
    x = b.op("slice", b.constant(np.ones(2 * ITEMS)), b.constant(np.array([0])), size)
    x, _ = b.while_loop(lambda x, i: i < n, lambda x, i: (x * 0.5 + 1.0, i + 1), [x, 0])
    return b.build({"x": x})


def held(graph: wb.Graph, n: int, trace: str) -> tuple[int, int, int]:
    with wb.Session(graph, {"n": n}, trace=trace, memory_budget=4 << 20) as session:
        session.run()
        np.testing.assert_allclose(session.outputs["x"], np.full(ITEMS, 2.0))
        report = session.memory()
        return report.rows + report.arrays + report.objects, report.peak, report.checkpoints


@pytest.mark.slow
@pytest.mark.parametrize("trace", ["off", "stats"])
@pytest.mark.parametrize("make", [known, unknown])
def test_ten_times_as_long_holds_as_much(make, trace):
    short, long = held(make(), 300_000, trace), held(make(), 3_000_000, trace)  # by then the budget is full
    assert long[0] <= 1.02 * short[0] + 4096 and long[1] <= 1.02 * short[1] + 4096
    assert long[2] <= NEWEST_CHECKPOINTS


@pytest.mark.slow
@pytest.mark.parametrize("trace", ["off", "stats"])
@pytest.mark.parametrize("make", [known, unknown])
def test_ten_million_iterations(make, trace):
    short, long = held(make(), 1_000_000, trace), held(make(), 10_000_000, trace)
    assert long[0] <= 1.02 * short[0] + 4096 and long[1] <= 1.02 * short[1] + 4096
    assert long[2] <= NEWEST_CHECKPOINTS
