"""Arrays that rows do not hold are computed again bit for bit: held against the same program with every array recorded.

``LEAST_BYTES`` decides which arrays are small enough to be recorded: as large as nothing for the twin that records all,
one byte for the program under test, so that arrays of a few elements take part.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.plan.checks import same
from tests.plan.random_arrays import ArrayMaker
from workbench.errors import WorkbenchError
from workbench.execution import Run, prepare_feeds
from workbench.ir import Graph, Ref
from workbench.ir.types import TensorType
from workbench.plan import ExecutionPlan, make_plan, signature_of
from workbench.plan.lowering import recompute
from workbench.trace.retention import Retention

ALL_RECORDED = 1 << 60
Firings = dict[Ref, dict[tuple[int, ...], np.ndarray]]


@pytest.fixture
def plan(monkeypatch):
    def make(graph: Graph, feeds: dict[str, Any], least: int, **modes: bool) -> ExecutionPlan:
        monkeypatch.setattr(recompute, "LEAST_BYTES", least)
        types = {n: TensorType.of(a) for n, a in prepare_feeds(graph, feeds).items()}
        return make_plan(graph, graph.outputs, signature_of(graph, types), **modes)

    return make


def finish(run: Run) -> Run:
    while run.go() != "halt":
        pass
    return run


def firings(run: Run) -> Firings:
    found = {}
    for key in run.plan.layout.values:
        series = run.trace[Ref(*key)]
        paths = map(tuple, series.iterations.tolist())
        found[Ref(*key)] = dict(zip(paths, map(np.array, series.firings()), strict=True))
    return found


def assert_equal(found: Run, expected: Run, part: bool = False) -> None:
    theirs = firings(expected)
    for ref, ours in firings(found).items():
        assert ours.keys() <= theirs[ref].keys() if part else ours.keys() == theirs[ref].keys(), ref
        for path, value in ours.items():
            assert same(value, theirs[ref][path]), f"{ref} at {path}: {value!r}, recorded {theirs[ref][path]!r}"


def heat(trips: int = 40, points: int = 64) -> tuple[Graph, dict[str, Any]]:
    """A loop whose arrays are computed from what it carries; ``rate`` is a number from outside."""
    b = wb.GraphBuilder("heat")
    u, rate = b.placeholder("u", "float64", (points,)), b.placeholder("rate", "float64")

    def body(x: Any, i: Any) -> Any:
        sides = b.alias("sides", x[:-2] + x[2:])
        inner = b.alias("inner", 0.5 * x[1:-1] + rate * sides)
        return b.op("pad", inner, pad_width=((1, 1),)), i + 1

    x, _ = b.while_loop(lambda x, i: i < trips, body, [u, 0], name="loop")
    return b.build({"x": x}), {"u": np.random.default_rng(0).normal(size=points), "rate": 0.25}


def recomputed(plan: ExecutionPlan) -> set[str]:
    return {name for name, (slug, _) in plan.recorded.items() if slug == "recomputed"}


def edit_both(runs: tuple[Run, Run], event: int, ref: Ref, value: Any) -> bool:
    """The same edit in both, or the same refusal."""
    said = []
    for run in runs:
        run.seek(event, skip_silent=True)
        try:
            run.edit(ref, value)
            said.append("edited")
        except WorkbenchError as error:
            said.append(str(error.slug))
    assert said[0] == said[1]
    assert_equal(runs[0], runs[1])
    return said[0] == "edited"


SEEDS = [
    pytest.param(seed, marks=() if seed < 6 else pytest.mark.slow if seed < 45 else pytest.mark.sweep)
    for seed in range(120)
]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs_give_what_recorded_ones_give(seed, plan):
    graph, feeds = ArrayMaker(seed).make()
    arrays, draw = prepare_feeds(graph, feeds), random.Random(seed)
    two, one = (Run(plan(graph, feeds, least), arrays, 1 << 28) for least in (1, ALL_RECORDED))
    two.plan.program.verify()
    assert not recomputed(one.plan)
    assert_equal(finish(two), finish(one))
    for _ in range(3):
        event = draw.randrange(one.event + 1)
        one.seek(event), two.seek(event)
        assert_equal(two, one)
    for _ in range(2):
        ref = draw.choice(_numbers_and_arrays(one))
        place = one.plan.layout.values[ref].place
        value = np.random.default_rng(seed).integers(0, 3, place.shape).astype(place.dtype)
        edit_both((two, one), draw.randrange(one.event + 1), ref, value)
    assert_equal(finish(two), finish(one))
    event = draw.randrange(one.event + 1)
    one.seek(event), two.seek(event)
    assert_equal(two, one)


def _numbers_and_arrays(run: Run) -> list[Ref]:
    values = run.plan.layout.values.items()
    return [Ref(*k) for k, v in values if v.place is not None and v.place.base and v.place.dtype is not None]


@pytest.mark.parametrize(
    "keeping",
    [
        Retention("all", memory=1 << 16),
        Retention("carried", memory=1 << 17),
        Retention("carried", window=5, memory=1 << 17),
        Retention("none", every=3, memory=1 << 17),
        Retention("carried", names=("sides",), memory=1 << 17),
    ],
    ids=repr,
)
def test_every_retention_gives_the_recorded_values(keeping, plan):
    graph, feeds = heat(300)
    arrays = prepare_feeds(graph, feeds)
    whole = finish(Run(plan(graph, feeds, ALL_RECORDED), arrays, 1 << 28))
    run = finish(Run(plan(graph, feeds, 1), arrays, keeping.memory, keeping=keeping))
    assert run.machine.dropped_chunks > 0
    assert_equal(run, whole, part=True)
    run.seek(whole.event // 2)
    assert_equal(run, whole, part=True)
    assert graph.value("sides").node in recomputed(run.plan) and len(run.trace["sides"]) > 0


def test_spilled_rows_hold_what_is_computed_again(plan, tmp_path):
    pytest.importorskip("pyarrow")
    graph, feeds = heat(300)
    arrays = prepare_feeds(graph, feeds)
    whole = finish(Run(plan(graph, feeds, ALL_RECORDED), arrays, 1 << 28))
    keeping = Retention("all", spill=tmp_path / "rows", memory=1 << 17)
    run = finish(Run(plan(graph, feeds, 1), arrays, keeping.memory, keeping=keeping))
    assert run.machine.dropped_chunks > 0
    assert_equal(run, whole)
    run.close()


def test_an_edit_changes_the_iterations_behind_it_only(plan):
    """Of the loop variable, of an array that is computed again, and of a number from outside that all of them read."""
    graph, feeds = heat(12)
    arrays = prepare_feeds(graph, feeds)
    two, one = (finish(Run(plan(graph, feeds, least), arrays, 1 << 28)) for least in (1, ALL_RECORDED))
    assert recomputed(two.plan)
    refs = _numbers_and_arrays(one)
    edited = 0
    for event in range(20, 90, 3):
        for ref in (refs[event % len(refs)], Ref(graph.inputs["rate"].node, 0)):
            place = one.plan.layout.values[ref].place
            value = np.full(place.shape, event / 7).astype(place.dtype)
            edited += edit_both((two, one), event, ref, value)
        one.to_event(event + 11), two.to_event(event + 11)
        assert_equal(two, one)
    assert edited > 20
    assert_equal(finish(two), finish(one))
    for event in (30, 61, 88):
        one.seek(event), two.seek(event)
        assert_equal(two, one)


def test_the_plan_says_why_an_array_is_recorded_or_not(plan):
    graph, feeds = heat()
    found = plan(graph, feeds, recompute.LEAST_BYTES).recorded
    slug, why = found[graph.value("sides").node]
    assert slug == "recomputed" and "496 bytes" in why
    assert {slug for slug, _ in found.values()} == {"recomputed", "carried"}
    small = {slug for slug, _ in plan(*heat(points=8), ALL_RECORDED).recorded.values()}
    assert small == {"small", "carried"}


def test_branches_are_recorded(plan):
    b = wb.GraphBuilder("branches")
    u = b.placeholder("u", "float64", (16,))

    def body(x: Any, i: Any) -> Any:
        y = b.cond(i % 2 == 0, lambda: b.alias("even", x * 0.5 + 1.0), lambda: x - 0.25)
        return b.op("negative", y), i + 1

    x, _ = b.while_loop(lambda x, i: i < 9, body, [u, 0], name="loop")
    graph, feeds = b.build({"x": x}), {"u": np.arange(16.0)}
    arrays = prepare_feeds(graph, feeds)
    two, one = (finish(Run(plan(graph, feeds, least), arrays, 1 << 28)) for least in (1, ALL_RECORDED))
    assert {"branches", "recomputed"} <= {slug for slug, _ in two.plan.recorded.values()}
    assert_equal(two, one)


def test_a_saved_trace_holds_every_value(plan, tmp_path):
    graph, feeds = heat(20)
    arrays = prepare_feeds(graph, feeds)
    run = finish(Run(plan(graph, feeds, 1), arrays, 1 << 28))
    run.trace.save(tmp_path / "trace.zip")
    loaded = wb.Trace.load(tmp_path / "trace.zip")
    for ref, values in firings(run).items():
        assert all(same(a, b) for a, b in zip(loaded[ref].firings(), values.values(), strict=True)), ref
