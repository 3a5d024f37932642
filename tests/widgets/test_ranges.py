"""Axis ranges received from a browser, and those sent back."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.widgets.browser_side import until
from tests.widgets.graphs import chaotic, nested
from workbench.widgets import EvolutionView, FrameTimeline


def browser(view, **content):
    view.live._browser_says(view.live, content, [])


@pytest.fixture(scope="module")
def long():
    with wb.Session(chaotic(300_000)) as session:
        session.run()
        yield session


@pytest.fixture
def evolution(long):
    view = EvolutionView(long, [long.graph.frames[("while",)].variables[1].name])
    browser(view, kind="view")
    yield view
    view.close()


def updates(view, monkeypatch):
    sent = []
    monkeypatch.setattr(view.live, "push", lambda traces, layout=None: sent.append((traces, layout)))
    return sent


@pytest.mark.parametrize("shown", [[100_000, 101_000], [101_000.0, 100_000.0]])
def test_the_stretch_that_a_browser_shows_is_read(evolution, shown):
    whole = len(evolution.live.figure.data[0].x)
    browser(evolution, kind="range", range=shown)
    assert evolution._zoom == (100_000.0, 101_000.0)
    evolution.show(None)
    assert 1001 <= len(evolution.live.figure.data[0].x) != whole
    browser(evolution, kind="range", range=None)
    evolution.show(None)
    assert len(evolution.live.figure.data[0].x) == whole


@pytest.mark.parametrize(
    "shown",
    [[], [1], [1, 1], [1, 2, 3], ["a", "b"], [None, 1], [float("nan"), 1], [0, 10**400], "ab", 3, {"a": 1}, True],
)
def test_what_makes_no_sense_is_the_whole(evolution, shown):
    browser(evolution, kind="range", range=[100, 200])
    browser(evolution, kind="range", range=shown)
    assert evolution._zoom is None
    browser(evolution, kind="range")
    assert evolution._zoom is None


def test_coming_back_to_sight_leaves_the_zoom_and_a_new_browser_shows_the_whole(evolution, monkeypatch):
    browser(evolution, kind="range", range=[100, 200])
    evolution.show(None)
    browser(evolution, kind="sight", seen=False)
    sent = updates(evolution, monkeypatch)
    browser(evolution, kind="sight", seen=True)
    evolution.show(None)
    traces, layout = sent[-1]
    assert evolution._zoom == (100.0, 200.0) and "x" in traces[0]
    assert not [name for name in layout if name.startswith("xaxis") and name.endswith("range")], "it keeps its range"
    low, high = evolution.live.figure.layout.yaxis.range
    y = evolution.live.figure.data[0].y[100:201]
    assert low < min(y) < max(y) < high and high - low < 1.3 * (max(y) - min(y)), "y fits what x shows"
    browser(evolution, kind="view")
    evolution.show(None)
    assert evolution._zoom is None
    assert any((layout or {}).get("xaxis.autorange") is True for _, layout in sent)


def test_a_double_click_makes_all_axes_the_whole_again(evolution, monkeypatch):
    evolution.show(None)
    whole = evolution.live.figure.layout.yaxis.range
    sent = updates(evolution, monkeypatch)
    browser(evolution, kind="range", range=[100, 200])
    browser(evolution, kind="range", range=None)
    evolution.show(None)
    asked = {name: value for _, layout in sent for name, value in (layout or {}).items()}
    assert asked["xaxis.autorange"] is True and evolution.spec(evolution.model(None))["layout"]["yaxis"]["range"] == [
        *whole
    ]


def test_the_zoom_stays_when_traces_are_exchanged(evolution, monkeypatch):
    """The whole figure is sent; its iteration axis is automatic, and the browser keeps what it has zoomed into."""
    evolution.show(None)
    browser(evolution, kind="range", range=[100, 200])
    evolution.show(None)
    sent = []
    monkeypatch.setattr(evolution.live, "send", lambda content, buffers=None: sent.append(content))
    spec = evolution.spec(evolution.model(None))
    evolution.live.replace({**spec, "data": [*spec["data"], {"type": "bar", "x": [1], "y": [1]}]})
    assert evolution._zoom == (100.0, 200.0) and evolution.live.figure.data[-1].type == "bar"
    (message,) = sent
    assert message["kind"] == "whole" and message["data"][-1]["type"] == "bar"
    assert message["layout"]["xaxis"]["autorange"] is True and "range" not in message["layout"]["xaxis"]
    assert message["layout"]["yaxis"]["autorange"] is False


def test_a_timeline_shows_what_there_is_of_what_was_asked_for(monkeypatch):
    with wb.Session(nested(), {"n": 40}) as session:
        session.run()
        view = FrameTimeline(session)
        browser(view, kind="view")
        total = float(session.snapshot().event)
        assert until(lambda: view.live.figure.layout.xaxis.range == (0.0, total))
        sent = updates(view, monkeypatch)
        zooms = (([100, 300], (100.0, 300.0)), ([-50, 5e9], None), ([-50, 100], (0.0, 100.0)), (None, None))
        for asked, shown in zooms:
            browser(view, kind="range", range=asked)
            view.show(session.snapshot())
            assert view.window == shown
            ranges = [tuple(layout["xaxis.range"]) for _, layout in sent if layout and "xaxis.range" in layout]
            assert ranges[-1] == (shown or (0.0, total)), "the browser may show more than there is"
            sent.clear()
        view.close()
