"""Runs a second of a sweep of Newton with 30 iterations, beside a Python loop, joblib, jax.vmap and single sessions.

``make bench`` prints ratios; joblib and JAX are left out where they are not installed. Values fail the test, times do
not.
"""

from __future__ import annotations

import importlib.util
import types

import numpy as np
import pytest

import workbench as wb
from tests.benchmarks.timing import Timed, interleaved, ratios

pytestmark = pytest.mark.bench
POINTS, ITERATIONS, SLOW = 200_000, 30, 400


def python_newton(a: float) -> float:
    x, n = a, 0
    while n < ITERATIONS:
        x, n = (x + a / x) * 0.5, n + 1
    return x


def newton() -> wb.Graph:
    b = wb.GraphBuilder("newton")
    a = b.placeholder("a")
    loop = b.while_loop(lambda n, x: n < ITERATIONS, lambda n, x: (n + 1, (x + a / x) * 0.5), {"n": 0, "x": a})
    return b.build(loop["x"])


def each(points: np.ndarray, run: object) -> Timed:
    """Seconds for all points, from those of the first few."""
    seconds = interleaved({"few": lambda: [run(a) for a in points[:SLOW]]}, rounds=1)["few"]  # type: ignore[operator]
    return Timed(seconds * len(points) / SLOW)


@pytest.mark.timeout(600)
def test_sweeps(capsys: pytest.CaptureFixture[str]) -> None:
    graph, points = newton(), np.linspace(1.0, 100.0, POINTS)
    found = wb.sweep(graph, {"a": points})
    assert all(found["x"][k] == python_newton(points[k]) for k in range(0, POINTS, 997))

    def session(a: float) -> None:
        with wb.Session(graph, {"a": a}, trace="off") as one:
            one.run()

    jobs = {
        "a session each": lambda: each(points, session),
        "graph.run each": lambda: each(points, lambda a: graph.run(a=a)),
        "a Python loop": lambda: each(points, python_newton),
        "sweep, 1 thread": lambda: Timed(wb.sweep(graph, {"a": points}, threads=1).seconds),
        "sweep, 2 threads": lambda: Timed(wb.sweep(graph, {"a": points}, threads=2).seconds),
    }
    if importlib.util.find_spec("joblib"):
        import joblib

        # its processes do not find the tests: as a function of __main__ it travels by value
        alone = types.FunctionType(python_newton.__code__, {"ITERATIONS": ITERATIONS, "__name__": "__main__"})
        with joblib.Parallel(n_jobs=2) as pool:
            jobs["joblib, 2 processes"] = lambda: pool(joblib.delayed(alone)(a) for a in points)
    if importlib.util.find_spec("jax"):
        import jax

        jax.config.update("jax_enable_x64", True)
        whole = jax.jit(jax.vmap(lambda a: jax.lax.fori_loop(0, ITERATIONS, lambda _, x: (x + a / x) * 0.5, a)))
        np.testing.assert_allclose(whole(points), found["x"], rtol=1e-15)
        jobs["jax.vmap, jit"] = lambda: whole(points).block_until_ready()
    seconds = interleaved(jobs, rounds=3)
    two, one = seconds["sweep, 2 threads"], seconds["sweep, 1 thread"]
    with capsys.disabled():
        print("\n" + ratios(f"Newton, {ITERATIONS} iterations, {POINTS:,} points", seconds, "a Python loop"))
        print(f"  {POINTS / two:,.0f} runs a second on 2 threads, {one / two:.2f} times one thread")
