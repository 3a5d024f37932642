"""Whole comparisons: first difference first, in the order of execution; lengths, branches, tolerances, sources."""

from __future__ import annotations

import json

import numpy as np
import pytest

import workbench as wb
from tests.analysis.diff.graphs import collatz, finished, nested, newton
from workbench.analysis.diff import Kind
from workbench.debugger.replay.full_replay import full_replay
from workbench.ops.state.array_state import ArrayFlow
from workbench.ops.state.list_state import TensorList
from workbench.ops.state.option import Option
from workbench.ops.state.persistent import Elements
from workbench.ops.state.stack import Stack


@pytest.fixture(scope="module")
def plain():
    with finished(newton(), a=2.0) as session:
        yield session


def test_equal_runs(plain):
    with finished(newton(), a=2.0) as other:
        found = wb.diff(plain, other)
        assert found.equal and found.first is None and len(found) == 0 and not found.only_a and not found.only_b
        events = plain.trace.events(silent=False)
        named = [n for n in events.node if "Enter" not in n and "Switch" not in n and "Next" not in n]
        assert found.firings >= len([n for n in named if "LoopCond" not in n and "pivot" not in n])
        assert "agree" in found.text()


def test_the_first_difference_is_the_constant_that_was_changed(plain):
    with finished(newton(half=0.51), a=2.0) as other:
        found = wb.diff(plain, other)
        first = found.first
        assert first.op == "Const" and first.iteration == (0,) and first.introduces and first.value_b == 0.51
        x = found["x"]
        assert x.iteration == (1,) and x.value_a == 1.5 and x.value_b == pytest.approx(1.53) and not x.introduces
        assert x.max_abs == pytest.approx(0.03) and x.ulp > 10**12 and x.differing == 4 and x.compared == 5
        assert x.worst_iteration == (2,)
        assert [r.introduces for r in found.rows].count(True) == 1
        (length,) = found.lengths
        assert (length.frame, length.a, length.b) == (("while",), 5, 21)
        flip = found.flips[0]
        assert flip.iteration == (4,) and "loop while" in flip.decides
        lines = found.text().splitlines()
        assert "goes on in b" in lines[1] and "first difference" in lines[2], "the flip is named first"


def test_order_is_that_of_execution(plain):
    with finished(newton(), a=2.0000001) as other:
        order = {tag: k for k, tag in enumerate(plain.trace.events())}
        found = wb.diff(plain, other)
        places = [order[wb.Tag(r.node, 0, r.frame, r.iteration)] for r in found.rows]
        assert places == sorted(places) and found.first.op == "Placeholder"


@pytest.mark.parametrize(
    ("options", "equal"), [({"rtol": 1e-6}, True), ({"atol": 1e-6}, True), ({"rtol": 1e-9}, False)]
)
def test_tolerances(plain, options, equal):
    with finished(newton(), a=2.0000001) as other:
        found = wb.diff(plain, other, **options)
        cancelled = {r.op for r in found.rows} == {"subtract", "abs"}  # these differ more, relatively
        assert (found.equal or cancelled and "rtol" in options) is equal and (not equal or "x" in found.within)


def test_two_dtypes(plain):
    with finished(newton("float32"), a=np.float32(2)) as other:
        found = wb.diff(plain, other, ulp=0)
        assert not found.only_a and not found.only_b, "aligned although constants and casts differ"
        assert found.first.name != "a" and found["x"].dtypes == ("float64", "float32")
        assert all(r.kind is Kind.DTYPE for r in wb.diff(plain, other, dtypes=True, rtol=1).rows if r.max_abs == 0)


def test_a_branch_that_flips_is_named():
    with finished(collatz(), n=np.int64(7)) as a, finished(collatz(), n=np.int64(9)) as b:
        found = wb.diff(a, b)
        tables = [s.trace.branches(loops=False) for s in (a, b)]
        taken = [{tag.iteration: bool(v) for tag, v in zip(t, t.taken, strict=True)} for t in tables]
        expected = min(k for k in taken[0] if k in taken[1] and taken[0][k] != taken[1][k])
        assert found.flips[0].iteration == expected and "branch" in found.flips[0].decides
        assert found.flips[0].kind is Kind.BRANCH and found.lengths[0].a == 17 and found.lengths[0].b == 20


