"""Designs, outcomes, facts, tables, cancel and resume of sweeps."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import workbench as wb
from tests.sweep.graphs import collatz, descent, newton
from workbench.errors import FeedError, SweepError


@wb.graph
def logistic(r, n):
    x = 0.5
    i = 0
    while i < n:
        x = r * x * (1.0 - x)
        i = i + 1
    return x


def test_a_grid_has_all_combinations():
    found = wb.sweep(newton(), {"a": [1.0, 4.0, 9.0], "tol": [1e-3, 1e-9]})
    assert found.shape == (3, 2) and len(found) == 6
    assert found["a"].tolist() == [1, 1, 4, 4, 9, 9]
    assert found.grid("x").shape == (3, 2)
    assert abs(found.grid("x")[:, 1] - [1, 2, 3]).max() < 1e-9
    assert found.index((2, 1)) == 5 and found.index({"a": 8.7, "tol": 0.0}) == 5


def test_a_list_is_taken_point_by_point():
    found = wb.sweep(newton(), {"a": [4.0, 9.0], "tol": [1e-3, 1e-9]}, design="list")
    assert found["x"].round(2).tolist() == [2, 3]


@pytest.mark.parametrize("design", ["random", "sobol"])
def test_drawn_points_are_in_their_ranges_and_the_same_again(design):
    ranges = {"a": (1.0, 9.0), "tol": (1e-9, 1e-3, "log")}
    found = wb.sweep(newton(), ranges, design=design, points=100, seed=3)
    again = wb.sweep(newton(), ranges, design=design, points=100, seed=3)
    assert (found["a"] == again["a"]).all() and (found["x"] == again["x"]).all()
    assert 1 <= found["a"].min() < 2 and 8 < found["a"].max() <= 9
    assert 20 < (found["tol"] < 1e-6).sum() < 80


def test_whole_numbers_feed_an_input_of_floats_and_others_do_not_fit():
    assert wb.sweep(newton(), {"a": np.arange(1, 4), "tol": [1e-9]})["x"].dtype == np.float64
    with pytest.raises(FeedError, match="some of its float64 values would change"):
        wb.sweep(collatz(), {"n": [1.5]})


@pytest.mark.parametrize(
    ("arguments", "slug"),
    [
        ({"parameters": {}}, "no-parameters"),
        ({"parameters": {"a": [1.0]}, "design": "spiral"}, "bad-design"),
        ({"parameters": {"a": [1.0]}, "points": 3}, "bad-design"),
        ({"parameters": {"a": (1.0, 2.0)}, "design": "random"}, "bad-design"),
        ({"parameters": {"a": (2.0, 1.0)}, "design": "random", "points": 3}, "bad-range"),
        ({"parameters": {"a": (0.0, 1.0, "log")}, "design": "random", "points": 3}, "bad-range"),
        ({"parameters": {"a": [1.0, 2.0], "tol": [1.0]}, "design": "list"}, "bad-design"),
        ({"parameters": {"a": ["x"]}}, "bad-values"),
        ({"parameters": {"a": []}}, "bad-values"),
        ({"parameters": {"a": np.zeros(10_000), "tol": np.zeros(10_000)}}, "too-many-points"),
        ({"parameters": {"a": [1.0]}, "collect": ["y"]}, "bad-collect"),
        ({"parameters": {"a": [1.0]}, "variable": "y"}, "no-variable"),
        ({"parameters": {"a": [1.0]}, "inputs": {"a": 2.0, "tol": 1.0}}, "fed-twice"),
        ({"parameters": {"a": [1.0]}, "work": 0}, "bad-work"),
        ({"parameters": {"a": [1.0]}, "inputs": {}}, "missing-feed"),
        ({"parameters": {"b": [1.0]}, "inputs": {"tol": 1.0}}, "unknown-feed"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(arguments, slug):
    given = {"inputs": {"tol": 1e-9} if "tol" not in arguments["parameters"] else {}, **arguments}
    with pytest.raises(wb.WorkbenchError) as caught:
        wb.sweep(newton(), given.pop("parameters"), **given)
    assert caught.value.slug == slug


def test_newest_values_of_a_loop_variable():
    found = wb.sweep(logistic.graph_for(3.2, 500), {"r": [2.8, 3.2]}, inputs={"n": 500}, collect=["x[-4:]"])
    newest = found["x[-4:]"]
    assert newest.shape == (2, 4)
    with found.session(1) as session:
        session.run()
        assert newest[1].tobytes() == session.trace["x"].values[-4:].tobytes()
    assert np.ptp(newest[0]) < 1e-12 < np.ptp(newest[1])


@pytest.mark.parametrize("length", [600, 2048, 8192])
def test_many_newest_values_of_an_array_are_all_there(length):
    collect = [f"x[-{length}:]"]
    found = wb.sweep(descent(), {"lr": [0.1, 0.4999]}, inputs={"start": [1.0, 1.0, 1.0]}, collect=collect, work=10**6)
    for k, newest in enumerate(found[collect[0]]):
        with found.session(k) as session:
            session.run()
            values = session.trace["x"].values[-length:]
            assert newest[length - len(values) :].tobytes() == values.tobytes()


def test_label_rate_limit_and_period():
    wanted = ["label", "rate", "limit", "period"]
    found = wb.sweep(logistic.graph_for(3.2, 300), {"r": [2.5, 3.2, 3.9]}, inputs={"n": 300}, collect=wanted)
    assert found["label"].tolist() == ["CONVERGING", "OSCILLATING", "CHAOTIC"]
    assert abs(found["limit"][0] - 0.6) < 1e-9 and found["period"][1] == 2
    small = wb.sweep(descent(), {"lr": [0.1]}, inputs={"start": [1.0, 1.0, 1.0]}, collect=["limit"], variable="x")
    assert small["limit"].tolist() == [0.0]  # an estimate of 1e-20, say, within its error


def test_proof_and_cause_of_endless_points():
    found = wb.sweep(collatz(), {"n": [6, 0, -1]}, collect=["proof", "cause"])
    assert found["outcome"].tolist() == ["ended", "endless", "endless"]
    assert found["proof"].tolist() == ["observed", "invariant-predicate", "recurrence"]
    assert found["cause"][0] == "" and found["cause"][1].startswith("n: ")
    assert found["recurs_after"].tolist() == [0, 1, 2]


def test_an_undecided_point_that_is_proved_endless_is_endless():
    b = wb.GraphBuilder("away")
    step = b.placeholder("step")
    graph = b.build(b.while_loop(lambda x: x != 10.0, lambda x: x + step, {"x": 0.0}))
    plain = wb.sweep(graph, {"step": [1.0, 0.75]}, work=5000)
    assert plain["outcome"].tolist() == ["ended", "undecided"]
    asked = wb.sweep(graph, {"step": [1.0, 0.75]}, work=5000, collect=["proof"])
    assert asked["outcome"][1] == "endless" and asked["proof"][1] not in ("", "unknown")


def test_the_bound_is_one_of_work():
    found = wb.sweep(logistic.graph_for(3.9, 1), {"r": [3.9]}, inputs={"n": 10**9}, work=5000)
    assert found["outcome"].tolist() == ["undecided"] and 5000 <= found["events"][0] < 5100


def test_arrays_of_unknown_length_take_the_plain_runner():
    b = wb.GraphBuilder("positive")
    v = b.placeholder("v", shape=(3,))
    graph = b.build(b.op("nonzero", v))
    found = wb.sweep(graph, {"v": [[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]]})
    assert type(found._engine._runners[0]).__name__ == "PlainRunner"
    (values,) = found.columns.all.values.values()
    assert [v.size for v in values] == [2, 0]


def test_a_sweep_in_the_background_tells_of_chunks_and_ends():
    told = []
    found = wb.sweep(newton(), {"a": np.linspace(1, 9, 400)}, inputs={"tol": 1e-9}, wait=False)
    found.subscribe(lambda sweep: told.append(int((sweep["outcome"] != "waiting").sum())))
    assert found.wait() is found and found.state == "finished"
    assert (found["outcome"] == "ended").all() and (not told or told[-1] == 400)


def test_a_cancelled_sweep_keeps_what_is_there_and_goes_on():
    points = {"a": np.linspace(-5, -1, 4000)}  # real square roots of negative numbers: each point uses all of its work
    found = wb.sweep(newton(), points, inputs={"tol": 1e-9}, work=200_000, wait=False)
    found.cancel()
    assert found.state == "stopped" and (found["outcome"] == "waiting").any()
    before = np.flatnonzero(found["outcome"] != "waiting")
    events = found["events"][before].copy()
    found.wanted[:] = False
    found.wanted[: len(before) + 50] = True
    assert found.resume().state == "finished"
    assert (found["events"][before] == events).all()
    assert (found["outcome"][: len(before) + 50] != "waiting").all()


@pytest.mark.slow
def test_ctrl_c_ends_the_wait_and_keeps_what_is_there():
    code = """
        import os, signal, sys, threading, time
        sys.path.append(os.getcwd())
        import numpy as np
        import workbench as wb
        from tests.sweep.graphs import newton
        main = threading.get_ident()
        def waits():
            frame = sys._current_frames()[main]
            while frame is not None and not frame.f_code.co_filename.endswith("sweep/running.py"):
                frame = frame.f_back
            return frame is not None and frame.f_code.co_name == "wait" and (frame.f_locals["self"]["events"] > 0).any()
        def interrupt():
            while not waits():
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=interrupt, daemon=True).start()
        found = wb.sweep(newton(), {"a": np.linspace(-5, -1, 200_000)}, inputs={"tol": 1e-9}, work=20_000)
        ran = int((found["outcome"] != "waiting").sum())
        print(found.state, 0 < ran < 200_000)
    """
    arguments = [sys.executable, "-P", "-c", textwrap.dedent(code)]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=100)
    assert done.stdout.split() == ["stopped", "True"], done.stderr


def test_an_output_that_was_not_computed_is_empty():
    found = wb.sweep(newton(), {"a": [4.0, np.nan, -3.7]}, inputs={"tol": 1e-30}, work=3000)
    assert not found.computed("x").all() and np.isnan(found["x"][~found.computed("x")]).all()
    table = found.to_arrow()["x"].to_pylist()
    assert [value is None for value in table] == (~found.computed("x")).tolist()


def test_tables_and_texts():
    found = wb.sweep(descent(), {"lr": [0.1, 0.2]}, inputs={"start": [1.0, 2.0, 3.0]})
    table = found.to_arrow()
    assert table.num_rows == 2 and table["iterations"].to_pylist() == found["iterations"].tolist()
    assert np.array_equal(np.array(table["x"].to_pylist()), found["x"])
    assert repr(found) == "<Sweep of 'descent': 2 points, 2 ended>"
    assert "iterations" in str(found) and "0.1 to 0.2" in found._repr_html_()
    with pytest.raises(SweepError, match="no column 'y'"):
        found["y"]
    with pytest.raises(SweepError, match="no point 7"):
        found.session(7)
