"""Origins of NaN and infinities, on loops whose first bad op, iteration and operand are known."""

from __future__ import annotations

import json

import numpy as np
import pytest

import workbench as wb
from tests.analysis.diff.graphs import finished

f32 = np.float32


def looping(body, x=3.0, trips=20, dtype="float32"):
    b = wb.GraphBuilder("loop")
    start = b.placeholder("x", dtype, np.shape(x))
    first = {"i": np.int64(0), "x": start}
    out = b.while_loop(lambda i, x: i < trips, lambda i, x: {"i": i + 1, "x": body(b, i, x)}, first)
    return finished(b.build(out), x=np.asarray(x, dtype))


def test_infinities_that_cancel_and_where_they_came_from():
    """Story 3: op, iteration and operand; the infinity behind it too."""
    with looping(lambda b, i, x: b.exp(x) * f32(0.5) - b.exp(x) * f32(0.25)) as session:
        found = wb.nan_origin(session)
        series = session.trace["x"].values
        assert np.isnan(series[4]) and np.isfinite(series[3])
        assert (found.op, found.iteration, found.kind, found.inputs_bad) == ("subtract", (3,), "nan", True)
        assert "cancel" in found.why and found.because.op == "exp" and found.because.iteration == (3,)
        assert found.because.responsible.name == "x" and found.because.responsible.value == series[3]
        assert not found.because.inputs_bad and "That infinity in turn" in found.text()
        json.dumps(found.to_data())


@pytest.mark.parametrize(
    ("expression", "x", "op", "why"),
    [
        (lambda b, x: b.sqrt(x - 4.0), 3.0, "sqrt", "no square root"),
        (lambda b, x: b.log(x - 3.0), 3.0, "log", "logarithm of 0"),
        (lambda b, x: b.log(x - 4.0), 3.0, "log", "a negative number"),
        (lambda b, x: (x - x) / (x - x), 3.0, "divide", "0 is divided by 0"),
        (lambda b, x: x / (x - x), 3.0, "divide", "something is divided by 0"),
        (lambda b, x: b.asin(x), 3.0, "asin", "between -1 and 1"),
        (lambda b, x: b.acosh(x - 3.0), 3.0, "acosh", "1 or more"),
        (lambda b, x: (x - 5.0) ** 0.5, 3.0, "power", "no power 0.5"),
        (lambda b, x: (x / (x - x)) * (x - x), 3.0, "multiply", "infinite and"),
        (lambda b, x: b.exp(x * 1000.0), 3.0, "exp", "as large as 3000"),
        (lambda b, x: b.reciprocal(x - 3.0), 3.0, "reciprocal", "is 0"),
    ],
)
def test_the_responsible_operand(expression, x, op, why):
    b = wb.GraphBuilder("g")
    graph = b.build({"y": expression(b, b.placeholder("x"))})
    with finished(graph, x=x) as session:
        found = wb.nan_origin(session)
        assert (
            found.op == op and why in found.why and found.responsible is not None and found.responsible.item is not None
        )


def test_the_item_of_an_array_that_met_the_bad_one():
    b = wb.GraphBuilder("g")
    x, y = b.placeholder("x", "float64", (2, 3)), b.placeholder("y", "float64", (3,))
    with finished(b.build({"z": x / y}), x=np.ones((2, 3)), y=np.array([1.0, 0.0, 2.0])) as session:
        found = wb.nan_origin(session)
        assert found.kind == "inf" and found.index == (0, 1) and found.count == 2 and found.responsible.name == "y"
        assert found.responsible.item == 0.0


def test_inputs_and_constants_that_are_bad_themselves():
    b = wb.GraphBuilder("g")
    x = b.placeholder("x", "float64", (2,))
    graph = b.build({"y": x + np.array([1.0, np.inf])})
    with finished(graph, x=np.array([np.nan, 1.0])) as session:
        found = wb.nan_origin(session)
        assert (found.op, found.operands, found.index) == ("Placeholder", (), (0,)) and "input" in found.text()
        assert wb.nan_origin(session, kind="inf").op == "Const"
    with finished(graph, x=np.array([0.0, 1.0])) as session:
        assert wb.nan_origin(session, kind="nan") is None and wb.nan_origin(session).kind == "inf"


def test_what_is_expected_is_ignored_with_all_that_passes_it_on():
    """Story 4: a mask of infinities is meant; the NaN that comes of something else is not."""

    def body(b, i, x):
        masked = b.log(x - x) * 1.0  # -inf on purpose
        return b.where(i < 5, x + b.exp(masked), b.sqrt(x - 100.0))

    with looping(body, dtype="float64") as session:
        assert wb.nan_origin(session, kind="inf").op == "log"
        assert wb.nan_origin(session, kind="inf", ignore="log") is None
        found = wb.nan_origin(session, ignore=["log"])
        assert found.op == "sqrt" and found.iteration == (0,)
        assert wb.nan_origin(session, ignore=["log", "*sqrt*"]) is None


def test_a_later_nan_of_a_node_that_first_passes_an_expected_one_on():
    def body(b, i, x):
        expected = b.where(i < 2, np.nan, 1.0)
        return (
            x * 0.0
            + b.sqrt(3.0 - i.astype("float64")) * b.where(i < 2, 1.0, 1.0)
            + 0.0 * b.where(i < 3, 0.0, 1.0)
            + b.where(i < 2, b.maximum(expected, 0.0) * 0.0, 0.0) * 0.0
        )

    with looping(body, dtype="float64", trips=8) as session:
        plain, ignoring = wb.nan_origin(session), wb.nan_origin(session, ignore=["Const"])
        assert plain.op == "Const" and ignoring.op == "sqrt"


