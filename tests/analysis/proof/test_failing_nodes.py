"""A node that fails ends a loop, too: no proof ignores it, and the answer says exactly when it fails."""

from __future__ import annotations

import importlib.util
import os
import random

import numpy as np
import pytest

import workbench as wb
from tests.analysis.proof.random_failing import program
from workbench.analysis import Status
from workbench.analysis.slicing.can_fail import failing_nodes

#: iterations that are run to know the truth
LIMIT = 400
WIDER = int(os.environ.get("WORKBENCH_SWEEP", "1"))


def captured(tmp_path, text, feeds):
    """The graph of the function ``f`` of a source text."""
    path = tmp_path / "program.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return wb.graph(module.f).graph_for(**feeds)


def held_against_the_run(session, path, seed):
    """One question at a random point of the run, compared with the run; returns the answer and the state at the end."""
    stop = random.Random(seed).choice([0, 0, 3, 10])
    session.next_iteration(1 + stop)
    if session.state != "paused":
        return None, session.state
    done = max(session.snapshot().iterations[path], 0)
    answer = session.termination(path)
    proved = answer.status is Status.PROVED
    session.next_iteration(LIMIT)
    came_to = session.snapshot().iterations[path]
    left, told = came_to - done, (seed, came_to, str(answer))
    if session.state == "failed":
        assert not proved, told
        assert answer.details["fails_after"] == left and answer.first_bad == came_to, told
        assert answer.outcome is None and "fails" in str(answer).splitlines()[0], told
    else:
        assert answer.details.get("fails_after", LIMIT) >= min(left, LIMIT - 1), told
        if proved and answer.outcome == "terminates" and answer.remaining < LIMIT - 20:
            assert answer.remaining == left, told
        assert not (proved and answer.outcome == "never" and session.state == "finished"), told
    return answer, session.state


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4))
def test_no_proof_passes_over_a_node_that_fails(tmp_path, block):
    _sweep(tmp_path, range(20 * block, 20 * block + 20), 5)


@pytest.mark.sweep
@pytest.mark.parametrize("block", range(WIDER))
def test_no_proof_passes_over_a_node_that_fails_wider(tmp_path, block):
    _sweep(tmp_path, range(1000 + 250 * block, 1250 + 250 * block), 60)


def _sweep(tmp_path, seeds, least):
    failed = 0
    for seed in seeds:
        text, feeds = program(seed)
        try:
            graph = captured(tmp_path, text, feeds)
        except wb.WorkbenchError:  # Python would refuse it, too
            continue
        path = next((p for p in graph.frames if len(p) == 1), None)
        if path is None:
            continue
        with wb.Session(graph, {k: v for k, v in feeds.items() if k in graph.inputs}) as session:
            _, state = held_against_the_run(session, path, seed)
            failed += state == "failed"
    assert failed >= least


@pytest.mark.parametrize(
    ("body", "iteration"),
    [
        ("y = y * 10", 18),
        ("y = y + 100 // (20 - i)", 20),
        ("y = y + int(a[i])", 25),
        ("assert i != 20", 20),
        ("y = 1 << (3 * i)", 21),
    ],
)
def test_the_iteration_is_exact_from_anywhere(tmp_path, body, iteration):
    text = f"""import numpy as np
def f(i: int, y: int, a: np.ndarray):
    while i < 50:
        {body}
        i = i + 1
    return y
"""
    feeds = {"i": 0, "y": 1, "a": np.arange(25.0)}
    graph = captured(tmp_path, text, feeds)
    with wb.Session(graph, {k: v for k, v in feeds.items() if k in graph.inputs}) as session:
        path = next(p for p in graph.frames if p)
        assert f"a node fails in it after {iteration} more iterations" in " ".join(str(wb.analyze(session)).split())
        for _ in range(4):
            answer = session.termination()
            done = max(session.snapshot().iterations.get(path, 0), 0)
            assert answer.status is Status.UNKNOWN and answer.reason.slug == "slice-failed"
            assert answer.details["fails_after"] == iteration - done and answer.first_bad == iteration
            assert "i < 50" in answer.blocking_clause
            session.next_iteration(5)


