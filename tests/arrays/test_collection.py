"""The collection of unused arrays: off, on, switched on later; cycles, threads, destructors, fork, the end."""

from __future__ import annotations

import gc
import os
import random
import subprocess
import sys
import threading

import numpy as np
import pytest

import workbench as wb
from workbench.arrays import LEDGER, Ledger, Origin, held_value


@pytest.fixture
def ledger():
    return Ledger()


@pytest.fixture
def base(ledger):
    return wb.ArrayManager("base", ledger=ledger)


def leak(manager, count=10, size=100):
    for _ in range(count):
        manager.zeros((size,))


def test_it_is_off_at_first_and_what_was_dropped_lives_on(base, ledger):
    assert not Ledger().collecting
    leak(base)
    figures = ledger.figures()
    assert (figures.live, figures.unused, figures.bytes, figures.collected) == (10, 10, 8000, 0)
    assert [a.in_use for a in base.arrays()] == [False] * 10
    base.close()
    assert (ledger.figures().live, ledger.figures().unused, ledger.figures().unused_bytes) == (0, 0, 0)


def test_on_only_what_has_a_handle_lives(base, ledger):
    ledger.collect(True)
    kept = base.ones((100,))
    leak(base)
    figures = ledger.figures()
    assert (figures.live, figures.collected, figures.released, figures.peak) == (1, 10, 10, 1600)
    assert kept.sum().item() == 100.0
    assert base.account.collected == 10 and ledger.figures().events[-1].kind == "collected"


def test_switching_on_later_collects_what_was_dropped_before(base, ledger):
    leak(base)
    kept = base.ones((1,))
    ledger.collect(True)
    assert (ledger.figures().live, ledger.figures().collected) == (1, 10)
    ledger.collect(False)
    leak(base, 3)
    assert ledger.figures().live == 4 and not kept.released


def test_handles_on_one_array_keep_it_together(base, ledger):
    import copy

    ledger.collect(True)
    x = base.ones((2,))
    y = copy.copy(x)
    del x
    assert ledger.figures().live == 1 and y.tolist() == [1.0, 1.0]
    del y
    assert ledger.figures().live == 0


def test_a_hold_outlives_collection(base, ledger):
    ledger.collect(True)
    hold = base.ones((2,)).hold("trace")
    assert ledger.figures().bytes == 16 and ledger.figures().collected == 1
    assert hold.array.tolist() == [1.0, 1.0]
    hold.drop()
    assert ledger.figures().bytes == 0


def test_detached_arrays_wait_for_their_user_and_held_values_go_with_their_handle(base, ledger):
    base.ones((2,)).detach()
    assert ledger.figures().live == 1  # off: nobody's but the user's, who has let go of it
    value = held_value(np.arange(3), Origin("test"), ledger)
    twice = value * 2
    assert (ledger.figures().live, twice.tolist()) == (3, [0, 2, 4])
    del value, twice
    assert ledger.figures().live == 1  # what no manager owns and no switch governs went with its handle
    ledger.collect(True)
    assert ledger.figures().live == 0


def test_cycles_are_found_by_the_garbage_collector(base, ledger):
    ledger.collect(True)
    gc.collect()
    gc.disable()
    try:
        for _ in range(5):
            box = [base.ones((4,))]
            box.append(box)
        del box
        assert ledger.figures().live == 5
        gc.collect()
        assert ledger.figures().live == 0
    finally:
        gc.enable()


def test_the_queue_does_not_grow_while_collection_is_off(base, ledger):
    for _ in range(200):
        with base.new_submanager() as step:
            leak(step, 5, 1)
    assert len(ledger.queue) == 0 and ledger.figures().live == 0
    assert len(ledger._unused) == 0 and len(list(base.children)) <= 1


def test_a_closed_or_dropped_manager_leaves_nothing(base, ledger):
    import weakref

    empty = weakref.ref(base.new_submanager())
    gc.collect()
    assert empty() is None
    dropped = base.new_submanager("dropped")
    dropped.ones((1,))
    reference = weakref.ref(dropped)
    del dropped
    gc.collect()
    assert reference() is not None  # its array needs an owner that base can close
    base.close()
    gc.collect()
    assert reference() is None and ledger.figures().live == 0


