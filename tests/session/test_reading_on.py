"""Dropped values that are read one iteration after the other: a replay goes on from where the last one ended."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

import workbench as wb
from workbench.debugger.replay import read_on
from workbench.execution import Run

COUNT, SIDE = 300, 64


def field() -> wb.Graph:
    b = wb.GraphBuilder("field")
    u = b.placeholder("u", "float64", (SIDE, SIDE))
    _, v = b.while_loop(
        lambda k, u: k < COUNT, lambda k, u: (k + 1, np.roll(u, 1, axis=0) * 0.999), (b.constant(0, "int64"), u)
    )
    return b.build({"v": v})


START = np.arange(float(SIDE * SIDE)).reshape(SIDE, SIDE)


@pytest.fixture
def session():
    with wb.Session(field(), {"u": START}, memory_budget=4 << 20) as session:
        session.run()
        assert session.trace.dropped
        yield session


def expected(iteration: int, value: np.ndarray = START) -> np.ndarray:
    for _ in range(iteration):
        value = np.roll(value, 1, axis=0) * 0.999
    return value


@pytest.fixture
def computed(monkeypatch):
    """Events that were executed, in a list of one number."""
    count, go = [0], Run.go

    def counted(run, *args, **options):
        before = run.event
        try:
            return go(run, *args, **options)
        finally:
            count[0] += run.event - before

    monkeypatch.setattr(Run, "go", counted)
    return count


def test_each_iteration_is_computed_once(session, computed):
    session.value("u", 20)
    computed[0] = 0
    for k in range(21, 121):
        assert np.array_equal(session.value("u", k), expected(k)), k
    whole = session.snapshot().event / COUNT * 100
    assert computed[0] < 1.5 * whole, "from the checkpoint before each it would be several times as much"


def test_backwards_and_forwards_give_the_same(session):
    for k in (100, 90, 95, 95, 0, 120, 119, 7):
        assert np.array_equal(session.value("u", k), expected(k)), k


def test_after_an_edit_it_is_the_new_history(session):
    assert np.array_equal(session.value("u", 40), expected(40))
    session.run_to("u", iteration=30)
    session.step()
    session.set_value("u", START * 2.0)
    session.run()
    for k in (31, 40, 60):
        assert np.array_equal(session.value("u", k), expected(k - 30, START * 2.0)), k
    session.undo_edit()
    session.run()
    for k in (31, 40, 60):
        assert np.array_equal(session.value("u", k), expected(k)), k


def test_two_threads_read_what_is_there(session):
    wrong: list[int] = []

    def read(first: int) -> None:
        for k in range(first, first + 60):
            if not np.array_equal(session.value("u", k), expected(k)):
                wrong.append(k)

    threads = [threading.Thread(target=read, args=(first,)) for first in (10, 30, 35)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_copy_ends_with_its_run():
    session = wb.Session(field(), {"u": START}, memory_budget=4 << 20)
    session.run()
    before = len(read_on._KEPT)
    session.value("u", 20)
    assert len(read_on._KEPT) == before + 1
    run = weakref.ref(session._run)
    session.close()
    del session
    gc.collect()
    assert run() is None and len(read_on._KEPT) == before
