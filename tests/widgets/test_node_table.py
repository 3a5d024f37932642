"""The table of nodes: its facts are those of the values, it sorts, filters and selects, and reads a bounded time."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.widgets.graphs import flat, newton
from workbench.errors import WorkbenchError
from workbench.widgets import NodeTable
from workbench.widgets.live.selection import Selection
from workbench.widgets.nodes import node_facts
from workbench.widgets.nodes.node_table import COLUMNS, MAX_ROWS
from workbench.widgets.text.value_facts import facts_of

pytestmark = pytest.mark.usefixtures("nothing_is_left")
X = np.array([[-1.0, 0.0, 2.0], [4.0, 0.0, -0.5]])


def roots() -> wb.Graph:
    """``y`` is the root of ``x``, NaN where that is negative; ``z`` divides by it."""
    b = wb.GraphBuilder("roots")
    x = b.placeholder("x", "float64", (2, 3))
    y = np.sqrt(x)
    return b.build({"y": y, "z": 1.0 / y, "near": x < 0.0})


@pytest.fixture
def session():
    with wb.Session(roots(), {"x": X}) as session:
        yield session


@pytest.fixture
def table(session):
    view = NodeTable(session, selection=Selection())
    yield view
    view.close()


def number(text: str) -> float:
    return float(text.replace("\u2212", "-"))


def rows(table: NodeTable) -> dict[str, dict[str, str]]:
    return {row["full"]: row for row in table.model(table.source.snapshot())["rows"]}


@pytest.mark.filterwarnings("ignore")
def test_each_row_is_what_its_value_is(session, table):
    assert all(row["least"] == "" for row in rows(table).values()), "nothing has run"
    session.run()
    with np.errstate(all="ignore"):
        root = np.sqrt(X)
        truth = {"x": X, "sqrt": root, "divide": 1.0 / root, "less": X < 0}
    found = rows(table)
    for name, row in found.items():
        ref = session.graph.nodes[name]
        value = next((v for key, v in truth.items() if ref.op == key or name == key), None)
        if value is None:
            continue
        finite = value[np.isfinite(value)]
        nan, inf = int(np.isnan(value).sum()), int(np.isinf(value).sum())
        assert number(row["largest"]) == pytest.approx(float(finite.max()), rel=1e-3), name
        assert number(row["least"]) == pytest.approx(float(finite.min()), rel=1e-3), name
        assert row["bad"] == (", ".join(f"{n} {w}" for n, w in ((nan, "NaN"), (inf, "Inf")) if n) or "0"), name
        assert row["zeros"] == str(int((value == 0).sum())) and number(row["size"]) == value.nbytes / 1e6
        assert row["wrong"] is bool(nan or inf)
    assert sum(row["wrong"] for row in found.values()) == 2


@pytest.mark.filterwarnings("ignore")
def test_rows_follow_an_edit_and_a_restart(session, table):
    session.run()
    assert next(r for r in rows(table).values() if r["op"] == "sqrt")["bad"] == "2 NaN"
    session.restart()
    assert all(row["bad"] == "" for row in rows(table).values() if row["op"] == "sqrt")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("by", [c for c in COLUMNS if c not in ("name", "op", "type", "order")])
def test_a_column_of_values_sorts_the_most_first_and_then_the_least_and_what_has_no_value_last(session, table, by):
    session.run()
    rows(table)
    facts = {name: table._facts.of(name) for name in session.graph.nodes}
    key = {
        "least": lambda f: f.least, "largest": lambda f: f.largest, "bad": lambda f: f.nan + f.inf,
        "zeros": lambda f: f.zeros, "size": lambda f: f.bytes,
    }[by]  # fmt: skip
    for down in (True, False):
        table.sort(by)
        order = [facts[name] for name in rows(table)]
        told = [key(f) for f in order if f is not None and key(f) is not None]
        assert told == sorted(told, reverse=down) and len(told) > 2
        assert all(f is None or key(f) is None for f in order[len(told) :])


def test_it_sorts_by_words_and_filters_as_the_graph_does_and_refuses_what_it_does_not_know(session, table):
    table.sort("op")
    ops = [row["op"] for row in rows(table).values()]
    assert ops == sorted(ops, key=str.lower)
    table.filter("op:sqrt")
    assert [row["op"] for row in rows(table).values()] == ["sqrt"]
    with pytest.raises(WorkbenchError, match="no column"):
        table.sort("colour")
    table.handle_message("filter", {"text": "colour:red"})
    shown = table.model(session.snapshot())
    assert shown["error"] and [row["op"] for row in shown["rows"]] == ["sqrt"]
    table.handle_message("filter", {"text": ""})
    assert len(rows(table)) == len(session.graph.nodes) and not table.model(session.snapshot())["error"]


def test_a_row_that_is_clicked_is_selected_in_all_views_and_the_other_way_round(session, table):
    row = next(r for r in rows(table).values() if r["op"] == "sqrt")
    table.handle_message("choose", {"number": row["number"]})
    assert table.selection.node == row["full"]
    assert table.model(session.snapshot())["selected"] == row["number"]
    table.selection.select("x")
    assert table.model(session.snapshot())["selected"] == rows(table)["x"]["number"]
    for number in (-1, 10**9, True, "1", None):
        table.handle_message("choose", {"number": number})


def test_reading_is_bounded_goes_on_at_the_next_look_and_comes_to_rest(session, table, monkeypatch):
    session.run()
    monkeypatch.setattr(node_facts, "SLICE_S", -1.0)
    shown = table.model(session.snapshot())
    assert table.behind and shown["reading"] and not any(row["least"] for row in shown["rows"])
    monkeypatch.undo()
    assert all(row["size"] for row in rows(table).values() if row["op"] in ("sqrt", "less"))
    assert not table.behind


def test_a_long_graph_shows_its_first_rows_and_says_how_many_more():
    b = wb.GraphBuilder("long")
    h = b.placeholder("x", "float64", ())
    for _ in range(MAX_ROWS + 50):
        h = h + 1.0
    graph = b.build({"y": h})
    with wb.Session(graph, {"x": 0.0}) as session:
        session.run()
        view = NodeTable(session)
        shown = view.model(session.snapshot())
        assert len(shown["rows"]) == MAX_ROWS and int(shown["more"]) == len(graph.nodes) - MAX_ROWS
        view.sort("largest")
        most = next(iter(rows(view).values()))
        assert most["largest"] == str(MAX_ROWS + 50), "also of a node that was not among the first"
        view.close()


@pytest.mark.parametrize(
    ("value", "least", "largest", "nan", "inf", "zeros"),
    [
        (np.float32(np.nan), None, None, 1, 0, 0),
        (np.array([np.inf, -np.inf, 0.0]), 0.0, 0.0, 0, 2, 1),
        (np.array([True, False]), False, True, 0, 0, 1),
        (np.array([1 + 0j, complex(np.nan, 0)]), None, None, 1, 0, 0),
        (np.zeros((0, 3)), None, None, 0, 0, 0),
        (7, 7, 7, 0, 0, 0),
    ],
    ids=str,
)
def test_facts_of_awkward_values(value, least, largest, nan, inf, zeros):
    facts = facts_of(value)
    assert facts is not None and facts[:5] == (least, largest, nan, inf, zeros)


def test_what_holds_no_numbers_has_no_facts():
    assert [facts_of(v) for v in ("words", None, [1, 2], np.array(["a"]))] == [None] * 4


def test_a_panel_without_a_loop_has_it_and_one_with_a_loop_has_not():
    for graph, feeds, there in ((flat(), {"x": 1.0}, True), (newton(), {"a": 2.0, "x0": 1.0}, False)):
        panel = wb.debug(graph, feeds)
        assert (panel.nodes is not None) is there
        panel.close()
