"""Loops of known length, deterministic: for the black box what is compared over time; for the white box, graphs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.evaluation.known_loops import in_graphs
from tests.evaluation.scoring.cases import GraphLoop, Watched
from workbench.analysis.comparisons import OPS

#: families whose end does not follow from an exact law of the values seen
ASYMPTOTIC = ("two_modes", "residual", "wavy", "noisy", "sum_of_modes", "gradient")


def _loop(
    family: str, values: Any, op: str, threshold: Any, *, endless: bool = False, least: int = 20
) -> Watched | None:
    wrong = [i for i, v in enumerate(values) if not OPS[op](v, threshold)]
    clauses = [("x", values, op, threshold)]
    if endless:
        return None if wrong else Watched(family, clauses, None, exact=False)
    ends = wrong and wrong[0] >= least
    return Watched(family, clauses, wrong[0], exact=family not in ASYMPTOTIC) if ends else None


def _all() -> Iterator[Watched | None]:
    rng = np.random.default_rng(2024)
    for _ in range(30):
        n = int(rng.integers(40, 3000))
        k = np.arange(n + 50)
        step, rate = int(rng.integers(1, 9)), float(rng.uniform(0.8, 0.999))
        scale = 10.0 ** float(rng.integers(-6, 7))
        yield _loop("int", k * step - 7, "<", n * step)
        yield _loop("int32", (k[::-1] * step).astype(np.int32), ">", 40 * step)
        dtype = (np.float32, np.float64)[int(rng.integers(0, 2))]
        c = dtype(rng.choice([0.1, 0.25, 1e-3, 0.7]))
        yield _loop("float_counter", np.add.accumulate(np.full(n + 50, c)), "<", dtype(c * n))
        yield _loop("geometric", scale * rate ** np.arange(8000.0), ">", scale * 10.0 ** float(rng.uniform(-9, -1)))
        yield _loop(
            "to_limit",
            scale * (3 - 2 * rate ** np.arange(8000.0)),
            "<",
            scale * (3 - 10.0 ** float(rng.uniform(-6, -1))),
        )
        two = rate ** np.arange(8000.0) + 0.3 * (rate * 0.8) ** np.arange(8000.0)
        yield _loop("two_modes", two, ">", 10.0 ** float(rng.uniform(-8, -2)))
        yield _loop(
            "power", (1.0 + np.arange(20000.0)) ** -float(rng.uniform(0.7, 2)), ">", 10.0 ** float(rng.uniform(-4, -2))
        )
        yield _loop("growth", float(rng.uniform(1.01, 1.2)) ** np.arange(800.0), "<", 10.0 ** float(rng.uniform(2, 20)))
        w = float(rng.uniform(0.2, 1.5))
        # hardly decidable from 50 values: UNKNOWN is the honest answer to most of these
        k60 = np.arange(60.0)
        yield _loop("damped", rate**k60 * np.abs(np.cos(w * k60)) + 1e-3, ">", 1e-9, endless=True)
        yield _loop("limit_short", 1 + rate ** np.arange(60.0), ">", 0.9, endless=True)
        yield _loop("cycle", np.tile(rng.normal(size=int(rng.integers(2, 9))), 40)[:60], "<", 50.0, endless=True)
        yield _loop("away", -step * k[:60], "<", 10, endless=True)
        yield _loop("stuck", [5] * 60, "<", 10, endless=True)
        yield _loop("floor", 1e-7 + 0.3 ** np.arange(60.0), ">", 1e-8, endless=True)
        yield _loop("steps_over", k[:60] * 2, "!=", 2 * n + 1, endless=True)
        yield _loop("sine", np.sin(w * np.arange(60.0)), "<", 1.2, endless=True)


def _spread() -> Iterator[Watched | None]:
    """Residuals of solvers, mixtures, noise on the way, counters of small dtypes."""
    rng = np.random.default_rng(31415)
    k = np.arange(6000.0)
    for _ in range(18):
        rate, tol = float(rng.uniform(0.88, 0.992)), 10.0 ** float(rng.uniform(-7, -2))
        e = rng.normal(size=6000)
        yield _loop("sum_of_modes", sum((j + 1) * rate ** (k * (1 + j / 2)) for j in range(5)), ">", tol)
        yield _loop("wavy", rate**k * (1.5 + np.cos(float(rng.uniform(0.2, 2)) * k)), ">", tol)
        yield _loop("noisy", rate**k * (1 + 0.05 * e), ">", tol)
        n = 9
        line = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
        b, x, norms = rng.normal(size=n), np.zeros(n), []
        omega = float(rng.uniform(0.8, 1.8))
        for _ in range(800):
            norms.append(float(np.linalg.norm(b - line @ x)))
            for j in range(n):
                x[j] += omega * (b[j] - line[j] @ x) / 2
        yield _loop("residual", np.array(norms), ">", tol)
        x, step = rng.normal(size=n), float(rng.uniform(0.2, 0.45))
        norms = []
        for _ in range(3000):
            x = x - step * (line @ x)
            norms.append(float(np.linalg.norm(x)))
        yield _loop("gradient", np.array(norms), ">", tol)
        top = int(rng.integers(25, 110))
        for dtype in (np.int8, np.uint8, np.float16):
            yield _loop("small_dtype", np.arange(top + 12).astype(dtype), "<", dtype(top))
        many = int(rng.integers(100, 1500))
        whole = np.arange(many + 40)
        yield _loop("sum_of_squares", whole * (whole + 1) * (2 * whole + 1) // 6, "<", many * many)
        yield _loop("difference", 3.0 * many - whole * 0.5 - whole * 3.0, ">", 0.25)


def _compound() -> Iterator[Watched]:
    """A cap and a tolerance, joined."""
    rng = np.random.default_rng(27)
    k = np.arange(3000)
    for _ in range(15):
        rate, cap = float(rng.uniform(0.85, 0.99)), int(rng.integers(40, 900))
        tol = 10.0 ** float(rng.uniform(-6, -1))
        first = int(np.flatnonzero(rate**k <= tol)[0]) if rate ** k[-1] <= tol else None
        clauses = [("i", k, "<", cap), ("r", rate**k, ">", tol)]
        if first is not None and min(first, cap) >= 20:
            yield Watched("cap_and_tolerance", clauses, min(first, cap), "and")
            yield Watched("cap_or_tolerance", clauses, max(first, cap), "or")


def loops() -> list[Watched]:
    """All loops, always the same."""
    return [loop for part in (_all(), _spread(), _compound()) for loop in part if loop is not None]


def graphs() -> list[GraphLoop]:
    """Loops in graphs, always the same."""
    return list(in_graphs.graphs())
