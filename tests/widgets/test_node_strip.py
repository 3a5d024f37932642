"""The strip of all nodes: each cell tells the worst of the nodes in it, and each node is reached by click and key."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.widgets.graphs import EVIL, evil, flat, nested, newton
from workbench.widgets.live.selection import Moment, Selection
from workbench.widgets.nodes.node_strip import LEVELS, MAX_CELLS, NodeStrip

pytestmark = [pytest.mark.usefixtures("nothing_is_left"), pytest.mark.filterwarnings("ignore")]


def roots() -> wb.Graph:
    """``y`` is the root of ``x``, NaN where that is negative; ``z`` divides by it, ``w`` overflows."""
    b = wb.GraphBuilder("roots")
    x = b.placeholder("x", "float64", (3,))
    y = np.sqrt(x)
    return b.build({"y": y, "z": 1.0 / y, "w": np.exp(x * 1e4)})


def told(strip: NodeStrip) -> dict[str, str]:
    """Node -> what its cell says."""
    shown = strip.model(strip.source.snapshot())
    while shown["reading"]:
        shown = strip.model(strip.source.snapshot())
    names = strip._facts.places.names
    return {name: LEVELS[int(shown["cells"][k * len(shown["cells"]) // len(names)])] for k, name in enumerate(names)}


def test_each_cell_tells_what_the_newest_value_of_its_node_is_like():
    with wb.Session(roots(), {"x": np.array([-1.0, 1.0, 4.0])}) as session:
        strip = NodeStrip(session)
        assert set(told(strip).values()) == {"not computed"}
        session.run()
        found = {session.graph.nodes[name].op: level for name, level in told(strip).items()}
        assert (
            found["sqrt"] == found["divide"] == "NaN" and found["exp"] == "Inf" and found["Placeholder"] == "computed"
        )
        shown = strip.model(session.snapshot())
        assert [one["text"] for one in shown["wrong"]] == ["2 NaN", "1 Inf"]
        strip.handle_message("choose", {"number": shown["wrong"][0]["number"]})
        assert session.graph.nodes[strip.selection.node].op == "sqrt", "the first of them"
        strip.close()


def test_in_a_loop_what_is_of_an_earlier_iteration_says_so():
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        strip = NodeStrip(session)
        session.next_iteration(3)
        session.step(2)
        found, now = told(strip), max(session.snapshot().iterations.values())
        for name, level in found.items():
            series = session.trace[f"{name}:0"]
            path = series.tag(-1).iteration if len(series) else None
            inside = session.graph.frame_of(name) and session.graph.nodes[name].op != "Enter"
            wanted = "not computed" if path is None else "older" if inside and path[-1] < now else "computed"
            assert level == wanted, name
        assert {"older", "computed", "not computed"} == set(found.values())
        shown = strip.model(session.snapshot())
        assert strip._facts.places.names[shown["now"]] == session.snapshot().position.node
        assert [(first, last) for first, last, *_ in shown["loops"]] == [
            (min(k for k, n in enumerate(found) if session.graph.frame_of(n)),
             max(k for k, n in enumerate(found) if session.graph.frame_of(n)))
        ]  # fmt: skip
        strip.close()


def test_a_node_that_fails_is_marked():
    @wb.graph
    def fails(x):
        return 7 // x

    with wb.Session(fails.graph_for(0), {"x": 0}) as session:
        strip = NodeStrip(session)
        session.run()
        assert session.state == "failed" and told(strip)[session.snapshot().position.node] == "failed"
        strip.close()


@pytest.mark.slow
def test_a_cell_of_many_nodes_tells_the_worst_of_them_and_a_click_selects_that_one():
    b = wb.GraphBuilder("long")
    h = b.placeholder("x", "float64", ())
    for k in range(25_000):
        h = np.log(h - 1e9) if k == 20_000 else h + 1.0
    with wb.Session(b.build({"y": h}), {"x": 0.0}) as session:
        strip = NodeStrip(session)
        session.step(19_000)
        assert len(strip.model(session.snapshot())["cells"]) == len(strip.names) == MAX_CELLS
        assert "NaN" not in told(strip).values()
        session.run()
        told(strip)
        levels, cells = strip._levels, strip.model(session.snapshot())["cells"]
        count = len(levels)
        for cell in range(MAX_CELLS):
            inside = [k for k in range(cell * count // MAX_CELLS - 1, (cell + 1) * count // MAX_CELLS + 2)
                      if 0 <= k < count and k * MAX_CELLS // count == cell]  # fmt: skip
            assert int(cells[cell]) == max(levels[inside]), cell
        strip.handle_message("cell", {"number": cells.index("6")})
        assert session.graph.nodes[strip.selection.node].op == "log", "not the first of the cell, the first that is NaN"
        strip.close()


def test_every_node_is_reached_and_the_selection_comes_back():
    selection = Selection()
    with wb.Session(nested(), {"n": 4}) as session:
        strip = NodeStrip(session, selection=selection)
        names = strip._facts.places.names
        assert sorted(names) == sorted(session.graph.nodes)
        for k, name in enumerate(names):
            strip.handle_message("cell", {"number": k})
            shown = strip.model(session.snapshot())
            assert selection.node == name and shown["selected"] == shown["at"] == k and name in shown["words"]
        for content in ({"number": -1}, {"number": 10**12}, {"number": True}, {"number": "1"}, {}):
            strip.handle_message("cell", content)
            strip.handle_message("choose", content)
            strip.handle_message("nonsense", content)
        assert selection.node in names
        strip.close()


def test_while_another_iteration_is_looked_at_it_says_that_these_are_the_newest_values():
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        session.next_iteration(3)
        strip = NodeStrip(session)
        assert strip.model(session.snapshot())["past"] == ""
        frame = next(path for path in session.graph.frames if path)
        strip.selection.look_at(Moment(frame, (1,)))
        assert strip.model(session.snapshot())["past"]
        strip.close()


def test_of_a_graph_alone_nothing_is_computed_and_hostile_names_stay_text():
    for graph in (flat(), evil(), nested()):
        strip = NodeStrip(graph)
        assert set(told(strip).values()) == {"not computed"} and len(strip.names) == len(graph.nodes)
        hostile = [name for name in strip.names if EVIL.split()[0] in name]
        assert bool(hostile) is any(EVIL in name for name in graph.nodes)
        strip.close()


def test_every_panel_has_it():
    for graph, feeds in ((flat(), {"x": 1.0}), (newton(), {"a": 2.0, "x0": 1.0})):
        panel = wb.debug(graph, feeds)
        assert panel.strip in panel.children and panel.strip.selection is panel.selection
        panel.close()
