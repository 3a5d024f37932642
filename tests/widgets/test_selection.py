"""The shared selection of a panel's views: node and iteration."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.widgets.graphs import nested, newton
from workbench.widgets.control_flow.control_flow_view import ControlFlowView
from workbench.widgets.graph.graph_view import GraphView
from workbench.widgets.live.selection import Moment, Selection
from workbench.widgets.live.view_source import ViewSource
from workbench.widgets.series.value_at import value_at


def test_listeners_hear_of_changes_only():
    selection, heard = Selection(), []
    end = selection.subscribe(lambda f: heard.append((f.node, f.moment)))
    selection.select("x")
    selection.select("x")
    moment = Moment(("loop",), (3,))
    selection.look_at(moment)
    selection.look_at(None, node="y")
    end()
    selection.select("z")
    assert heard == [("x", None), ("x", moment), ("y", None)]


@pytest.mark.parametrize(("frame", "iteration"), [(("a",), ()), ((), (1,)), (("a",), (-1,))])
def test_a_moment_has_one_number_per_frame(frame, iteration):
    with pytest.raises(wb.WorkbenchError, match="is not an iteration of the frame"):
        Moment(frame, iteration)


def test_values_at_a_moment_of_one_loop():
    with wb.Session(newton(), {"a": 2.0, "x0": 1.0}) as session:
        session.run()
        source, name = ViewSource(session), session.graph.frames[("while",)].variables[0].name
        wanted = session.trace[name].values
        found = [value_at(source, name, Moment(("while",), (i,))) for i in range(len(wanted))]
        assert [f.iteration for f in found] == [(i,) for i in range(len(wanted))]
        np.testing.assert_array_equal([f.value for f in found], wanted)
        assert value_at(source, "a", Moment(("while",), (2,))).value == 2.0
        beyond = value_at(source, name, Moment(("while",), (10_000,)))
        assert beyond.value is None and beyond.note


def test_values_at_a_moment_of_nested_loops():
    with wb.Session(nested(), {"n": 5}) as session:
        session.run()
        source = ViewSource(session)
        outer, inner = sorted((p for p in session.graph.frames if p), key=len)
        j = session.graph.frames[inner].variables[0].name
        i = session.graph.frames[outer].variables[0].name
        for k in range(5):
            shown = value_at(source, j, Moment(outer, (k,)))  # the last iteration inside: j has reached i = k
            assert (shown.value, shown.iteration) == (k, (k, k))
        assert value_at(source, i, Moment(inner, (3, 1))).value == 3  # the iteration around it
        assert value_at(source, j, Moment(outer, (5,))).value is None  # the loop did not run there


@pytest.mark.parametrize("made", [ControlFlowView, GraphView])
def test_a_view_leaves_its_selection_and_its_pump_when_it_closes(made):
    with wb.Session(newton(), {"a": 2.0, "x0": 1.0}) as session:
        view = made(session)
        pump = view.pump
        assert view.selection._listeners and pump.sinks == 1
        view.close()
        assert not view.selection._listeners and pump.sinks == 0
