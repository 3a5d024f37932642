"""Values that go when their last reader has run: the same results, values and replays as in runs that keep everything;
nothing is released too early, too late or twice."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, reject, settings
from hypothesis import strategies as st

import workbench as wb
from tests.plan.checks import same
from tests.plan.random_arrays import ArrayMaker
from tests.plan.random_raw import RawMaker
from workbench.debugger.replay import step_back
from workbench.errors import ExecutionError, WorkbenchError
from workbench.execution import Run, prepare_feeds
from workbench.ir import Graph, Ref
from workbench.ir.types import TensorType
from workbench.kernels import machine as core
from workbench.plan import ExecutionPlan, make_plan, signature_of
from workbench.plan.memory import liveness

SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)


@contextmanager
def everything_counts() -> Iterator[None]:
    """Small arrays share memory too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(liveness, "LEAST_BYTES", 1)
        patch.setattr(liveness, "LEAST_TOTAL", 0)
        yield


def planned(graph: Graph, feeds: dict[str, np.ndarray], outputs: dict[str, Ref], mode: str) -> ExecutionPlan:
    arrays = prepare_feeds(graph, feeds)
    signature = signature_of(graph, {n: TensorType.of(a) for n, a in arrays.items()})
    with everything_counts():
        return make_plan(graph, outputs, signature, statistics=mode == "stats", lean=mode != "all")


def run_of(plan: ExecutionPlan, feeds: dict[str, np.ndarray], back: bool = True) -> Run:
    run = Run(plan, prepare_feeds(plan.graph, feeds), 1 << 28, back=back)
    run.machine.least_released = 0
    return run


def finish(run: Run) -> Run:
    while run.go() != "halt":
        pass
    return run


def check_values(run: Run, every: Run) -> None:
    """All firings so far: those that are kept, and at the outermost level those that are recomputed."""
    for key, layout in every.plan.layout.values.items():
        ref = Ref(*key)
        wanted, found = every.trace[ref].firings(), run.trace[ref].firings()
        place = run.plan.layout.values[key].place
        if len(found) < len(wanted):
            assert layout.frame == 0 and place is not None and place.until >= 0, ref
            found = [step_back.recompute(run, ref, ())]
        assert len(found) == len(wanted), ref
        assert all(same(a, b) for a, b in zip(found, wanted, strict=True) if isinstance(b, np.ndarray)), ref


@pytest.mark.slow
@SETTINGS
@given(seed=st.integers(0, 1 << 32), raw=st.sampled_from([False, False, True]), data=st.data())
def test_any_outputs_any_stops_any_replays(seed: int, raw: bool, data: st.DataObject) -> None:
    graph, feeds = RawMaker(random.Random(seed)).make() if raw else ArrayMaker(seed).make()
    note(graph.text())
    names = sorted(graph.outputs)
    chosen = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    outputs = {n: graph.outputs[n] for n in chosen}
    mode = data.draw(st.sampled_from(["off", "stats"]))
    try:
        every = finish(run_of(planned(graph, feeds, outputs, "all"), feeds))
    except WorkbenchError:
        reject()
    plan = planned(graph, feeds, outputs, mode)
    run = run_of(plan, feeds)
    for event in data.draw(st.lists(st.integers(0, every.event), max_size=6)):
        run.seek(event)
        twin = run_of(planned(graph, feeds, outputs, "all"), feeds)
        twin.seek(event)
        assert run.event == twin.event == event
        check_values(run, twin)
    finish(run)
    check_values(run, every)
    for name, value in run_of_outputs(every).items():
        assert same(run_of_outputs(run)[name], value) or not isinstance(value, np.ndarray), name
    once = finish(run_of(plan, feeds, back=False))
    assert len(once.checkpoints) == 1
    for name, value in run_of_outputs(every).items():
        assert same(run_of_outputs(once)[name], value) or not isinstance(value, np.ndarray), name


def run_of_outputs(run: Run) -> dict[str, np.ndarray]:
    try:
        return run.outputs()
    except WorkbenchError:  # a dead one
        return {}


