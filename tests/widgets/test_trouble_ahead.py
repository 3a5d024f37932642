"""The cards look ahead: a NaN to come is told before it is computed, and nothing is green then."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.widgets.browser_side import until
from tests.widgets.graphs import newton
from workbench.widgets.jupyter import file_panel


def blows_up(start: float = 1.0) -> tuple[wb.Graph, dict[str, float]]:
    """A loop of 40 iterations whose ``loss`` is NaN as soon as exp overflows."""
    b = wb.GraphBuilder("blows up")
    w0 = b.placeholder("w0", "float64", ())

    def body(k, w, loss):
        e = np.exp(w * 100.0)
        return k + 1, w * 1.5, e / (e + 1.0)

    _, _, loss = b.while_loop(lambda k, w, loss: k < 40, body, (b.constant(0, "int64"), w0, b.constant(0.0)))
    return b.build({"loss": loss}), {"w0": start}


def first_bad() -> int:
    graph, feeds = blows_up()
    with wb.Session(graph, feeds) as session:
        session.run()
        return int(np.flatnonzero(np.isnan(session.trace["loss"].values))[0])


@pytest.fixture
def shown():
    panels = []

    def show(graph, feeds):
        panels.append(wb.debug(graph, feeds))
        return panels[-1]

    yield show
    for panel in panels:
        panel.close()


def looked(panel, wanted):
    """The status of the toolbar as the browser gets it, when it is as wanted."""
    panel.termination.update_now()
    panel.toolbar.update_now()
    assert until(lambda: wanted(panel.toolbar.status), 60), panel.toolbar.status
    return panel.toolbar.status


@pytest.mark.parametrize("done", [0, 1, 2])
def test_a_nan_ahead_is_told_and_nothing_is_green(shown, done):
    bad = first_bad()
    assert bad > 2
    panel = shown(*blows_up())
    if done:
        panel.session.next_iteration(done)
    status = looked(panel, lambda s: s["trouble"])
    assert status["trouble"] == f"loss will be NaN in iteration {bad}"
    assert status["finite"] == "" and status["health"] == ""
    assert status["verdict"]["headline"].startswith("Proved: stops after")
    assert status["tones"] == {"health": "bad", "verdict": "quiet"}


def test_what_was_computed_is_told_as_recorded(shown):
    panel = shown(*blows_up())
    panel.session.run()
    status = looked(panel, lambda s: "First NaN" in s["health"])
    assert status["trouble"] == "" and status["tones"]["health"] == "bad"


def test_a_run_of_numbers_is_green(shown):
    panel = shown(newton(), {"a": 2.0, "x0": 100.0})
    status = looked(panel, lambda s: s["verdict"]["headline"])
    assert status["trouble"] == "" and status["tones"] == {"health": "quiet", "verdict": "ends"}
    panel.session.next_iteration(2)
    assert looked(panel, lambda s: s["finite"])["tones"] == {"health": "good", "verdict": "ends"}


@pytest.mark.parametrize("make", [lambda: blows_up()[0], newton])
def test_of_made_up_inputs_nothing_is_said_in_colour(make, tmp_path, monkeypatch):
    shown = []
    monkeypatch.setattr(file_panel, "display", shown.append)
    monkeypatch.setattr(file_panel, "load", lambda path: make())
    file = tmp_path / "model.onnx"
    file.write_bytes(b"read by the function above")
    file_panel.open_file(file)
    (panel,) = shown
    try:
        status = looked(panel, lambda s: s["verdict"]["headline"])
        assert status["random"] == "with random inputs"
        assert status["tones"] == {"health": "quiet", "verdict": "quiet"}
        panel.session.update({name: 1.5 for name in panel.session.inputs})
        panel.session.restart()
        status = looked(panel, lambda s: s["state"] == "ready" and s["random"] == "")
        assert status["tones"]["verdict"] == ("ends" if make is newton else "quiet")
    finally:
        panel.close()
