"""Sweeps on the workers of Dask equal those on threads; a worker that dies in the middle loses and doubles nothing."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

import workbench as wb
from tests.sweep.graphs import DRAWN, newton
from workbench.errors import SweepError

distributed = pytest.importorskip("distributed", reason="distributed is not installed")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as found,
    ):
        yield found


@pytest.mark.parametrize("name", DRAWN)
def test_workers_give_what_threads_give(client, name):
    made, draw = DRAWN[name]
    points = draw(np.random.default_rng(7), 400)
    here = wb.sweep(made(), points, design="list", work=20_000)
    there = wb.sweep(made(), points, design="list", work=20_000, client=client)
    for column in here.names:
        assert (here[column] == there[column]).all() or here[column].tobytes() == there[column].tobytes(), column
    assert here.failures == there.failures


def test_inputs_that_differ_in_the_middle_of_a_large_array_are_told_apart(client):
    b = wb.GraphBuilder("sum")
    a, x = b.placeholder("a"), b.placeholder("x", shape=(5000,))
    graph = b.build({"sum": a + b.op("sum", x)})
    for value in (0.0, 7.0):
        large = np.zeros(5000)
        large[2500] = value  # where NumPy's repr writes dots
        found = wb.sweep(graph, {"a": [1.0, 2.0]}, inputs={"x": large}, client=client)
        assert found["sum"].tolist() == [1.0 + value, 2.0 + value]


def test_a_worker_that_is_killed_in_the_middle(client, tmp_path):
    """All points are there, once: each is stored by the file of one chunk only."""
    pids = list(client.run(os.getpid).values())
    killed = []

    def kill(sweep):
        if not killed:
            killed.append(pids[0])
            os.kill(pids[0], signal.SIGKILL)

    points = {"a": np.linspace(-5, 60, 3000)}
    found = wb.sweep(
        newton(), points, inputs={"tol": 1e-9}, work=20_000, client=client, store=tmp_path, wait=False
    )  # fmt: skip
    found.subscribe(kill)
    found.wait()
    assert killed and found.state == "finished" and not (found["outcome"] == "waiting").any()
    pyarrow = pytest.importorskip("pyarrow.parquet")
    stored = np.concatenate([pyarrow.read_table(path)["point"].to_numpy() for path in tmp_path.glob("*.parquet")])
    assert sorted(stored) == list(range(3000))
    here = wb.sweep(newton(), points, inputs={"tol": 1e-9}, work=20_000)
    assert (here["outcome"] == found["outcome"]).all() and here["x"].tobytes() == found["x"].tobytes()


def test_a_scheduler_that_is_lost_is_one_clear_error(tmp_path):
    points = {"a": np.linspace(-5, -1, 4000)}
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        lost = distributed.Client(cluster, timeout=5)
        found = wb.sweep(newton(), points, inputs={"tol": 1e-9}, work=50_000, client=lost, store=tmp_path, wait=False)
        found.subscribe(lambda sweep: lost.close(timeout=1) if lost.status == "running" else None)
        with pytest.raises(SweepError) as caught:
            found.wait()
        assert caught.value.slug == "lost-scheduler" and caught.value.sweep is found
    before = np.flatnonzero(found["outcome"] != "waiting")
    assert len(before)
    again = wb.sweep(newton(), points, inputs={"tol": 1e-9}, work=50_000, store=tmp_path)
    assert again.state == "finished" and (again["events"][before] == found["events"][before]).all()


def test_another_client_is_refused():
    with pytest.raises(SweepError, match="takes a distributed.Client"):
        wb.sweep(newton(), {"a": [1.0]}, inputs={"tol": 1e-9}, client="tcp://localhost:1")