def test_there_are_programs_that_release() -> None:
    """Else the test above would show nothing."""
    released = 0
    for seed in range(40):
        graph, feeds = ArrayMaker(seed).make()
        try:
            released += finish(run_of(planned(graph, feeds, graph.outputs, "off"), feeds)).machine.released_objects
        except WorkbenchError:
            continue
    assert released > 20


def chain(length: int, count: int) -> Graph:
    """Arrays of a size that only the run knows, each read by the next node alone."""
    b = wb.GraphBuilder("chain")
    x, n = b.placeholder("x", "float64", (count,)), b.placeholder("n", "int64")
    y = b.op("slice", x, b.constant(np.array([0])), b.op("reshape", n, shape=(1,)), name="y")
    for k in range(length):
        y = b.add(b.multiply(y, 0.5), b.op("sort", y), name=f"y{k}")
    return b.build({"out": y})


@pytest.mark.parametrize("mode", ["off", "stats"])
def test_objects_go_with_their_last_reader(mode: str) -> None:
    count, length = 40_000, 30
    feeds = {"x": np.random.default_rng(0).random(count), "n": np.int64(count)}
    with wb.Session(chain(length, count), feeds, trace="all") as every:
        every.run()
        with wb.Session(chain(length, count), feeds, trace=mode) as lean:
            lean.run()
            report = lean.memory()
            assert report.objects == 8 * count  # the output
            assert report.peak - report.feeds - report.rows <= 5 * 8 * count < every.memory().objects / 10
            np.testing.assert_array_equal(lean.outputs["out"], every.outputs["out"])
            for name in ("y", "y0", "y17", f"y{length - 2}"):
                assert len(lean.trace[name]) == 0
                with pytest.raises(WorkbenchError) as caught:
                    lean.trace[name].at(())
                assert caught.value.slug == "not-recorded"
                np.testing.assert_array_equal(lean.value(name), every.value(name))
            lean.step_back(10)
            node = lean.position.node
            lean.step()
            np.testing.assert_array_equal(lean.trace[node][-1], every.trace[node][-1])
            lean.run()
            np.testing.assert_array_equal(lean.outputs["out"], every.outputs["out"])
            assert lean.memory().objects <= 2 * 8 * count


def test_a_saved_trace_says_what_was_released(tmp_path) -> None:
    feeds = {"x": np.arange(1000.0), "n": np.int64(1000)}
    with wb.Session(chain(4, 1000), feeds, trace="off") as lean:
        lean.run()
        lean.trace.save(tmp_path / "t.wbt")
        loaded = wb.Trace.load(tmp_path / "t.wbt")
        assert len(loaded["y1"]) == 0 == len(lean.trace["y1"])
        np.testing.assert_array_equal(loaded["y3"][-1], lean.outputs["out"])


def test_reading_what_was_released_is_an_error_that_names_who_released_it() -> None:
    """A plan that releases too early: the machine notices, whatever the plan says."""
    feeds = {"x": np.arange(5000.0), "n": np.int64(5000)}
    graph = chain(3, 5000)
    plan = planned(graph, feeds, graph.outputs, "off")
    run = run_of(plan, feeds)
    made = next(n for n in plan.layout.nodes if n.name == "y0")
    run.go(None, exact=True, instruction_range=(-2, made.ip + 1, -1))
    place = plan.layout.values["y0", 0].place
    assert place is not None and run.value_now(Ref("y0")) is not None
    core.release(run.machine, run.plan.program.length)
    with pytest.raises(ExecutionError) as caught:
        finish(run)
    assert caught.value.slug == "use-after-release" and caught.value.node == "y0"
    assert "'y0:0' is read after it was released" in caught.value.message


def test_releasing_again_does_nothing() -> None:
    feeds = {"x": np.arange(5000.0), "n": np.int64(5000)}
    graph = chain(3, 5000)
    run = finish(run_of(planned(graph, feeds, graph.outputs, "off"), feeds))
    before = run.machine.released_objects, run.view.objects
    for _ in range(3):
        core.release(run.machine, run.plan.program.length)
    assert (run.machine.released_objects, run.view.objects) == before


