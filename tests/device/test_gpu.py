"""The same on a GPU, through CuPy: ``pytest -m gpu tests/device``. CI has none; nobody has run these yet."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.device.programs import heat
from workbench.device import array_statistics, open_device, semantics

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
