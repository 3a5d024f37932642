"""A run that ends with NaN or an infinity has the outcome "not finite" instead of "ended"."""

from __future__ import annotations

import json

import numpy as np
import pytest

import workbench as wb
from tests.sweep.graphs import DRAWN
from workbench.cli.main import main
from workbench.sweep.answers import Answers
from workbench.sweep.plain import PlainRunner
from workbench.sweep.runners import make_runner
from workbench.widgets.sweep.kinds import OUTCOMES
from workbench.widgets.sweep.sweep_spec import sweep_spec

COMPARISONS = {"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"}


def descent() -> wb.Graph:
    """The graph of the documentation, whose values become non-finite at large rates."""
    b = wb.GraphBuilder("descent")
    lr, momentum = b.placeholder("lr"), b.placeholder("momentum")
    loop = b.while_loop(
        lambda x, v: abs(x) > 1e-9,
        lambda x, v: {"x": x + (momentum * v - lr * (4.0 * x)), "v": momentum * v - lr * (4.0 * x)},
        {"x": 1.0, "v": 0.0},
    )
    return b.build(loop["x"])


def counted() -> wb.Graph:
    """Counts the trips of a loop whose condition becomes NaN; the count itself is finite."""
    b = wb.GraphBuilder("counted")
    a, tol = b.placeholder("a"), b.placeholder("tol")

    def inner(x, n):
        y = b.while_loop(lambda y: y * y < x, lambda y: y + 1.0, {"y": 1.0}, name="inner")
        return {"x": np.log(a - x) + 0.0 * y["y"], "n": n + 1}

    loop = b.while_loop(
        lambda x, n: (abs(x - 1.0 / x) > tol) & (n < 40), inner, {"x": 1.0 + a, "n": b.constant(0, "int64")}
    )
    return b.build({"n": loop["n"]})


def branches() -> wb.Graph:
    """Parts of an array that are infinite, and an output that a branch leaves uncomputed."""
    b = wb.GraphBuilder("branches")
    a = b.placeholder("a", "float32", ())
    pair = b.cond(a > 0.0, lambda: 1.0 / a, lambda: a * 3.0e38)
    return b.build({"pair": pair, "a": a + 0.0})


GRAPHS = {
    "descent": (descent, lambda r, n: {"lr": r.uniform(0.1, 1.2, n), "momentum": r.uniform(0.0, 0.99, n)}),
    "counted": (counted, lambda r, n: {"a": r.uniform(0.1, 3.0, n), "tol": r.choice([1e-3, 5.0, np.nan, np.inf], n)}),
    "branches": (branches, lambda r, n: {"a": r.choice([0.0, -5.0, 1.0, np.inf, np.nan], n).astype(np.float32)}),
    **DRAWN,
}


def sides_of(graph: wb.Graph) -> list[tuple[str, int]]:
    """Both sides of every comparison that the condition of a loop reads through and, or, not."""
    found, waiting = [], [n.inputs[0] for n in graph.nodes.values() if n.op == "LoopCond"]
    while waiting:
        ref = waiting.pop()
        node = graph.nodes[ref.node]
        if node.op in COMPARISONS:
            found += node.inputs
        elif node.op.startswith(("logical_", "bitwise_", "invert", "Identity")):
            waiting += node.inputs
    return found


def finite(session: wb.Session) -> bool:
    """True if a finished run has finite outputs, and ended its loops by finite numbers."""
    values = [*session.outputs.values()]
    for ref in sides_of(session.graph):
        series = session.trace[ref]
        values += [series[-1]] if len(series) else []
    return all(np.isfinite(v).all() for v in map(np.asarray, values) if v.dtype.kind in "fc")