def test_only_on_one_side():
    """With a large tolerance only the decisions differ: values that are alive in only one run are reported."""

    def graph():
        b = wb.GraphBuilder("pick")
        p, x = b.placeholder("p", "bool", ()), b.placeholder("x")
        return b.build({"y": b.cond(p, lambda: x + 1.0, lambda: x + 1.5)})

    with finished(graph(), p=True, x=1.0) as a, finished(graph(), p=False, x=1.0) as b:
        found = wb.diff(a, b, atol=1.0)
        kinds = {r.kind for r in found.rows}
        assert found.first.name == "p" and found.first.kind is Kind.BRANCH
        assert {Kind.ONLY_A, Kind.ONLY_B} <= kinds and "y" not in [r.name for r in found.rows]
        assert {r.op for r in found.rows if r.kind is Kind.ONLY_A} <= {"add", "Const"}


def test_nested_loops_of_other_lengths():
    with finished(nested(), x=1.0) as a, finished(nested(1.1), x=1.0) as b:
        found = wb.diff(a, b)
        assert found.first.frame == ("outer", "inner") and found.first.iteration == (0, 0)
        assert found["y"].iteration == (0, 1) and not found.lengths
        assert found.curve("y").iterations.tolist() == a.trace["y"].iterations.tolist()
        expected = np.abs(a.trace["y"].values - b.trace["y"].values)
        assert np.array_equal(found.curve("y").absolute, expected)


def test_a_session_that_is_not_finished_differs_nowhere(plain):
    with wb.Session(newton(), {"a": 2.0}) as other:
        assert not wb.diff(plain, other).equal and not wb.diff(plain, other).rows
        assert "Nothing could be compared" in wb.diff({}, other).text()
        other.step(20)
        found = wb.diff(plain, other)
        assert found.first is None and not found.lengths, "the loop goes on: its length is not known"
        assert found.equal and not found.complete and "not reached its end" in found.text()
        assert wb.diff(other, plain).rows == () == wb.diff(other, plain).lengths


def test_saved_traces_and_other_processes(plain, tmp_path):
    path = tmp_path / "run.wbtrace"
    plain.trace.save(path)
    with finished(newton(tolerance=1e-3), a=2.0) as other:
        found = wb.diff(path, other)
        live = wb.diff(plain, other)
        assert found.table() == live.table() and found.lengths == live.lengths
        assert wb.diff(str(path), plain).equal


def test_arrays_by_name(plain):
    values = plain.trace["x"].values
    assert wb.diff(plain, {"x": values}).equal and wb.diff({"x": list(values)}, plain).equal
    changed = values.copy()
    changed[3] += 1e-12
    found = wb.diff(plain, {"x": changed, "unknown": 1.0})
    assert found.first.iteration == (3,) and found.only_b == ("unknown",) and found.first.node == "while/x/Merge"
    assert wb.diff({"x": changed}, plain).first.iteration == (3,)
    by_path = {(k,): v for k, v in enumerate(changed)}
    assert wb.diff(plain, {"x": by_path}).first.iteration == (3,)
    assert wb.diff(plain, {"while/x/Exit": values[-1], "a": 2}).equal, "inputs and outputs have one firing"
    assert wb.diff({"p": 1.0, "q": [1.0, 2.0]}, {"p": 1.0, "q": [1.0, 2.5]}).first.iteration == (1,)


def test_other_names_and_another_order_of_nodes(plain):
    with finished(newton(name="estimate"), a=2.0) as other:
        found = wb.diff(plain, other)
        assert found.equal and not found.only_a and not found.only_b
    with finished(newton(name="estimate", tolerance=1e-3), a=2.0) as other:
        assert {r.op for r in wb.diff(plain, other).rows} == {"Const", "greater", "logical_and", "Exit"}


def test_another_op_in_the_middle_is_the_first_difference():
    def graph(op):
        b = wb.GraphBuilder("g")
        x = b.placeholder("x")
        return b.build({"y": b.sqrt(b.op(op, x * 2.0, 3.0)) + 1.0})

    with finished(graph("add"), x=5.0) as a, finished(graph("subtract"), x=5.0) as b:
        found = wb.diff(a, b)
        assert found.first.op == "add" and found.first.introduces
        assert [r.op for r in found.rows] == ["add", "sqrt", "add"]
        assert not found.only_a and not found.only_b


def test_before_and_after_a_fix():
    start = {"x": np.float32(1)}
    b = wb.GraphBuilder("g")
    f = np.float32
    graph = b.build(b.while_loop(lambda x: b.abs(x * x - f(2)) > f(1e-9), lambda x: (x + f(2) / x) * f(0.5), start))
    with wb.Session(graph) as session:
        session.run_to("x", 8)
        with session.apply_fix() as fork:
            fork.run()
            found = wb.diff(session, fork)
            assert {r.op for r in found.rows} == {"Const", "greater"} and found.lengths
            assert found.first.op == "Const" and found.first.introduces


