"""Loops as machine code: the interpreter's values, events and stops, on random graphs and where a call ends."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.benchmarks.workloads import collatz
from tests.execution.test_subnormals import TRIPS, halving
from tests.plan.checks import check_against_reference, run_of
from tests.plan.random_graphs import Maker
from tests.plan.reference import Reference
from workbench.errors import ExecutionError
from workbench.execution import Run
from workbench.ir import Ref
from workbench.kernels import machine as core
from workbench.plan.native import compile, compile_loops

pytestmark = pytest.mark.watch


@pytest.fixture
def native(monkeypatch: pytest.MonkeyPatch) -> None:
    """Machine code from the first event on."""
    monkeypatch.setattr(compile, "HOT_EVENTS", 0)
    monkeypatch.setattr(compile, "BESIDE_RUNS", False)


def feeds(start: int, n: int) -> dict[str, np.ndarray]:
    return {"start": np.int64(start), "n": np.int64(n)}


def to_end(run: Run) -> Run:
    while run.go() != "halt":
        pass
    return run


def values(run: Run) -> dict[Ref, bytes]:
    return {
        Ref(*place): b"".join(np.asarray(v).tobytes() for v in run.trace[Ref(*place)].firings())
        for place in run.plan.layout.values
    }


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
@given(seed=st.integers(0, 1 << 32))
def test_random_graphs(native: None, seed: int) -> None:
    graph, given_ = Maker(seed).make()
    run = to_end(run_of(graph, given_))
    assert run.plan.native.reasons is not None
    check_against_reference(run, Reference(graph, given_, list(graph.outputs.values())).run())


@pytest.mark.parametrize("flushed", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_below_the_normal_range(native: None, dtype: str, flushed: bool) -> None:
    run = to_end(run_of(halving(dtype, flushed), {"x": np.dtype(dtype).type(1)}))
    assert run.plan.native.reasons is not None and set(run.plan.native.reasons.values()) == {""}
    assert run.outputs()["k"] == TRIPS[dtype][flushed]


def test_most_random_loops_of_numbers_are_compiled(native: None) -> None:
    made = [
        reason
        for seed in range(60)
        for reason in (to_end(run_of(*Maker(seed).make())).plan.native.reasons or {}).values()
    ]
    assert made.count("") > 10 and set(made) > {""}


def test_a_call_ends_where_the_interpreters_does(native: None) -> None:
    """For every limit: the same event, instruction and rows, and the run goes on from there to the same end."""
    run = run_of(collatz(), feeds(27, 40))
    compiled = run_of(collatz(), feeds(27, 40))
    to_end(compiled)
    assert list(compiled.plan.native.reasons.values()) == [""]
    events = compiled.event
    for limit in range(0, events, 3):
        a = core.Machine(run.plan.program)
        b = core.Machine(compiled.plan.program)
        for machine, of in ((a, run), (b, compiled)):
            for name, value in feeds(27, 40).items():
                place = of.plan.layout.values[of.plan.graph.inputs[name].node, 0].place
                core.put(machine, *of.plan.layout.operand(place), place.dtype, (), value)
        where = []
        for machine in (a, b):
            status = machine.run(limit)
            view = core.View(machine)
            where.append((status, view.ip, view.events, view.rows(1)))
            while machine.run() != "halt":
                pass
            where[-1] += (view.events, view.rows(1))
        assert where[0] == where[1], limit


def test_chunks_end_and_rows_leave(native: None) -> None:
    """Long enough for many chunks of a small budget; the newest rows are the same."""
    graph, n = collatz(), 200_000
    got = to_end(run_of(graph, feeds(27, n), budget=1 << 20))
    assert list(got.plan.native.reasons.values()) == [""]
    compile.HOT_EVENTS = 1 << 62
    wanted = to_end(run_of(graph, feeds(27, n), budget=1 << 20))
    assert wanted.plan.native.reasons is None
    assert got.event == wanted.event and values(got) == values(wanted)


def test_a_branch_that_is_computed_all_the_same_is_dead(native: None) -> None:
    """Both sides of a short branch are computed; the trace knows which one fired."""
    graph = collatz()
    run = to_end(run_of(graph, feeds(27, 30)))
    check_against_reference(run, Reference(graph, feeds(27, 30), list(graph.outputs.values())).run())


def test_an_endless_loop_stops_on_request(native: None) -> None:
    b = wb.GraphBuilder("endless")
    (x,) = b.while_loop(lambda x: x >= 0.0, lambda x: x * 0.5, [b.placeholder("x", "float64")])
    run = run_of(b.build({"x": x}), {"x": np.float64(1.0)})
    run.keeps = False
    for _ in range(3):
        timer = threading.Timer(0.05, core.request_stop, (run.machine,))
        timer.start()
        assert run.go(event=1 << 60) == "poll"
        timer.join()
        core.request_stop(run.machine, False)
    assert list(run.plan.native.reasons.values()) == [""]


def test_breakpoints_and_steps_inside_of_a_compiled_loop(native: None) -> None:
    """A breakpoint in the loop is met in its iteration; replays behind it give the values that were there."""
    with wb.Session(collatz(), feeds(27, 5000)) as session:
        session.run()
        assert list(session.plan.native.reasons.values()) == [""]
        wanted = session.stop.event, session.trace["x"][3000]
        session.restart()
        session.breakpoints.add("x", when="iteration == 3000")
        stop = session.run()
        assert stop.reason is wb.StopReason.BREAKPOINT and stop.tag.iteration == (3000,)
        session.step_back()
        session.breakpoints.clear()
        assert session.run().reason is wb.StopReason.FINISHED
        assert (session.stop.event, session.trace["x"][3000]) == wanted


def test_where_python_must_compute_the_code_leaves(native: None) -> None:
    """Checked arithmetic: an integer beyond 64 bits is an error in front of its node, in the same iteration."""
    b = wb.GraphBuilder("grow")
    n = b.placeholder("n", "int64")
    x, _ = b.while_loop(
        lambda x, i: i < n,
        lambda x, i: (b.op("multiply", x, 3, checked=True), b.op("add", i, 1, checked=True)),
        [b.constant(np.int64(1)), b.constant(np.int64(0))],
    )
    graph, found = b.build({"x": x}), []
    for hot in (0, 1 << 62):
        compile.HOT_EVENTS = hot
        run = run_of(graph, {"n": np.int64(100)})
        with pytest.raises(ExecutionError) as caught:
            to_end(run)
        found.append((run.event, str(caught.value), values(run)))
    assert found[0] == found[1] and "39" in found[0][1]


def test_what_stays_with_the_interpreter_says_why(native: None) -> None:
    b = wb.GraphBuilder("arrays")
    (x,) = b.while_loop(lambda x: b.op("sum", x) < 9.0, lambda x: x + 1.0, [b.placeholder("x", "float64", (3,))])
    run = to_end(run_of(b.build({"x": x}), {"x": np.zeros(3)}))
    assert all(run.plan.native.reasons.values())


def test_without_llvmlite_loops_run_as_before(native: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile, "_library", False)
    run = to_end(run_of(collatz(), feeds(27, 100)))
    assert list(run.plan.native.reasons.values()) == ["llvmlite is not installed"]
    assert int(run.outputs()["x"]) == 53


def test_a_run_goes_on_while_its_loops_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the interpreter, to the end if need be; the next call takes the code, with the same values."""
    may_go, before = threading.Event(), compile.compile_loops
    monkeypatch.setattr(compile, "HOT_EVENTS", 1)
    monkeypatch.setattr(compile, "BESIDE_RUNS", True)
    monkeypatch.setattr(compile, "compile_loops", lambda program: may_go.wait(60) and before(program))
    graph = collatz()
    first = run_of(graph, feeds(27, 300))
    first.go(event=200)
    to_end(first)  # its second call of the executor asks for machine code
    native = first.plan.native
    assert native.events == first.event > 200 and native.reasons is None
    may_go.set()
    for thread in threading.enumerate():
        if thread.name == "machine code of loops":
            thread.join()
    assert list((native.reasons or {}).values()) == [""]
    second = to_end(Run(first.plan, feeds(27, 300), 1 << 28))
    assert second.event == first.event and values(second) == values(first)


def test_an_address_is_taken_for_a_loop_only() -> None:
    program = run_of(collatz(), feeds(27, 1)).plan.program
    (head, back), *_ = core.innermost_loops(program)
    for wrong in ((head + 1, back), (head, back - 1), (-1, back), (head, 10**6)):
        with pytest.raises(ValueError, match="no loop of the program"):
            core.adopt_native(program, *wrong, 0, None)
    assert compile_loops(program) == {head: ""}
