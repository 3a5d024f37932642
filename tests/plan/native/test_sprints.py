"""Loops in machine code that need not write all rows: those that can be read hold the interpreter's values."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

import workbench as wb
from tests.benchmarks.workloads import WORKLOADS, collatz
from tests.plan.checks import run_of
from workbench.errors import ExecutionError
from workbench.execution import LEAST_ROWS, Run
from workbench.ir import Ref
from workbench.plan.native import compile, loop_ends

pytestmark = pytest.mark.watch
NEWEST, SMALL = 40, 1 << 15  # a budget of some chunks of a hundred rows
Values = dict[Ref, dict[tuple[int, ...], bytes]]


@pytest.fixture(autouse=True)
def eager(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Machine code from the first event on, which passes short stretches without rows too."""
    monkeypatch.setattr(compile, "HOT_EVENTS", 0)
    monkeypatch.setattr(compile, "BESIDE_RUNS", False)
    monkeypatch.setattr(loop_ends, "LOOKS", 8)
    monkeypatch.setattr(loop_ends, "LONG", 0)
    yield monkeypatch


def values(run: Run) -> Values:
    found = {}
    for place in run.plan.layout.values:
        series = run.trace[Ref(*place)]
        read = zip(map(tuple, series.iterations.tolist()), series.firings(), strict=True)
        found[Ref(*place)] = {at: np.asarray(v).tobytes() for at, v in read}
    return found


def go(run: Run, limit: int | None) -> None:
    while run.go(event=limit) != "halt" and (limit is None or run.event < limit):
        pass


def interpreted(
    graph: wb.Graph, feeds: dict[str, np.ndarray], limit: int | None = None, like: Run | None = None
) -> Run:
    """The run with all rows, up to the first back jump from an event on."""
    hot, compile.HOT_EVENTS = compile.HOT_EVENTS, 1 << 62
    run = run_of(graph, feeds) if like is None else Run(like.plan, feeds, 1 << 28)
    run.keeps = False
    go(run, limit)
    compile.HOT_EVENTS = hot
    return run


def sprinting(graph: wb.Graph, feeds: dict[str, np.ndarray], limit: int | None = None, like: Run | None = None) -> Run:
    run = run_of(graph, feeds, budget=SMALL) if like is None else Run(like.plan, feeds, SMALL)
    run.keeps, run.machine.unwritten = False, NEWEST
    go(run, limit)
    assert set(run.plan.native.reasons.values()) == {""}
    return run


def agree(short: Run, whole: Run, frames: int = 1) -> int:
    """The same place and values, as far as they can be read, the newest rows included. Returns how many cannot."""
    assert short.event == whole.event and short.view.ip == whole.view.ip
    all_values, hidden = values(whole), 0
    for ref, read in values(short).items():
        assert {at: all_values[ref][at] for at in read} == read, ref
    for frame in range(1, frames + 1):
        first, row, _ = short.view.rows(frame)
        assert row == whole.view.rows(frame)[1] and row - first >= min(row, NEWEST)
        hidden += first
    return hidden


@pytest.mark.parametrize("n", [0, 1, 130, 999, 1000, 1001, 5000])
@pytest.mark.parametrize("name", ["collatz", "newton", "nested"])
def test_a_loop_that_ends_anywhere(name: str, n: int) -> None:
    workload = WORKLOADS[name]
    feeds = {k: np.asarray(v) for k, v in workload.feeds(n // 100 if name == "nested" else n).items()}
    whole, short = interpreted(workload.graph(), feeds), sprinting(workload.graph(), feeds)
    agree(short, whole, 2 if name == "nested" else 1)
    assert short.outputs()["x"].tobytes() == whole.outputs()["x"].tobytes()


def test_a_call_that_ends_anywhere() -> None:
    feeds = {"start": np.asarray(27), "n": np.asarray(2000)}
    whole, short = interpreted(collatz(), feeds), sprinting(collatz(), feeds)
    end, hidden = (whole.event, whole.outputs()), []
    for limit in range(0, end[0], 3011):
        whole, short = interpreted(collatz(), feeds, limit, whole), sprinting(collatz(), feeds, limit, short)
        hidden.append(agree(short, whole))
        for run in (short, whole):
            go(run, None)
            assert (run.event, run.outputs()) == end
    assert max(hidden) > 1000


def test_where_python_must_compute() -> None:
    """An overflow in the midst of iterations without rows: an error in front of its node, in its iteration."""
    b = wb.GraphBuilder("grow")
    n = b.placeholder("n", "int64")
    x, _ = b.while_loop(
        lambda x, i: i < n,
        lambda x, i: (b.op("add", x, (1 << 50) + 1, checked=True), b.op("add", i, 1, checked=True)),
        [b.constant(np.int64(0)), b.constant(np.int64(0))],
    )
    graph, found = b.build({"x": x}), []
    for make in (interpreted, sprinting):
        with pytest.raises(ExecutionError) as caught:
            make(graph, {"n": np.asarray(1 << 40)})
        found.append(str(caught.value))
    assert found[0] == found[1] and "8191" in found[0]


def test_other_threads_read_whole_rows_meanwhile() -> None:
    """A counter counts its rows: each value that a reader gets is that of its row."""
    b = wb.GraphBuilder("count")
    x, y = b.while_loop(
        lambda x, y: x >= 0, lambda x, y: (x + 1, x * 3), [b.constant(np.int64(0)), b.constant(np.int64(0))]
    )
    run = run_of(b.build({"x": x, "y": y}), {}, budget=SMALL)
    run.keeps, run.machine.unwritten = False, NEWEST
    place = next(p.place for (node, _), p in run.plan.layout.values.items() if run.plan.graph.nodes[node].op == "add")
    offset = run.plan.layout.operand(place)[1]
    stop = threading.Event()

    def forward() -> None:
        while not stop.is_set():
            run.go(event=1 << 60)

    thread = threading.Thread(target=forward)
    thread.start()
    seen, rows = 0, 0
    while seen < 300:
        first, row, _ = run.view.rows(1)
        start, column = run.view.column(1, offset, "int64", max(first - 50, 1), row)
        assert column.tolist() == list(range(start, start + len(column)))
        seen += len(column) > 0
        rows = row
    stop.set()
    thread.join()
    assert rows > 10_000 and set(run.plan.native.reasons.values()) == {""}


def test_a_session_without_a_trace_leaves_rows_unwritten(eager: pytest.MonkeyPatch) -> None:
    eager.undo()
    eager.setattr(compile, "HOT_EVENTS", 0)
    eager.setattr(compile, "BESIDE_RUNS", False)
    feeds = {"start": 27, "n": 100_000}
    with wb.Session(collatz(), feeds, trace="off") as session, wb.Session(collatz(), feeds) as all_:
        session.run()
        all_.run()
        assert session.outputs == all_.outputs and session.stop.event == all_.stop.event
        kept = len(session.trace["x"].iterations)
        assert LEAST_ROWS <= kept < 20_000
        assert session.trace["x"].firings()[-kept:] == all_.trace["x"].firings()[-kept:]
        for iteration in (3, 50_000, 99_000):
            assert session.value("x", iteration=iteration) == all_.trace["x"][iteration]
        session.step_back()
        all_.step_back()
        assert session.stop.tag == all_.stop.tag