def late(step: int, changed: int) -> wb.Graph:
    """A loop of 300,000 additions, one of which adds a different value."""
    b = wb.GraphBuilder("late")
    start = {"i": np.int64(0), "s": np.int64(0), "v": np.zeros(3)}

    def body(i, s, v):
        return {"i": i + 1, "s": s + b.where(b.equal(i, np.int64(changed)), np.int64(step), np.int64(1)), "v": v + 1.0}

    return b.build(b.while_loop(lambda i, s, v: i < 300_000, body, start))


@pytest.mark.parametrize(
    "keeps",
    [
        {"trace": "off"},
        {"trace": "stats"},
        {"trace": "carried"},
        {"memory_budget": 1 << 20},
        {"trace": wb.Retention("window", window=10)},
    ],
)
def test_what_a_session_dropped_is_recomputed(keeps):
    with wb.Session(late(1, 7)) as a, wb.Session(late(1, 7), **keeps) as b, wb.Session(late(2, 7), **keeps) as c:
        for session in (a, b, c):
            session.run()
        found = wb.diff(a, b)
        assert found.equal and found.complete and not found.notes, found.text()
        found = wb.diff(b, c)
        assert found["s"].iteration == (8,) and found["s"].differing == 300_000 - 7 and not found.notes
        assert found.first.op == "Const" and [r.iteration for r in found.introduced] == [(0,)]


def test_what_was_edited_is_recomputed_with_the_edit():
    with wb.Session(late(1, 7)) as a, wb.Session(late(1, 7), trace="off") as b:
        b.run_to("s", 12)
        b.set_value("i", 20)
        b.resume(), a.run()
        found = wb.diff(a, b)
        assert found["i"].iteration == (12,) and found["i"].value_b == 20 and found.lengths[0].b == 300_001 - 8
        assert not found.notes


def test_what_does_not_fit_and_what_a_trace_dropped_is_told(plain, tmp_path):
    graph = late(1, 7)
    with wb.Session(graph) as a, wb.Session(graph, memory_budget=1 << 20) as b, wb.Session(graph, trace="stats") as c:
        a.run(), b.run(), c.run()
        assert full_replay(b._run, 1 << 20) is None and full_replay(b._run, 1 << 16) is None
        found = wb.diff(a, b.trace)
        assert not found.rows and found.equal and not found.complete and not found.lengths
        (note,) = found.notes
        assert note.startswith("Of the loop while, b keeps") and "were not compared" in note and "spill" in note
        (note,) = wb.diff(a, c.trace).notes
        assert note.startswith("b keeps of v") and "of 300001 iterations" in note and "not compared" in note
        b.trace.save(tmp_path / "b.wbtrace")
        assert "b keeps" in wb.diff(a, tmp_path / "b.wbtrace").text()


def test_values_that_are_no_arrays():
    """TensorLists, TensorArrays, stacks and optionals hold arrays, and are compared by them."""
    held = [np.arange(3.0), None, np.ones((2, 2))]
    made = [
        lambda x: TensorList("float64", None, Elements.of(x)),
        lambda x: ArrayFlow(("a", ""), Elements.of(x)),
        lambda x: Stack("s", "float64", -1, Elements.of(x)),
        lambda x: Option(tuple(x)),
    ]
    for make in made:
        assert wb.diff({"x": make(held)}, {"x": make([*held])}).equal
        changed = [held[0] + [0, 0, 1e-9], *held[1:]]
        row = wb.diff({"x": make(held)}, {"x": make(changed)}).first
        assert row.kind is Kind.VALUE and row.max_abs == pytest.approx(1e-9)
        assert "x" in wb.diff({"x": make(held)}, {"x": make(changed)}, atol=1e-6).within
        assert wb.diff({"x": make(held)}, {"x": make(held[:2])}).first.kind is Kind.SHAPE
        assert wb.diff({"x": make(held)}, {"x": make([held[1], *held[1:]])}).first.kind is Kind.OTHER
    assert wb.diff({"x": Option()}, {"x": Option(())}).first.kind is Kind.OTHER


