"""Regions of a device: one call of many nodes gives what the nodes give, keeps no more, and fails where they fail."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.device.programs import STRICT, TINY, assert_same, heat
from tests.device.test_random_programs import finish, program, runs, seeds
from tests.plan.checks import same
from workbench.device import joined, open_device

pytest.importorskip("array_api_strict")


@pytest.mark.parametrize("seed", seeds(60, 6))
@pytest.mark.parametrize("device", [TINY, STRICT], ids=lambda d: d.name)
def test_a_run_that_keeps_nothing_gives_the_values_of_the_host(device, seed):
    graph, feeds = program(seed)
    ours, theirs = graph.run(feeds, device=device), graph.run(feeds)
    assert ours.keys() == theirs.keys() and all(same(ours[n], theirs[n]) for n in theirs)


def test_nodes_of_one_straight_run_are_one_call_and_give_what_they_give_one_by_one(monkeypatch):
    called = []
    call = joined.DeviceRegion.__call__
    monkeypatch.setattr(joined.DeviceRegion, "__call__", lambda *a: called.append(a[0]) or call(*a))
    graph, feeds = heat(64, 12)
    with wb.Session(graph, feeds, device=TINY) as together, wb.Session(graph, feeds, device=TINY) as alone:
        alone._run.machine.regions = False
        alone.run()
        assert not called
        together.run()
        longest = max(set(called), key=lambda r: len(r._steps))
        assert len(longest._steps) >= 8 and called.count(longest) == 12
        assert_same(together._run, alone._run)
    graph.run(feeds, device=TINY)
    shortest = min((len(r._outputs) for r in called if len(r._steps) >= 8), default=0)
    assert shortest == 1 < len(longest._outputs)


def test_a_breakpoint_inside_stops_there():
    graph, feeds = heat(64, 12)
    with wb.Session(graph, feeds, device=TINY) as there, wb.Session(graph, feeds) as host:
        for session in (there, host):
            session.breakpoints.add("inner", when="iteration == 5")
        stops = [s.run() for s in (there, host)]
        assert stops[0].tag == stops[1].tag and stops[0].event == stops[1].event


def test_a_node_that_fails_in_a_region_is_the_one_that_is_named():
    device = wb.Device("numpy", least_bytes=1, memory=3 * 64 * 8)
    graph, feeds = heat(64, 12)
    with wb.Session(graph, feeds, device=device) as there:
        stop = there.run()
        assert stop.reason is wb.StopReason.FAILED and stop.error.slug == "device-memory"
        assert stop.error.node in graph.nodes
    there, host = runs(3, TINY)
    assert_same(finish(there), finish(host))


def test_values_that_only_the_region_reads_do_not_count():
    device = wb.Device("numpy", least_bytes=1, memory=1 << 24)
    graph, feeds = heat(4096, 12)
    memory = open_device(device).memory
    graph.run(feeds, device=device)
    assert memory.peak <= (12 + 2) * 4096 * 8  # the carried array of each iteration, none of the ten beside it
    assert memory.held <= 2 * 4096 * 8  # copies of feeds go with the feeds
