"""Facts of all nodes: after each command those of the newest values in the trace, and no value is read twice."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.widgets.graphs import counter, evil, flat, nested, newton
from workbench.errors import WorkbenchError
from workbench.widgets.live.view_source import ViewSource
from workbench.widgets.nodes.node_facts import FINE, INFINITE, NOT_A_NUMBER, NOTHING, NewestFacts, facts_of_nodes
from workbench.widgets.text.value_facts import facts_of

pytestmark = [pytest.mark.usefixtures("nothing_is_left"), pytest.mark.filterwarnings("ignore")]


def vectors() -> wb.Graph:
    """A loop over an array, numbers of four types, and a branch in it; NaN and infinities come up."""
    b = wb.GraphBuilder("vectors")
    v = b.placeholder("v", "float32", (3,))

    def body(k, v, s):
        s = b.cond(k % 3 == 1, lambda: s + 1.0, lambda: np.log(s - 2.0))
        return k + 1, np.sqrt(v - 1.0) * np.float32(2.0), s

    k, v, s = b.while_loop(lambda k, v, s: k < 6, body, (b.constant(0, "int32"), v, b.constant(2.0)))
    return b.build({"k": k, "v": v, "s": s, "big": np.exp(s * 1e3)})


GRAPHS = {
    "newton": (newton, {"a": 2.0, "x0": 100.0}),
    "nested": (nested, {"n": 5}),
    "counter": (lambda: counter(4.0), {"start": 0.0}),
    "flat": (flat, {"x": 1.0}),
    "evil": (evil, {}),
    "vectors": (vectors, {"v": np.array([1.0, 5.0, 30.0], "f4")}),
}


def truth(trace: wb.Trace, name: str) -> tuple[bool, object]:
    """True for a node that has fired, and the facts of its last value, by the public series."""
    try:
        series = trace[f"{name}:0"]
        if not len(series):
            return False, None
        return True, facts_of(series[-1])
    except WorkbenchError:
        return False, None


def gone_on(trace: wb.Trace, name: str, snapshot: object) -> bool:
    """True if a loop around the last value of a node is in a later iteration."""
    tag, progress = trace[f"{name}:0"].tag(-1), getattr(snapshot, "iterations", {})
    path = tag.iteration[:-1] if trace.graph.nodes[name].op == "Enter" else tag.iteration
    return any(i < progress.get(tag.frame[: k + 1], -1) for k, i in enumerate(path))


def check(facts: NewestFacts, session: wb.Session, trace: wb.Trace | None = None) -> None:
    trace, snapshot = trace or session.trace, None if trace else session.snapshot()
    for _ in range(1000):
        facts.look(trace, snapshot)
        if not facts.behind:
            break
    for name in facts.graph.nodes:
        state = facts.state[facts.places.number[name]]
        fired, wanted = truth(trace, name)
        assert facts.older[facts.places.number[name]] == (fired and gone_on(trace, name, snapshot)), name
        assert bool(state != NOTHING) is fired, (name, state)
        found = facts.of(name)
        if wanted is None:
            assert found is None, name
            continue
        assert found is not None and found[2:] == wanted[2:], (name, found, wanted)
        for mine, its in zip(found[:2], wanted[:2], strict=True):
            assert (mine is None) is (its is None) and (its is None or mine == pytest.approx(float(its), nan_ok=True))
        assert state == (NOT_A_NUMBER if wanted.nan else INFINITE if wanted.inf else FINE), name


@pytest.mark.parametrize("key", GRAPHS)
def test_they_are_those_of_the_trace_after_each_command(key):
    make, feeds = GRAPHS[key]
    graph = make()
    feeds = feeds or {name: 1.0 for name in graph.inputs}
    with wb.Session(graph, feeds) as session:
        facts = facts_of_nodes(ViewSource(session))
        check(facts, session)
        for k in range(400):
            if session.snapshot().state in ("finished", "failed"):
                break
            session.step()
            if k % (1 if k < 60 else 7) == 0:
                check(facts, session)
        session.run()
        check(facts, session)
        for _ in range(6):
            session.step_back(3)
            check(facts, session)
        session.restart()
        check(facts, session)
        session.step(3)
        check(facts, session)
        session.run()
        check(facts, session)


def test_they_follow_an_edit_and_new_inputs():
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        facts = facts_of_nodes(ViewSource(session))
        session.next_iteration(3)
        check(facts, session)
        session.set_value("x", 7.0)
        check(facts, session)
        session.next_iteration()
        check(facts, session)
        session.update({"a": 3.0})
        check(facts, session)
        session.run()
        check(facts, session)


def test_they_are_those_of_a_saved_trace_too(tmp_path):
    for key in ("nested", "vectors"):
        make, feeds = GRAPHS[key]
        with wb.Session(make(), feeds) as session:
            session.run()
            session.trace.save(tmp_path / "run.wbtrace")
        trace = wb.Trace.load(tmp_path / "run.wbtrace", trusted=True)
        facts = NewestFacts(trace.graph)
        check(facts, session, trace)


def test_a_step_reads_what_it_has_computed_and_nothing_else():
    b = wb.GraphBuilder("long")
    h = b.placeholder("x", "float64", (2,))
    for _ in range(300):
        h = h + 1.0
    with wb.Session(b.build({"y": h}), {"x": np.zeros(2)}) as session:
        facts = facts_of_nodes(ViewSource(session))
        check(facts, session)
        before = facts.reads
        for _ in range(40):
            session.step()
            check(facts, session)
            check(facts, session)
        assert facts.reads - before <= 2 * 40 + 2, "each node and its constant"
        session.run()
        check(facts, session)
        assert facts.reads <= 2 * len(session.graph.nodes)


def test_a_row_of_numbers_is_read_in_one_piece(monkeypatch):
    b = wb.GraphBuilder("wide")
    x = b.placeholder("x", "float64", ())
    sums = [x + float(k) for k in range(500)]
    with wb.Session(b.build({f"y{k}": y for k, y in enumerate(sums)}), {"x": 0.0}) as session:
        session.run()
        facts = facts_of_nodes(ViewSource(session))
        asked = []
        take = type(session.trace.source).take
        monkeypatch.setattr(
            type(session.trace.source), "take", lambda self, place, rows: asked.append(place) or take(self, place, rows)
        )
        while True:
            facts.look(session.trace, session.snapshot())
            if not facts.behind:
                break
        assert len(asked) <= 8, "not one question for each node"
        monkeypatch.undo()
        check(facts, session)


def test_views_of_one_source_share_them_and_they_go_with_it():
    import gc
    import weakref

    with wb.Session(flat(), {"x": 1.0}) as session:
        source = ViewSource(session)
        facts = facts_of_nodes(source)
        assert facts_of_nodes(source) is facts
        gone = weakref.ref(facts)
        del facts, source
        gc.collect()
        assert gone() is None
