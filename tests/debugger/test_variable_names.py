"""Conditions and logpoints that call the values of a loop by their own names."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.debugger.conditions.evaluate import Predicate
from workbench.errors import SessionError


@wb.graph
def newton(a: float, x: float, tol: float):
    while abs(x * x - a) > tol:
        x = 0.5 * (x + a / x)
    return x


@pytest.fixture
def session():
    with wb.Session(newton, {"a": 2.0, "x": 1e3, "tol": 1e-12}) as found:
        yield found


def iterations(session, **point):
    """Iterations in which a breakpoint holds."""
    session.breakpoints.clear()
    session.restart()
    session.breakpoints.add(**point)
    found = []
    while session.run().reason is wb.StopReason.BREAKPOINT:
        found.append(session.position.iteration[-1])
    return found


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ("x < 1.5 and iteration > 1", "value < 1.5 and iteration > 1"),
        ("abs(x - 2.0) < 40", "abs(value - 2.0) < 40"),
        ('value("x") < 2', "value < 2"),
        ("not x >= 2", "value < 2"),
    ],
)
def test_the_variable_by_its_name_is_the_value(session, own, other):
    found = iterations(session, where="x", when=own)
    assert found == iterations(session, where="x", when=other) and found


def test_a_variable_beside_the_node(session):
    values = session.graph and (session.run(), session.trace["x"].values)[1]
    name = next(n.name for n in session.graph.nodes.values() if n.op == "divide")
    wanted = [k for k, x in enumerate(values[:-1]) if x < 10.0]
    assert iterations(session, where=name, when="x < 10") == wanted and wanted
    assert iterations(session, where=name, when="a / x == value") == list(range(len(values) - 1))


def test_a_logpoint_writes_it(session):
    session.breakpoints.add("x", log="x is {x:.3g}, a {a}", when="iteration == 3")
    session.run()
    (line,) = session.breakpoints.log
    assert line == f"x is {session.trace['x'].values[3]:.3g}, a 2.0"


def test_the_fast_path_is_that_of_value(session):
    session.breakpoints.add("x", when="x < 1.5")
    (point,) = session.breakpoints
    assert point.when.others == [] and point.when.text == "x < 1.5"
    again = wb.Session(newton, {"a": 2.0, "x": 1e3, "tol": 1e-12})
    again.breakpoints.load_data(session.breakpoints.to_data())
    assert [p.when.text for p in again.breakpoints] == ["x < 1.5"]
    again.close()


def test_a_name_that_is_not_there(session):
    with pytest.raises(SessionError) as caught:
        session.breakpoints.add("x", when="y < 1")
    assert caught.value.slug == "bad-condition" and "or a value of the graph" in str(caught.value)
    with pytest.raises(SessionError):
        Predicate("x < 1")  # without a graph
    assert Predicate("x < 1", {"x"}.__contains__).others == ["x"]


def test_words_of_the_language_come_first():
    b = wb.GraphBuilder("names")
    start = b.placeholder("iteration", "float64", ())
    out = b.while_loop(lambda norm: norm < 5.0, lambda norm: norm + 1.0, {"norm": start})
    with wb.Session(b.build(out), {"iteration": np.float64(-3.0)}) as session:
        session.breakpoints.add("norm", when="iteration == 2")
        session.run()
        assert session.position.iteration == (2,)
