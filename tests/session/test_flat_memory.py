"""Long runs and many runs keep memory flat: what a session took, it gives back; what a budget forbids is not taken.

Resident memory is compared after a first run, because chunks go back to a bounded pool and not to the system.
"""

from __future__ import annotations

import gc
import os
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import workbench as wb

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="resident memory is read from /proc"),
]
MIB = 1 << 20
SLACK = 12 * MIB  # of the allocator and of Python
BUDGET = 32 * MIB


def resident() -> int:
    gc.collect()
    return resident_now()


def resident_now() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def sampled() -> Iterator[list[int]]:
    """Resident memory every few milliseconds while the block runs."""
    samples: list[int] = []
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.004):
            samples.append(resident_now())

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield samples
    finally:
        done.set()
        thread.join()


def numbers() -> wb.Graph:
    """Newton with a branch, so that every kind of instruction on numbers runs."""
    b = wb.GraphBuilder("numbers")
    n = b.placeholder("n", "int64")

    def body(x, i):
        return b.cond(i % 3 == 0, lambda: (x + 2.0 / x) * 0.5, lambda: x + 1.0), i + 1

    x, i = b.while_loop(lambda x, i: i < n, body, [1.0, 0])
    return b.build({"x": x, "i": i})


def arrays() -> wb.Graph:
    """An array of a thousand numbers, views of it, a branch and a sum."""
    b = wb.GraphBuilder("arrays")
    n = b.placeholder("n", "int64")

    def body(x, s, i):
        y = b.cond(i % 2 == 0, lambda: x * 0.5, lambda: x[::-1] + 1.0)
        return y, s + np.sum(y), i + 1

    x, s, i = b.while_loop(lambda x, s, i: i < n, body, [b.constant(np.ones(1000)), 0.0, 0])
    return b.build({"x": x, "s": s, "i": i})


@pytest.mark.parametrize(("make", "n"), [(numbers, 10_000_000), (arrays, 100_000)])
@pytest.mark.parametrize("trace", ["all", "off"])
def test_long_run(make, n, trace):
    graph = make()

    def run(trips: int) -> tuple[weakref.ref, int]:
        with wb.Session(graph, {"n": trips}, trace=trace, memory_budget=BUDGET) as session:
            session.run()
            assert session.outputs["i"] == trips
            return weakref.ref(session), resident_now()

    assert run(n // 10)[0]() is None
    before = resident()
    with sampled() as samples:
        _, half = run(n // 2)
        gone, whole = run(n)
    assert gone() is None, "the session is still held"
    most = max([half, whole, *samples]) - before
    allowed = (BUDGET * 3 // 2 if trace == "all" else 0) + SLACK  # checkpoints may take a quarter of the budget
    assert most < allowed, f"{most / MIB:.1f} MiB above the start, of {allowed / MIB:.1f}"
    growth = whole - half
    assert growth < SLACK / 2, f"{growth / MIB:.1f} MiB more at the end of a run twice as long"
    left = resident() - before
    assert left < SLACK, f"{left / MIB:.1f} MiB were not given back"


def test_many_sessions():
    """Machines made, run in part or in full, forked by going back, and dropped."""
    graphs = [(numbers(), 3000), (arrays(), 60)]

    def some(count: int) -> None:
        for k in range(count):
            graph, n = graphs[k % 2]
            session = wb.Session(graph, {"n": n + k % 7}, trace=("all", "off")[k // 2 % 2], memory_budget=MIB)
            if k % 4 != 3:
                session.run_to("i", iteration=n // 2)
                session.step_back(5)
            if k % 5:
                session.run()
            if k % 3:
                session.close()

    some(300)
    before, threads = resident(), threading.active_count()
    some(1200)
    left = resident() - before
    assert left < SLACK, f"{left / MIB:.1f} MiB were not given back by 1200 sessions"
    limit = time.monotonic() + 10
    while threading.active_count() > threads and time.monotonic() < limit:
        time.sleep(0.01)
    assert threading.active_count() <= threads, "workers of dropped sessions live on"


def test_back_and_forth():
    """Going back and on, many times over the same ground."""
    with wb.Session(arrays(), {"n": 2000}, memory_budget=BUDGET) as session:
        session.run()

        def some(count: int) -> None:
            for k in range(count):
                session.run_to("x", iteration=200 + 17 * k % 1500)
                session.step_back(3)
                session.value("x", 100 + k % 50)
                session.run()

        some(30)
        before = resident()
        some(150)
        left = resident() - before
        assert left < SLACK, f"{left / MIB:.1f} MiB more after going back and on 150 times"
