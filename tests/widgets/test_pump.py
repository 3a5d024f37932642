"""The pump: coalescing, back-pressure, status first, and nothing to do when nothing happens."""

from __future__ import annotations

import threading
import time
from itertools import pairwise

import pytest

import workbench as wb
from tests.widgets.browser_side import acknowledge, open_view, until
from tests.widgets.graphs import counter, newton
from tests.work import Work
from workbench.session.slice_lock import SliceLock
from workbench.session.worker import Worker
from workbench.widgets import EvolutionView, GraphView, Toolbar
from workbench.widgets.live.live_view import pump_for
from workbench.widgets.live.pump import Pump


@pytest.fixture
def endless():
    with wb.Session(counter(), {"start": 0.0}) as session:
        yield session


@pytest.fixture
def shown(endless):
    """A view of a run that goes on, in a browser that answers at once."""
    view = EvolutionView(endless)
    open_view(view)
    end = acknowledge(view)
    endless.run(wait=False)
    assert until(lambda: view.live.sent > 2)
    yield view
    endless.pause()
    end()
    view.close()


def test_without_a_browser_there_is_no_thread(endless):
    view = EvolutionView(endless)
    assert not view.pump.alive and view.pump is pump_for(endless)
    view.close()


class Shown:
    """The number of updates that a view has got at each moment of a clock, while a run goes on at full speed."""

    def __init__(self, session: wb.Session, view, clock, sent) -> None:
        self.session, self.view, self.clock, self.sent = session, view, clock, sent
        self.record: list[tuple[float, int]] = []
        self._event = 0
        clock.meanwhile.append(self._look)

    def _look(self) -> None:
        """The loop does not wait for the view: it goes on before the browser answers."""
        running = lambda: self.session.snapshot().state == "running"  # noqa: E731
        assert until(lambda: self.session.snapshot().event > self._event + 1000 or not running(), 60.0)
        self._event = self.session.snapshot().event
        if running():
            self.record.append((self.clock.now, self.sent()))

    def updates(self, seconds: float, count: int = 20) -> list[int]:
        """Updates in each of so many successive stretches of so many seconds, behind the beginning of the run."""
        assert until(lambda: bool(self.record) and self.record[-1][0] > self.record[0][0] + (count + 1) * seconds, 60.0)
        record = list(self.record)
        at = [record[0][0] + (k + 1) * seconds for k in range(count + 1)]
        sent = [max(n for now, n in record if now <= moment) for moment in at]
        return [b - a for a, b in pairwise(sent)]


def test_a_fast_loop_is_shown_at_most_twenty_times_a_second(endless, clock):
    view = EvolutionView(endless)
    open_view(view)
    shown = Shown(endless, view, clock, lambda: view.live.sent)
    clock.meanwhile.append(lambda: view.live._browser_says(view.live, {"kind": "ack", "push": view.live.sent}, []))
    endless.run(wait=False)
    updates = shown.updates(1.0, 5)
    endless.pause()
    assert 4 <= min(updates) and max(updates) <= 21, updates
    view.close()


def test_a_browser_that_does_not_answer_gets_two_updates_a_second_at_most(endless, clock):
    view = EvolutionView(endless)
    open_view(view)
    shown = Shown(endless, view, clock, lambda: view.live.sent)
    endless.run(wait=False)
    updates = shown.updates(1.0, 5)
    endless.pause()
    assert 1 <= min(updates) and max(updates) <= 2, updates
    view.close()


def test_a_view_out_of_sight_is_shown_again_when_it_is_seen(shown):
    shown.live._browser_says(shown.live, {"kind": "sight", "seen": False}, [])
    first, ticks = -1, 0
    while ticks < 100 and first != shown.live.sent:  # one may have been on the way
        first, ticks = shown.live.sent, ticks + 1
        time.sleep(0.3)
    time.sleep(1.5)
    assert shown.live.sent == first
    shown.live._browser_says(shown.live, {"kind": "sight", "seen": True}, [])
    assert until(lambda: shown.live.sent > first + 2)


def test_the_status_line_of_a_run_changes_few_times_a_second_and_tells_of_a_stop_at_once(endless, clock):
    toolbar = Toolbar(endless)
    open_view(toolbar)
    shown = Shown(endless, toolbar, clock, lambda: toolbar.push)  # the browser need not answer so soon
    endless.run(wait=False)
    updates = shown.updates(1.0, 5)
    assert toolbar.status["state"] == "running"
    assert 2 <= min(updates) and max(updates) <= 5, updates
    endless.pause()
    assert toolbar.status["state"] == "paused"
    toolbar.close()


def test_a_slow_browser_is_not_buried_under_updates(endless, clock):
    view = EvolutionView(endless)
    open_view(view)
    answered, ready, behind = view.live.sent, None, []

    def browser():
        """It takes .8 seconds to draw one update, and draws them one after the other."""
        nonlocal answered, ready
        if ready is None and view.live.sent > answered:
            answered, ready = answered + 1, clock.now + 0.8
        elif ready is not None and clock.now >= ready:
            view.live._browser_says(view.live, {"kind": "ack", "push": answered}, [])
            ready = None
        behind.append((clock.now, view.in_flight))

    shown = Shown(endless, view, clock, lambda: view.live.sent)
    clock.meanwhile.append(browser)
    endless.run(wait=False)
    updates = shown.updates(1.0, 8)
    endless.pause()
    assert min(updates) >= 1 and max(updates) <= 2, updates
    begun = shown.record[0][0]
    later = [n for now, n in behind if now > begun + 2.5]  # it has learned how slow the browser is
    assert max(later) == 1 and min(later) == 0, later
    view.close()


