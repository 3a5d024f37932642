"""Sessions with a device: the same stops, values and edits as on the host; memory, statistics, errors."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import workbench as wb
from tests.device.programs import TINY, assert_same, heat
from tests.plan.checks import same
from workbench.errors import DeviceError
from workbench.trace.retention import Retention

pytest.importorskip("array_api_compat")


@pytest.fixture
def pair():
    graph, feeds = heat()
    with wb.Session(graph, feeds) as host, wb.Session(graph, feeds, device=TINY) as there:
        yield host, there


def test_every_move_stops_where_it_does_on_the_host(pair):
    moves = ["step", "next_iteration", "step_into", "step", "step_back", "next_iteration", "step_over", "step_out"]
    moves += ["step_back_out", "previous_iteration", "next_branch", "run", "step_back", "previous_branch", "resume"]
    for move in moves:
        host, there = (getattr(s, move)() for s in pair)
        assert (there.reason, there.tag, there.event) == (host.reason, host.tag, host.event), move
        assert pair[1].position == pair[0].position, move
    assert same(pair[1].value("x"), pair[0].value("x"))
    assert_same(pair[1]._run, pair[0]._run)


def test_breakpoints_edits_forks_and_new_inputs(pair):
    for session in pair:
        session.breakpoints.add("x", when="max(value) < 1.5")
    stops = [s.run() for s in pair]
    assert stops[1].reason is stops[0].reason is wb.StopReason.BREAKPOINT and stops[1].tag == stops[0].tag
    for session in pair:
        session.breakpoints.clear()
        session.set_value("x", np.linspace(0.0, 1.0, 64))
    forks = [s.fork() for s in pair]
    assert forks[1].device == TINY
    for session in (*pair, *forks):
        session.run()
    for here, there in (pair, forks):  # "inner" is written into "x" on the host, and changes with an edit of that
        for name in ("x", "i", "sides", "total"):
            ours, theirs = (s.trace[name].firings() for s in (there, here))
            assert len(ours) == len(theirs) and all(map(same, ours, theirs)), name
    for session in pair:
        session.update(u=np.linspace(-1.0, 1.0, 64))
    assert pair[1].plan.device == TINY
    assert same(pair[1].value("total"), pair[0].value("total"))
    assert wb.diff(*pair).first is None


def test_values_that_are_looked_at_are_arrays_of_the_host(pair):
    _, there = pair
    there.run()
    series = there.trace["sides"]
    assert all(type(value) is np.ndarray for value in series.firings())
    assert isinstance(series[3], np.ndarray) and not series[3].flags.writeable
    assert isinstance(there.outputs["total"], np.ndarray | np.generic)


@pytest.mark.parametrize(
    "trace", ["carried", "stats", "off", Retention("carried", window=3, memory=1 << 16), Retention("none", every=2)],
    ids=str,
)  # fmt: skip
def test_what_a_trace_does_not_keep_is_computed_again_on_the_device(trace):
    graph, feeds = heat(200, 40)
    with wb.Session(graph, feeds) as host, wb.Session(graph, feeds, trace=trace, device=TINY) as there:
        host.run(), there.run()
        for name in ("x", "sides", "inner"):
            for iteration in (0, 7, 39):
                assert same(there.value(name, iteration=iteration), host.value(name, iteration=iteration)), name


def test_statistics_of_arrays_on_the_device():
    graph, feeds = heat(200, 40)
    feeds["u"][5] = np.inf
    with wb.Session(graph, feeds, trace="stats") as host:
        host.run()
        expected = {n: host.trace[n].statistics for n in ("x", "sides", "inner")}
    for name in ("numpy", "array-api-strict"):
        with wb.Session(graph, feeds, trace="stats", device=wb.Device(name, least_bytes=1)) as there:
            there.run()
            for value, theirs in expected.items():
                ours = there.trace[value].statistics
                assert len(ours) == len(theirs) == len(host.trace[value].statistics)
                for field in ("size", "nan", "inf", "min", "max"):
                    assert same(ours[field], theirs[field]), (value, field)
                for field in ("sum", "sumsq"):  # in another order of additions
                    np.testing.assert_allclose(ours[field], theirs[field], rtol=1e-13, atol=1e-12)


def test_memory_of_the_device_is_counted_and_given_back():
    graph, feeds = heat(4096, 30)
    device = wb.Device("numpy", least_bytes=1 << 12, memory=1 << 29)
    with wb.Session(graph, feeds, device=device) as there:
        there.run()
        report = there.memory()
        assert report.device_name == "numpy" and "device numpy" in str(report)
        assert report.device >= 30 * 3 * 4094 * 8 and report.objects >= report.device // 2
    del there
    with wb.Session(graph, feeds, device=device, memory_budget=1 << 21) as small:
        small.run()
        assert small.memory().device < 1 << 22, "the budget of the trace bounds what stays on the device"


def test_out_of_device_memory_is_a_stop_at_the_node_and_the_run_goes_on_with_more():
    graph, feeds = heat(4096, 30)
    device = wb.Device("numpy", least_bytes=1 << 12, memory=20 * 4096 * 8)
    with wb.Session(graph, feeds, device=device) as there:
        stop = there.run()
        assert stop.reason is wb.StopReason.FAILED and stop.error.slug == "device-memory"
        assert "327,680" not in stop.error.message.split("hold")[0] and "655,360" in stop.error.message
        assert stop.tag.iteration[0] > 0 and stop.error.node == stop.tag.node
        there.step_back()
        assert there.state == "paused"


def test_what_runs_where_is_said():
    graph, feeds = heat(64)
    with wb.Session(graph, feeds, device="numpy") as there:
        reasons = dict(there.plan.reasons)
        assert {slug for slug, _ in reasons.values()} >= {"host-small", "compiled"}
        assert "262,144 bytes" in reasons["sum"][1]
    with wb.Session(graph, feeds, device=TINY) as there:
        assert there.plan.reasons["sum"][0] == "device" and "'numpy'" in there.plan.reasons["sum"][1]
    assert same(graph.run(feeds, device=TINY)["x"], graph.run(feeds)["x"])


def test_two_plans_of_one_graph_do_not_mix():
    graph, feeds = heat(64)
    plans = [wb.Session(graph, feeds, device=d).plan for d in (None, TINY, "numpy")]
    assert [p.device for p in plans] == [None, TINY, wb.Device("numpy")]


@pytest.mark.parametrize(
    "device, slug", [("gpu", "unknown-device"), (3, "unknown-device"), ("cuda:x", "unknown-device")]
)
def test_an_unknown_device_is_refused_at_once(device, slug):
    graph, feeds = heat()
    with pytest.raises(DeviceError) as caught:
        wb.Session(graph, feeds, device=device)
    assert caught.value.slug == slug and repr(device) in str(caught.value)


@pytest.mark.parametrize("options", [{"least_bytes": -1}, {"memory": 0}, {"least_bytes": 1.5}, {"memory": True}])
def test_numbers_that_do_not_fit_are_refused(options):
    with pytest.raises(DeviceError, match="bad-device"):
        wb.Device("numpy", **options)


def test_a_library_that_is_not_installed_is_one_error_at_the_session(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.setitem(sys.modules, "array_api_compat.cupy", None)
    graph, feeds = heat()
    for make in (lambda: wb.Session(graph, feeds, device="cuda:77"), lambda: graph.run(feeds, device="cuda:77")):
        with pytest.raises(DeviceError) as caught:
            make()
        assert caught.value.slug == "no-library" and "cupy-cuda12x" in str(caught.value)
        assert "CuPy" in str(caught.value)
