"""Numbers below the normal range: kept, or zero to the operations of a graph; whatever computes for a graph follows it,
and nothing else of the process does."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import workbench as wb
from tests.plan.checks import run_of
from workbench.ir import Ref
from workbench.ir.subnormals import arithmetic_of
from workbench.kernels import machine as core

pytestmark = pytest.mark.skipif(not core.can_flush(), reason="this processor has no such switch")

FLOATS = ("float32", "float64")
#: halvings of 1 until zero: kept, and flushed
TRIPS = {"float16": (25, 25), "float32": (150, 127), "float64": (1075, 1023)}


def halving(dtype: str, flushed: bool) -> wb.Graph:
    b = wb.GraphBuilder("halving")
    b.flushes_subnormals = flushed
    x = b.placeholder("x", dtype, ())
    half = np.dtype(dtype).type(0.5)
    loop = b.while_loop(lambda x, k: b.not_equal(x, np.dtype(dtype).type(0)), lambda x, k: (x * half, k + 1),
                        {"x": x, "k": np.int64(0)})  # fmt: skip
    return b.build({"x": loop["x"], "k": loop["k"]})


def of(build, *dtypes: str, flushed: bool = True, shape: tuple[int, ...] = ()) -> wb.Graph:
    """The graph of one formula of inputs a, b, ..."""
    b = wb.GraphBuilder("formula")
    b.flushes_subnormals = flushed
    return b.build({"y": build(b, *(b.placeholder(n, d, shape) for n, d in zip("abcd", dtypes, strict=False)))})


def one(graph: wb.Graph, **feeds) -> np.ndarray:
    (value,) = graph.run(feeds).values()
    return value


@pytest.mark.parametrize("dtype", TRIPS)
@pytest.mark.parametrize("flushed", [False, True])
def test_a_loop_that_waits_for_zero(dtype, flushed):
    graph = halving(dtype, flushed)
    trips = TRIPS[dtype][flushed]
    start = np.dtype(dtype).type(1)
    assert graph.run(x=start)["k"] == trips
    with wb.Session(graph, {"x": start}) as session:
        session.next_iteration(3)
        answer, there = session.termination(), int(session.trace["k"].values[-1]) + 1
        assert answer.proof and answer.remaining == trips - there
        session.run()
        assert session.outputs["k"] == trips
    found = wb.sweep(graph, {"x": np.ones(5, dtype)})
    assert (np.asarray(found["iterations"]) == trips).all()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(), (9,), (300,)])
def test_operands_and_results_are_taken_for_zero_and_moves_are_not(dtype, shape):
    tiny = np.finfo(dtype).tiny
    below = np.full(shape, tiny / 4, dtype)
    small = np.full(shape, tiny, dtype)

    def given(build, *values, flushed=True):
        feeds = dict(zip("abcd", values, strict=False))
        return one(of(build, *[dtype] * len(values), flushed=flushed, shape=shape), **feeds)

    assert (given(lambda b, x: x * np.dtype(dtype).type(4), below) == 0).all()  # an operand
    assert (given(lambda b, x: x * np.dtype(dtype).type(0.5), small) == 0).all()  # a result
    assert (given(lambda b, x: x + x, below) == 0).all()
    assert given(lambda b, x: b.equal(x, np.dtype(dtype).type(0)), below).all()
    assert not given(lambda b, x: b.greater(x, np.dtype(dtype).type(0)), below).any()
    assert (given(lambda b, x: -x, below) == -below).all()
    assert (given(lambda b, x: b.op("abs", x), -below) == below).all()
    assert (given(lambda b, x: b.op("where", b.greater(x, np.dtype(dtype).type(-1)), x, x), below) == below).all()
    assert (given(lambda b, x: x * np.dtype(dtype).type(4), below, flushed=False) == tiny).all()
    negative = given(lambda b, x: x * np.dtype(dtype).type(0.5), -small)
    assert (negative == 0).all() and np.signbit(negative).all()


def test_the_thread_is_as_it_was_after_a_run_and_in_what_it_calls():
    seen = []
    b = wb.GraphBuilder("long")
    b.flushes_subnormals = True
    loop = b.while_loop(lambda x, k: k < np.int64(100_000), lambda x, k: (x * 0.5, k + 1), {"x": 1.0, "k": np.int64(0)})
    run = run_of(b.build({"x": loop["x"]}), {}, budget=1)
    run.machine.retire = lambda *_: seen.append((core.flushes(), float(np.float64(4e-324) * np.float64(1.0))))
    run.machine.rewind = lambda *_: None
    while run.go() != "halt":
        pass
    assert not core.flushes()
    assert seen and all(found == (False, 4e-324) for found in seen)
    with core.Subnormals(True):
        assert core.flushes()
        assert halving("float64", False).run(x=1.0)["k"] == TRIPS["float64"][0]  # a graph has its own, wherever it runs
        assert core.flushes()
        with pytest.raises(ZeroDivisionError), core.Subnormals(False):
            assert not core.flushes()
            raise ZeroDivisionError
        assert core.flushes()
    assert not core.flushes()


def test_a_node_that_fails_leaves_the_thread_as_it_was():
    b = wb.GraphBuilder("fails")
    b.flushes_subnormals = True
    x = b.placeholder("x", "int64", ())
    graph = b.build({"y": b.op("floor_divide", x, np.int64(0), checked=True)})
    with pytest.raises(wb.WorkbenchError):
        graph.run(x=np.int64(3))
    assert not core.flushes()


def test_threads_have_their_own():
    graphs = {flushed: halving("float64", flushed) for flushed in (False, True)}
    wrong, gate = [], threading.Barrier(4)

    def work(flushed):
        gate.wait()
        for _ in range(50):
            if graphs[flushed].run(x=1.0)["k"] != TRIPS["float64"][flushed] or core.flushes():
                wrong.append(flushed)

    threads = [threading.Thread(target=work, args=(k % 2 == 0,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("op", ["sin", "exp", "logsumexp", "cumsum", "softmax"])
def test_what_numpy_computes_in_python_follows(op):
    """Kernels of ops that no compiled loop has are Python's; they run inside of the machine's call."""
    graph = of(lambda b, x: b.op(op, x * np.float64(2.0)) * np.float64(1.0), "float64", shape=(3,))
    assert np.isfinite(one(graph, a=np.full(3, 1e-310))).all()
    kept = one(of(lambda b, x: b.op("cumsum", x), "float64", shape=(3,), flushed=False), a=np.full(3, 1e-310))
    flushed = one(of(lambda b, x: b.op("cumsum", x), "float64", shape=(3,)), a=np.full(3, 1e-310))
    assert kept[-1] == 1e-310 * 3 and flushed[-1] == 0


def test_arrays_that_are_computed_again_are_those_of_the_run():
    def build(b):
        loop = b.while_loop(
            lambda x, k: k < np.int64(40),
            lambda x, k: ((x * np.float64(0.5) + x * np.float64(2.0**-60)) * np.float64(0.25), k + 1),
            {"x": b.placeholder("x", "float64", (5000,)), "k": np.int64(0)},
        )
        return b.build({"x": loop["x"]})

    b = wb.GraphBuilder("again")
    b.flushes_subnormals = True
    graph = build(b)
    start = np.linspace(1e-290, 1e-306, 5000)
    with wb.Session(graph, {"x": start}) as session:
        session.run()
        series = session.trace["x"]
        for node in graph.nodes:
            if graph.frame_of(node) and graph.nodes[node].op in ("multiply", "add"):
                columns = np.array([np.asarray(v) for v in session.trace[Ref(node)].firings()])
                if columns.dtype == np.float64:
                    assert not ((columns != 0) & (np.abs(columns) < np.finfo(np.float64).tiny)).any()
        assert len(series) == 41


def test_other_inputs_for_a_run_that_is_there():
    graph = of(lambda b, x, y: (x * y) * np.float64(2.0**40), "float64", "float64")
    with wb.Session(graph, {"a": 1.0, "b": 1.0}) as session:
        session.run()
        session.update(b=1e-310)
        assert session.outputs["y"] == 0 and not core.flushes()
        session.update(a=1e-200, b=1e-115)
        assert session.outputs["y"] == 0
        session.update(a=1e-200, b=1e-100)
        assert session.outputs["y"] == 1e-200 * 1e-100 * 2.0**40


def test_the_mode_is_part_of_a_graph():
    kept, flushed = halving("float64", False), halving("float64", True)
    assert kept != flushed and kept.fingerprint != flushed.fingerprint
    assert flushed.text().splitlines()[0] == 'graph "halving" version 1 flushes subnormals'
    for graph in (kept, flushed):
        again = wb.parse(graph.text())
        assert again == graph and again.flushes_subnormals == graph.flushes_subnormals
        assert wb.load(graph.text().encode(), outputs=["k"]).flushes_subnormals == graph.flushes_subnormals
        assert wb.in_dtype(graph, "float32").flushes_subnormals == graph.flushes_subnormals
        assert graph.with_notes(["so"]).flushes_subnormals == graph.flushes_subnormals
    for line in ("version 1 flushes", "version 1 flushes subnormals twice"):
        with pytest.raises(wb.WorkbenchError, match="Line 1"):
            wb.parse(flushed.text().replace("version 1 flushes subnormals", line))


def test_proofs_count_in_the_arithmetic_of_the_graph():
    """A step below the normal range moves nothing: a counter's closed form must not say when it arrives."""
    b = wb.GraphBuilder("steps")
    b.flushes_subnormals = True
    loop = b.while_loop(
        lambda x, k: b.logical_and(x < np.float64(1e-300), k < np.int64(10**15)),
        lambda x, k: (x + np.float64(1e-309), k + 1),
        {"x": np.float64(0), "k": np.int64(0)},
    )
    with wb.Session(b.build({"k": loop["k"]}), {}) as session:
        session.next_iteration(2)
        answer = session.termination(seconds=0.05)
        low, high = answer.interval or (0, None)
        left = 10**15 - int(session.trace["k"].values[-1]) - 1
        assert answer.outcome == "terminates" and answer.proof
        assert answer.remaining in (None, left)
        assert low <= left and (high is None or high >= left)
    with arithmetic_of(session.graph):
        assert core.flushes()
    assert not core.flushes()


def test_forks_and_replays_give_the_same_values():
    graph = halving("float32", True)
    with wb.Session(graph, {"x": np.float32(1)}) as session:
        session.run()
        once = np.asarray(session.trace["x"].values).tobytes()
        session.step_back(200)
        with session.fork() as fork:
            fork.run()
            assert np.asarray(fork.trace["x"].values).tobytes() == once
        session.run()
        assert np.asarray(session.trace["x"].values).tobytes() == once
