"""Rows that leave the machine: each is retired or live exactly once, bit for bit as in a run without a budget."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.ir.programs import nested
from tests.plan.checks import run_of
from workbench.errors import ExecutionError
from workbench.execution import Run
from workbench.kernels import machine as core
from workbench.session import plan_for


class Recorder:
    """The simplest retention backend: copies of all rows by store."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.rows: dict[int, list[bytes]] = defaultdict(list)
        self.objects: dict[int, list[dict[int, Any]]] = defaultdict(list)
        self.rewound: list[tuple[int, int]] = []
        self.full = False
        run.machine.retire, run.machine.rewind = self.retire, self.rewind

    def retire(self, store: int, first_row: int, rows: np.ndarray, objects: dict[int, list[Any]]) -> None:
        assert rows.dtype == np.uint8 and rows.ndim == 2 and not rows.flags.writeable and len(rows) > 0
        assert first_row == len(self.rows[store]), "a gap, or rows that were retired before"
        if self.full:
            raise OSError(28, "No space left on device")
        assert all(len(column) == len(rows) for column in objects.values())
        self.rows[store] += [row.tobytes() for row in rows]
        self.objects[store] += [{at: objects[at][k] for at in objects} for k in range(len(rows))]

    def rewind(self, store: int, row: int) -> None:
        assert 0 <= row < len(self.rows[store])
        self.rewound.append((store, row))
        del self.rows[store][row:], self.objects[store][row:]

    def item(self, place: Any, row: int) -> Any:
        """The value at a place in a row: retired, else in the executor."""
        store, at = place.base - 1, row + place.shift
        if at >= len(self.rows[store]):
            dtype = None if place.dtype is None else np.dtype(place.dtype)
            first, items = self.run.view.column(store, place.offset, dtype, at, at + 1, 1, place.shape)
            assert first == at, f"row {at} of store {store} is neither retired nor live"
            return items[0]
        if place.dtype is None:
            return self.objects[store][at][place.offset]
        raw = self.rows[store][at]
        count = int(np.prod(place.shape, dtype=int))
        return np.frombuffer(raw, place.dtype, count, place.offset).reshape(place.shape)


def numbers(trips: int) -> wb.Graph:
    b = wb.GraphBuilder("numbers")

    def body(x: Any, i: Any) -> Any:
        return b.cond(i % 3 == 0, lambda: x * 0.5 + 1.0, lambda: x + 0.25), i + 1

    x, i = b.while_loop(lambda x, i: i < trips, body, [0.0, 0])
    return b.build({"x": x, "i": i})


def arrays(trips: int) -> wb.Graph:
    """A known shape: the vector stands in a store of its own beside the numbers."""
    b = wb.GraphBuilder("arrays")
    v, i = b.while_loop(
        lambda v, i: i < trips, lambda v, i: (v * 1.5 - np.sum(v), i + 1), [b.constant(np.linspace(0, 1e-3, 50)), 0]
    )
    return b.build({"v": v, "i": i})


def objects(trips: int) -> wb.Graph:
    """A shape that nobody knows ahead: the rows hold references."""
    b = wb.GraphBuilder("objects")
    start = b.constant(np.ones(1))

    def body(v: Any, i: Any) -> Any:
        grown = b.concat(v, v[-1:] * 1.25 + i.astype("float64"), axis=0)
        return b.cond(i % 4 == 3, lambda: v[:2], lambda: grown), i + 1

    v, i = b.while_loop(lambda v, i: i < trips, body, [start, 0])
    return b.build({"v": v, "i": i})


CASES = {
    "numbers": (lambda: numbers(300_000), {}),
    "arrays": (lambda: arrays(30_000), {}),
    "objects": (lambda: objects(40_000), {}),
    "nested": (lambda: nested(500), {"start": np.float64(0.0)}),
}


def finish(run: Run) -> Run:
    while run.go() != "halt":
        pass
    return run