@pytest.mark.parametrize(
    ("head", "body", "after"),
    [
        ("i < 10**15", "y = (y * 7 + i % 9) % 1000", 10**15),  # bounds: y stays below 1000
        ("i < 10**9", "y = y + i", 10**9),  # a sum of counted terms does not overflow by then
        ("i < 10**12", "y = y + int(a[i % 20])", 10**12),
        ("i < 10**12", "assert i >= 0", 10**12),
    ],
)
def test_a_proof_by_formulas_stays_one_where_bounds_exclude_a_failure(tmp_path, head, body, after):
    text = f"""import numpy as np
def f(i: int, y: int, a: np.ndarray):
    while {head}:
        {body}
        i = i + 1
    return y
"""
    feeds = {"i": 0, "y": 1, "a": np.zeros(20)}
    graph = captured(tmp_path, text, feeds)
    with wb.Session(graph, {k: v for k, v in feeds.items() if k in graph.inputs}) as session:
        answer = session.termination()
        assert answer.status is Status.PROVED and answer.remaining == after, str(answer)


def test_what_cannot_be_excluded_is_said(tmp_path):
    text = """def f(i: int, y: int):
    while i < 10**12:
        y = y + i * (i * 7919 % 1009 % 3 - 1)
        i = i + 1
    return y
"""
    with wb.Session(captured(tmp_path, text, {"i": 0, "y": 1}), {"i": 0, "y": 1}) as session:
        answer = session.termination()
        assert answer.status is Status.PREDICTED and answer.proof is None and answer.remaining == 10**12
        assert "unless a node of the body fails" in str(answer).splitlines()[0] and "add (program.py:3)" in str(answer)


def test_a_sum_that_overflows_on_the_way_fails_in_the_exact_iteration(tmp_path):
    text = """def f(i: int, y: int):
    while i < 10**12:
        y = y + i
        i = i + 1
    return y
"""
    with wb.Session(captured(tmp_path, text, {"i": 0, "y": 1}), {"i": 0, "y": 1}) as session:
        answer = session.termination()
    after = answer.details["fails_after"]  # y is 1 + i (i - 1) / 2
    assert 1 + after * (after - 1) // 2 < 2**63 <= 1 + (after + 1) * after // 2
    assert "add" in answer.details["node"]


def test_an_endless_loop_whose_body_fails_is_not_endless(tmp_path):
    text = """def f(x: float, y: int):
    while x > 0.0:
        y = y * 2
    return y
"""
    with wb.Session(captured(tmp_path, text, {"x": 1.0, "y": 1}), {"x": 1.0, "y": 1}) as session:
        assert session.termination().details["fails_after"] == 62


def test_an_endless_loop_that_counts_its_iterations_is_one(tmp_path):
    text = """def f(x: float, k: int):
    while x > 0.0:
        k = k + 1
    return k
"""
    with wb.Session(captured(tmp_path, text, {"x": 1.0, "k": 0}), {"x": 1.0, "k": 0}) as session:
        answer = session.termination()
        assert answer.status is Status.PROVED and answer.outcome == "never"


def test_a_failure_inside_an_inner_loop_counts(tmp_path):
    text = """def f(i: int, y: int):
    while i < 50:
        j = 0
        while j < 4:
            y = y + 12 // (10 - i + j)
            j = j + 1
        i = i + 1
    return y
"""
    with wb.Session(captured(tmp_path, text, {"i": 0, "y": 0}), {"i": 0, "y": 0}) as session:
        assert session.termination().details["fails_after"] == 10


def test_a_draw_behind_a_node_that_can_fail_leaves_no_proof():
    b = wb.GraphBuilder("draws")
    row = b.placeholder("row", "float64", (3,))

    def body(i, s):
        at = b.op("random_integers", np.zeros(0, np.int64), 0, 5)
        return i + 1, s + b.op("gather", row, at)

    out = b.while_loop(lambda i, s: i < 5, body, (b.constant(np.int64(0)), b.constant(0.0)))
    graph = b.build({"s": out[1]})
    with wb.Session(graph, {"row": np.zeros(3)}) as session:
        answer = session.termination()
        assert answer.status is not Status.PROVED and "unless" in answer.details


