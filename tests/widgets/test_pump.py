"""The pump: coalescing, back-pressure, status first, and nothing to do when nothing happens."""

from __future__ import annotations

import threading
import time

import pytest

import workbench as wb
from tests.widgets.browser_side import acknowledge, open_view, until
from tests.widgets.graphs import counter, newton
from workbench.widgets import EvolutionView, GraphView, Toolbar
from workbench.widgets.live.live_view import pump_for


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


def test_a_fast_loop_is_shown_at_most_twenty_times_a_second(endless, shown):
    first, started = shown.live.sent, time.monotonic()
    time.sleep(1.0)
    rate = (shown.live.sent - first) / (time.monotonic() - started)
    endless.pause()
    assert 0 < rate <= 21, rate
    assert endless.position.event > 100_000  # the loop did not wait for the view


def test_a_browser_that_does_not_answer_gets_two_updates_a_second_at_most(endless):
    view = EvolutionView(endless)
    open_view(view)
    endless.run(wait=False)
    assert until(lambda: view.live.sent > 0)
    first = view.live.sent
    time.sleep(1.6)
    endless.pause()
    assert 1 <= view.live.sent - first <= 4
    view.close()


def test_a_view_out_of_sight_is_shown_again_when_it_is_seen(shown):
    shown.live._browser_says(shown.live, {"kind": "sight", "seen": False}, [])
    time.sleep(0.3)  # one may have been on the way
    first = shown.live.sent
    time.sleep(1.5)
    assert shown.live.sent == first
    shown.live._browser_says(shown.live, {"kind": "sight", "seen": True}, [])
    assert until(lambda: shown.live.sent > first + 2)


def test_the_status_line_of_a_run_changes_few_times_a_second_and_tells_of_a_stop_at_once(endless):
    toolbar = Toolbar(endless)
    open_view(toolbar)
    endless.run(wait=False)
    assert until(lambda: toolbar.status["state"] == "running")
    first = toolbar.push
    time.sleep(1.5)  # the browser need not answer so soon
    assert 3 <= toolbar.push - first <= 8
    endless.pause()
    assert toolbar.status["state"] == "paused"
    toolbar.close()


def test_a_slow_browser_is_not_buried_under_updates(endless):
    view = EvolutionView(endless)
    open_view(view)
    ended = threading.Event()

    def answer():
        answered = view.live.sent
        while not ended.is_set():
            if view.live.sent > answered:
                answered += 1
                ended.wait(0.8)  # it draws
                view.live._browser_says(view.live, {"kind": "ack", "push": answered}, [])
            ended.wait(0.002)

    browser = threading.Thread(target=answer, daemon=True)
    browser.start()
    endless.run(wait=False)
    time.sleep(2.5)  # it has learned how slow the browser is
    behind = []
    for _ in range(100):
        behind.append(view.in_flight)
        time.sleep(0.02)
    endless.pause()
    ended.set()
    browser.join()
    assert max(behind) == 1, behind
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
    time.sleep(0.3)
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


def test_a_press_never_blocks(endless):
    bar = Toolbar(endless)
    open_view(bar)
    bar.press("run")
    took = []
    for name in ("pause", "step", "step_back", "run", "pause"):
        started = time.perf_counter()
        bar.press(name)
        took.append(time.perf_counter() - started)
    assert sorted(took)[2] < 0.05, took
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


def test_an_idle_pump_looks_at_nothing(endless):
    view = EvolutionView(endless)
    open_view(view)
    end = acknowledge(view)
    assert until(lambda: view.live.in_flight == 0 and view.pump.alive)
    time.sleep(0.2)
    pushes, cpu = view.pump.pushes, time.thread_time()
    time.sleep(0.3)
    assert view.pump.pushes == pushes
    assert time.thread_time() - cpu < 0.05
    end()
    view.close()


def test_closing_ends_the_thread(endless):
    before = threading.active_count()
    view = EvolutionView(endless)
    open_view(view)
    assert until(lambda: view.pump.alive)
    pump = view.pump
    view.close()
    assert until(lambda: not pump.alive)
    assert threading.active_count() <= before + 1  # the session's own worker may have started
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
