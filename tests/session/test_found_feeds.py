"""Feeds by tensor name, and feeds that are no feeds."""

import pytest

import workbench as wb
from workbench.errors import FeedError


def graph():
    b = wb.GraphBuilder("g")
    return b.build({"y": b.placeholder("a", "float64", ()) * 2})


def test_a_tensor_name_feeds_its_input():
    assert graph().run({"a:0": 2.0})["y"] == 4.0


@pytest.mark.parametrize("feeds, slug", [({"a:0": 1.0, "a": 2.0}, "fed-twice"), ({"a:1": 1.0}, "unknown-feed")])
def test_wrong_names(feeds, slug):
    with pytest.raises(FeedError) as caught:
        graph().run(feeds)
    assert caught.value.slug == slug


def test_feeds_that_are_no_mapping():
    with pytest.raises(FeedError):
        wb.Session(graph(), 5)
