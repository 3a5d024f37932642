"""Everything that the house does with a run, on one graph: run, step, go back, explain, save, show."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

import workbench as wb
from tests.plan.checks import check_against_reference, run_of, same
from tests.plan.reference import ExitTwiceError, Reference
from workbench.analysis import Status
from workbench.errors import DeadValueError, ExecutionError, SessionError
from workbench.execution import Run
from workbench.ir import Graph, Ref
from workbench.widgets.control_flow.decisions_model import ControlFlowModel, decisions
from workbench.widgets.evolution.evolution_model import EvolutionModel, default_names
from workbench.widgets.graph.model.live_state import branch_sides, graph_state
from workbench.widgets.graph.model.picture import graph_model
from workbench.widgets.panel.status_model import status_model, status_text
from workbench.widgets.termination.termination_model import TerminationModel, loops
from workbench.widgets.termination.termination_words import describe

Feeds = dict[str, np.ndarray]


def to_end(run: Run) -> Run:
    while run.go() != "halt":
        pass
    return run


def check_run(graph: Graph, feeds: Feeds) -> Run | None:
    """Outputs, firings and events are the reference's; None where an Exit is alive twice, which both must find."""
    assert wb.parse(graph.text()) == graph
    run = run_of(graph, feeds)
    try:
        reference = Reference(graph, feeds, list(graph.outputs.values())).run()
    except ExitTwiceError as error:
        check_twice(run, error)
        return None
    to_end(run)
    check_against_reference(run, reference)
    inside = {r for r in graph.outputs.values() if graph.frame_of(r.node) and graph.nodes[r.node].op != "Exit"}
    dead = run.plan.guards.dead
    alive = [r for r in graph.outputs.values() if reference.firings[r] or r in inside and r.node not in dead]
    if len(alive) < len(graph.outputs):
        try:
            run.outputs()
        except DeadValueError as error:
            assert error.slug == "dead-value"
        else:
            raise AssertionError("a dead output was given out")
        return run
    outputs = run.outputs()
    for name, ref in graph.outputs.items():
        values = [v for _, v in reference.firings[ref]]
        if ref in inside:
            assert len(outputs[name]) == len(run.trace[ref])
        else:
            assert same(outputs[name], values[-1]), name
    return run


def check_twice(run: Run, expected: ExitTwiceError) -> None:
    try:
        to_end(run)
    except ExecutionError as error:
        assert "is alive in iteration" in str(error) and error.node is not None and error.tag is not None
        assert run.plan.graph.nodes[error.node].op == "Exit" and "exit-fired-twice" in str(error.__cause__)
    else:
        raise AssertionError(f"{expected.args} was not found")


def check_steps(run: Run, graph: Graph, feeds: Feeds) -> Run:
    """Event by event is the same as at full speed: trace, events and their order; returns the run that was stepped."""
    slow, visited = run_of(graph, feeds), []
    while not slow.finished:
        position = slow.position()
        if position.node is not None:
            assert position.event == len(visited) == slow.event
            visited.append((position.node, position.iteration))
        slow.go(slow.event + 1, exact=True, skip_silent=False)
    assert visited == [(t.node, t.iteration) for t in run.trace.events()]
    same_traces(run, slow)
    return slow


def same_traces(one: Run, other: Run) -> None:
    for key in one.plan.layout.values:
        ours, theirs = one.trace[Ref(*key)].firings(), other.trace[Ref(*key)].firings()
        assert len(ours) == len(theirs), key
        assert all(same(a, b) for a, b in zip(ours, theirs, strict=True)), key


