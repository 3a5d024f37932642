"""The time slider: levels, limits, what it says, and that it moves every view."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.widgets.browser_side import acknowledge, open_view, until
from tests.widgets.graphs import EVIL, counter, evil, flat, nested, newton
from workbench.widgets import Moment, Selection, TimeSlider


def say(slider, **message):
    slider._browser_says(slider, message, [])


@pytest.fixture
def root():
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        yield session


def test_a_run_that_has_not_begun_has_no_iteration(root):
    slider = TimeSlider(root)
    assert slider.status["levels"] == [{"name": "iteration", "value": 0, "last": -1, "set": False}]
    assert slider.status["text"] == "no iteration yet" and slider.status["live"]
    slider.look(3)
    assert slider.selection.moment is None
    slider.close()


def test_looking_back_moves_the_selection_and_not_the_session(root):
    root.run()
    slider = TimeSlider(root)
    event = root.position.event
    say(slider, kind="look", depth=1, value=3, seq=7)
    assert slider.selection.moment == Moment(("while",), (3,)) and root.position.event == event
    assert slider.status["seen"] == 7 and slider.status["text"] == "iteration 3" and not slider.status["live"]
    say(slider, kind="newest", seq=8)
    assert slider.selection.moment is None and slider.status["live"] and slider.status["seen"] == 8
    slider.close()


def test_an_iteration_beyond_the_last_is_the_last(root):
    root.run()
    slider = TimeSlider(root)
    last = slider.status["levels"][0]["last"]
    assert last == len(root.trace["while/x"].values) - 1 if "while/x" in root.trace else last > 3
    slider.look(10**9)
    assert slider.selection.moment.iteration == (last,)
    slider.close()


def test_go_there_moves_the_session_both_ways(root):
    root.run()
    slider = TimeSlider(root)
    for value in (5, 2):
        slider.look(value)
        assert slider.status["can_go"]
        slider.go()
        assert root.wait(60.0) is not None
        assert root.position.iteration == (value,) and slider.selection.moment is None
    say(slider, kind="go", depth=1, value=7)  # not there any more: the session runs to it
    assert root.wait(60.0) is not None and root.position.iteration == (7,)
    assert [line for line in slider.selection.lines if line.startswith("session.run_to")]
    slider.close()


def test_nested_loops_have_a_slider_each():
    with wb.Session(nested(), {"n": 6}) as session:
        session.run()
        slider = TimeSlider(session)
        slider.choose(("outer", "inner") if ("outer", "inner") in session.graph.frames else slider._loops[-1])
        slider.look(3, depth=1)
        outer, inner = slider.status["levels"]
        assert (outer["value"], outer["set"]) == (3, True) and not inner["set"]
        assert inner["last"] == 3  # the inner loop runs as often as the outer one has before
        slider.look(1, depth=2)
        assert slider.selection.moment.iteration == (3, 1) and slider.status["levels"][1]["set"]
        slider.look(2, depth=1)  # the inner slider goes with the outer one
        assert slider.selection.moment.iteration == (2,) and slider.status["levels"][1]["last"] == 2
        slider.close()


def test_it_grows_with_the_run():
    with wb.Session(counter(), {"start": 0.0}) as session:
        slider = TimeSlider(session)
        open_view(slider)
        end = acknowledge(slider)
        session.run(wait=False)
        assert until(lambda: slider.status["levels"][0]["last"] > 1000)
        assert slider.status["running"] and not slider.status["can_go"]
        session.pause()
        now = int(session.value("i"))
        assert until(lambda: abs(slider.status["levels"][0]["last"] - now) <= 1), (slider.status, now)
        end()
        slider.close()


def test_what_is_played_is_answered_at_once(root):
    """The answer is there when the message has been handled, before the pump's thread has drawn anything."""
    root.run()
    slider, other = TimeSlider(root), TimeSlider(root)
    open_view(slider)
    with slider.pump._lock:  # the pump stands still
        slider.pump._shown.clear()
    say(slider, kind="look", depth=1, value=3, seq=5, playing=True)
    assert slider.status["seen"] == 5 and slider.status["levels"][0]["value"] == 3
    assert slider.selection.playing and not other.selection.playing
    assert until(lambda: not slider.selection.playing), "it ends by itself"
    slider.close()
    other.close()


def test_a_trace_alone_can_be_looked_through(root):
    root.run()
    slider = TimeSlider(root.trace, selection=(selection := Selection()))
    slider.look(4)
    assert selection.moment == Moment(("while",), (4,)) and not slider.status["can_go"]
    slider.go()
    slider.close()
    slider.close()


@pytest.mark.parametrize(
    "message",
    [
        {"kind": "look"},
        {"kind": "look", "depth": 9, "value": 1},
        {"kind": "look", "depth": 1, "value": -1},
        {"kind": "look", "depth": "1", "value": "x"},
        {"kind": "frame", "frame": 99},
        {"kind": "frame"},
        {"kind": "go"},
        {"kind": "go", "depth": 3, "value": 1},
        {"kind": "go", "depth": 1, "value": "9"},
        {"kind": "nonsense"},
        {},
        {"kind": "ack", "push": "x"},
    ],
)
def test_messages_that_make_no_sense_are_passed_over(root, message):
    root.run()
    slider = TimeSlider(root)
    say(slider, **message)
    assert slider.selection.moment is None
    slider.close()


def test_names_stay_what_they_are():
    graph = evil()
    with wb.Session(graph, {f"x{EVIL}": 0.0}) as session:
        session.run()
        slider = TimeSlider(session)
        assert slider.status["levels"][0]["last"] > 5
        slider.close()


def test_a_graph_without_loops_shows_nothing():
    with wb.Session(flat(), {"x": 1.0}) as session:
        slider = TimeSlider(session)
        assert slider.status["levels"] == [] and slider.status["frame"] == -1
        slider.close()