def test_at_most_two_figures_are_under_way_at_once(endless):
    views = [EvolutionView(endless), GraphView(endless), EvolutionView(endless)]
    for view in views:
        open_view(view)
    endless.run(wait=False)
    seen = []
    end = time.monotonic() + 0.4
    while time.monotonic() < end:
        seen.append(sum(v.in_flight > 0 for v in views))
        time.sleep(0.001)
    endless.pause()
    assert max(seen) <= 2
    for view in views:
        view.close()


def test_the_last_state_always_arrives(endless):
    view = EvolutionView(endless)
    open_view(view)
    end = acknowledge(view)
    endless.run(wait=False)
    assert until(lambda: endless.snapshot().event > 1_000_000)
    stop = endless.pause()
    last = f"{endless.value('i')}"
    drawn = lambda: [float(y) for line in view.live.figure.data[:1] for y in (() if line.y is None else line.y)]  # noqa: E731
    assert until(lambda: drawn()[-1:] == [float(last)]), (view.live.figure.data[0].y[-1], last, stop)
    end()
    view.close()


def test_the_status_line_follows_every_stop():
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        bar = Toolbar(session)
        open_view(bar)
        bar.press("step")
        assert until(lambda: bar.status["event"] == "1"), bar.status
        bar.press("run")
        assert until(lambda: bar.status["state"] == "finished"), bar.status
        assert bar.status["reason"] == "all outputs are computed" and "step" not in bar.status["enabled"]
        bar.press("step_back")
        assert until(lambda: bar.status["state"] == "paused")
        bar.press("nonsense")
        bar.close()


def test_step_during_a_run_pauses_first(endless):
    bar = Toolbar(endless)
    open_view(bar)
    bar.press("run")
    assert until(lambda: bar.status["state"] == "running")
    assert "pause" in bar.status["enabled"] and "run" not in bar.status["enabled"]
    bar.press("step")
    assert until(lambda: bar.status["state"] == "paused")
    bar.close()


def test_a_press_never_blocks(endless, monkeypatch):
    """It waits neither for a command to be carried out nor for the end of a slice."""
    bar = Toolbar(endless)
    open_view(bar)
    bar.press("run")
    assert until(lambda: endless.snapshot().state == "running")
    waits: list[str] = []
    for owner, name in ((Worker, "_wait_until"), (SliceLock, "_wait")):
        method = getattr(owner, name)

        def waiting(*args, _method=method, _name=name):
            if threading.current_thread() is threading.main_thread():
                waits.append(_name)
            return _method(*args)

        monkeypatch.setattr(owner, name, waiting)
    for name in ("pause", "step", "step_back", "run", "pause"):
        bar.press(name)
    assert waits == []
    assert until(lambda: endless.snapshot().state == "paused", 60.0)
    endless.run(wait=False)
    endless.pause()
    assert waits, "what waits is counted"
    bar.close()


def test_a_view_that_fails_does_not_stop_the_others(endless):
    broken, sound = EvolutionView(endless), EvolutionView(endless)
    broken.spec = lambda model: 1 / 0
    for view in (broken, sound):
        open_view(view)
    ends = [acknowledge(broken), acknowledge(sound)]
    endless.step()
    endless.step(5)
    assert until(lambda: sound.live.figure.data[0].y is not None and len(sound.live.figure.data[0].y) > 0)
    assert any("ZeroDivisionError" in e for e in sound.pump.errors)
    for end in ends:
        end()
    broken.close()
    sound.close()


def test_an_idle_pump_looks_at_nothing(endless, monkeypatch):
    """A tick shows nothing, and calls few functions: it asks for the version and the snapshot, and that is all."""
    work: list[int] = []
    tick = Pump.tick

    def counting(pump):
        with Work() as counted:
            left = tick(pump)
        work.append(counted.calls)
        return left

    view = EvolutionView(endless)
    open_view(view)
    end = acknowledge(view)
    assert until(lambda: view.live.in_flight == 0 and view.pump.alive and not view.behind, 60.0)
    monkeypatch.setattr(Pump, "tick", counting)
    assert until(lambda: len(work) > 3, 60.0)
    pushes, ticks = view.pump.pushes, len(work)
    assert until(lambda: len(work) > ticks + 3, 60.0)
    assert view.pump.pushes == pushes
    assert max(work[ticks:]) < 100, work
    end()
    view.close()


def test_closing_ends_the_thread(endless):
    before = set(threading.enumerate())
    view = EvolutionView(endless)
    open_view(view)
    assert until(lambda: view.pump.alive)
    pump = view.pump
    view.close()
    assert until(lambda: not pump.alive)
    left = set(threading.enumerate()) - before
    assert until(lambda: not any(t.is_alive() and t.name.startswith("workbench-") for t in left))
    view.close()


def test_the_thread_ends_when_the_last_browser_view_is_gone(endless):
    view = EvolutionView(endless)
    open_view(view)
    assert until(lambda: view.pump.alive)
    view.live._browser_says(view.live, {"kind": "gone"}, [])
    view.pump.wake()
    assert until(lambda: not view.pump.alive)
    open_view(view)
    assert until(lambda: view.pump.alive)
    view.close()
