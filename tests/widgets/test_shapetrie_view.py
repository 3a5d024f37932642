"""ShapeTrieView: the model, the figure, live updates, files, errors."""

from __future__ import annotations

import threading

import ipywidgets
import numpy as np
import plotly.graph_objects as go
import pytest

import workbench as wb
from tests.widgets.browser_side import acknowledge, open_view, until
from tests.widgets.graphs import newton
from tests.work import Work
from workbench.kernels import SHAPES, ShapeTrie
from workbench.widgets import ShapeTrieView
from workbench.widgets.memory.shape_trie_model import headline, shapetrie_model, size_text
from workbench.widgets.memory.shape_trie_spec import shapetrie_spec


@pytest.fixture(autouse=True)
def no_comm_and_no_thread_is_left():
    before, threads = len(ipywidgets.widgets.widget._instances), threading.active_count()
    yield
    assert len(ipywidgets.widgets.widget._instances) == before
    assert until(lambda: threading.active_count() <= threads)


@pytest.fixture
def trie():
    trie = ShapeTrie()
    for c in (1, 3, 8):
        trie.intern((32, 224, 224, c), dtype="f4")
    trie.intern((32, 10))
    return trie


def test_the_model_joins_chains_and_sums(trie):
    model = shapetrie_model(trie)
    labels = {r["label"]: r for r in model["rows"]}
    assert labels["32 \u00d7 224 \u00d7 224"]["entries"] == 3
    assert labels["3"]["path"] == "32 \u00d7 224 \u00d7 224 \u00d7 3"
    assert labels["rank 2"]["entries"] == 1 and model["rows"][0]["entries"] == 4
    by_id = {r["id"]: r for r in model["rows"]}
    assert len(by_id) == len(model["rows"])
    for r in model["rows"][1:]:
        assert r["parent"] in by_id
        children = [c for c in model["rows"] if c["parent"] == r["id"]]
        assert not children or sum(c["entries"] for c in children) == r["entries"]


def test_the_headline():
    trie = ShapeTrie(capacity=2)
    assert headline(trie.stats()).endswith("no lookups yet")
    for i in range(3):
        trie.release(trie.intern((i,)))
    words = headline(trie.stats())
    assert "2 shapes of at most 2" in words and "0.0 % of 3 lookups hit" in words and "1 evicted" in words
    assert (size_text(640), size_text(23_100), size_text(61_500_000)) == ("640 B", "22.6 KiB", "58.7 MiB")


def test_a_huge_trie_is_summarised():
    trie = ShapeTrie()
    trie.intern_many(np.random.default_rng(0).integers(1, 300, (100_000, 3)))
    with Work() as work:
        model = shapetrie_model(trie)
    assert work.calls < 20_000, "a call for each shape would be more"
    assert len(model["rows"]) <= 500 and any(r["kind"] == "more" for r in model["rows"])
    assert model["rows"][0]["entries"] == len(trie)


@pytest.mark.parametrize("name", ["light", "dark"])
def test_figure_and_file(trie, name, tmp_path):
    view = ShapeTrieView(trie)
    figure = view.figure_in(name)
    assert type(figure) is go.Figure and figure.data[0].type == "icicle"
    assert figure.data[0].text[0] == "4 shapes" and "4 shapes" in figure.layout.title.text
    shown = dict(zip(figure.data[0].labels, figure.data[0].text, strict=True))
    assert shown["4 axes"] == "3 shapes" and shown["[32 \u00d7 224 \u00d7 224 \u00d7 \u2026]"] == "3 shapes"
    assert shown["[32 \u00d7 224 \u00d7 224 \u00d7 3]"] == shown["[32 \u00d7 10]"] == "1 shape"
    text = view.to_html(tmp_path / "shapes.html", name).read_text(encoding="utf-8")
    assert "Plotly.newPlot" in text and '<script src="http' not in text
    assert repr(view) == "<ShapeTrieView: 4 shapes>"
    view.close()
    view.close()


def test_the_empty_state_says_what_to_do():
    view = ShapeTrieView(ShapeTrie())
    assert "No shapes yet" in view.figure.layout.annotations[0].text and not view.figure.data[0].visible
    view.close()


def test_a_trie_is_followed_while_it_changes(trie):
    view = ShapeTrieView(trie)
    open_view(view)
    end = acknowledge(view)
    ids = [trie.intern((7, i)) for i in range(100)]
    assert until(lambda: "104 shapes" in view.live.figure.layout.title.text, 10)
    for i in ids:
        trie.release(i)
    assert until(lambda: view.live.figure.layout.title.text.startswith("4 shapes"), 10)
    end()
    view.close()


def test_a_session_is_followed():
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        view = ShapeTrieView(session)
        session.run()
        assert view.figure.layout.title.text.startswith("0 shapes of this run")
        view.close()
        words = shapetrie_spec(view.model(None) | {"stats": {"entries": 0}})["layout"]["annotations"][0]["text"]
        assert "single numbers" in words and "No shapes yet" not in words  # none of newton's values is an array
    default = ShapeTrieView()
    assert default.source.trie is SHAPES
    assert default.figure.layout.title.text.startswith("All runs in this kernel: ")
    default.close()


def doubled(*shape):
    b = wb.GraphBuilder("doubled")
    x = b.placeholder("x", "float32", (None,) * len(shape))
    return wb.Session(b.build({"y": x + x}), {"x": np.ones(shape, "float32")})


def test_of_two_runs_each_view_has_its_own_shapes():
    with doubled(3, 17) as first, doubled(5, 19) as second:
        views = [ShapeTrieView(first), ShapeTrieView(second)]
        for session in (first, second):
            session.run()
        names = "[3 \u00d7 17]", "[5 \u00d7 19]"
        for view, own, other in zip(views, names, names[::-1], strict=True):
            figure = view.figure
            assert own in figure.data[0].labels and other not in figure.data[0].labels
            assert figure.layout.title.text == f"1 shape of this run \u00b7 {len(SHAPES)} of all runs in this kernel"
            assert len(SHAPES) >= 2 and not any("reference" in words for words in figure.data[0].customdata)
        assert [str(info) for info in second.shapes] == ["5 \u00d7 19, float32"]
        second.update(x=np.ones((7, 23), "float32"))
        assert "[7 \u00d7 23]" in views[1].figure.data[0].labels
        for view in views:
            view.close()


def test_anything_else_is_refused():
    with pytest.raises(wb.WorkbenchError, match="no-view-source"):
        ShapeTrieView(42)
