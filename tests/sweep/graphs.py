"""Graphs for sweeps, each with the ranges of its parameters."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import workbench as wb


def newton() -> wb.Graph:
    b = wb.GraphBuilder("newton")
    a = b.placeholder("a")
    tol = b.placeholder("tol")
    x = b.while_loop(lambda x: abs(x * x - a) > tol, lambda x: (x + a / x) * 0.5, {"x": a})
    return b.build(x)


def collatz() -> wb.Graph:
    @wb.graph
    def collatz(n):
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
        return n

    return collatz.graph_for(np.int64(7))


def nested() -> wb.Graph:
    @wb.graph
    def nested(a, n):
        total = 0.0
        i = 0
        while i < n:
            x = a + i
            while x > 1.0:
                x = x / 2.0
            total = total + x
            i = i + 1
        return total

    return nested.graph_for(1.5, np.int64(3))


def descent() -> wb.Graph:
    """Gradient descent on x'Ax / 2, of arrays."""
    b = wb.GraphBuilder("descent")
    lr = b.placeholder("lr")
    start = b.placeholder("start", shape=(3,))
    scale = b.constant(np.array([1.0, 2.5, 4.0]))
    x = b.while_loop(lambda x: b.op("sum", x * x) > 1e-12, lambda x: x - lr * (scale * x), {"x": start})
    return b.build(x)


def raising() -> wb.Graph:
    """An integer division that fails once the divisor is zero, and an assertion of Python."""

    @wb.graph
    def raising(n, d):
        total = 0
        i = 0
        while i < n:
            assert total < 25, "too much"
            total = total + 12 // (d - i)
            i = i + 1
        return total

    return raising.graph_for(3, 9)


#: name -> (graph, a point drawn by a generator)
DRAWN: dict[str, tuple[Callable[[], wb.Graph], Callable[[np.random.Generator, int], dict[str, np.ndarray]]]] = {
    "newton": (newton, lambda r, n: {"a": r.uniform(-2, 50, n), "tol": 10.0 ** r.uniform(-17, -3, n)}),
    "collatz": (collatz, lambda r, n: {"n": r.integers(-5, 3000, n)}),
    "nested": (nested, lambda r, n: {"a": r.uniform(0, 40, n), "n": r.integers(0, 12, n)}),
    "descent": (descent, lambda r, n: {"lr": r.uniform(-0.1, 0.7, n), "start": r.normal(size=(n, 3))}),
    "raising": (raising, lambda r, n: {"n": r.integers(0, 9, n), "d": r.integers(-3, 9, n)}),
}
