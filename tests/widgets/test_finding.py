"""Findings: what is saved comes back, and what a stranger sends is refused in words."""

from __future__ import annotations

import json
import shutil
import zipfile

import numpy as np
import pytest

import workbench as wb
from tests.widgets.graphs import EVIL, evil, nested, newton
from workbench import widgets
from workbench.widgets import Moment
from workbench.widgets.export.snapshot import MEMBER, read_finding


@pytest.fixture
def saved(tmp_path):
    panel = wb.debug(newton(), {"a": 2.0, "x0": 100.0})
    panel.session.breakpoints.add("x", when="value > 1e9")
    panel.session.run_to("x", 5)
    panel.selection.select("x")
    panel.time.look(3)
    path = panel.save(tmp_path / "newton.wbfinding")
    panel.close()
    return path


def test_what_was_looked_at_comes_back(saved):
    panel = wb.open_finding(saved)
    assert panel.session is None and panel.selection.node == "x" and panel.selection.moment == Moment(("while",), (3,))
    assert np.array_equal(panel.source.trace["x"].values, wb.Trace.load(saved)["x"].values)
    panel.close()


def test_live_it_stands_at_the_same_place(saved):
    panel = wb.open_finding(saved, live=True)
    assert panel.session.position.iteration == (5,) and len(panel.session.breakpoints) == 1
    assert panel.session.run().reason is wb.StopReason.FINISHED
    panel.close()
    assert panel.session.state == "closed"


def test_a_run_that_is_over_and_one_that_has_not_begun(tmp_path):
    panel = wb.debug(nested(), {"n": 4})
    for k, command in enumerate((None, "run")):
        if command:
            panel.session.run()
        path = panel.save(tmp_path / f"{k}.wbfinding")
        live = wb.open_finding(path, live=True)
        assert live.session.state == panel.session.state
        assert live.session.position.event == panel.session.position.event
        live.close()
    panel.close()


def test_a_finding_of_a_finding(saved, tmp_path):
    panel = wb.open_finding(saved)
    again = panel.save(tmp_path / "again.wbfinding")
    panel.close()
    assert read_finding(again).moment == read_finding(saved).moment


def test_a_running_session_is_not_saved(tmp_path):
    panel = wb.debug(newton(0.0), {"a": 2.0, "x0": 100.0})
    panel.session.run(wait=False)
    try:
        if panel.session.state == "running":
            with pytest.raises(wb.WorkbenchError, match="pause it before saving"):
                panel.save(tmp_path / "x.wbfinding")
    finally:
        panel.close()


def test_where_it_cannot_be_written(tmp_path):
    panel = wb.debug(newton(), {"a": 2.0, "x0": 100.0})
    with pytest.raises(wb.WorkbenchError, match="another place") as caught:
        panel.save(tmp_path / "no such folder" / "x.wbfinding")
    assert caught.value.slug == "not-written" and not list(tmp_path.iterdir())
    panel.close()


def changed(path, **changes):
    """A copy whose finding.json has other entries."""
    other = path.with_name("changed.wbfinding")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, json.dumps({**json.loads(data), **changes}) if name == MEMBER else data)
    return other


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "slug"),
    [
        ({"version": 2}, "finding-version"),
        ({"version": EVIL * 1000}, "finding-version"),
        ({"format": "pickle"}, "not-a-finding"),
        ({"node": 3}, "bad-finding"),
        ({"node": EVIL}, "bad-finding"),
        ({"moment": {"frame": ["while"], "iteration": [-1]}}, "bad-finding"),
        ({"moment": {"frame": ["while"], "iteration": [1, 2]}}, "bad-finding"),
        ({"moment": {"frame": ["nowhere"], "iteration": [1]}}, "bad-finding"),
        ({"moment": {"frame": "while", "iteration": [1]}}, "bad-finding"),
        ({"moment": 7}, "bad-finding"),
        ({"position": {"node": "nowhere", "event": 1, "frame": [], "iteration": []}}, "bad-finding"),
        ({"position": {"node": None, "event": "many", "frame": [], "iteration": []}}, "bad-finding"),
        ({"position": {}}, "bad-finding"),
        ({"breakpoints": "all"}, "bad-finding"),
        ({"inputs": 3}, "not-a-finding"),
        ({"inputs": [3]}, "not-a-finding"),
        ({"inputs": [{"input": "a", "name": "nothing", "kind": "array"}]}, "not-a-finding"),
        ({"inputs": [{"input": "a", "name": "input0", "kind": "pickle"}]}, "not-a-finding"),
    ],
)
def test_what_does_not_fit_is_refused(saved, changes, slug):
    with pytest.raises(wb.WorkbenchError) as caught:
        wb.open_finding(changed(saved, **changes))
    assert caught.value.slug == slug and len(str(caught.value)) < 9000