def test_numbers_are_never_given_twice(base, ledger):
    ledger.collect(True)
    seen = [base.ones(()).uid for _ in range(100)]
    assert len(set(seen)) == 100 and seen == sorted(seen)


def test_figures_are_a_table_in_a_notebook():
    with wb.ArrayManager("of <b>", ledger=Ledger()) as manager:
        kept = [manager.ones((8,)) for _ in range(2)]
        manager.ones((1,))
        shown = manager.ledger.figures()._repr_html_()
        assert "<b>3 arrays, 136 bytes</b>" in shown and "1 array, 8 bytes" in shown and len(kept) == 2
        assert "manager of &lt;b&gt;" in shown and "3 arrays, 136 bytes (peak 136)" in shown
        assert "3 made, 0 released, 0 of these collected" in shown


def test_the_public_switch():
    before = LEDGER.collecting
    with wb.ArrayManager("switch") as manager:
        kept = manager.ones((1,))
        with wb.collect_unused():
            assert wb.memory().collecting
            manager.ones((8,))
            assert next(m for m in wb.memory().managers if m.name == "switch").live == 1
        assert wb.memory().collecting is before
        manager.ones((8,))
        assert next(m for m in wb.memory().managers if m.name == "switch").live == 2
        assert repr(wb.collect_unused(False)) == "<collection of unused arrays is off>"
        wb.collect_unused(before)
        assert not kept.released


def test_no_thread_is_started(base, ledger):
    threads = set(threading.enumerate())
    ledger.collect(True)
    leak(base, 100)
    assert not set(threading.enumerate()) - threads and ledger.figures().live == 0


@pytest.mark.parametrize("on", [False, True])
def test_many_threads_make_use_share_and_drop(on):
    ledger = Ledger()
    ledger.collect(on)
    base = wb.ArrayManager("base", ledger=ledger)
    shared = [base.full((16,), float(k)) for k in range(8)]
    box: list[wb.Array | None] = [None] * 64  # handles change hands here
    failures: list[BaseException] = []
    started = threading.Barrier(6)

    def work(seed):
        r = random.Random(seed)
        try:
            started.wait()
            step = base.new_submanager(f"thread {seed}")
            for turn in range(400):
                k = r.randrange(8)
                x = shared[k] * 2 + shared[k]
                y = step.full((4,), float(turn)) + turn
                if x[0].item() != 3.0 * k or y[0].item() != 2.0 * turn:
                    raise AssertionError((k, turn, x, y))
                cycle = [y]
                cycle.append(cycle)
                box[r.randrange(64)] = x
                other = box[r.randrange(64)]
                if other is not None and other.item(0) % 3.0:
                    raise AssertionError(other)
                if turn % 50 == 0:
                    with x.hold(f"thread {seed}") as hold:
                        assert hold.array[0] == 3.0 * k
                    gc.collect(0)
                if turn % 100 == 0:
                    ledger.figures()
                    step.close()
                    step = base.new_submanager(f"thread {seed}")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        sys.setswitchinterval(before)
    assert failures == []
    in_box = [h for h in box if h is not None]
    gc.collect()
    figures = ledger.figures()
    if on:
        assert figures.live == len(shared) + len(in_box)
    assert figures.made - figures.released == figures.live
    assert figures.bytes == sum(ledger._live[uid].nbytes for uid in ledger._live) == ledger.total.bytes
    base.close()
    assert (ledger.figures().live, ledger.figures().bytes, len(ledger.queue)) == (0, 0, 0)


def test_one_of_two_threads_that_release_an_array_is_told(base):
    told: list[str] = []
    for _ in range(200):
        x, start = base.ones((1,)), threading.Barrier(2)

        def release(x=x, start=start):
            start.wait()
            try:
                x.release()
            except wb.ReleasedError as error:
                told.append(error.slug)

        pair = [threading.Thread(target=release) for _ in range(2)]
        for thread in pair:
            thread.start()
        for thread in pair:
            thread.join()
    assert told == ["double-release"] * 200


