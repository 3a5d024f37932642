"""The same question has the same answer on a loaded machine: budgets are counted in work, whatever clocks say."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

import workbench as wb
from tests.evaluation.families.base import GRAPH, draws, families
from tests.evaluation.scoring.cases import GraphLoop

CLOCKS = ("perf_counter", "monotonic", "thread_time", "process_time", "time")


def answers(loops: list[GraphLoop]) -> dict[str, str]:
    """The answer about each loop as text, fixes included."""
    told = {}
    for loop in loops:
        graph, feeds = loop.build()
        path = tuple(loop.frame) if loop.frame else next(p for p in graph.frames if p)
        with wb.Session(graph, feeds, trace="all") as session:
            if loop.done:
                session.next_iteration(loop.done)
            answer = session.termination(path)
            told[loop.family] = f"{answer}\n{answer.table()}"
    return told


@contextmanager
def busy(threads: int = 3) -> Iterator[None]:
    """Threads that take the interpreter from the asking thread.

    Each hands it over after 0.1 ms instead of Python's 5: threads change more often, and the asking thread waits 0.3 ms
    for each lock that it released (looking ahead releases some 2,500 in all families), not 15.
    """
    done = threading.Event()

    def work() -> None:
        while not done.is_set():
            sum(range(2000))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    running = [threading.Thread(target=work, daemon=True) for _ in range(threads)]
    for thread in running:
        thread.start()
    try:
        yield
    finally:
        done.set()
        for thread in running:
            thread.join()
        sys.setswitchinterval(interval)


def clock(real: Callable[[], float], factor: float) -> Callable[[], float]:
    """A clock that runs faster by a factor from now on."""
    begin = real()
    return lambda: begin + factor * (real() - begin)


def compared(loops: list[GraphLoop], monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = answers(loops)
    for factor in (0.0, 25.0):  # a stopped clock; one by which everything takes 25 times as long
        with monkeypatch.context() as patched:
            for name in CLOCKS:
                patched.setattr(time, name, clock(getattr(time, name), factor))
            assert answers(loops) == wanted, f"clocks that run {factor} times as fast"
    with busy():
        assert answers(loops) == wanted, "beside threads that compute"


def test_clocks_and_other_threads_change_no_answer(monkeypatch):
    compared(draws(families(GRAPH)[::12], 5, 1), monkeypatch)


@pytest.mark.slow
def test_the_same_of_every_family(monkeypatch):
    compared(draws(families(GRAPH), 6, 1), monkeypatch)
