"""Values of inner loops that read arrays of the outer one, recomputed under budgets that keep next to no rows."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.errors import DeadValueError


def reading_outer(width: int) -> wb.Graph:
    """Three inner iterations read the array that the outer loop carries; the last turn only asks for the condition."""
    b = wb.GraphBuilder("reading")
    a = b.placeholder("a", "float64", (width,))

    def body(x: wb.Value, i: wb.Value) -> tuple[wb.Value, wb.Value]:
        def inside(s: wb.Value, j: wb.Value) -> tuple[wb.Value, wb.Value]:
            return s + b.op("sum", x * 0.5), j + 1

        start = {"s": b.constant(0.0), "j": b.constant(0)}
        inner = b.while_loop(lambda s, j: j < 3, lambda s, j: inside(s, j), start, name="inner")
        return x + inner["s"] * 1e-6, i + 1

    out = b.while_loop(lambda x, i: i < 4, body, {"x": a, "i": b.constant(0)}, name="outer")
    return b.build({"x": out["x"]})


@pytest.mark.slow
@pytest.mark.parametrize("trace", ["all", "carried", "stats", "off"])
@pytest.mark.parametrize("budget", [1 << 12, 1 << 17])
def test_every_public_way_to_read_is_exact_or_a_clear_error(trace, budget):
    graph, feeds = reading_outer(3000), {"a": np.arange(3000.0)}
    with wb.Session(graph, feeds) as whole, wb.Session(graph, feeds, trace=trace, memory_budget=budget) as session:
        whole.run()
        session.run()
        for node, output in whole.plan.layout.values:
            name = f"{node}:{output}"
            series = whole.trace[name]
            for path, wanted in zip(map(tuple, series.iterations.tolist()), series.firings(), strict=True):
                assert np.array_equal(session.value(name, path or None), wanted), (name, path)
                if path and path[-1] == len(series.iterations) % 4:
                    session.explain(name, path)
                    found = session.values(name, path[-1], path[-1] + 1, within=path[:-1])[1]
                    assert np.array_equal(found[0], wanted), (name, path)
            try:
                assert all(isinstance(v, np.ndarray) for v in session.trace[name].firings())
            except DeadValueError:
                continue


def test_an_edit_is_there_when_its_row_is_computed_again():
    graph = reading_outer(3000)
    with wb.Session(graph, {"a": np.arange(3000.0)}, trace="off") as session:
        session.run_to("inner/add", (0, 1))
        session.set_value("s", 7.0)
        session.run()
        assert session.value("s", (0, 1)) == 7.0
        assert session.values("s", 1, 2, within=(0,))[1].tolist() == [7.0]
