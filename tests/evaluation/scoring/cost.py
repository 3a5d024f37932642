"""Cost of the analysis: an iteration, a variable, a query. Times depend on the machine; the rest does not."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from tests.evaluation.scoring.cases import Case
from workbench.analysis import classify
from workbench.kernels.streaming import ScalarState, VectorState


def per_iteration(count: int = 2_000_000, repeats: int = 5) -> float:
    """Nanoseconds an iteration of a scalar that is fed in bulk; the best of some repeats."""
    values = np.random.default_rng(0).normal(size=count)
    best = np.inf
    for _ in range(repeats):
        state = ScalarState()
        begin = time.perf_counter()
        state.update(values)
        best = min(best, time.perf_counter() - begin)
    return float(best / count * 1e9)


def per_element(size: int = 1_000_000, repeats: int = 6) -> tuple[float, float]:
    """Nanoseconds an element of a tensor update, and of copying the same tensor (what memory allows)."""
    a, b = np.random.default_rng(0).normal(size=(2, size))
    state, out = VectorState(), np.empty_like(a)
    state.update(a)
    update = copy = np.inf
    for i in range(repeats):
        begin = time.perf_counter()
        state.update(a if i % 2 else b)
        middle = time.perf_counter()
        np.copyto(out, a if i % 2 else b)
        copy, update = min(copy, time.perf_counter() - middle), min(update, middle - begin)
    return float(update / size * 1e9), float(copy / size * 1e9)


def state_bytes() -> int:
    """Bytes of one variable's state after a million iterations."""
    state = ScalarState()
    state.update(np.arange(1_000_000.0))
    return int(state.nbytes)


def queries(cases: Sequence[Case]) -> tuple[float, float]:
    """Median and 95 % quantile, in microseconds, of classifying each history."""
    spent = []
    for case in cases:
        classify(case.values)
        begin = time.perf_counter()
        classify(case.values)
        spent.append(time.perf_counter() - begin)
    return float(np.median(spent) * 1e6), float(np.quantile(spent, 0.95) * 1e6)
