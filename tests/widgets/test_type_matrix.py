"""The type matrix: every cell is what the rules and the profile say, in data, figure, words and file."""

from __future__ import annotations

import ipywidgets
import plotly.graph_objects as go
import pytest

import workbench as wb
from tests.widgets.browser_side import click
from tests.widgets.graphs import newton
from workbench.kernels import types
from workbench.kernels.types.profiles import PROFILES
from workbench.kernels.types.select import instances
from workbench.widgets import TypeMatrixView
from workbench.widgets.memory.type_matrix_model import short, type_matrix
from workbench.widgets.memory.type_matrix_view import LOOKS, type_matrix_html


@pytest.fixture(autouse=True)
def no_comm_is_left():
    before = set(ipywidgets.widgets.widget._instances)
    yield
    assert set(ipywidgets.widgets.widget._instances) <= before


@pytest.mark.parametrize("family", types.families)
def test_cells_are_what_the_rules_say(family):
    matrix = type_matrix(family, "training")
    arity = types.families[family][0]
    assert len(matrix["cells"]) == 256 == sum(matrix["counts"].values())
    for cell in matrix["cells"]:
        x, y = cell["row"], cell["column"]
        inputs = {1: (x,), 2: (x, y), 3: (x, y, y)}[arity]
        outputs = [y] if arity == 1 else list(types.dtypes)
        decided = {z: types.decide(family, inputs, z) for z in outputs}
        accepted = {z: d.rule for z, d in decided.items() if d.accepted}
        assert cell["results"] == accepted and cell["accepted"] == bool(accepted)
        assert cell["rule"] in cell["words"][0]
        if not accepted:
            assert cell["state"] == "rejected" and not types.decide(family, inputs, cell["result"]).accepted
            assert types.decide(family, inputs, cell["result"]).rule == cell["rule"]


def test_compiled_cells_are_those_of_the_profile():
    matrix = type_matrix("arithmetic", "quantization")
    compiled = {(c["row"], c["column"]) for c in matrix["cells"] if c["state"] == "compiled"}
    wanted = {i for op, i, _ in instances(PROFILES["quantization"]) if len(i) == 2 and op in ("add", "maximum")}
    assert compiled == wanted
    (cell,) = (c for c in matrix["cells"] if (c["row"], c["column"]) == ("int8", "int8"))
    assert cell["text"] == "i8+" and cell["results"] == {"int8": "same-type", "int32": "int8-accumulation"}
    assert cell["words"][1] == "Also admitted: int32 (int8-accumulation)."
    assert cell["words"][2].startswith("Compiled in profile quantization: add, subtract, multiply")


def test_states_differ_in_symbol_and_not_only_in_colour():
    assert len({symbol for _, symbol, _ in LOOKS.values()}) == len(LOOKS)
    assert [short(t) for t in ("bool", "uint16", "bfloat16", "complex64")] == ["b", "u16", "bf16", "c64"]


def test_the_view_shows_and_explains_any_cell(tmp_path):
    view = TypeMatrixView(profile="training")
    figure = view.figure
    assert type(figure) is go.Figure
    assert [len(t.x) for t in figure.data[:3]] == list(type_matrix("arithmetic", "training")["counts"].values())
    assert "Click a cell" in view.words.value
    told = view.explain("int8", "float64")
    assert told.startswith("arithmetic(int8, float64) -> float64: rejected\nRule double-from-small:")
    assert "double-from-small" in view.words.value and len(view.figure.data[4].x) == 1
    view.show_family("cast")
    view.show_profile("training+quantization")
    assert view.explain("complex64", "float32").startswith("cast(complex64) -> float32: rejected\nRule cast-drops")
    compiled = {(r, c) for r, c, _ in view.figure.data[0].customdata}
    assert ("int8", "float64") in compiled and ("bool", "int8") not in compiled
    for theme in ("light", "dark"):
        text = view.to_html(tmp_path / "types.html", theme).read_text(encoding="utf-8")
        assert "Plotly.newPlot" in text and "cast-drops-imaginary" in text
    view.close()
    view.close()


def test_a_click_explains_the_cell():
    view = TypeMatrixView()
    click(view, 2, 0)
    row, column = view.live.figure.data[2].customdata[0][:2]
    assert view.chosen == (row, column) and "rejected" in view.words.value
    view.close()


def test_what_a_run_used_has_a_ring():
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        session.run()
        for source in (session, session.trace):
            view = TypeMatrixView(source)
            ring = view.figure.data[3]
            assert list(zip(ring.y, ring.x, strict=True)) == [("float64", "float64")]
            view.close()


def test_words_are_escaped():
    matrix = {**type_matrix("cast", "training"), "chosen": ("int8", "int8"), "family": "<b>"}
    assert "<b><b>" not in type_matrix_html(matrix)


@pytest.mark.parametrize(("more", "slug"), [({"family": "sorting"}, "no-family"), ({"profile": "huge"}, "no-profile")])
def test_unknown_names_are_clear_errors(more, slug):
    with pytest.raises(wb.WorkbenchError, match=slug):
        TypeMatrixView(**more)


def test_an_unknown_cell_is_a_clear_error():
    view = TypeMatrixView()
    with pytest.raises(wb.WorkbenchError, match="no-cell"):
        view.explain("int8", "int4")
    view.close()


def test_text_in_the_cells_can_be_read():
    view = TypeMatrixView()
    layout, cells = view.figure.layout, [t for t in view.figure.data if t.mode == "markers+text"]
    assert len(cells) == 2 and all(t.textfont.size >= 11 for t in cells)
    rows = len(layout.yaxis.categoryarray)
    assert (layout.height - layout.margin.t - layout.margin.b) / rows > max(t.marker.size for t in cells)
    view.close()
