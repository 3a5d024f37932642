"""The recorder: values of a loop become a trace, in each form of a watch."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest
from scipy.optimize import minimize, rosen

import workbench as wb
from workbench.errors import WatchError


def halved(count, watch, **more):
    error = 1.0
    for _ in range(count):
        error *= 0.5
        watch(error=error, **more)
    return error


def test_a_block_records_each_call_as_an_iteration():
    x = np.arange(5.0)
    with wb.watch("halving", until={"error": ("<", 1e-6)}) as watch:
        for k in range(1, 21):
            watch(error=0.5**k, x=x * k, k=k, flag=k > 3)
            assert watch.iteration == watch.calls == k and watch.state == "running"
    assert watch.state == "finished" and watch.names == ["error", "x", "k", "flag"]
    assert np.array_equal(watch.trace["error"].values, 0.5 ** np.arange(1, 21))
    assert watch.trace["error"].iterations[:, 0].tolist() == list(range(1, 21))
    assert np.array_equal(watch.trace["x"].values, np.outer(np.arange(1, 21), x))
    assert watch.trace["k"].values.dtype == np.int64 and watch.trace["flag"].values.dtype == bool
    assert watch["x"].statistics["sum"].tolist() == [10.0 * k for k in range(1, 21)]


def test_the_trace_is_one_of_a_run(tmp_path):
    """Saved, loaded, compared, classified and followed as the trace of any run."""
    with wb.watch("halving", until={"error": ("<", 1e-6)}) as watch:
        halved(20, watch, x=np.ones(3))
    watch.save(tmp_path / "a.wbtrace")
    loaded = wb.Trace.load(tmp_path / "a.wbtrace")
    assert not wb.diff(watch.trace, loaded)
    assert np.array_equal(loaded["x"].values, watch.trace["x"].values)
    for trace in (loaded, watch.trace):
        assert wb.Follower(trace).evolution("error").label is wb.Pattern.CONVERGING
        assert wb.analyze(trace).loops["halving"].iterations == 20
    assert "has ended after 20 iterations" in watch.report()


def test_the_end_of_an_open_loop_is_predicted_and_never_proved():
    watch = wb.watch("open", until={"error": ("<", 1e-6)})
    halved(10, watch)
    found = watch.analyze().loops["open"].termination
    assert (found.status.name, found.outcome, found.remaining) == ("PREDICTED", "terminates", 10)


def test_a_callback_of_scipy_needs_no_adapter():
    watch = wb.watch("bfgs")
    result = minimize(rosen, [1.3, 0.7, 0.8], callback=watch, method="BFGS")
    assert watch.calls == result.nit
    assert np.array_equal(watch.trace["x"].values[-1], result.x) and watch.trace["fun"].values[-1] == result.fun


def test_a_callback_stops_the_solver():
    watch = wb.watch("bfgs")

    def f(x):
        if watch.calls == 3:
            watch.request_stop()
        return rosen(x)

    assert minimize(f, [1.3, 0.7, 0.8], callback=watch, method="BFGS").nit == 4 == watch.calls


def test_an_iterable_is_recorded_item_by_item():
    watch = wb.watch(iter([0.5, 0.25, 0.125]))
    assert list(watch) == [0.5, 0.25, 0.125]
    assert watch.trace["value"].values.tolist() == [0.5, 0.25, 0.125] and watch.state == "finished"


def test_a_value_of_each_item_and_what_the_body_records():
    squares = wb.watch(range(5), name="squares", value=lambda k: k * k)
    assert sum(squares) == 10 and squares.trace["value"].values.tolist() == [0, 1, 4, 9, 16]
    body = wb.watch(range(5), name="body")
    for k in body:
        body(double=2 * k)
    assert body.names == ["double"] and body.calls == 5


def test_nested_watches_are_nested_loops():
    with wb.watch("outer") as outer:
        for k in range(4):
            with wb.watch("inner") as inner:
                for j in range(k + 1):
                    inner(v=float(j))
            outer(total=k * 1.5)
    assert outer.trace["v"].iterations.tolist() == [[k, j + 1] for k in range(4) for j in range(k + 1)]
    assert inner["v"].values.tolist() == [float(j) for k in range(4) for j in range(k + 1)]
    assert wb.analyze(outer.trace).loops["outer/inner"].activations == 4


def test_a_variable_that_changes_widens_its_column():
    watch = wb.watch("wide")
    for k, value in enumerate([0, 1, 2.5, True, np.float32(0.5), 1 + 2j]):
        watch(v=value, w=np.arange(3) if k < 3 else np.arange(3) + 0.5)
    assert watch["v"].values.tolist() == [0, 1, 2.5, 1, 0.5, 1 + 2j]
    assert watch["w"].values.dtype == np.float64 and watch["w"].statistics["sum"].tolist() == [3.0] * 3 + [4.5] * 3


def test_an_array_that_changes_its_shape_is_kept_as_it_is():
    watch = wb.watch("ragged")
    for n in range(1, 6):
        watch(x=np.arange(n))
    assert [x.tolist() for x in watch.trace.firings("x")] == [list(range(n)) for n in range(1, 6)]


def test_a_variable_may_be_missing_or_come_late():
    watch = wb.watch("gaps")
    for k in range(1, 11):
        watch(a=k, **({"b": k} if k % 3 else {}), **({"c": k} if k > 6 else {}))
    assert watch.trace["b"].iterations[:, 0].tolist() == [k for k in range(1, 11) if k % 3]
    assert watch.trace["c"].values.tolist() == [7, 8, 9, 10] and len(watch.trace["a"]) == 10


def test_values_that_are_not_numbers_are_named_and_do_no_harm():
    watch = wb.watch("odd")
    for k in range(5):
        watch(a=k, label="text", thing=object())
    assert watch.names == ["a"] and set(watch.refused) == {"thing"} and set(watch.states) == {"label"}
    assert (
        "Not recorded: thing" in watch.report() and "label: 5 states, 1 different, the newest text." in watch.report()
    )


def test_calls_from_several_threads_are_all_there():
    watch = wb.watch("threads")

    def work(n):
        for k in range(500):
            watch(a=float(k), x=np.full(4, n))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert watch.calls == len(watch["a"]) == 2000
    assert np.array_equal(np.sort(watch["a"].values), np.repeat(np.arange(500.0), 4))


def test_arrays_beyond_the_budget_go_and_their_statistics_stay(tmp_path):
    for folder in (None, tmp_path / "spill"):
        watch = wb.watch("large", memory=4 << 20, spill=folder)
        for k in range(2000):
            watch(x=np.full(1000, float(k)), k=k)
        assert watch.bytes <= 8 << 20
        assert watch["x"].statistics["sum"].tolist() == [1000.0 * k for k in range(2000)]
        assert len(watch["k"]) == 2000 and watch["x"][-1][0] == 1999.0
        if folder is None:
            assert watch.trace.dropped and len(watch["x"]) < 2000
        else:
            assert watch["x"].at(1)[0] == 0.0 and len(watch["x"]) == 2000
            assert np.array_equal(watch["x"].values[:, 5], np.arange(2000.0))


@pytest.mark.parametrize(
    "until", [3, {"a": 3}, {"a": ("==", 1)}, {"a": ("<", None)}, {3: ("<", 1)}, {"a": ("<", np.nan)}]
)
def test_an_end_that_makes_no_sense_is_refused(until):
    with pytest.raises(WatchError, match="until") as error:
        wb.watch("a", until=until)
    assert error.value.slug == "bad-until"


def test_nothing_recorded_is_said():
    with pytest.raises(WatchError, match="recorded nothing"):
        _ = wb.watch("empty").trace
    assert "0 iterations" in wb.watch("empty").report()


def test_a_watch_is_not_sent_to_another_process():
    with pytest.raises(WatchError, match="another process"):
        pickle.dumps(wb.watch("here"))
