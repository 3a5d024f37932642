"""Findings and pages have a note, tell what was set by hand, and open again with it."""

from __future__ import annotations

import json
import re
import zipfile

import pytest

import workbench as wb
from tests.session.test_edits import by_hand, newton
from tests.widgets.graphs import EVIL
from workbench.errors import TraceError
from workbench.widgets.export.notes import MOST_NOTE
from workbench.widgets.export.snapshot import MEMBER
from workbench.widgets.text.edit_sentences import edit_sentences


@pytest.fixture
def panel():
    panel = wb.debug(newton(), {"a": 2.0})
    panel.session.run_to("x", iteration=3)
    panel.session.set_value("x", 10.0)
    panel.session.run()
    panel.note = f"Costs two iterations.\nSee {EVIL}"
    yield panel
    panel.close()


def data_of(page: str) -> dict:
    return json.loads(re.search(r"id='workbench-data'>(.*?)</script>", page, re.S)[1])


def test_a_page_tells_the_note_and_the_edit(panel, tmp_path):
    page = panel.to_html(tmp_path / "page.html").read_text()
    told = data_of(page)["told"]
    assert told["note"] == ["Costs two iterations.", f"See {EVIL}"]
    assert told["edits"] == [f"x in iteration 3 was set by hand to 10.0, was {by_hand(2.0, 6, {})[3]!r}."]
    assert EVIL not in page, "it is data, and shown as text"
    assert "width=device-width" in page and "max-width: 600px" in page


def test_a_finding_opens_with_its_note_and_its_edits(panel, tmp_path):
    path = panel.save(tmp_path / "run.wbfinding")
    again = wb.widgets.open_finding(path)
    assert again.note == panel.note
    shown = again.copies.box.children[0].value
    assert "<img" not in shown and "set by hand to 10.0" in shown and "Costs two iterations.<br>" in shown
    assert again.panes.show("export").status["note"] == panel.note
    again.note = ""
    again.close()


@pytest.mark.parametrize("back", [0, 7])
def test_a_live_finding_has_the_edits(panel, tmp_path, back):
    if back:
        panel.session.step_back(back)
    path = panel.save(tmp_path / "run.wbfinding")
    again = wb.widgets.open_finding(path, live=True)
    assert again.session.position == panel.session.position
    again.session.run()
    assert again.session.trace["x"].values.tolist() == by_hand(2.0, 6, {3: 10.0})
    again.close()


def test_the_note_is_written_in_the_export_pane(panel, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pane = panel.panes.show("export")
    assert pane.status["note"] == panel.note and pane.status["suffix"]["finding"] == ".wbfinding"
    pane._do("note", {"text": "x" * (MOST_NOTE + 5)})
    assert len(panel.note) == MOST_NOTE
    assert pane.write("finding", "run.wbfinding").name == "run.wbfinding"


def test_many_edits_are_told_in_short_and_a_note_that_is_none_is_refused(panel, tmp_path):
    for k in range(30):
        panel.session.run_to("x", iteration=3)
        panel.session.set_value("x", float(k + 20))
    assert len(edit_sentences(panel.session.trace)) == 21 and "more values" in edit_sentences(panel.session.trace)[-1]
    path = panel.save(tmp_path / "run.wbfinding")
    other = tmp_path / "bad.wbfinding"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == MEMBER:
                data = json.dumps({**json.loads(data), "note": ["no", "text"]}).encode()
            new.writestr(name, data)
    with pytest.raises(TraceError) as caught:
        wb.widgets.open_finding(other)
    assert caught.value.slug == "bad-finding"