@pytest.mark.parametrize("name", GRAPHS)
def test_the_outcome_is_that_of_the_values(name):
    make, draw = GRAPHS[name]
    graph, points = make(), draw(np.random.default_rng(3), 120)
    found = wb.sweep(graph, points, design="list", work=20_000)
    over = [k for k in range(len(found)) if found["outcome"][k] in ("ended", "not finite")]
    for k in over:
        with found.session(k) as session:
            session.run()
            assert (found["outcome"][k] == "ended") == finite(session), found.inputs(k)
    if name in ("descent", "counted", "branches"):
        assert {"ended", "not finite"} <= set(found["outcome"])
    fewer = wb.sweep(graph, points, design="list", work=20_000, collect=["label"] if any(graph.frames) else [])
    assert fewer["outcome"].tolist() == found["outcome"].tolist()
    columns = {n: c for n, c in found.points.items()}
    runner = make_runner(found.problem, {n: c[0] for n, c in columns.items()})
    plain = PlainRunner(found.problem, runner.plan).run(columns)
    compiled = runner.run(columns)
    same = (plain.status == compiled.status) | (compiled.status == 3)  # endless, which only the compiled runner proves
    assert same.all()


def test_the_map_of_the_documentation():
    grid = {"lr": np.linspace(0.01, 1, 100), "momentum": np.linspace(0, 0.99, 100)}
    found = wb.sweep(descent(), grid)
    count = int((found["outcome"] == "not finite").sum())
    assert count == int((~np.isfinite(found["x"]) & found.computed("x")).sum()) == 2454
    assert np.isfinite(found["x"][found["outcome"] == "ended"]).all()
    assert "2,454 not finite" in repr(found) and "not finite  2,454 of 10,000" in str(found)
    assert "2,454" in found._repr_html_()
    assert found.to_arrow()["outcome"].to_pylist().count("not finite") == 2454
    spec = sweep_spec(found, "outcome")
    legend = {trace["name"]: trace["marker"]["color"] for trace in spec["data"] if trace.get("showlegend")}
    assert legend["not finite"] == OUTCOMES["not finite"] != legend["ended"]
    assert "not finite" in found["basin"] and legend.keys() >= set(found["outcome"])


def test_boundary_tells_numbers_that_are_lost():
    found = wb.boundary(descent(), {"lr": (0.1, 3.0)}, inputs={"momentum": 0.0})
    assert abs(found.value - 0.5) < 1e-12
    ask = Answers(descent(), "lr", "converges", {"momentum": 0.0}, None, 200_000)
    assert ask(2.9) == (False, "not finite") and ask(0.2) == (True, "ended")
    assert Answers(descent(), "lr", "ends", {"momentum": 0.0}, None, 200_000)(2.9) == (True, "not finite")


def test_the_command_line_shows_it(tmp_path, capsys):
    path = tmp_path / "m.txt"
    path.write_text(descent().text(), encoding="utf-8")
    grid = ["--grid", "lr=0.05:1.2:12", "--grid", "momentum=0:0.9:5"]
    assert main(["sweep", str(path), *grid]) == 0
    out, err = capsys.readouterr()
    assert "not finite" in err and "'!' not finite" in out and "!" in out.split("to the right")[0]
    assert main(["sweep", str(path), *grid, "--json"]) == 0
    assert "not finite" in json.loads(capsys.readouterr().out)["columns"]["outcome"]


def test_stores_of_before_are_other_sweeps(tmp_path):
    """Older stores call such points "ended"."""
    pytest.importorskip("pyarrow")
    from workbench.sweep import store

    points = {"lr": np.linspace(0.1, 1.2, 8), "momentum": [0.5]}
    first = wb.sweep(descent(), points, store=tmp_path / "s")
    assert "not finite" in first["outcome"]
    again = wb.sweep(descent(), points, store=tmp_path / "s")
    assert again["outcome"].tolist() == first["outcome"].tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "OUTCOMES", store.OUTCOMES[:4])
        with pytest.raises(wb.WorkbenchError, match="another sweep"):
            wb.sweep(descent(), points, store=tmp_path / "s")
