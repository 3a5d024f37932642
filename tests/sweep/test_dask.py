"""Sweeps on two Dask workers equal those on threads; a worker that dies during a sweep loses and duplicates nothing.

Needs distributed, which ``.venv-watch`` has: ``make test-watch``.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest

import workbench as wb
from tests.sweep.graphs import DRAWN, descent, newton
from tests.sweep.models import jax_loop, onnx_loop
from tests.sweep.test_equality import WORK, check_point, drawn
from workbench.errors import SweepError
from workbench.ir.opspec import REGISTRY

distributed = pytest.importorskip("distributed", reason="distributed is not installed")
dask = pytest.importorskip("dask")

pytestmark = pytest.mark.watch


@pytest.fixture(scope="module")
def cluster():
    # Dask's memory manager drops unneeded copies at arbitrary times; the tests count the transfers
    with (
        dask.config.set({"distributed.scheduler.active-memory-manager.start": False}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as found,
    ):
        yield found


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster) as found:
        yield found


def same(there: wb.Sweep, here: wb.Sweep) -> None:
    """Check that two sweeps are equal bit for bit."""
    for column in here.names:
        one, other = here[column], there[column]
        assert one.dtype == other.dtype, column
        assert (one == other).all() if one.dtype == object else one.tobytes() == other.tobytes(), column
    assert here.failures == there.failures


def each_is_stored_once(folder, n: int) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    stored = np.concatenate([parquet.read_table(path)["point"].to_numpy() for path in folder.glob("*.parquet")])
    assert sorted(stored) == list(range(n))


@pytest.mark.parametrize("name", DRAWN)
def test_workers_give_what_threads_and_single_sessions_give(client, name):
    graph, points = drawn(name, seed=24)  # the points that tests/sweep/test_equality.py compares with single sessions
    there = wb.sweep(graph, points, design="list", work=WORK, client=client)
    same(there, wb.sweep(graph, points, design="list", work=WORK))
    for k in range(0, len(there), 40):
        check_point(there, k)


def test_facts_and_newest_values_of_workers(client):
    how = {"collect": ["x", "x[-3:]", "label", "rate", "proof"], "inputs": {"start": [1.0, 2.0, -1.0]}}
    points = {"lr": np.linspace(-0.1, 0.7, 12)}
    same(wb.sweep(descent(), points, client=client, **how), wb.sweep(descent(), points, **how))


def test_models_with_weights(client):
    """The graph is sent to each worker once, also for further points and for another sweep with the same content."""
    pytest.importorskip("onnx")
    graph = onnx_loop()
    key = lambda found: found._engine._sent[0][0]  # noqa: E731
    points = {"M": np.arange(40)}
    inputs = {"x0": np.linspace(-1, 1, 300, dtype=np.float32)}
    there = wb.sweep(graph, points, inputs=inputs, client=client)
    same(there, wb.sweep(graph, points, inputs=inputs))
    fine = there.refine({"M": (3, 30)})
    again = wb.sweep(onnx_loop(), points, inputs=inputs, collect=["loop/x[-2:]"], client=client)
    assert key(there) == key(fine) == key(again)
    stories = client.run(lambda key, dask_worker: [entry[1:4] for entry in dask_worker.state.story(key)], key(there))
    arrivals = [[entry[0] for entry in story if entry[2] == "memory" != entry[0]] for story in stories.values()]
    # once from here, once from one worker to the other, which on a busy machine may have had nothing to do
    assert sorted(arrivals) in ([["executing"], ["flight"]], [[], ["executing"]])
    other = wb.sweep(onnx_loop(seed=1), points, inputs=inputs, client=client)  # other weights, nothing else
    assert key(other) != key(there) and other["xN"].tobytes() != there["xN"].tobytes()
    same(other, wb.sweep(onnx_loop(seed=1), points, inputs=inputs))


def test_functions_of_jax(client):
    pytest.importorskip("jax")
    points = {next(iter(jax_loop().inputs)): np.linspace(1, 90, 200, dtype=np.float32)}
    same(wb.sweep(jax_loop(), points, client=client), wb.sweep(jax_loop(), points))


def test_inputs_that_differ_in_the_middle_of_a_large_array_are_told_apart(client):
    b = wb.GraphBuilder("sum")
    a, x = b.placeholder("a"), b.placeholder("x", shape=(5000,))
    graph = b.build({"sum": a + b.op("sum", x)})
    for value in (0.0, 7.0):
        large = np.zeros(5000)
        large[2500] = value  # where NumPy's repr writes dots
        found = wb.sweep(graph, {"a": [1.0, 2.0]}, inputs={"x": large}, client=client)
        assert found["sum"].tolist() == [1.0 + value, 2.0 + value]


def test_a_sweep_that_is_cancelled_goes_on(client, tmp_path):
    points = {"a": np.linspace(-5, 60, 3000)}
    how = {"inputs": {"tol": 1e-9}, "work": 20_000}
    found = wb.sweep(newton(), points, client=client, store=tmp_path, wait=False, **how)
    done = found.subscribe(lambda sweep: sweep._engine.stop())
    found.wait()
    found.cancel()
    done()
    assert found.state == "stopped" and 0 < (found["outcome"] == "waiting").sum() < 3000
    found.resume()
    same(found, wb.sweep(newton(), points, **how))
    each_is_stored_once(tmp_path, 3000)


def test_results_that_cannot_be_stored_stop_the_sweep_and_are_not_lost(client, tmp_path):
    points = {"a": np.linspace(-5, 60, 3000)}
    how = {"inputs": {"tol": 1e-9}, "work": 20_000, "client": client}
    folder = tmp_path / "runs"
    found = wb.sweep(newton(), points, store=folder, wait=False, **how)
    done = found.subscribe(lambda sweep: shutil.rmtree(folder, ignore_errors=True))
    with pytest.raises(SweepError) as caught:
        found.wait()
    assert caught.value.slug == "not-stored" and caught.value.sweep is found and found.state == "stopped"
    done()
    ran = found["outcome"] != "waiting"
    before = found["events"][ran]
    folder.mkdir(exist_ok=True)
    found.resume()
    assert found.state == "finished" and (found["events"][ran] == before).all()


def test_a_worker_that_is_killed_in_the_middle(client, tmp_path):
    """All points are there exactly once: each is stored in the file of only one chunk."""
    killed = []

    def kill(sweep):
        if not killed:
            killed.extend(list(client.run(os.getpid).values())[:1])
            os.kill(killed[0], signal.SIGKILL)

    points = {"a": np.linspace(-5, 60, 3000)}
    how = {"inputs": {"tol": 1e-9}, "work": 20_000}
    found = wb.sweep(newton(), points, client=client, store=tmp_path, wait=False, **how)
    found.subscribe(kill)
    found.wait()
    assert killed and found.state == "finished" and not (found["outcome"] == "waiting").any()
    each_is_stored_once(tmp_path, 3000)
    same(found, wb.sweep(newton(), points, **how))


#: a scheduler and a worker in a separate process, which prints its address
ALONE = """
import distributed
cluster = distributed.LocalCluster(1, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=None)
print(cluster.scheduler_address, flush=True)
input()
"""


@pytest.mark.parametrize("lost", ["client", "scheduler"])
def test_a_scheduler_that_is_lost_is_one_clear_error(cluster, tmp_path, lost):
    points = {"a": np.linspace(-5, -1, 800)}
    how = {"inputs": {"tol": 1e-9}, "work": 50_000, "store": tmp_path / "runs"}
    with contextlib.ExitStack() as ends:
        if lost == "scheduler":
            call, pipes = [sys.executable, "-P", "-c", ALONE], {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            process = ends.enter_context(subprocess.Popen(call, cwd=tmp_path, text=True, **pipes))
            ends.callback(process.kill)
            other = distributed.Client(process.stdout.readline().strip(), timeout=300)
            lose = process.kill
        else:
            other = distributed.Client(cluster, timeout=60)
            lose = lambda: other.close(timeout=1) if other.status == "running" else None  # noqa: E731
        ends.callback(other.close, timeout=1)
        found = wb.sweep(newton(), points, client=other, wait=False, **how)
        found.subscribe(lambda _sweep: lose())
        with pytest.raises(SweepError) as caught:
            found.wait()
    assert caught.value.slug == "lost-scheduler" and caught.value.sweep is found
    before = np.flatnonzero(found["outcome"] != "waiting")
    assert len(before)
    again = wb.sweep(newton(), points, **how)
    assert again.state == "finished" and (again["events"][before] == found["events"][before]).all()
    each_is_stored_once(tmp_path / "runs", 800)


def test_another_client_is_refused():
    with pytest.raises(SweepError, match="takes a distributed.Client"):
        wb.sweep(newton(), {"a": [1.0]}, inputs={"tol": 1e-9}, client="tcp://localhost:1")


def fatal_op(deadly: bool):
    """A plugin of workers that gives them an op which passes its input on, and ends the process at 13."""

    class FatalOp(distributed.WorkerPlugin):
        def setup(self, worker=None):
            from workbench.ops.define import define

            def evaluate(arrays, attrs):
                if deadly and float(arrays[0]) == 13.0:
                    os.kill(os.getpid(), signal.SIGKILL)
                return arrays[0]

            define("Fatal", "x", lambda types, attrs, values: types[0], evaluate, "Passes x on.", "test")

    return FatalOp()


def test_a_point_that_ends_each_worker_is_one_clear_error(cluster, client, monkeypatch):
    """All other points are there; the plugin adds the op to restarted workers, too."""
    monkeypatch.setattr(REGISTRY, "_table", dict(REGISTRY._table))
    cluster.scheduler.allowed_failures = 0
    client.register_plugin(fatal_op(deadly=True), name="fatal")
    fatal_op(deadly=False).setup()
    try:
        b = wb.GraphBuilder("fatal")
        graph = b.build({"x": b.op("Fatal", b.placeholder("x"))})
        with pytest.raises(SweepError) as caught:
            wb.sweep(graph, {"x": np.arange(64.0)}, client=client)
    finally:
        cluster.scheduler.allowed_failures = 3
        client.unregister_worker_plugin("fatal")
    found = caught.value.sweep
    assert caught.value.slug == "killed-worker" and "12 to 15" in str(caught.value)
    waits = np.flatnonzero(found["outcome"] == "waiting")
    assert waits.tolist() == [12, 13, 14, 15] and (found["x"][:12] == np.arange(12)).all()