def check(kept: Recorder, whole: Run) -> None:
    """Every firing of every value of every loop against a run that dropped nothing (a sample of a thousand of each)."""
    layout, reader = whole.plan.layout, whole.trace.reader
    seen = 0
    for value in layout.values.values():
        if value.kind != "slot" or value.place is None or value.place.base < 1 or layout.frame_of(value.place) == 0:
            continue
        rows = np.asarray(reader.rows_of(reader.node[value.node], value.guard))
        if value.frame != layout.frame_of(value.place) or len(rows) == 0:
            continue
        rows = np.unique(rows[np.linspace(0, len(rows) - 1, 1000).astype(int)])
        for row, wanted in zip(rows, reader.values(value, rows), strict=True):
            found, wanted = np.asarray(kept.item(value.place, int(row))), np.asarray(wanted)
            assert found.shape == wanted.shape and found.tobytes() == wanted.tobytes(), (value.node, row)
            seen += 1
    assert seen > 1000
    for store in range(len(layout.stores)):
        first, row, _ = kept.run.view.rows(store)
        assert len(kept.rows[store]) == first and row == whole.view.rows(store)[1]
    assert not kept.rows[0], "rows of the outermost level are never dropped"


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_row_is_retired_or_live_exactly_once(name: str) -> None:
    make, feeds = CASES[name]
    graph = make()
    run = run_of(graph, feeds, budget=1)
    kept = Recorder(run)
    finish(run)
    assert sum(map(len, kept.rows.values())) > 0 and run.machine.dropped_chunks > 0 and not kept.rewound
    check(kept, finish(run_of(graph, feeds, budget=1 << 34)))


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_going_back_below_retired_rows_and_on_again(name: str) -> None:
    make, feeds = CASES[name]
    graph = make()
    run = run_of(graph, feeds, budget=1)
    kept = Recorder(run)
    finish(run)
    end = run.event
    for event in (end - 3, end // 2, 17, end // 3):
        before = {store: len(rows) for store, rows in kept.rows.items()}
        run.seek(event)
        assert run.event == event
        for store in {store for store, _ in kept.rewound}:
            assert len(kept.rows[store]) == run.view.rows(store)[0] <= before[store]
        kept.rewound.clear()
    run.seek(end // 4)
    finish(run)
    assert run.event == end
    check(kept, finish(run_of(graph, feeds, budget=1 << 34)))


def test_arrays_that_leave_a_window_are_retired_too() -> None:
    """With statistics only a window of the newest arrays stays, whatever the budget."""
    graph = arrays(30_000)
    plan = plan_for(graph, {}, None, statistics=True)
    run = Run(plan, {}, 1 << 30, 1 << 18)
    kept = Recorder(run)
    finish(run)
    first = [run.view.rows(store)[0] for store in range(len(plan.layout.stores))]
    assert [len(kept.rows[store]) for store in range(len(first))] == first
    assert first[1] == 0 < first[plan.layout.stores.index(1, 2)]
    check(kept, finish(Run(plan, {}, 1 << 34)))


@pytest.mark.usefixtures("steady_pace")
def test_rewind_names_the_first_row_that_is_written_anew() -> None:
    run = run_of(numbers(300_000), {}, budget=1)
    kept = Recorder(run)
    finish(run)
    early = run.checkpoints[1]
    frame = len(run.plan.layout.frames) - 1
    assert early.row(frame) < run.view.rows(frame)[0]
    run.restore(early)
    assert kept.rewound == [(frame, early.row(frame))]
    run.restore(run.checkpoints[0])
    assert kept.rewound[1:] == [(frame, 0)]
    assert not kept.rows[frame]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_hook_that_raises_stops_the_run_and_nothing_is_lost(name: str) -> None:
    make, feeds = CASES[name]
    graph = make()
    run = run_of(graph, feeds, budget=1)
    kept = Recorder(run)
    while not any(kept.rows.values()):
        run.go(run.event + 5000)
    kept.full = True
    stopped = []
    for exact in (False, True, False):
        with pytest.raises(ExecutionError, match="No space left") as caught:
            while run.go(exact=exact) != "halt":
                pass
        assert isinstance(caught.value.__cause__, OSError) and caught.value.slug == "not-retired"
        assert caught.value.node is None
        stopped.append((run.event, run.view.ip, [run.view.rows(s) for s in range(len(run.plan.layout.stores))]))
    assert run.machine.retire_failed and stopped[0] == stopped[1] == stopped[2]
    kept.full = False
    finish(run)
    assert not run.machine.retire_failed
    check(kept, finish(run_of(graph, feeds, budget=1 << 34)))


def test_a_session_stops_and_goes_on_when_there_is_room_again() -> None:
    with wb.Session(numbers(300_000), memory_budget=1) as session:
        kept = Recorder(session._run)
        kept.full = True
        stop = session.run()
        assert stop.reason is wb.StopReason.NO_ROOM and session.state == "paused"
        assert "No space left" in stop.detail and stop.error.slug == "not-retired"
        assert session.trace["i"][-1] > 0
        kept.full = False
        assert session.resume().reason is wb.StopReason.FINISHED
        assert session.outputs["i"] == 300_000
        assert kept.run.view.rows(1)[0] == len(kept.rows[1]) > 0


def test_rows_that_are_kept_beyond_the_call_are_refused() -> None:
    run = run_of(numbers(300_000), {}, budget=1)
    held: list[np.ndarray] = []
    run.machine.retire = lambda store, first, rows, objects: held.append(rows[:1, :8].view(np.float64))
    with pytest.raises(ExecutionError, match="copy"):
        finish(run)
    assert run.view.rows(1)[0] == 0 and len(held) == 1  # the chunk is still there, so the array still is what it was


def test_a_rewind_that_raises_leaves_the_machine_where_it_stands() -> None:
    run = run_of(numbers(300_000), {}, budget=1)
    kept = Recorder(run)
    finish(run)

    def refuse(store: int, row: int) -> None:
        raise OSError("read-only file system")

    run.machine.rewind = refuse
    before = run.view.rows(1), run.view.ip, run.event
    with pytest.raises(OSError, match="read-only"):
        core.restore(run.machine, run.checkpoints[0])
    assert (run.view.rows(1), run.view.ip, run.event) == before and kept.rows[1]


@pytest.mark.usefixtures("steady_pace")
def test_forks_have_no_hook() -> None:
    run = run_of(numbers(300_000), {}, budget=1)
    kept = Recorder(run)
    finish(run)
    count = len(kept.rows[1])
    fork = run.fork(run.checkpoints[0])
    assert fork.machine.retire is None and fork.machine.rewind is None
    finish(fork)
    assert fork.machine.dropped_chunks > 0 and len(kept.rows[1]) == count


def test_what_others_hold_counts() -> None:
    """Bytes that are reserved leave less for the rows."""
    dropped = []
    for reserved in (0, 24 << 20):
        run = run_of(numbers(300_000), {}, budget=32 << 20)
        run.machine.reserved_bytes = reserved
        finish(run)
        assert run.view.bytes + reserved <= 32 << 20
        dropped.append(run.machine.dropped_chunks)
    assert dropped[0] < dropped[1]
