"""The committed pictures are of the panel as it looks now, and the README and the course have theirs."""

from __future__ import annotations

import json

from tests.panel_look import LOOK, ROOT, look


def test_no_picture_is_older_than_the_panel():
    assert LOOK.read_text().strip() == look(), (
        "scripts or style sheets of the panel have changed since its pictures were taken: run `make pictures`"
    )


def test_a_change_of_a_style_sheet_is_seen_and_one_of_a_comment_is_not(monkeypatch, tmp_path):
    monkeypatch.setattr("tests.panel_look.WIDGETS", tmp_path)
    monkeypatch.setattr("workbench.widgets.base.esm.WIDGETS", tmp_path)
    seen = []
    for folder, text in (("one", "let a;\n"), ("two", "// says nothing\nlet a;\n"), ("three", "let b;\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.js").write_text(text)
        monkeypatch.setattr("tests.panel_look.WIDGETS", tmp_path / folder)
        monkeypatch.setattr("workbench.widgets.base.esm.WIDGETS", tmp_path / folder)
        from workbench.widgets.base.esm import joined

        joined.cache_clear()
        seen.append(look())
    joined.cache_clear()
    assert seen[0] == seen[1] != seen[2]


def test_each_picture_is_one_command_away():
    assert ".ci/pictures.py" in (ROOT / "Makefile").read_text()
    for theme in ("light", "dark"):
        assert (ROOT / ".github" / f"panel-{theme}.png").read_bytes()[:4] == b"\x89PNG"
    notebook = json.loads((ROOT / "notebooks" / "01_first_loop.ipynb").read_text())
    assert any(
        "image/png" in output.get("data", {}) for cell in notebook["cells"] for output in cell.get("outputs", ())
    )
