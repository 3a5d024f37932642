"""``open_file``: what the JupyterLab extension shows of a file."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.cli.models import newton, save
from workbench.widgets.jupyter.file_panel import close_file, open_file


@pytest.fixture
def shown(monkeypatch):
    """The views that were displayed, in order; all are closed at the end."""
    views = []
    monkeypatch.setattr("workbench.widgets.jupyter.file_panel.display", views.append)
    yield views
    for view in views:
        view.close()


def test_a_model_gets_made_up_inputs_which_are_told(tmp_path, shown):
    open_file(save(newton(), tmp_path / "newton.txt"))
    assert shown[0].session.state == "ready"
    assert "random numbers; give your own under Inputs: a float64[]" in shown[0].note


def test_a_page_that_is_loaded_again_gets_the_same_panel_until_the_file_changes(tmp_path, shown):
    path = save(newton(), tmp_path / "newton.txt")
    open_file(path)
    open_file(path)
    assert shown[0] is shown[1]
    open_file(path, again=True)
    assert shown[2] is not shown[0] and shown[0].comm is None
    save(newton("other"), path)
    open_file(path)
    assert shown[3].session.graph.name == "other" and shown[2].session.state == "closed"


def test_traces_and_findings_are_recorded_runs(tmp_path, shown):
    with wb.Session(newton(), {"a": 2.0}) as session:
        session.run()
        session.trace.save(tmp_path / "run.wbtrace")
        with_note = wb.debug(session)
        with_note.save(tmp_path / "found.wbfinding")
        with_note.close()
    for name in ("run.wbtrace", "found.wbfinding"):
        open_file(tmp_path / name)
        assert shown[-1].session is None and shown[-1].source.graph.name == "newton"


def test_what_cannot_be_read_is_refused_in_words(tmp_path, shown):
    (tmp_path / "broken.onnx").write_bytes(b"\0no")
    for name in ("broken.onnx", "missing.onnx"):
        with pytest.raises(wb.WorkbenchError, match=name.split(".")[0]):
            open_file(tmp_path / name)
    assert shown == []


def test_a_closed_file_ends_its_run_and_no_other(tmp_path, shown):
    paths = [save(newton(name), tmp_path / f"{name}.txt") for name in ("one", "two")]
    for path in paths:
        open_file(path)
    close_file(paths[0])
    close_file(tmp_path / "never-opened.txt")
    assert [panel.session.state for panel in shown] == ["closed", "ready"] and shown[0].comm is None