def damaged(data):
    """Copies that are cut short, have a flipped byte, or a stretch of zeros, all over a file."""
    for at in range(0, len(data), max(1, len(data) // 40)):
        yield data[:at]
        yield data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]
        yield data[:at] + bytes(16) + data[at + 16 :]


def test_damaged_files_are_read_or_refused_in_words(saved, tmp_path):
    refused, other = set(), tmp_path / "damaged"
    for read in (read_finding, wb.Trace.load):
        for data in damaged(saved.read_bytes()):
            other.write_bytes(data)
            try:
                read(other)
            except wb.WorkbenchError as error:
                assert error.fix and len(str(error)) < 2000
                refused.add(error.slug)
    assert (
        {"not-a-finding", "not-a-trace", "bad-trace"}
        <= refused
        <= {
            "not-a-finding",
            "bad-finding",
            "finding-version",
            "not-a-trace",
            "bad-trace",
            "trace-version",
            "too-large",
            "not-a-graph",
            "bad-graph-text",
        }
    )


def test_traces_of_another_version(saved, tmp_path):
    other = tmp_path / "other.wbfinding"
    for version in (0, 1, 4, -1, 10**30, "2", None, [2], True, "<b>" * 10**5):
        with zipfile.ZipFile(saved) as old, zipfile.ZipFile(other, "w") as new:
            for name in old.namelist():
                data = old.read(name)
                is_head = name == "trace.json"
                new.writestr(name, json.dumps(json.loads(data) | {"version": version}) if is_head else data)
        for read in (read_finding, wb.Trace.load):
            with pytest.raises(wb.WorkbenchError, match="version") as caught:
                read(other)
            assert caught.value.slug == "trace-version" and caught.value.fix and len(str(caught.value)) < 1000


def test_every_view_of_a_trace_in_which_nothing_has_fired(tmp_path):
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        session.trace.save(tmp_path / "empty.trace")
    empty = wb.Trace.load(tmp_path / "empty.trace")
    assert len(empty["x"]) == 0 and len(empty.events()) == 0
    for name in widgets.__all__:
        made = getattr(widgets, name)
        if not name.endswith(("View", "Timeline", "Inspector", "Table")):
            continue
        if name in ("DiffView", "ReportsView", "ShapeTrieView", "SweepView", "WatchView"):
            with pytest.raises(wb.WorkbenchError) as caught:
                made(empty)
            assert caught.value.slug == "no-view-source" and caught.value.fix
            continue
        view = made(empty)
        assert view.figure is not None, name
        assert view.to_html(tmp_path / "view.html").stat().st_size > 1000
        view.close()


def test_breakpoints_of_a_stranger_are_left_out(saved):
    path = changed(saved, breakpoints=[{"where": "nowhere"}, {"where": "x", "when": "__import__('os')"}, 3])
    panel = wb.open_finding(path, live=True)
    assert len(panel.session.breakpoints) == 0
    panel.close()


def test_files_that_are_none(saved, tmp_path):
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        session.run()
        session.trace.save(tmp_path / "plain.trace")
    (tmp_path / "text").write_text("hello")
    whole = saved.read_bytes()
    (tmp_path / "half").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "folder").mkdir()
    for name in ("plain.trace", "text", "half", "folder"):
        with pytest.raises(wb.WorkbenchError) as caught:
            wb.open_finding(tmp_path / name)
        assert caught.value.slug == "not-a-finding", name
    with pytest.raises(wb.WorkbenchError, match="no file"):
        wb.open_finding(tmp_path / "nothing")


def test_a_member_that_unpacks_to_too_much(saved, tmp_path):
    big = tmp_path / "big.wbfinding"
    shutil.copy(saved, big)
    with zipfile.ZipFile(big, "a", zipfile.ZIP_DEFLATED) as file, pytest.warns(UserWarning, match="Duplicate"):
        file.writestr(MEMBER, " " * (2 << 20))
    with pytest.raises(wb.WorkbenchError) as caught:
        wb.open_finding(big)
    assert caught.value.slug == "bad-finding"


def test_names_with_tags(tmp_path, monkeypatch):
    panel = wb.debug(evil(), {f"x{EVIL}": 0.0})
    panel.session.run()
    monkeypatch.chdir(tmp_path)
    path = panel.panes.show("export").write("finding", f"../../{EVIL}.wbfinding")
    assert path.parent == tmp_path.resolve()
    panel.close()
    opened = wb.open_finding(path)
    opened.close()
