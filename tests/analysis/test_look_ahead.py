"""The iterations to come of a proved loop, and the map that a loop applies: against runs of the session itself."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.widgets.graphs import chaotic, counter, nested, newton


def assert_as_run(session, path, names):
    """Check that the look-ahead equals the values of a copy that runs on, bit for bit."""
    ahead = session.look_ahead(path)
    with session.fork() as fork:
        fork.run()
        for name in names:
            series = fork.trace[name]
            kept = series.iterations[:, -1] >= ahead.iterations[0]
            x, y = ahead.of(str(session.graph.value(name)))
            places = np.isin(series.iterations[kept][:, -1], x)
            np.testing.assert_array_equal(y, series.values[kept][places])
            assert x[-1] == series.iterations[-1, -1] == ahead.end
    return ahead


def test_it_is_what_the_run_will_compute():
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        for _ in range(3):
            assert_as_run(session, ("while",), ["x", "while/abs"])
            session.next_iteration(2)
            session.step(2)
        event = session.snapshot().event
        first = session.look_ahead()
        assert session.snapshot().event == event, "the run stands where it stood"
        session.step_back(9)
        assert session.look_ahead().iterations[0] < first.iterations[0]
        session.run()
        assert session.look_ahead() is None
        session.run_to("x", iteration=4)
        session.step()
        session.set_value("x", 50.0)
        assert_as_run(session, ("while",), ["x"])


def test_of_many_iterations_an_even_choice_with_the_last_one():
    with wb.Session(chaotic(5000)) as session:
        session.next_iteration(10)
        names = [v.name for v in session.graph.frames[("while",)].variables]
        ahead = assert_as_run(session, ("while",), names)
        assert 500 < len(ahead.iterations) <= 1002 and ahead.iterations[-1] == 5000


def test_an_inner_loop_and_loops_that_never_end():
    with wb.Session(nested(), {"n": 6}) as session:
        session.run_to("inner/j", (4, 2))
        ahead = session.look_ahead(("outer", "inner"))
        assert ahead.outer == (4,) and ahead.iterations.tolist() == [2, 3, 4] and ahead.end == 4
    with wb.Session(counter(), {"start": 0.0}) as session:
        session.next_iteration(5)
        ahead = session.look_ahead()
        assert ahead.end is None and 10 < len(ahead.iterations) < 100
        session.next_iteration(20)
        assert session.look_ahead().iterations[0] > ahead.iterations[0]


def test_the_map_of_a_loop_of_one_variable():
    b = wb.GraphBuilder("logistic")
    _, x = b.while_loop(
        lambda k, x: k < 50, lambda k, x: (k + 1, 3.7 * x * (1.0 - x)), (b.constant(0, "int64"), b.constant(0.3))
    )
    grid = np.linspace(0.0, 1.0, 33)
    with wb.Session(b.build({"x": x})) as session:
        session.run()
        np.testing.assert_array_equal(session.next_values("x", grid), 3.7 * grid * (1.0 - grid))
        assert session.next_values("k", grid) is None, "not a real number"


@pytest.mark.parametrize("body", [lambda k, x: (k + 1.0, x + k), lambda k, x: (x, x * 0.5 + k)])
def test_a_variable_that_needs_another_one_has_no_map(body):
    b = wb.GraphBuilder("two")
    _, x = b.while_loop(lambda k, x: k < 9.0, body, (b.constant(0.0), b.constant(0.3)))
    with wb.Session(b.build({"x": x})) as session:
        session.next_iteration(2)
        assert session.next_values("x", [1.0, 2.0]) is None


def test_the_map_of_a_loop_stays_when_its_variable_was_set_by_hand():
    b = wb.GraphBuilder("pond")
    r = b.placeholder("r", "float64", ())
    x = b.while_loop(lambda x: x < 0.99, lambda x: r * x * (1.0 - x), {"x": b.constant(0.3)})
    with wb.Session(b.build(x), {"r": 3.7}) as session:
        session.next_iteration(3)
        session.step()
        session.set_value("x", 0.5)
        session.next_iteration(2)
        np.testing.assert_array_equal(session.next_values("x", [0.2]), [3.7 * 0.2 * 0.8])
    with wb.Session(session.graph, {"r": 3.7}) as session:
        session.step()
        session.set_value("r", 2.0)
        assert session.next_values("x", [0.2]) is None, "the record alone knows the other map"
