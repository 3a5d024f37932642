"""Views of a comparison and of the chain behind a value: models, selection, messages from a browser, hostile names."""

from __future__ import annotations

import json
import re
import threading

import numpy as np
import plotly.graph_objects as go
import pytest

import workbench as wb
from tests.analysis.diff.graphs import finished
from tests.analysis.diff.graphs import newton as root_of
from tests.widgets.browser_side import open_view, until
from tests.widgets.graphs import EVIL, evil, nested
from workbench.widgets import DiffView, ExplainView
from workbench.widgets.live.selection import Moment, Selection
from workbench.widgets.panel.toolbar import Toolbar

TAG = re.compile(r"<\s*(img|script|svg)\b", re.IGNORECASE)

pytestmark = pytest.mark.usefixtures("nothing_is_left")


def say(widget, **content):
    """Send a message as a browser does."""
    widget._browser_says(widget, content, [])


@pytest.fixture
def compared():
    with finished(root_of(), a=2.0) as a, finished(root_of(half=0.51), a=2.0) as b:
        yield wb.diff(a, b)


# -- difference -------------------------------------------------------------------------------------------------------
def test_the_first_difference_comes_first_and_is_chosen(compared):
    view = DiffView(compared)
    status = view._part.status
    json.dumps(status)
    assert status["chosen"] == 0 and status["rows"][0]["op"] == "Const" and status["rows"][0]["source"]
    assert "goes on in b" in status["lines"][1]
    assert [r["name"] for r in status["rows"]] == [r.name for r in compared.rows]
    view.close()
    view.close()


def test_a_click_on_a_row_selects_in_all_views(compared):
    selection = Selection()
    view = DiffView(compared, selection=selection)
    x = next(r["number"] for r in view._part.status["rows"] if r["name"] == "x")
    say(view._part, kind="choose", row=x)
    assert selection.node == "while/x/Merge" and selection.moment == Moment(("while",), (1,))
    assert view._part.status["chosen"] == x and selection.lines[-1] == f"diff.curve({x})"
    lines = {t.name: t for t in view.live.figure.data}
    assert np.allclose(lines["absolute"].y[1:], compared.curve("x").absolute[1:]) and len(lines["ulp"].x) == 5
    selection.select("while/abs")
    assert [r["node"] for r in view._part.status["rows"] if r["same"]] == ["while/abs"]
    for bad in (-1, 10**6, "0", None, 1.5, True):
        before = view.chosen
        say(view._part, kind="choose", row=bad)
        assert view.chosen == before or bad is True
    with pytest.raises(wb.WorkbenchError, match="no-row"):
        view.choose(99)
    view.close()


def test_figures_and_files_of_a_difference(compared, tmp_path):
    view = DiffView(compared)
    for theme in ("light", "dark"):
        figure = view.figure_in(theme)
        assert type(figure) is go.Figure and figure.data[0].type == "table"
        assert figure.data[0].cells.font.color is not None
    page = view.to_html(tmp_path / "diff.html").read_text(encoding="utf-8")
    assert "Plotly.newPlot" in page and "Const" in page
    with pytest.raises(wb.WorkbenchError, match="no-theme"):
        view.figure_in("pink")
    view.close()


def test_equal_runs_and_nothing_compared(tmp_path):
    with finished(root_of(), a=2.0) as a, finished(root_of(), a=2.0) as b:
        for found in (wb.diff(a, b), wb.diff({}, {}), wb.diff({"x": 1.0}, {"y": 1.0})):
            view = DiffView(found)
            assert view._part.status["rows"] == [] and view._part.status["lines"]
            view.to_html(tmp_path / "equal.html")
            say(view._part, kind="choose", row=0)
            view.close()
    with pytest.raises(wb.WorkbenchError, match="no-view-source"):
        DiffView({"x": 1})


def test_curves_of_arrays_and_of_values_without_numbers():
    rng = np.random.default_rng(0)
    a = {"m": rng.normal(size=(20, 30)), "t": np.array(["a", "b"], object), "s": np.float64(1), "n": np.ones(3)}
    b = {"m": a["m"] + 1e-3, "t": np.array(["a", "c"], object), "s": np.float64(2), "n": np.ones(4)}
    view = DiffView(wb.diff(a, b))
    kinds = {r["name"]: r["kind"] for r in view._part.status["rows"]}
    assert kinds == {"m": "value", "t": "other", "s": "value", "n": "shape"}
    for row in range(4):
        view.choose(row)
    view.choose(next(k for k, r in enumerate(view.diff.rows) if r.name == "m"))
    line = next(t for t in view.live.figure.data if t.name == "absolute")
    assert len(line.x) == 600 and np.allclose(line.y, 1e-3)
    view.close()