def check_replay(run: Run, graph: Graph, feeds: Feeds, where: float) -> None:
    """An earlier state, reached from a checkpoint, is the one that was there; running on gives the rest again."""
    end, target = run.event, int(where * run.event)
    going, fresh, back = run_of(graph, feeds), run_of(graph, feeds), run_of(graph, feeds)
    for event in range(0, end, max(1, end // 7)):
        going.to_event(event)
        going.checkpoint()
    to_end(going)
    going.seek(target)
    fresh.to_event(target)
    assert going.event == fresh.event == target and going.position() == fresh.position()
    same_traces(going, fresh)
    back.to_event(end)
    back.seek(target)
    back.seek(max(0, target - 3))
    for later in (going, back):
        to_end(later)
        assert later.event == end
        same_traces(run, later)


def check_session(run: Run, graph: Graph, feeds: Feeds, draw: float) -> None:
    """Commands both ways, values that are no longer kept, and what is said about the end of loops."""
    with wb.Session(graph, feeds, trace="off") as session:
        session.step(1 + int(draw * 20))
        for path in {p for p in graph.frames if p and p in session.plan.numbers}:
            for _ in range(2):
                found = session.termination(path, seconds=0.05)
                assert found.outcome != "never", found
                assert found.status is not Status.PROVED or path not in session.plan.raw or found.remaining == 0
        before = session.position
        session.next_iteration()
        session.previous_iteration()
        session.step_into()
        session.step_out()
        session.step()
        session.step_back()
        session.restart()
        session.step(1 + int(draw * 20))
        assert session.position == before
        session.run()
        assert session.state == "finished" and session.snapshot().event == run.event
        inside = [r for r in (Ref(*k) for k in run.plan.layout.values) if len(run.trace[r]) and graph.frame_of(r.node)]
        for ref in inside[:: max(1, len(inside) // 4)]:
            series = run.trace[ref]
            k = int(draw * len(series))
            found = session.value(str(ref), tuple(series.iterations[k].tolist()))
            assert same(found, series.firings()[k]), ref
            if graph.nodes[ref.node].op not in ("Const", "Enter"):
                session.run_to(str(ref), iteration=tuple(series.iterations[k].tolist()))
                assert session.position.node == ref.node
                assert session.position.iteration == tuple(series.iterations[k].tolist())
                session.run()


def check_breakpoints(run: Run, graph: Graph, feeds: Feeds, draw: float) -> None:
    """A breakpoint stops at every firing of its node, forwards and backwards."""
    silent = {n.name for n in run.plan.layout.nodes if n.silent}
    fired = Counter(t.node for t in run.trace.events() if t.node not in silent)
    fired.pop(run_of(graph, feeds).position().node, None)  # a session begins in front of that
    if not fired:
        return
    node = sorted(fired)[int(draw * len(fired))]
    with wb.Session(graph, feeds) as session:
        session.breakpoints.add(node)
        for _ in range(fired[node]):
            assert session.run().reason.name == "BREAKPOINT" and session.position.node == node
        assert session.run().reason.name == "FINISHED"
        for _ in range(fired[node]):
            assert session.reverse_continue().reason.name == "BREAKPOINT" and session.position.node == node
        assert session.reverse_continue().reason.name == "BEGINNING"


def check_file(run: Run, path: Path) -> None:
    """A trace that was saved is the one that is loaded."""
    run.trace.save(path)
    loaded = wb.Trace.load(path)
    assert run.trace.events() == loaded.events() and run.trace.branches() == loaded.branches()
    for key in run.plan.layout.values:
        ref = Ref(*key)
        ours, theirs = run.trace[ref], loaded[ref]
        assert ours.iterations.tolist() == theirs.iterations.tolist(), ref
        assert all(same(a, b) for a, b in zip(ours.firings(), theirs.firings(), strict=True)), ref


def check_views(graph: Graph, feeds: Feeds) -> None:
    """The models of the views take any graph, in the middle of a run and at its end."""
    graph_model(graph)
    picture, taken = graph_model(graph, ()), [n.name for n in graph.nodes.values() if n.op == "Switch"]
    decisions(graph)
    with wb.Session(graph, feeds) as session:
        models = [EvolutionModel(default_names(graph)), ControlFlowModel(graph), TerminationModel(graph)]
        for steps in (7, 10_000):
            session.step(steps)
            for model in models:
                model.update(session.trace)
            current = session.position.node
            graph_state(picture, branch_sides(graph), current=current, branches={s: True for s in taken})
            status_text(status_model(session.snapshot(), session.graph))
            for path in loops(graph):
                try:
                    describe(session.termination(path, seconds=0.05))
                except SessionError as error:
                    assert error.slug == "no-such-frame"
