"""Messages between a live figure and a browser: numbers of updates, whole figures, arrays, clicks."""

from __future__ import annotations

import json

import numpy as np
import plotly.graph_objects as go
import pytest

from workbench.widgets import LiveFigure
from workbench.widgets.base.figure.figure_data import pack, plain, put

SPEC = {
    "data": [{"type": "scatter", "x": np.arange(4.0), "y": np.arange(4), "customdata": [["a", 1], ["b", 2]]}],
    "layout": {"height": 200, "xaxis": {"visible": False, "title": {"text": "x"}}},
}


class Browser:
    """The messages to a figure's browser, and those that it sends."""

    def __init__(self, figure):
        self.figure, self.heard = figure, []
        figure.send = lambda content, buffers=None: self.heard.append((json.loads(json.dumps(content)), buffers))

    def say(self, **content):
        self.figure._browser_says(self.figure, content, [])

    def kinds(self):
        return [(message["kind"], message["push"]) for message, _ in self.heard]


@pytest.fixture
def browser():
    events = []
    figure = LiveFigure(
        SPEC, on_click=lambda e: events.append(("click", e)), on_hover=lambda e: events.append(("h", e))
    )
    found = Browser(figure)
    found.events = events
    yield found
    figure.close()


def numbers(packed, buffers):
    return np.frombuffer(buffers[packed["buffer"]], packed["dtype"]).reshape(packed["shape"])


def test_an_update_holds_what_was_named(browser):
    browser.say(kind="view", push=0)
    browser.figure.push(
        {0: {"x": np.array([1.5, np.nan]), "marker.color": None}}, {"xaxis.visible": None, "height": 90}
    )
    ((message, buffers),) = browser.heard
    assert message["layout"] == {"xaxis.visible": None, "height": 90} and message["push"] == browser.figure.sent == 1
    ((k, properties),) = message["traces"]
    assert k == 0 and properties["marker.color"] is None
    np.testing.assert_array_equal(numbers(properties["x"], buffers), [1.5, np.nan])
    assert browser.figure.figure.layout.xaxis.visible is None and browser.figure.figure.layout.height == 90
    assert browser.figure.in_flight == 1
    browser.say(kind="ack", push=1)
    assert browser.figure.in_flight == 0


def test_the_figure_that_was_given_stays_as_it_is():
    figure = LiveFigure(SPEC)
    figure.push({0: {"marker.color": "red"}}, {"xaxis.title.text": "other"})
    assert "marker" not in SPEC["data"][0] and SPEC["layout"]["xaxis"]["title"]["text"] == "x"
    figure.close()


def test_the_whole_is_sent_until_a_view_is_there_and_to_one_that_missed_something(browser):
    browser.figure.push({0: {"name": "one"}})
    assert browser.kinds() == [("whole", 1)], "nobody knows what a browser has"
    browser.say(kind="view", push=0)
    assert browser.kinds()[1:] == [("whole", 1)], "drawn from an earlier state"
    browser.figure.push({0: {"name": "two"}})
    browser.say(kind="view", push=2)  # another one, which is up to date
    assert browser.kinds()[2:] == [("push", 2)]
    browser.say(kind="lost", push=1)
    assert browser.kinds()[3:] == [("whole", 2)]
    assert browser.heard[-1][0]["data"][0]["name"] == "two"
    browser.figure.replace({"data": [], "layout": {}})
    assert browser.kinds()[4:] == [("whole", 3)] and browser.heard[-1][0]["data"] == []


def test_a_browser_that_opens_the_figure_gets_its_present_state(browser):
    browser.say(kind="view", push=0)
    browser.figure.push({0: {"y": np.array([[1, 2], [3, 4]], dtype="float32")}})
    opened = browser.figure.get_state(["_whole"])["_whole"]
    assert opened["figure"]["push"] == 1
    np.testing.assert_array_equal(numbers(opened["figure"]["data"][0]["y"], opened["buffers"]), [[1, 2], [3, 4]])


def test_clicks_and_the_pointer_are_reported(browser):
    browser.say(kind="click", trace=0, point=1, x=1.0, y="b", keys=["ctrl", "hyper", 3])
    browser.say(kind="hover", trace=0, point=[0, 1])
    (first, click), (second, hover) = browser.events
    assert (first, second) == ("click", "h")
    assert click.trace["type"] == "scatter" and click.customdata == ["b", 2] and click.keys == {"ctrl"}
    assert (click.x, click.y) == (1.0, "b") and hover.point == (0, 1) and hover.customdata is None
    for trace, point in (
        (1, 0),
        (-1, 0),
        (True, 0),
        ("0", 0),
        (0, -1),
        (0, [1]),
        (0, [1, "2"]),
        (0, None),
        (None, None),
    ):
        browser.say(kind="click", trace=trace, point=point)
    browser.say(kind=["click"], trace=0, point=0)
    assert len(browser.events) == 2


@pytest.mark.parametrize(
    ("array", "dtype"),
    [
        (np.array([1, -(2**31)]), "int32"),
        (np.array([1, 2**31]), "float64"),
        (np.array([1, 2**63], dtype="uint64"), "float64"),
        (np.array([1.5, np.inf], dtype="float16"), "float64"),
        (np.array([1.5, -2.0], dtype=">f4"), "float32"),
        (np.arange(10.0)[::2], "float64"),
        (np.arange(6, dtype="uint8").reshape(2, 3).T, "uint8"),
    ],
)
def test_numbers_travel_as_binary(array, dtype):
    buffers = []
    packed = pack(array, buffers)
    assert packed["dtype"] == dtype and isinstance(buffers[0], memoryview)
    np.testing.assert_array_equal(numbers(packed, buffers), array.astype(dtype))


@pytest.mark.parametrize(
    ("value", "json_value"),
    [
        (np.array([]), []),
        (np.array([True, False]), [True, False]),
        (np.array(["a", "b"]), ["a", "b"]),
        (np.array([1, "a", None, np.nan], dtype=object), [1, "a", None, None]),
        (np.array("2024-05-01", dtype="datetime64[D]"), "2024-05-01"),
        ((1.0, float("inf"), np.float32(0.5), np.int64(3)), [1.0, None, 0.5, 3]),
        ({1: {"a": [float("nan"), "x"]}}, {"1": {"a": [None, "x"]}}),
    ],
)
def test_all_else_is_json(value, json_value):
    assert pack(value, []) == json_value
    json.dumps(pack(value, []), allow_nan=False)


def test_properties_by_dotted_names():
    tree = {"a": {"b": 1}, "c": 2}
    put(tree, "a.d.e", [3])
    put(tree, "a.b", None)
    put(tree, "x.y", None)
    put(tree, "c.d", 4)
    assert tree == {"a": {"d": {"e": [3]}}, "c": {"d": 4}}


def test_a_figure_of_plotly_keeps_its_arrays_and_leaves_its_template():
    spec = plain(go.Figure(go.Scatter(y=np.arange(3.0)), layout={"title": "t"}))
    assert isinstance(spec["data"][0]["y"], np.ndarray) and spec["layout"] == {"title": {"text": "t"}}
