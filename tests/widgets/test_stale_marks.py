"""Marks of what belongs to an earlier iteration, where it is drawn: lines, clauses, captions and notices."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.widgets.graphs import nested, newton
from workbench.widgets import GraphView, TerminationView, ValueInspector
from workbench.widgets.graph import graph_spec as spec

FEEDS = {"a": 2.0, "x0": 100.0}


@pytest.fixture(autouse=True)
def all_is_read_at_once(monkeypatch):
    """A look takes as long as it takes, also on a busy machine."""
    monkeypatch.setattr("workbench.widgets.graph.model.node_values.SLICE_S", 1e9)


def events(session, limit=400):
    """Every event of a run."""
    for _ in range(limit):
        session.step()
        if session.stop.reason is wb.StopReason.FINISHED:
            return
        yield session.snapshot()


@pytest.mark.parametrize(("make", "feeds"), [(newton, FEEDS), (nested, {"n": 3})], ids=["newton", "nested"])
def test_a_branch_is_bold_only_where_it_was_decided_in_this_iteration(make, feeds):
    graph = make()
    with wb.Session(graph, feeds) as session:
        view = GraphView(session)
        old = new = 0
        for snapshot in events(session):
            model = view.model(snapshot)
            data = view.spec(model)["data"]
            state, edges = model["state"], model["picture"]["edges"]
            assert bool(len(data[spec.OLDER_EDGES]["x"])) == bool(state["older_edges"])
            assert bool(len(data[spec.TAKEN_EDGES]["x"])) == bool(state["taken_edges"])
            for index in (*state["taken_edges"], *state["older_edges"]):
                for ref in edges[index]["refs"]:
                    node = graph.nodes[ref.node]
                    if node.op != "Switch":
                        continue
                    series = session.trace[str(node.inputs[1])]
                    at = tuple(int(i) for i in series.iterations[-1])
                    now = [snapshot.iterations.get(series.frame[: k + 1], -1) for k in range(len(at))]
                    older = any(a < b for a, b in zip(at, now, strict=True))
                    assert older == (index in state["older_edges"]), (ref, at, now)
                    old, new = old + older, new + (not older)
            told = [sign["text"] for sign in model["legend"]]
            assert ("taken in an earlier iteration" in told) == bool(state["older_edges"])
        assert old > 5 and new > 5
        view.close()


def test_a_clause_names_the_iteration_of_an_older_value():
    graph = newton()
    (path,) = [p for p in graph.frames if p]
    with wb.Session(graph, FEEDS) as session:
        view = TerminationView(session)
        old = new = 0
        for snapshot in events(session):
            view.show(snapshot)
            (row,) = view.verdict.status["clauses"]
            if not row["gap"]:
                continue
            asked = len(session.trace[view.model(snapshot)["clauses"][0]["refs"][0]]) - 1
            now = snapshot.iterations.get(path, -1)
            older = asked < now
            assert row["now"].endswith(f" ({asked})") is older, (row["now"], asked, now)
            old, new = old + older, new + (not older)
        assert old and new
        session.previous_iteration()
        view.show(session.snapshot())
        (row,) = view.verdict.status["clauses"]
        now = session.snapshot().iterations[path]
        assert row["now"].endswith(f" ({now - 1})"), row["now"]
        view.close()


def test_a_loop_that_was_not_entered_in_this_iteration_has_not_ended_in_it():
    graph = nested()
    outer, inner = sorted((p for p in graph.frames if p), key=len)
    with wb.Session(graph, {"n": 4}) as session:
        view = GraphView(session)
        late = ended = 0
        for snapshot in events(session):
            (words,) = [t for t in view.spec(view.model(snapshot))["data"][spec.TITLES]["text"] if "inner: while" in t]
            condition = session.trace[graph.frames[inner].loop_cond]
            if not len(condition):
                continue
            at, now = int(condition.iterations[-1][0]), snapshot.iterations.get(outer, -1)
            if at < now:
                assert "ended after" not in words and "not reached" in words
                late += 1
            elif now >= 0 and not bool(condition[-1]):
                assert "ended after" in words
                ended += 1
        assert late and ended
        view.close()


def leave(how, session):
    if how == "restart":
        session.restart()
    elif how == "undo":
        session.undo_edit()
    else:
        session.update({"a": 3.0})


@pytest.mark.parametrize("how", ["restart", "undo", "new inputs"])
def test_the_notice_of_an_edit_goes_with_the_edit(how):
    with wb.Session(newton(), FEEDS) as session:
        session.next_iteration(2)
        view = ValueInspector(session, "x")
        view._edit("7", 0, 0)
        assert "Value set" in view.part.status["said"]
        session.step(3)
        view.show(session.snapshot())
        assert "Value set" in view.part.status["said"] and 7.0 in np.asarray(session.trace["x"].values)
        leave(how, session)
        view.show(session.snapshot())
        assert view.part.status["said"] == ""
        view.close()


def test_a_node_that_was_dead_in_an_earlier_iteration_says_so():
    with wb.Session(nested(), {"n": 3}) as session:
        view = GraphView(session)
        name = next(n for n, node in session.graph.nodes.items() if node.op == "NextIteration" and "inner" in n)
        told = set()
        for _snapshot in events(session):
            view.select(name)
            facts = [fact["text"] for fact in view.model(session.snapshot())["status"]["facts"]]
            told |= {fact for fact in facts if fact.startswith("dead")}
        assert told == {"dead: on a branch not taken", "dead in an earlier iteration: on a branch not taken"}
        view.close()
