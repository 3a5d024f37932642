"""The same on a GPU, through CuPy: ``pytest -m gpu tests/device``. CI has none; they were run on an NVIDIA H100."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import workbench as wb
from tests.device.programs import assert_same, firings, heat
from tests.device.test_products import OPS, one_op
from tests.device.test_random_programs import finish, runs, seeds
from workbench.device import array_statistics, joined, open_device, semantics

pytestmark = pytest.mark.gpu
GPU = wb.Device("cuda", least_bytes=1)


def test_a_loop_is_what_it_is_on_the_host_forwards_and_backwards():
    graph, feeds = heat(4096, 20)
    with wb.Session(graph, feeds) as host, wb.Session(graph, feeds, device=GPU) as there:
        host.run(), there.run()
        assert there.plan.reasons["sum"][0] == "device" and there.memory().device > 0
        there.previous_iteration(3), host.previous_iteration(3)
        assert there.position == host.position
        for name in ("x", "sides"):
            for ours, theirs in zip(there.trace[name].firings(), host.trace[name].firings(), strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float32", "float64"])
@pytest.mark.parametrize("size", [1, 255, 256, 257, 1_000_003])
def test_the_fused_kernel_gives_the_statistics_of_the_host(dtype, size):
    x = (np.random.default_rng(0).normal(size=size) * 50).astype(dtype)
    if dtype.startswith("float") and size > 3:
        x[:3] = np.nan, np.inf, -np.inf
    there, here = (array_statistics(open_device(d), x) for d in (GPU, wb.Device("numpy")))
    np.testing.assert_array_equal(there[:5], here[:5])
    np.testing.assert_allclose(there[5:], here[5:], rtol=1e-12)


def test_rules_give_numpys_results():
    home = open_device(GPU)
    values = np.array([0.5, -1.0, 300.0, 3e9, -3e9, 1e19, np.inf, -np.inf, np.nan])
    with home.space.active(), np.errstate(all="ignore"):
        x = home.operand(values)
        for target in semantics.BITS:
            found = home.fetch(semantics.cast_to_integer(home.xp, x, target))
            np.testing.assert_array_equal(found, np.array([v.astype(target) for v in values]), target)
        np.testing.assert_array_equal(home.fetch(semantics.sort(home.xp, x, 0)), np.sort(values))
        np.testing.assert_array_equal(home.fetch(semantics.sign(home.xp, x)), np.sign(values))


def test_out_of_memory_is_a_stop():
    b = wb.GraphBuilder("large")
    x = b.placeholder("x", "float64", (1 << 20, 1))
    graph = b.build({"y": b.op("sum", x + b.op("transpose", x))})
    with wb.Session(graph, {"x": np.zeros((1 << 20, 1))}, device=wb.Device("cuda")) as session:
        stop = session.run()
        assert stop.reason is wb.StopReason.FAILED and stop.error.slug in ("device-memory", "too-large")


@pytest.mark.parametrize("seed", seeds(60, 60))
def test_random_programs_are_what_they_are_on_the_host(seed):
    there, host = runs(seed, GPU)
    ours, theirs = firings(finish(there)), firings(finish(host))
    assert ours.keys() == theirs.keys()
    for ref, values in ours.items():
        assert values.keys() == theirs[ref].keys(), ref
        for path, value in values.items():
            expected = theirs[ref][path]
            assert np.asarray(value).dtype == np.asarray(expected).dtype, ref
            np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-9, err_msg=f"{ref} at {path}")


@pytest.mark.parametrize("op, attrs, dtypes", OPS, ids=lambda v: v if isinstance(v, str) else "")
def test_ops_with_a_rule(op, attrs, dtypes):
    graph, feeds = one_op(op, attrs, dtypes)
    with wb.Session(graph, feeds, device=GPU) as session:
        session.run()
        assert session.plan.reasons[op][0] == "device"
        np.testing.assert_allclose(session.outputs["y"], graph.run(feeds)["y"], rtol=1e-6)


def test_products_of_matrices():
    b = wb.GraphBuilder("product")
    x, y = b.placeholder("x", "float64", (64, 64)), b.placeholder("y", "float64", (64, 64))
    graph = b.build({"z": b.op("matmul", x, y)})
    draw = np.random.default_rng(0)
    feeds = {n: draw.normal(size=(64, 64)) for n in "xy"}
    np.testing.assert_allclose(graph.run(feeds, device=GPU)["z"], graph.run(feeds)["z"], rtol=1e-10, atol=1e-12)
    with wb.Session(graph, feeds) as host, wb.Session(graph, feeds, device=GPU) as there:
        host.run(), there.run()
        assert wb.diff(host, there, rtol=1e-10, atol=1e-12).first is None


@pytest.fixture
def regions(monkeypatch):
    """The regions of a test, which become graphs in their first call."""
    made = []
    init = joined.DeviceRegion.__init__

    def remembered(self, *args):
        init(self, *args)
        made.append(self)

    monkeypatch.setattr(joined, "CALLS_BEFORE", 0)
    monkeypatch.setattr(joined.DeviceRegion, "__init__", remembered)
    return made


@pytest.mark.parametrize("points", [64, 4096])
def test_a_loop_body_becomes_one_graph_with_the_values_of_its_nodes(points, regions):
    graph, feeds = heat(points, 40)
    with wb.Session(graph, feeds, device=GPU) as together, wb.Session(graph, feeds, device=GPU) as alone:
        alone._run.machine.regions = False
        together.run(), alone.run()
        outputs = alone.outputs
        assert_same(together._run, alone._run)
        together.previous_iteration(7), alone.previous_iteration(7)
        assert together.position == alone.position
        assert_same(together._run, alone._run)
    ended = graph.run(feeds, device=GPU)
    assert all(np.array_equal(ended[n], outputs[n]) for n in ended)
    used = [r for r in regions if r._calls]
    assert used and not any(r.refused for r in used), [r.refused for r in used]


@pytest.mark.parametrize("seed", seeds(60, 60))
def test_graphs_of_random_programs_give_what_their_nodes_give(seed, regions):
    together, _ = runs(seed, GPU)
    alone, _ = runs(seed, GPU)
    alone.machine.regions = False
    assert_same(finish(together), finish(alone))
    assert not [r.refused for r in regions if "differ" in r.refused]


def test_numbers_of_the_host_are_sent_with_each_launch(regions):
    b = wb.GraphBuilder("scaled")
    x = b.placeholder("x", "float32", (1000,))

    def body(x, i, rate):
        y = b.alias("y", (x * rate + b.op("cast", i, dtype="float32")) * 0.5)
        return y - rate, i + 1, b.op("sum", y) * 1e-3

    x, i, rate = b.while_loop(lambda x, i, rate: i < 30, body, [x, 0, b.constant(0.5, "float32")], name="loop")
    graph, feeds = b.build({"x": x, "rate": rate}), {"x": np.linspace(0, 1, 1000, dtype=np.float32)}
    with wb.Session(graph, feeds, device=GPU) as together, wb.Session(graph, feeds, device=GPU) as alone:
        alone._run.machine.regions = False
        together.run(), alone.run()
        assert_same(together._run, alone._run)
    assert any(r._graph is not None for r in regions), [r.refused for r in regions]


def test_memory_of_graphs_is_counted_and_given_back(regions):
    device = wb.Device("cuda", least_bytes=1, memory=1 << 30)
    memory = open_device(device).memory
    graph, feeds = heat(4096, 40)
    graph.run(feeds, device=device)
    assert any(r._graph is not None for r in regions)
    regions.clear()
    del graph, feeds
    wb.plan_cache.clear()
    gc.collect()
    assert memory.held == 0


def test_a_full_device_is_a_stop_and_what_a_session_held_is_there_again():
    b = wb.GraphBuilder("growing")
    x = b.placeholder("x", "float64", (1 << 28,))  # 2 GiB
    x, _ = b.while_loop(lambda x, i: i < 200, lambda x, i: (x + 1.0, i + 1), [x, 0], name="loop")
    graph = b.build({"x": x})
    with wb.Session(graph, {"x": np.zeros(1 << 28)}, device="cuda", memory_budget=1 << 40) as session:
        stop = session.run()
        assert stop.reason is wb.StopReason.FAILED and stop.error.slug == "device-memory", stop
        assert 10 < stop.tag.iteration[0] < 60
        session.step_back()
        assert session.state == "paused" and session.value("x")[0] == stop.tag.iteration[0]
    del session
    gc.collect()
    assert graph.run({"x": np.zeros(1 << 28)}, device="cuda")["x"][0] == 200.0


def test_values_that_are_looked_at_come_in_one_go_while_the_run_goes_on():
    home = open_device(GPU)
    arrays = [np.arange(n, dtype="float32") for n in (1, 1000, 3)]
    there = [home.operand(a) for a in arrays]
    assert all(map(np.array_equal, home.fetch_all(there), arrays))
    large = [np.ones(1 << 23), np.zeros(1 << 23)]
    assert all(map(np.array_equal, home.fetch_all([home.operand(a) for a in large]), large))
