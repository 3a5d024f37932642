"""Types, shapes and memory follow the selection of their selection, and memory selects by click."""

from __future__ import annotations

import ipywidgets
import pytest

import workbench as wb
from tests.widgets.browser_side import click
from tests.widgets.graphs import newton
from workbench.widgets import MemoryView, ShapeTrieView, TypeMatrixView
from workbench.widgets.live.selection import Selection
from workbench.widgets.memory.type_matrix_model import cell_of


@pytest.fixture(autouse=True)
def no_comm_is_left():
    before = len(ipywidgets.widgets.widget._instances)
    yield
    assert len(ipywidgets.widgets.widget._instances) == before


@pytest.fixture
def session():
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        session.run()
        yield session


def test_types_show_the_family_and_the_cell_of_the_selected_node(session):
    selection = Selection()
    view = TypeMatrixView(session, selection=selection)
    selection.select("while/divide")
    assert view.family == view.controls.status["controls"][0]["value"] == "division"
    assert view.chosen == ("float64", "float64")
    selection.select("while/greater")
    assert view.family == "comparison"
    for name in ("while/x/Merge", "no such node", None, "a"):
        selection.select(name)
        assert view.family == "comparison"
    assert cell_of(session.graph, "while/abs") == ("unary", "float64", "float64")
    view.close()
    alone = TypeMatrixView(selection=selection)
    selection.select("while/divide")
    assert alone.family == "arithmetic", "rules alone have no nodes"
    alone.close()


def test_memory_marks_and_selects_values(session):
    for source in (session, session.trace):
        selection = Selection()
        view = MemoryView(source, selection=selection)
        bars = next(k for k, t in enumerate(view.live.figure.data) if t.type == "bar")
        name = view.model(view.source.snapshot())["bars"][0]["name"].removesuffix(":0")
        click(view, bars, 0)
        assert selection.node == name
        shown = next(t for t in view.figure.data if t.type == "bar")
        assert shown.marker.line.width[0] == 3.0 and sum(shown.marker.line.width) == 3.0
        for trace, point in ((bars, None), (bars, 10**6), (bars, [0, 1]), (None, 0), (10**6, 0)):
            click(view, trace, point)
        assert selection.node == name
        view.close()


def test_the_shape_of_the_selected_value_has_an_edge():
    b = wb.GraphBuilder("shaped")
    x = b.placeholder("x", "float32", (3, 17))
    with wb.Session(b.build({"y": x * 2.0}), {"x": [[1.0] * 17] * 3}) as session:
        session.run()
        selection = Selection()
        view = ShapeTrieView(session, selection=selection)
        selection.select("x")
        widths = view.figure.data[0].marker.line.width
        assert list(widths).count(4.0) == 1
        for name in ("no such", None):
            selection.select(name)
            assert set(view.figure.data[0].marker.line.width) == {0.5}
        view.close()
