"""What the views of a panel look at together: selection and moment."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.widgets.graphs import nested, newton
from workbench.widgets.focus import Focus, Moment
from workbench.widgets.models.moments import value_at
from workbench.widgets.source import Source
from workbench.widgets.views.controlflow_view import ControlFlowView


def test_listeners_hear_of_changes_only():
    focus, heard = Focus(), []
    end = focus.subscribe(lambda f: heard.append((f.node, f.moment)))
    focus.select("x")
    focus.select("x")
    moment = Moment(("loop",), (3,))
    focus.look_at(moment)
    focus.look_at(None, node="y")
    end()
    focus.select("z")
    assert heard == [("x", None), ("x", moment), ("y", None)]


@pytest.mark.parametrize(("frame", "iteration"), [(("a",), ()), ((), (1,)), (("a",), (-1,))])
def test_a_moment_has_one_number_per_frame(frame, iteration):
    with pytest.raises(wb.WorkbenchError, match="is no iteration of the frame"):
        Moment(frame, iteration)


def test_values_at_a_moment_of_one_loop():
    with wb.Session(newton(), {"a": 2.0, "x0": 1.0}) as session:
        session.run()
        source, name = Source(session), session.graph.frames[("while",)].variables[0].name
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
        source = Source(session)
        outer, inner = sorted((p for p in session.graph.frames if p), key=len)
        j = session.graph.frames[inner].variables[0].name
        i = session.graph.frames[outer].variables[0].name
        for k in range(5):
            shown = value_at(source, j, Moment(outer, (k,)))  # the last iteration inside: j has reached i = k
            assert (shown.value, shown.iteration) == (k, (k, k))
        assert value_at(source, i, Moment(inner, (3, 1))).value == 3  # the iteration around it
        assert value_at(source, j, Moment(outer, (5,))).value is None  # the loop did not run there


def test_a_view_leaves_its_focus_when_it_closes():
    with wb.Session(newton(), {"a": 2.0, "x0": 1.0}) as session:
        view = ControlFlowView(session)
        assert view.focus._listeners
        view.close()
        assert not view.focus._listeners