def test_a_side_that_is_not_taken_releases_what_only_it_reads() -> None:
    b = wb.GraphBuilder("sides")
    x, n = b.placeholder("x", "float64", (6000,)), b.placeholder("n", "int64")
    y = b.op("sort", b.op("slice", x, b.constant(np.array([0])), b.op("reshape", n, shape=(1,))), name="y")
    z = b.cond(n > 5, lambda: b.op("sum", b.op("cumsum", y)), lambda: b.constant(1.0))
    graph = b.build({"z": b.op("negative", b.op("sum", b.op("concat", z[None], x[:3], axis=0)))})
    for count in (4, 6000):
        with wb.Session(graph, {"x": np.arange(6000.0), "n": np.int64(count)}, trace="off") as session:
            session.run()
            kept = 0 if count * 8 >= 4096 else 1
            assert len(session.trace["y"]) == kept
            np.testing.assert_array_equal(session.value("y"), np.arange(6000.0)[:count])


def test_edits_of_what_is_still_there_and_of_what_is_gone() -> None:
    feeds = {"x": np.arange(2000.0), "n": np.int64(2000)}
    with wb.Session(chain(5, 2000), feeds, trace="off") as session:
        session.run_to("y1")
        session.step()
        session.set_value("y1", np.ones(2000))
        with pytest.raises(WorkbenchError) as caught:
            session.set_value("y", np.ones(2000))
        assert caught.value.slug == "not-editable" and "released" in caught.value.message
        session.run()
        y = np.ones(2000)
        for _ in range(3):
            y = y * 0.5 + np.sort(y)
        np.testing.assert_array_equal(session.outputs["out"], y)
        np.testing.assert_array_equal(session.value("y1"), np.ones(2000))
        session.step_back(12)
        session.run()
        np.testing.assert_array_equal(session.outputs["out"], y)


def test_edits_of_arrays_that_share_memory() -> None:
    b = wb.GraphBuilder("large")
    x = y = b.placeholder("x", "float64", (200, 200))
    for k in range(12):
        y = b.transpose(b.add(b.multiply(y, 0.5), x), perm=(1, 0), name=f"y{k}")
    graph = b.build({"out": y})
    fed = np.random.default_rng(0).random((200, 200))
    with wb.Session(graph, {"x": fed}, trace="off") as session:
        assert session.plan.layout.values["y5", 0].place.until >= 0
        session.run_to("y5")
        session.step()
        session.set_value("y5", np.zeros((200, 200)))
        with pytest.raises(WorkbenchError) as caught:
            session.set_value("y2", np.zeros((200, 200)))
        assert caught.value.slug == "not-editable"
        session.run()
        wanted = np.zeros((200, 200))
        for _ in range(6):
            wanted = (wanted * 0.5 + fed).T
        np.testing.assert_array_equal(session.outputs["out"], wanted)
        session.step_back(20)
        session.run()
        np.testing.assert_array_equal(session.outputs["out"], wanted)


def growing(trips: int) -> Graph:
    """A loop that carries an array of a size that only the run knows."""
    b = wb.GraphBuilder("growing")
    x, n = b.placeholder("x", "float64", (100_000,)), b.placeholder("n", "int64")
    y = b.op("slice", x, b.constant(np.array([0])), b.op("reshape", n, shape=(1,)), name="y")
    y, _ = b.while_loop(lambda y, i: i < trips, lambda y, i: (b.op("sort", y * 0.999), i + 1), [y, 0], name="loop")
    return b.build({"y": y})


def test_a_loop_holds_a_few_rows_of_objects() -> None:
    size = 100_000 * 8
    with wb.Session(growing(200), {"x": np.ones(100_000), "n": np.int64(100_000)}, trace="off") as session:
        session.run()
        assert session.memory().peak < 16 * size