def test_destructors_that_use_handles_run_at_any_time(base, ledger):
    """The garbage collector may run them while this thread is inside the ledger."""
    ledger.collect(True)
    seen = []

    class Careless:
        def __init__(self):
            self.me, self.handle = self, base.ones((2,))

        def __del__(self):
            seen.append(float((self.handle + 1)[0]))

    before = gc.get_threshold()
    gc.set_threshold(3, 2, 2)
    try:
        for k in range(300):
            Careless()
            base.ones((2,)).hold("nobody")
            with base.new_submanager() as step:
                many = [step.ones((2,)) for _ in range(5)]
                many[0].attach(base)
                assert len(step.arrays()) == 4 and len(base.arrays()) >= 1
            ledger.collect(k % 7 > 0)
            del many
        ledger.collect(True)
    finally:
        gc.set_threshold(*before)
    gc.collect()
    assert seen == [2.0] * 300 and ledger.figures().live == 0


def test_a_handle_that_a_finalizer_saves_is_alive(base, ledger):
    """The collector clears weak references in garbage before finalizers run: a tracked token would be reported too
    early."""
    assert not gc.is_tracked(base.ones((1,))._token)
    ledger.collect(True)
    saved = []

    class Phoenix:
        def __init__(self):
            self.me, self.handle, self.hold = self, base.ones((2,)), base.zeros((2,)).hold("phoenix")

        def __del__(self):
            saved.append((self.handle, self.hold))

    Phoenix()
    gc.collect()
    base.ones(())
    assert [(h.tolist(), hold.array.tolist()) for h, hold in saved] == [([1.0, 1.0], [0.0, 0.0])]
    saved.clear()
    assert ledger.figures().live == 0


def run_python(text: str) -> str:
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300, cwd="/")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("on", [False, True])
def test_the_interpreter_ends_with_handles_all_over(on):
    assert run_python(f"""
import atexit, threading, time
import workbench as wb
wb.collect_unused({on})
base = wb.ArrayManager("base")
handles = [base.ones((4,)) for _ in range(10)]
cycle = [base.ones((4,))]; cycle.append(cycle)
class Late:
    handle = base.ones((2,))
    def __del__(self): print("late", self.handle.tolist())
late = Late()
hold = handles[0].hold("nobody")
atexit.register(lambda: print("atexit", (handles[1] + 1).tolist()))
def forever():
    while True: base.ones((1,))
threading.Thread(target=forever, daemon=True).start()
time.sleep(0.05)
print("end")
""").splitlines()[:2] == ["end", "atexit [2.0, 2.0, 2.0, 2.0]"]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_has_a_ledger_that_works():
    assert "children 20" in run_python("""
import os, threading, warnings
warnings.simplefilter("ignore")
import workbench as wb
wb.collect_unused()
base = wb.ArrayManager("base")
kept = base.ones((4,))
stop = False
def busy():
    while not stop: base.ones((1,)) + 1
threads = [threading.Thread(target=busy) for _ in range(3)]
for t in threads: t.start()
good = 0
for _ in range(20):
    pid = os.fork()
    if pid == 0:
        ok = (kept + 1).tolist() == [2.0] * 4
        made = wb.memory().made
        base.ones((1,))
        ok = ok and wb.memory().made == made + 1
        os._exit(0 if ok else 1)
    good += os.waitpid(pid, 0)[1] == 0
stop = True
for t in threads: t.join()
print("children", good)
""")


def test_a_drain_takes_what_was_dropped_and_the_queue_is_empty_then(base, ledger):
    ledger.collect(True)
    kept = base.ones(())
    many = [base.ones(()) for _ in range(20_000)]
    assert len(ledger.queue) == 0
    del many
    assert len(ledger.queue) == 20_000 and ledger.total.live == 20_001  # nothing happens until the next call
    assert kept.item() == 1.0
    assert len(ledger.queue) == 0 and ledger.total.live == 1