def test_names_with_tags_in_a_difference(tmp_path):
    with finished(evil(), **{f"x{EVIL}": 0.0}) as a, finished(evil(), **{f"x{EVIL}": 0.5}) as b:
        found = wb.diff(a, b, labels=(EVIL, "b"))
        view = DiffView(found)
        view.choose(1)
        page = json.dumps(view.figure.to_plotly_json(), default=str)
        assert not TAG.search(page) and "&lt;img" in page
        assert not TAG.search(found._repr_html_())
        view.close()


# -- explanation ------------------------------------------------------------------------------------------------------
@pytest.fixture
def session():
    with wb.Session(nested(), {"n": 4}) as session:
        session.run()
        yield session


def test_every_row_has_its_own_value(session):
    view = ExplainView(session, "t", (3, 2))
    rows = view.status["rows"]
    json.dumps(view.status)
    assert rows[0]["name"] == "t" and rows[0]["iteration"] == [3, 2] and rows[0]["depth"] == 0
    for row in rows:
        own = session.value(row["ref"], tuple(row["iteration"]) or None)
        assert row["value"] == str(int(own)) or row["value"] == str(bool(own)).lower(), row
    assert all(b["depth"] <= a["depth"] + 1 for a, b in zip(rows, rows[1:], strict=False))
    assert any(r["root"] for r in rows) and any(r["again"] for r in rows)
    view.close()
    view.close()


def test_the_selected_value_is_explained_at_the_selected_moment(session):
    selection = Selection()
    view = ExplainView(session, selection=selection)
    assert view.status["rows"][0]["name"] in ("i", "outer/i/Exit:0")
    selection.look_at(Moment(("outer", "inner"), (3, 1)), node="inner/add")
    head = view.status["rows"][0]
    assert head["node"] == "inner/add" and head["iteration"] == [3, 1]
    selection.select("outer/i/Merge")
    assert view.status["rows"][0]["iteration"] == [3], "of the moment as many numbers as the value has frames"
    selection.select("no such node")
    assert view.status["error"] and not view.status["rows"]
    view.close()


def test_a_click_goes_there_and_the_tree_stays(session):
    selection = Selection()
    view = ExplainView(session, selection=selection)
    selection.look_at(Moment(("outer",), (3,)), node="outer/i/Merge")
    before = view.status["rows"]
    at = next(k for k, r in enumerate(before) if r["iteration"] == [1])
    say(view, kind="look", row=at)
    assert selection.moment == Moment(("outer",), (1,)) and selection.node == before[at]["node"]
    assert view.status["rows"] == before
    say(view, kind="explain-row", row=at)
    assert view.status["rows"][0]["node"] == before[at]["node"] and view.status["rows"][0]["iteration"] == [1]
    assert selection.lines[-1].startswith("session.explain(")
    say(view, kind="follow")
    assert view.status["rows"][0]["node"] == selection.node
    view.close()


def test_typed_names_and_iterations(session):
    view = ExplainView(session)
    say(view, kind="explain", name="t", iteration="2, 1")
    assert view.status["rows"][0]["iteration"] == [2, 1] and not view.status["error"]
    for name, iteration in (("t", "x"), ("t", "-1"), ("t", "9" * 99), ("t", "1"), ("t", "77, 1"), ("nobody", "")):
        say(view, kind="explain", name=name, iteration=iteration)
        assert view.status["error"], (name, iteration)
    for content in ({"name": 3}, {"name": None, "iteration": 4}, {}, {"name": "t" * 10**6, "iteration": "1"}):
        say(view, kind="explain", **content)
    for row in (-1, 10**9, None, "0"):
        say(view, kind="look", row=row)
        say(view, kind="explain-row", row=row)
    say(view, kind="origin")
    with pytest.raises(wb.WorkbenchError, match="no-row"):
        view.look(10**6)
    view.close()


def test_where_a_nan_came_from_is_told():
    b = wb.GraphBuilder("g")
    start = {"i": np.int64(0), "x": b.placeholder("x")}
    graph = b.build(b.while_loop(lambda i, x: i < 6, lambda i, x: {"i": i + 1, "x": b.sqrt(x - 1.0)}, start))
    with wb.Session(graph, {"x": 9.0}) as session:
        selection = Selection()
        view = ExplainView(session, "x", selection=selection)
        session.run()
        view.update_now()
        status = view.status
        assert status["bad"] and "sqrt" in status["origin"]["lines"][1] and status["rows"][0]["bad"] == "NaN"
        assert status["origin"]["lines"][0] == "x has been NaN since iteration 4."
        say(view, kind="origin")
        assert selection.node == "while/sqrt" and selection.moment.iteration == tuple(wb.nan_origin(session).iteration)
        view.close()
        fresh = ExplainView(session, "i")
        assert fresh.status["origin"] is None
        say(fresh, kind="nan")
        assert until(lambda: fresh.status["origin"] is not None and "sqrt" in fresh.status["origin"]["lines"][1])
        fresh.close()


