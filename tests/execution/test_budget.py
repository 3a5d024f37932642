"""The budget is never exceeded: everything that grows with a run counts, at every moment, for every kind of loop."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

import workbench as wb
from tests.execution.loops import arrays, counter, nest, nest_value, newton, objects, triple
from tests.plan.checks import run_of, same
from workbench.execution import Run
from workbench.trace.rows import RowReader

KIB, MIB = 1 << 10, 1 << 20

CASES = {
    "counter": (lambda: counter(2_000_000), MIB),
    "newton": (lambda: newton(2_000_000), MIB),
    "newton, a small budget": (lambda: newton(300_000), 64 * KIB),
    "nested": (lambda: nest(2000, 1000), MIB),
    "nested, short inner loops": (lambda: nest(500_000, 2), MIB),
    "nested, a long inner loop": (lambda: nest(3, 500_000), 256 * KIB),
    "three levels": (lambda: triple(200_000), MIB),
    "arrays": (lambda: arrays(50_000), MIB),
    "large arrays": (lambda: arrays(3000, 10_000), 2 * MIB),
    "objects": (lambda: objects(20_000), MIB),
    "large objects": (lambda: objects(2000, 5000), 2 * MIB),
    "objects that fill a chunk of rows": (lambda: objects(3000, 1000), 512 * KIB),
}


@contextmanager
def sampled(run: Run) -> Iterator[list[int]]:
    """Reads the held bytes of a run from another thread as fast as it can."""
    samples: list[int] = []
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            samples.append(run.held_bytes)
            done.wait(0.0001)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield samples
    finally:
        done.set()
        thread.join()


def finish(run: Run, samples: list[int] | None = None) -> Run:
    """To the end; with ``samples``, in small steps after each of which one is taken."""

    def limit() -> int | None:
        return None if samples is None else run.event + max(1000, run.event // 100)

    while run.go(limit()) != "halt":
        if samples is not None:
            samples.append(run.held_bytes)
    return run


@pytest.mark.parametrize("name", CASES)
def test_the_budget_is_never_exceeded(name: str) -> None:
    make, budget = CASES[name]
    run = run_of(make(), {}, budget=budget)
    assert run.machine.least_bytes < budget * 3 // 4  # what is left is for checkpoints
    with sampled(run) as samples:
        finish(run, samples)
    assert run.machine.dropped_chunks + sum(run.view.rows(s)[0] for s in range(len(run.plan.layout.stores))) > 0
    assert len(samples) > 20 and max(samples) <= budget, f"{max(samples)} of {budget} bytes"
    assert max(samples) > budget // 2, "most of the budget is of use"


@pytest.mark.parametrize("name", ["nested", "arrays", "objects"])
def test_going_back_and_on_stays_within_the_budget(name: str) -> None:
    make, budget = CASES[name]
    run = finish(run_of(make(), {}, budget=budget))
    end = run.event
    with sampled(run) as samples:
        for part in (0.9, 0.2, 0.5):
            run.seek(int(end * part))
        finish(run)
    assert run.event == end and max(samples) <= budget, f"{max(samples)} of {budget} bytes"


@pytest.mark.usefixtures("steady_pace")
@pytest.mark.parametrize("steady_pace", [3e-6], indirect=True)
def test_checkpoints_count_and_rows_make_room_for_them() -> None:
    run = run_of(arrays(3000, 10_000), {}, budget=4 * MIB)
    finish(run)
    held = sum(c.bytes for c in run.checkpoints)
    assert held == run.machine.checkpoint_bytes and MIB // 4 < held <= MIB
    assert run.held_bytes == run.view.bytes + held <= 4 * MIB


def test_what_a_keeper_reserves_counts() -> None:
    run, held, most = run_of(newton(300_000), {}, budget=MIB), [0], 0

    def keep(store: int, first: int, rows: np.ndarray, objects: dict[int, list[object]]) -> None:
        nonlocal most
        run.machine.reserved_bytes = min(run.machine.reserved_bytes + rows.size // 20, MIB // 2)
        held.append(
            run.held_bytes
        )  # in the thread of the run: from another one the parts of the sum are not of one moment
        most = max(most, rows.size // 20)

    run.machine.retire = keep
    while run.go() != "halt":
        held.append(run.held_bytes)
    # this keeper takes its bytes while the rows that it is shown are still there, also where they make room for what
    # it took the time before
    assert run.machine.reserved_bytes == MIB // 2 and MIB // 2 < max(held) <= MIB + 2 * most
    assert run.view.bytes < MIB // 2


def test_a_budget_below_the_least_is_exceeded_by_no_more_than_that() -> None:
    run = run_of(nest(2000, 100), {}, budget=1)
    with sampled(run) as samples:
        finish(run, samples)
    allowed = run.machine.least_bytes + 3 * max(c.bytes for c in run.checkpoints)
    assert max(samples) <= allowed, f"{max(samples)} of {allowed} bytes"


def test_tables_of_activations_begin_later_and_are_read_right() -> None:
    """Every number that a trace gives stays right when the oldest activations are gone."""
    outer, inner = 300_000, 2
    run = finish(run_of(nest(outer, inner), {}, budget=MIB))
    frame = next(k for k, f in enumerate(run.plan.layout.frames) if f.path == ("outer", "inner"))
    starts, parents = run.view.activations(frame)
    assert 0 < len(starts) < 40_000 and starts[0] > 0 and run.view.rows(frame)[2] == outer
    j = run.trace["j"]
    assert np.array_equal(j.iterations[:, 1], j.values) and j.iterations[-1].tolist() == [outer - 1, inner]
    s = run.trace["inner/s/Merge"] if "inner/s/Merge" in run.plan.graph.nodes else run.trace["s"]
    for at in (0, len(s) // 2, len(s) - 1):
        i, k = s.iterations[at]
        assert s.values[at] == nest_value(outer, inner, int(i), int(k))
    events = run.trace.recent(("outer", "inner"), 5)
    assert events[-1].iteration == (outer - 1, inner)


def test_activations_that_only_rare_rows_lead_to_do_not_pile_up() -> None:
    """The innermost of three loops runs rarely, so its few rows stay for long; the tables of the loop around it
    cannot grow for ever on their account."""
    run = run_of(triple(400_000), {}, budget=512 * KIB)
    with sampled(run) as samples:
        finish(run, samples)
    assert max(samples) <= 512 * KIB
    assert run.plan.layout.frames[-1].path == ("outer", "inner", "innermost")


@pytest.mark.parametrize("budget", [16 * KIB, 256 * KIB, 64 * MIB])
def test_the_last_value_of_a_loop_that_ran_long_ago(budget: int) -> None:
    with wb.Session(triple(50_001), memory_budget=budget) as session:
        session.run()
        assert session.value("k") == 3 and session.value("k", (50_000, 0, 1)) == 1
        assert session.value("k", (500, 0, 2)) == 2
        with pytest.raises(wb.WorkbenchError):
            session.value("k", (501, 0, 2))


def test_saved_traces_begin_later_too(tmp_path) -> None:
    with wb.Session(nest(100_000, 2), memory_budget=MIB) as session:
        session.run()
        session.trace.save(tmp_path / "nest")
        loaded = wb.Trace.load(tmp_path / "nest")
        ours, theirs = session.trace["j"], loaded["j"]
        assert same(ours.values, theirs.values) and same(ours.iterations, theirs.iterations)
        assert len(ours) > 1000 and theirs.iterations[0, 0] > 0


def test_readers_while_the_oldest_activations_go() -> None:
    """Tags and values that are read at full speed belong together, however far the run has come meanwhile."""
    wrong: list[object] = []
    seen = 0
    with wb.Session(nest(1 << 40, 2), memory_budget=16 * MIB) as session:
        session.run(wait=False)
        while not session.trace.dropped:
            time.sleep(0.001)
        for look in range(2000):
            if look >= 15 and seen > 10_000:
                break
            iterations, values = session.trace["j"].window(0, 1 << 60)
            seen += len(values)  # none where all of them went while they were being read
            if not np.array_equal(iterations[:, 1], values):
                wrong.append((iterations, values))
            tag = session.trace["j"].tag(-1)
            assert tag.frame == ("outer", "inner") and 0 <= tag.iteration[1] <= 2
        session.pause()
        last = session.trace["i"][-1]
        assert session.value("j", (int(last) // 2, 1)) == 1
    assert not wrong and seen > 10_000


def run_past_all(session: wb.Session) -> int:
    """Let it run until none of the rows of now is left; the oldest iteration of the outer loop then."""
    source = session.trace["i"]._reader.source
    newest = source.extent(1).stop
    session.run(wait=False)
    while source.extent(1).first <= newest:
        time.sleep(0.001)
    session.pause()
    return int(session.trace["i"].window(0, 1 << 60)[1][0])


@pytest.mark.parametrize("name", ["i", "j"])
def test_the_last_firing_when_all_rows_go_while_it_is_looked_for(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that waits for the processor finds none of the rows it set out for: it looks again."""
    with wb.Session(nest(1 << 40, 2), memory_budget=MIB) as session:
        oldest, series = run_past_all(session), session.trace[name]
        source, later = type(series._reader.source), [oldest]
        extent = source.extent

        def slow(self: object, frame: int) -> object:
            found = extent(self, frame)
            if len(later) == 1:
                later.append(0)
                later.append(run_past_all(session))
            return found

        monkeypatch.setattr(source, "extent", slow)
        tag = series.tag(-1)
        assert later[-1] > oldest and tag.iteration[0] >= later[-1]
        oldest, later[:] = later[-1], [0]
        value = int(series[-1])
        assert later[-1] > oldest and (value >= later[-1] if name == "i" else 0 <= value <= 2)
        with pytest.raises(IndexError, match="there is no firing"):
            series[10**12]


def test_firings_are_not_told_apart_by_activations_that_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows whose activation goes between two looks have gone; they do not count as iterations that went on."""
    with wb.Session(nest(1 << 40, 2), memory_budget=MIB) as session:
        run_past_all(session)
        series, where, looks = session.trace["inner/cast"], RowReader._where, []
        source, node = series._reader.source, series._reader.node["inner/cast"]

        def slow(self: RowReader, *args: object) -> object:
            looks.append(source.extent(node.frame).first)
            while len(looks) == 1 and source.extent(node.frame).first == looks[0]:
                session.next_iteration()
            return where(self, *args)

        monkeypatch.setattr(RowReader, "_where", slow)
        rows = series._rows()
        starts, _ = source.activations(node.frame)
        assert 1000 < len(rows) and looks[0] < starts[0] <= rows[0], "the oldest have gone"