def test_a_run_and_its_file_where_values_are_no_arrays(tmp_path):
    b = wb.GraphBuilder("list")
    x = b.placeholder("x")
    graph = b.build({"o": b.op("option_of", x, x), "y": x + 1.0})
    with finished(graph, x=1.0) as session, finished(graph, x=1.0) as other:
        assert wb.diff(session, other).equal and not wb.diff(session, other).notes
        session.trace.save(tmp_path / "list.wbtrace")
        found = wb.diff(session, tmp_path / "list.wbtrace")
        assert found.equal and [n for n in found.notes if "b keeps no" in n and "o" in n], found.text()


def test_data_is_json_and_texts_are_escaped():
    name = "<script>alert(1)</script>"
    a, b = {name: np.array([1.0, np.inf])}, {name: np.array([np.nan, 2.0])}
    found = wb.diff(a, b, labels=("<b>a</b>", "b\x1b[31m"))
    assert json.loads(json.dumps(found.to_data()))["rows"][0]["kind"] == "nan"
    page = found._repr_html_()
    assert "<script>" not in page and "<b>a" not in page and "&lt;script&gt;" in page
    assert "\x1b" not in found.text() and "\\x1b" in found.text()
    assert found.first.nan == (0, 1) and found.first.inf == (1, 0)


@pytest.mark.parametrize("bad", [5, None, [1, 2], object()])
def test_what_cannot_be_compared(plain, bad):
    with pytest.raises(wb.WorkbenchError, match="not-comparable"):
        wb.diff(plain, bad)


def test_bad_records(plain, tmp_path):
    with pytest.raises(wb.WorkbenchError, match="bad-record"):
        wb.diff(plain, {1: 2.0})
    with pytest.raises(wb.WorkbenchError, match="bad-record"):
        wb.diff(plain, {"x": {(0,): 1.0, (0, 1): 2.0}})
    with pytest.raises(wb.WorkbenchError):
        wb.diff(plain, tmp_path / "nothing.wbtrace")
    with pytest.raises(wb.WorkbenchError, match="no-difference"):
        wb.diff(plain, plain)["x"]


def test_long_chains_with_other_constants_are_paired_to_the_end():
    def graph(late):
        b = wb.GraphBuilder("chain")
        x = b.placeholder("x")
        for k in range(300):
            x = b.sin(x) + (0.1 if k < 100 else late)
        return b.build({"y": x})

    with finished(graph(0.1), x=0.3) as a, finished(graph(0.2), x=0.3) as b:
        found = wb.diff(a, b)
        assert not found.only_a and not found.only_b and found.values == 901
        assert found.first.op == "Const" and len(found.introduced) > 60 and found.rows[1].op == "add"


def test_numbered_names_that_mean_something_else():
    """An op put in front shifts the numbers of all names behind it: structure pairs them, not the names."""

    def graph(more):
        b = wb.GraphBuilder("g")
        x = b.placeholder("x")
        y = b.sqrt(x * 2.0 + 1.0) if more else x * 2.0 + 1.0
        return b.build({"y": (y * 3.0 + 2.0) * 5.0, "z": b.exp(x * 7.0)})

    with finished(graph(False), x=0.5) as a, finished(graph(True), x=0.5) as b:
        found = wb.diff(a, b)
        sizes = {r.op: 0 for r in found.rows}
        for row in found.rows:
            sizes[row.op] += 1
        assert "z" not in {r.name for r in found.rows}, "what does not depend on it agrees"
        assert any("sqrt" in name for name in found.only_b)
        assert found.first.op == "multiply" and found.first.value_a == 6.0


def test_runs_that_keep_other_iterations_are_not_called_equal():
    one = {"x": {(k,): np.float64(k) for k in range(10)}}
    other = {"x": {(k,): np.float64(k) for k in range(5, 20)}}
    found = wb.diff(one, other)
    assert not found.rows and found.firings == 5 and found.alone == (5, 10) and not found.equal
    assert "5 results of a and 10 of b are missing on the other side" in found.text()
    assert wb.diff(one, {"x": {(k,): np.float64(k) for k in range(5)}}).equal


def test_a_session_that_runs_is_compared_or_refused_with_a_reason():
    b = wb.GraphBuilder("endless")
    graph = b.build(b.while_loop(lambda i: i >= 0, lambda i: i + 1, {"i": np.int64(0)}))
    with wb.Session(graph, memory_budget=1 << 22) as running, wb.Session(graph) as still:
        running.run(wait=False)
        still.step(200)
        for sides in ((running, still), (still, running), (running, running)):
            try:
                assert not wb.diff(*sides).rows
            except wb.WorkbenchError as error:
                assert error.slug == "trace-busy"
        running.pause()
        assert not wb.diff(running, still).rows
