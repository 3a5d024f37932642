"""A panel that is presented: one strip, and bookmarks that a finding keeps and Page Down goes through."""

from __future__ import annotations

import json
import zipfile

import pytest

import workbench as wb
from tests.widgets.graphs import newton
from workbench.errors import TraceError
from workbench.widgets.export.bookmarks import MOST
from workbench.widgets.live.selection import Moment


@pytest.fixture
def panel():
    made = wb.debug(newton(), {"a": 2.0, "x0": 100.0})
    made.session.run()
    yield made
    made.close()


def test_one_strip_is_left_while_it_is_presented_and_all_come_back(panel):
    heads = lambda: [head["name"] for head in panel.evolution.live.spec["layout"]["meta"]["heads"]]  # noqa: E731
    panel.evolution.update_now()
    before = heads()
    assert len(before) > 1
    panel.layout_part.handle_message("presenting", {"value": True})
    panel.layout_part.handle_message("presenting", {"value": True})
    assert heads() == [panel.inspector.name]
    panel.layout_part.handle_message("presenting", {"value": False})
    assert heads() == before


def test_page_down_goes_from_bookmark_to_bookmark_and_stops_at_the_last(panel):
    path = next(p for p in panel.session.graph.frames if p)
    for k, words in ((1, "still far away"), (4, "nearly there")):
        panel.selection.look_at(Moment(path, (k,)), "x0")
        panel.bookmark(words)
    panel.selection.look_at(None)
    seen = []
    for by in (1, 1, 1, -1):
        panel.layout_part.handle_message("turn", {"by": by})
        seen.append(
            (panel.selection.moment.iteration[0], panel.selection.node, panel.layout_part.status["mark"]["words"])
        )
    near, far = (4, "x0", "nearly there"), (1, "x0", "still far away")
    assert seen == [far, near, near, far] and panel.layout_part.status["mark"] == {
        "words": "still far away", "at": 1, "count": 2
    }  # fmt: skip
    panel.bookmarks = panel.bookmarks[1:]
    panel.layout_part.handle_message("turn", {"by": "<b>"})
    assert panel.layout_part.status["mark"]["count"] == 1 and panel.selection.moment.iteration == (4,)


def test_a_bookmark_without_words_is_called_by_its_iteration_and_there_are_never_too_many(panel):
    panel.session.restart()
    panel.session.next_iteration(3)
    at = panel.session.position.iteration[-1]
    mark = panel.bookmark()
    assert mark.words == f"iteration {at}"
    panel.selection.look_at(mark.moment)  # x has no value in it yet
    panel.inspector.update_now()
    assert panel.inspector.part.status["text"] == f"no value in iteration {at} yet"
    panel.selection.look_at(None)
    for _ in range(MOST + 5):
        panel.layout_part.handle_message("mark", {})
    assert len(panel.bookmarks) == MOST


def test_a_finding_keeps_them_and_one_with_bookmarks_of_nowhere_is_refused(panel, tmp_path):
    path = next(p for p in panel.session.graph.frames if p)
    panel.selection.look_at(Moment(path, (2,)))
    panel.bookmark("here <b>it</b> turns")
    saved = panel.save(tmp_path / "talk.wbfinding")
    again = wb.open_finding(saved)
    assert again.bookmarks == panel.bookmarks
    again.close()
    bad = [
        [{"words": 3}],
        [{"words": "x", "node": "nowhere"}],
        [{"words": "x", "moment": {"frame": ["nowhere"], "iteration": [1]}}],
        [{"words": "x", "moment": {"frame": list(path), "iteration": ["1"]}}],
        [{"words": "x"}] * (MOST + 1),
        "x",
    ]
    for k, marks in enumerate(bad):
        spoilt = tmp_path / f"{k}.wbfinding"
        with zipfile.ZipFile(saved) as old, zipfile.ZipFile(spoilt, "w") as new:
            for item in old.infolist():
                data = old.read(item)
                if item.filename == "finding.json":
                    data = json.dumps(json.loads(data) | {"bookmarks": marks}).encode()
                new.writestr(item, data)
        with pytest.raises(TraceError) as caught:
            wb.open_finding(spoilt)
        assert caught.value.slug == "bad-finding", marks
