"""Memory of machines: garbage collection in any order, going back after chunks were dropped, readers meanwhile."""

from __future__ import annotations

import gc
import threading
import time

import numpy as np
import pytest

import workbench as wb
from workbench.execution import Run, prepare_feeds
from workbench.session import plan_for


def arrays_loop() -> wb.Graph:
    """A loop with an array and a number, so that it has object columns and plain ones."""
    b = wb.GraphBuilder("arrays")
    n = b.placeholder("n", "int64")
    x, i = b.while_loop(lambda x, i: i < n, lambda x, i: (x * 1.5 + 1.0, i + 1), [b.constant(np.ones(8)), 0])
    return b.build({"x": x, "i": i})


def numbers_loop() -> wb.Graph:
    b = wb.GraphBuilder("numbers")
    n = b.placeholder("n", "int64")
    x, i = b.while_loop(lambda x, i: i < n, lambda x, i: (x * 0.5 + 1.0, i + 1), [0.0, 0])
    return b.build({"x": x, "i": i})


def finished(graph: wb.Graph, n: int, budget: int) -> Run:
    arrays = prepare_feeds(graph, {"n": n})
    run = Run(plan_for(graph, arrays, None), arrays, budget)
    while run.go() != "halt":
        pass
    return run


class Cycle:
    """Something that the garbage collector has to take apart."""


@pytest.mark.slow
def test_machines_in_garbage_cycles():
    for _ in range(8):
        from workbench.ir.types import TensorType
        from workbench.plan import choose_outputs, make_plan, signature_of

        graph = arrays_loop()
        feeds = prepare_feeds(graph, {"n": 70})
        plan = make_plan(
            graph, choose_outputs(graph, None), signature_of(graph, {n: TensorType.of(a) for n, a in feeds.items()})
        )
        cycle = Cycle()
        cycle.run, cycle.plan, cycle.self = Run(plan, feeds, 1 << 20), plan, cycle
        cycle.run.cycle = cycle
        while cycle.run.go() != "halt":
            pass
        del cycle, plan
        gc.collect()


@pytest.mark.parametrize(("make", "n"), [(arrays_loop, 1000), (numbers_loop, 400_000)])
def test_restart_after_rows_were_dropped(make, n):
    run = finished(make(), n, budget=1)
    assert run.trace.dropped
    last = run.trace["x"].values[-1].copy()
    run.restore(run.checkpoints[0])
    assert len(run.trace["x"]) == 0 and not run.trace.dropped
    while run.go() != "halt":
        pass
    assert np.array_equal(run.trace["x"].values[-1], last)
    for event in (run.event - 5, run.event // 2, 40):
        run.seek(event)
        assert run.event == event
        i = run.trace["i"]
        assert i[-1] == i.iterations[-1, 0]  # rows that are kept are the right ones


@pytest.mark.parametrize("make", [arrays_loop, numbers_loop])
def test_readers_while_the_session_goes_back_and_forth(make):
    wrong: list[object] = []
    done = threading.Event()
    with wb.Session(make(), {"n": 3000}, memory_budget=1 << 20) as session:
        session.run()

        def read() -> None:
            while not done.is_set():
                _, values = session.trace["i"].window(0, 10_000_000)
                if len(values) and not np.array_equal(np.diff(values.astype(int)), np.ones(len(values) - 1)):
                    wrong.append(values)
                session.trace["x"].window(0, 5000, 7)
                session.snapshot()

        threads = [threading.Thread(target=read) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(6):
                session.step_back(3)
                session.restart()
                session.run_to("x", iteration=1500)
                session.run()
        finally:
            done.set()
            for thread in threads:
                thread.join()
    assert not wrong


def test_readers_of_a_run_that_drops_rows():
    """Windows read at full speed under a small budget: values belong to their iterations."""
    with wb.Session(numbers_loop(), {"n": 1 << 62}, memory_budget=8 << 20) as session:
        session.run(wait=False)
        while session.snapshot().event < 20_000_000:
            time.sleep(0.01)
        for _ in range(60):
            iterations, values = session.trace["i"].window(0, 1 << 60)
            assert np.array_equal(iterations[:, 0], values)
            taken = session.trace["while/i/Switch:1"].window(0, 1 << 60, 3)
            assert np.array_equal(taken[0][:, 0], taken[1])
        session.pause()
        assert session.trace.dropped