def test_ops_that_cannot_fail_cost_nothing():
    b = wb.GraphBuilder("plain")
    w = b.placeholder("w", "float32", (4, 4))
    h = b.while_loop(
        lambda i, h: i < 5,
        lambda i, h: (i + 1, b.op("tanh", h @ w)),
        (b.constant(np.int32(0)), b.constant(np.ones((4, 4), np.float32))),
    )[1]
    with wb.Session(b.build({"h": h}), {"w": np.ones((4, 4), np.float32)}) as session:
        assert failing_nodes(session.plan, ("while",)) == []


@pytest.mark.parametrize("fails_at", [1, 2, 3, 20])
def test_an_inner_loop_that_hangs_is_no_proof_where_the_body_fails_before(tmp_path, fails_at):
    text = """def f(n: int) -> int:
    i = 0
    y = 0
    while i < 10:
        y = y + 100 // (n - i)
        j = 0
        if i == 3:
            j = -1
        while j != 6:
            j = j + 2 if j >= 0 else j
        i = i + 1
    return y
"""
    graph = captured(tmp_path, text, {"n": fails_at})
    path = next(p for p in graph.frames if len(p) == 1)
    with wb.Session(graph, {"n": fails_at}) as session:
        session.next_iteration(1)
        answer = session.termination(path)
        # in iteration 3 the division may be run on either side of the inner loop
        assert fails_at >= 3 or answer.status is not Status.PROVED, str(answer)
        assert answer.outcome != "terminates" or answer.status is not Status.PROVED, str(answer)


@pytest.mark.parametrize("op", ["power", "whole_power"])
@pytest.mark.parametrize("exponent", [2, -1])
def test_a_power_of_whole_numbers_fails_for_some(op, exponent):
    """0 has no negative power: the node that nothing needs for the condition ends the loop."""
    b = wb.GraphBuilder("power")
    y = b.placeholder("y", "int64", ())

    def body(i, x):
        return i + 1, b.op(op, 5 - i, y)

    out = b.while_loop(lambda i, x: i < 47, body, (b.constant(np.int64(0)), b.constant(np.int64(7))))
    with wb.Session(b.build({"x": out[1]}), {"y": np.int64(exponent)}) as session:
        session.next_iteration()
        answer = session.termination()
        assert (answer.status is Status.PROVED) == (exponent > 0), str(answer)
        assert exponent > 0 or "fails_after" in answer.details


@pytest.mark.parametrize("constant", [True, False])
def test_an_axis_that_is_computed_may_not_be_one(constant):
    b = wb.GraphBuilder("axis")
    start = b.placeholder("axis", "int64", ())

    def body(i, x):
        return i + 1, b.op("cumsum", x, b.constant(np.int64(1)) if constant else start + i // 5)

    out = b.while_loop(lambda i, x: i < 30, body, (b.constant(np.int64(0)), b.constant(np.ones((2, 3)))))
    with wb.Session(b.build({"x": out[1]}), {"axis": np.int64(0)}) as session:
        answer = session.termination()
        assert (answer.status is Status.PROVED) == constant, str(answer)
        assert constant or answer.details["fails_after"] == 10


def test_counters_beside_chaos_fit_their_bits_for_long(tmp_path):
    text = """def f(x: float, n: int, m: int):
    while x > 0.0:
        x = 3.9 * x * (1.0 - x)
        if x > 0.5:
            n = n + 3
        else:
            n, m = m, n - 1
    return n
"""
    with wb.Session(captured(tmp_path, text, {"x": 0.3, "n": 1, "m": 2}), {"x": 0.3, "n": 1, "m": 2}) as session:
        answer = session.termination()
    assert answer.status is Status.PROVED and answer.outcome == "never", answer