def test_nested_loops_and_dead_branches():
    b = wb.GraphBuilder("nested")
    x = b.placeholder("x")

    def outer(i, x):
        first = {"j": np.int64(0), "y": x}
        out = b.while_loop(lambda j, y: j < 4, lambda j, y: {"j": j + 1, "y": b.sqrt(y - 1.0)}, first, name="inner")
        return {"i": i + 1, "x": out["y"] + 10.0}

    out = b.while_loop(lambda i, x: i < 4, outer, {"i": np.int64(0), "x": x}, name="outer")
    with finished(b.build(out), x=30.0) as session:
        paths, values = session.trace["y"].iterations, session.trace["y"].values
        first = paths[np.isnan(values)][0]
        found = wb.nan_origin(session)
        assert found.op == "sqrt" and found.iteration == (int(first[0]), int(first[1]) - 1)
        assert found.frame == ("outer", "inner")


def test_narrow_dtypes_and_wholly_finite_runs():
    with looping(lambda b, i, x: x * x, dtype="bfloat16", x=300.0) as session:
        found = wb.nan_origin(session)
        assert found.kind == "inf" and found.op == "multiply"
    with looping(lambda b, i, x: x * f32(0.5)) as session:
        assert wb.nan_origin(session) is None and wb.overflow_candidates(session) == ()


def test_overflow_candidates():
    """Story 14: names of the nodes that would overflow in float16."""
    with looping(lambda b, i, x: x * f32(3), x=1.0) as session:
        found = wb.overflow_candidates(session, "float16")
        assert [c.name for c in found] == ["while/multiply:0", "x"]
        values = session.trace["x"].values
        first = int(np.flatnonzero(values >= 65520)[0])
        assert found[1].iteration == (first,) and found[0].iteration == (first - 1,)
        assert found[1].largest == values.max() and found[1].ratio == pytest.approx(values.max() / 65504, rel=1e-3)
        assert not wb.overflow_candidates(session, "bfloat16") and not wb.overflow_candidates(session, "float32")
    with looping(lambda b, i, x: x * f32(1e-3), x=1.0) as session:
        assert not wb.overflow_candidates(session)
        found = wb.overflow_candidates(session, "float16", underflow=True)
        low = session.trace["x"].values
        lost = int(((low > 0) & (low.astype(np.float16) == 0)).sum())
        assert found[-1].kind == "underflow" and found[-1].lost == lost > 0


@pytest.mark.parametrize("dtype", ["int8", "float17", "string", "", None])
def test_bad_arguments(dtype):
    with looping(lambda b, i, x: x, trips=2) as session:
        with pytest.raises(wb.WorkbenchError, match="bad-dtype"):
            wb.overflow_candidates(session, dtype)
        with pytest.raises(wb.WorkbenchError, match="bad-kind"):
            wb.nan_origin(session, kind="zero")
    with pytest.raises(wb.WorkbenchError, match="no-trace"):
        wb.nan_origin(3)


def test_before_anything_has_run():
    b = wb.GraphBuilder("g")
    with wb.Session(b.build({"y": b.sqrt(b.placeholder("x"))}), {"x": -1.0}) as session:
        assert wb.nan_origin(session) is None and wb.overflow_candidates(session) == ()


def test_every_link_of_an_explanation_has_its_own_value():
    with looping(lambda b, i, x: b.sqrt(x) + f32(1), trips=6) as session:
        chain = session.explain("x", iteration=5)
        assert chain.complete and all(link.value is not None for link in chain)
        for link in chain:
            if link.tag.iteration:
                own = session.value(f"{link.tag.node}:{link.tag.output}", link.tag.iteration)
                assert np.array_equal(link.value, own)
        assert {link.op for link in chain.roots()} <= {"Placeholder", "Const"}
        assert len({(link.tag.node, link.tag.output, link.tag.iteration) for link in chain}) == len(chain)


@pytest.mark.parametrize("trace", ["carried", "off", "stats", "all"])
def test_what_is_no_longer_kept_is_recomputed(trace):
    b = wb.GraphBuilder("long")
    start = {"i": np.int64(0), "x": b.placeholder("x")}
    graph = b.build(
        b.while_loop(lambda i, x: i < 200_000, lambda i, x: {"i": i + 1, "x": b.sqrt(x - 1.0) + 0.7}, start)
    )
    with wb.Session(graph, {"x": 2000.0}, trace=trace, memory_budget=1 << 22) as session:
        session.run()
        found = wb.nan_origin(session)
        assert found.op == "sqrt" and found.responsible.value < 0 and not found.inputs_bad
        at = found.iteration[0]
        assert np.isfinite(session.value("x", at)) and np.isnan(session.value("x", at + 1))
        bare = wb.nan_origin(session.trace)
        assert bare is None or bare.note or bare == found or bare.iteration == found.iteration


def test_an_infinity_inside_of_nested_loops():
    b = wb.GraphBuilder("poles")

    def inner(i, s):
        return b.while_loop(lambda j, s: j < 4.0, lambda j, s: (j + 1.0, s + 1.0 / (i * 4.0 + j - 6.0)), (0.0, s))[1]

    out = b.while_loop(lambda i, s: i < 3.0, lambda i, s: (i + 1.0, inner(i, s)), (0.0, 0.0), name="outer")
    with wb.Session(b.build(out)) as session:
        session.run()
        for source in (session, session.trace):
            found = wb.nan_origin(source)
            assert (found.op, found.kind, found.iteration, found.responsible.item) == ("divide", "inf", (1, 2), 0.0)
