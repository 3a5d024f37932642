"""Cost of breakpoints that are not hit: ``python -m tests.benchmarks.breakpoints``.

Each line: time with the breakpoint, time without, their ratio. The conditions never hold, so that all of the run is
asked and nothing stops.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import workbench as wb
from workbench.ir import GraphBuilder


def newton(steps: int = 1_000_000) -> tuple[wb.Graph, dict[str, Any]]:
    """x = (x + a / x) / 2, without an end before ``steps``."""
    b = GraphBuilder("newton")
    a = b.placeholder("a")
    out = b.while_loop(
        lambda x, k: k < steps, lambda x, k: ((x + a / x) * 0.5, k + 1), {"x": b.constant(3.0), "k": b.constant(0)}
    )
    return b.build(out), {"a": 2.0}


def arrays(items: int = 1_000_000, steps: int = 40) -> tuple[wb.Graph, dict[str, Any]]:
    """v = v * 0.5 + 1 on a large array."""
    b = GraphBuilder("arrays")
    v = b.placeholder("v", "float64", (items,))
    out = b.while_loop(lambda v, k: k < steps, lambda v, k: (v * 0.5 + 1.0, k + 1), {"v": v, "k": b.constant(0)})
    return b.build(out), {"v": np.linspace(0.0, 1.0, items)}


def wide(nodes: int = 20_000) -> tuple[wb.Graph, dict[str, Any]]:
    """A chain of many nodes."""
    b = GraphBuilder("wide")
    x = b.placeholder("x")
    value = x
    for _ in range(nodes // 2):
        value = value * 1.0001 + x
    return b.build({"y": value}), {"x": 1.0}


def seconds(graph: wb.Graph, feeds: dict[str, Any], *points: dict[str, Any], trace: str = "carried") -> float:
    """Time of one run to the end."""
    with wb.Session(graph, feeds, trace=trace) as session:
        for point in points:
            session.breakpoints.add(**point)
        began = time.perf_counter()
        stop = session.run()
        took = time.perf_counter() - began
        assert stop.reason is wb.StopReason.FINISHED, stop
        return took


def ratio(
    make: Callable[[], tuple[wb.Graph, dict[str, Any]]],
    *points: dict[str, Any],
    repeats: int = 5,
    trace: str = "carried",
) -> tuple[float, float, float]:
    """(best with, best without, ratio), measured in turn."""
    graph, feeds = make()
    both = [(seconds(graph, feeds, *points, trace=trace), seconds(graph, feeds, trace=trace)) for _ in range(repeats)]
    armed, plain = min(a for a, _ in both), min(p for _, p in both)
    return armed, plain, armed / plain


SCALARS: list[tuple[str, list[dict[str, Any]]]] = [
    ("value > 1e6", [{"where": "x", "when": "value > 1e6"}]),
    ("abs(delta) > 9 and iteration > 3", [{"where": "x", "when": "abs(delta) > 9 and iteration > 3"}]),
    ("health nan, inf", [{"where": "x", "health": ("nan", "inf")}]),
    ("watch and hits 1e9", [{"where": "x", "watch": "change", "hits": 10**9}]),
    ("hits 1e9", [{"where": "x", "hits": 10**9}]),
    ("every 1e9, value > 0", [{"where": "x", "when": "value > 0", "every": 10**9}]),
    ("iteration 5e8", [{"where": "x", "iteration": 5 * 10**8}]),
    ("health nan of all nodes", [{"where": "*", "health": "nan"}]),
]
LARGE: list[tuple[str, list[dict[str, Any]]]] = [
    ("health nan, inf", [{"where": "v", "health": ("nan", "inf")}]),
    ("health nan of all nodes", [{"where": "*", "health": "nan"}]),
    ("value > 1e6", [{"where": "v", "when": "value > 1e6"}]),
    ("unchanged", [{"where": "v", "health": "unchanged"}]),
]


def adding() -> tuple[float, float]:
    """(seconds to set "*" with health nan on 20,000 nodes and arm it, seconds of the first run with it)."""
    graph, feeds = wide()
    with wb.Session(graph, feeds) as session:
        began = time.perf_counter()
        session.breakpoints.add("*", health="nan")
        session.step()
        added = time.perf_counter() - began
        began = time.perf_counter()
        session.run()
        return added, time.perf_counter() - began


def main() -> None:
    for title, make, cases in (("Newton, 1e6 iterations", newton, SCALARS), ("1e6 items, 40 times", arrays, LARGE)):
        print(title)
        for name, points in cases:
            armed, plain, found = ratio(make, *points)
            print(f"  {name:36} {armed * 1e3:9.1f} ms   {plain * 1e3:9.1f} ms   {found:5.2f} x")
    added, ran = adding()
    print(f'add("*", health="nan") on 20,000 nodes: {added:.2f} s; a run with it: {ran:.3f} s')


if __name__ == "__main__":
    main()