def test_a_chain_that_goes_on_can_be_followed():
    with finished(root_of(), a=2.0) as session:
        view = ExplainView(session, "x", 4)
        view.links = 5
        view.update_now()
        assert view.status["more"] and len({r["number"] for r in view.status["rows"]}) == 5
        say(view, kind="more")
        assert len({r["number"] for r in view.status["rows"]}) == 20
        view.close()


def test_sources_without_values_and_files(session, tmp_path):
    for source in (session, session.trace, session.graph):
        view = ExplainView(source)
        json.dumps(view.status)
        assert type(view.figure) is go.Figure
        assert "Plotly.newPlot" in view.to_html(tmp_path / "view.html", "dark").read_text(encoding="utf-8")
        view.nan()
        view.close()
    with wb.Session(nested(), {"n": 4}) as fresh:
        view = ExplainView(fresh, "t")
        assert view.status["error"], "it has not fired"
        view.close()


def test_names_with_tags_in_a_chain():
    with finished(evil(), **{f"x{EVIL}": 0.0}) as session:
        view = ExplainView(session)
        assert view.status["rows"] and not TAG.search(json.dumps(view.figure.to_plotly_json()["data"], default=str))
        view.close()


def test_names_of_people_come_first(session):
    view = ExplainView(session, "t", (3, 2))
    rows = view.status["rows"]
    carried = [r for r in rows if r["node"].startswith("inner/j/")]
    assert {r["shown"] for r in carried} == {"j"} and all("inner/j" in r["tag"] for r in carried if r["tag"])
    assert rows[0]["shown"] == "t" and not rows[0]["tag"] and rows[0]["where"] == "outer 3 \u203a inner 2"
    assert all("/" not in r["shown"] and not r["shown"].endswith(":0") for r in rows)
    notes = [r["note"] for r in rows if r["node"].endswith("/Switch")]
    assert {"the loop goes on", "the loop ends", "alive where t > 10 is false"} <= set(notes)
    assert not any(":0" in r["op"] for r in rows) and any(r["shown"] == "constant" for r in rows)
    view.close()


def test_a_heavy_chain_is_read_aside_and_an_older_question_ends(session, monkeypatch):
    view = ExplainView(session, "t", (3, 2))
    values, read_on, asked = session.value, [], threading.Event()

    def slow(ref, iteration=None):
        read_on.append(threading.current_thread().name)
        assert asked.wait(60.0), "asking waits for what is read"
        return values(ref, iteration)

    monkeypatch.setattr(session, "value", slow)
    open_view(view)
    for iteration in ((3, 1), (2, 1), (2, 0)):
        view.explain("t", iteration)
    view.show(session.snapshot())
    asked.set()  # until here nothing could be read: asking waits for nothing
    assert until(lambda: view.status["rows"] and view.status["rows"][0]["iteration"] == [2, 0])
    assert set(read_on) == {"workbench-aside"}
    asked.clear()
    before = len(read_on)
    view.explain("t", (3, 2))
    assert until(lambda: len(read_on) > before)
    closing = threading.Thread(target=view.close)  # in the middle of it
    closing.start()
    asked.set()
    closing.join()
    assert until(lambda: not view._reading)


def test_what_has_no_name_is_called_by_how_it_is_made():
    with wb.Session(nested(), {"n": 8}) as session:
        session.run()
        view = ExplainView(session, "s")
        told = {row["shown"] for row in view.status["rows"]}
        assert {"s", "t", "t + j", "j < i", "either branch", "go on?"} <= told
        assert not any("/" in row[key] for row in view.status["rows"] for key in ("shown", "op", "note"))
        assert "alive where t > 10 is true" in {row["note"] for row in view.status["rows"]}
        view.close()


def test_the_toolbar_says_what_comes_next_in_words():
    with wb.Session(nested(), {"n": 3}) as session:
        bar = Toolbar(session)
        steps = []
        while session.state != "finished":
            session.step()
            bar.show(session.snapshot())
            steps.append(bar.status["step"])
        assert {"i (Merge)", "i < n", "go on?", "t > 10"} <= set(steps) and steps[-1] == ""
        assert not any("/" in step or ":" in step for step in steps)
        bar.close()
