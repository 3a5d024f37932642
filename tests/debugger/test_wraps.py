"""Breakpoints on integer arithmetic that wraps around, against Python's ints."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import workbench as wb
from workbench.debugger.stop import StopReason
from workbench.errors import SessionError

EXACT = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "negative": operator.neg,
    "abs": abs,
    "square": lambda x: x * x,
    "left_shift": operator.lshift,
}
DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint32", "uint64"]


def drawn(seed: int) -> tuple[wb.Graph, dict[str, np.ndarray]]:
    """Random arithmetic in a loop with a branch and a loop inside, of one dtype, scalars or vectors."""
    rng = np.random.default_rng(seed)
    dtype, shape = DTYPES[seed % len(DTYPES)], [(), (3,)][int(rng.integers(2))]
    limits = np.iinfo(dtype)
    b = wb.GraphBuilder("drawn")
    given = b.placeholder("given", dtype, shape)
    small = b.constant(np.array(int(rng.integers(1, 8)), dtype))
    names = ["add", "subtract", "multiply", "square", "left_shift", *(["negative", "abs"] if dtype[0] == "i" else [])]

    def step(x, y):
        name = str(rng.choice(names))
        if name in ("negative", "abs", "square"):
            return b.op(name, x)
        return b.op(name, x, small if name == "left_shift" else y)

    def body(k, x, y):
        z = step(step(x, given), y)
        kept = b.cond(k % 3 < 1, lambda: step(z, given), lambda: b.op("bitwise_xor", z, y))
        inner = b.while_loop(lambda j, w: j < 2, lambda j, w: (j + 1, step(w, kept)), (b.constant(0), y))
        return k + 1, kept, inner[1]

    start = b.placeholder("start", dtype, shape)
    out = b.while_loop(lambda k, x, y: k < 6, body, (b.constant(0), start, given))
    feeds = {n: rng.integers(limits.min, limits.max, shape, dtype, True) // 5 for n in ("given", "start")}
    return b.build({"x": out[1], "y": out[2]}), {n: np.asarray(v, dtype) for n, v in feeds.items()}


def wrapped(session: wb.Session) -> set[tuple[str, tuple[int, ...]]]:
    """(node, iteration) of each firing of a recorded run that is not the exact result."""
    found, graph, trace = set(), session.graph, session.trace
    for node in graph.nodes.values():
        if node.op not in EXACT or node.ref() not in trace.layout.values:
            continue
        series = trace[node.ref()]
        for path, value in zip(map(tuple, series.iterations.tolist()), series.values, strict=True):
            operands = [session.value(r, path[: len(graph.frame_of(r.node))] or None) for r in node.inputs]
            items = np.broadcast_arrays(value, *operands)
            for result, *given in zip(*(i.reshape(-1).tolist() for i in items), strict=True):
                if EXACT[node.op](*given) != result:
                    found.add((node.name, path))
    return found


@pytest.mark.parametrize("seed", range(21))
def test_every_wrap_is_a_stop_and_nothing_else(seed):
    graph, feeds = drawn(seed)
    with wb.Session(graph, feeds, trace="all") as session:
        session.run()
        expected = wrapped(session)
        point = session.breakpoints.add("*", health="wrap") if expected or seed % 2 else None
        past = session.breakpoints.recheck(point) if point is not None else []
    assert {(t.node, t.iteration) for t in past} == expected and len(past) == len(expected)
    for mode in ("all", "carried", "off"):
        with wb.Session(graph, feeds, trace=mode) as session:
            session.breakpoints.add("*", health="wrap")
            stops, stop = [], session.run()
            while stop.reason is StopReason.BREAKPOINT:
                assert stop.detail.endswith(": wrap.")
                stops.append((stop.fired.node, stop.fired.iteration))
                stop = session.run()
            assert stop.reason is StopReason.FINISHED
            assert len(stops) == len(expected) and set(stops) == expected


def test_the_seeds_wrap_and_do_not():
    counts = []
    for seed in range(21):
        graph, feeds = drawn(seed)
        with wb.Session(graph, feeds, trace="all") as session:
            session.run()
            counts.append(len(wrapped(session)))
    assert sum(map(bool, counts)) >= 15 and min(counts) < 3 and sum(counts) > 200, counts


def collatz() -> wb.Graph:
    b = wb.GraphBuilder("collatz")
    one = b.constant(np.int32(1))

    def body(n):
        odd = b.op("add", b.op("multiply", n, b.constant(np.int32(3))), one)
        return {"n": b.where(b.equal(n % 2, one), odd, n // b.constant(np.int32(2)))}

    return b.build(b.while_loop(lambda n: n > one, body, {"n": b.placeholder("start", "int32", ())}))


def test_the_first_stop_is_the_first_wrap_of_the_run():
    with wb.Session(collatz(), {"start": np.int32(113383)}) as session:
        session.breakpoints.add("*", health="wrap", op="multiply")
        stop = session.run()
        first = wb.first_wrap(session)
        assert (stop.fired.node, stop.fired.iteration) == (first.node, first.iteration)
        operands = [session.value(r, first.iteration) for r in session.graph.nodes[first.node].inputs[:1]]
        assert int(operands[0]) * 3 >= 2**31
        assert session.reverse_continue().reason is not StopReason.BREAKPOINT, "there is none before it"


@pytest.mark.parametrize("where", ["n", "start", "while/n_is_not_there"])
def test_where_nothing_can_wrap_the_node_that_can_is_named(where):
    with wb.Session(collatz(), {"start": np.int32(7)}) as session:
        with pytest.raises(wb.WorkbenchError) as error:
            session.breakpoints.add(where, health="wrap")
        assert isinstance(error.value, SessionError) == (where != "while/n_is_not_there")
        if isinstance(error.value, SessionError):
            assert error.value.slug == "never-wraps" and "health=" in error.value.fix or "set it on" in error.value.fix
