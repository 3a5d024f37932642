"""Small programs as people write them, each with one mistake that makes its loop endless."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import workbench as wb
from tests.evaluation.known_causes.cases import Caused


@wb.graph
def bisection(low: float, high: float, tol: float) -> float:
    while high - low > tol:
        middle = (low + high) / 2.0
        if middle * middle > 2.0:
            high = middle
        else:
            low = middle
    return low


@wb.graph
def harmonic(goal: np.float16) -> np.float16:
    total = np.float16(0.0)
    k = np.float16(1.0)
    while total < goal:
        total = total + np.float16(1.0) / k
        k = k + np.float16(1.0)
    return total


@wb.graph
def geometric(goal: float) -> float:
    total = 0.0
    term = 1.0
    while total < goal:
        total = total + term
        term = term * 0.5
    return total


@wb.graph
def countdown(n: int) -> int:
    turns = 0
    while n != 0:
        n = n - 3
        turns = turns + 1
    return turns


@wb.graph
def momentum(x: float, rate: float, tol: float) -> float:
    v = 0.0
    while abs(x - 1.0) > tol:
        v = 0.0 * v - rate * (2.0 * (x - 1.0))
        x = x + v
    return x


@wb.graph
def fixed_point(x: np.float32) -> np.float32:
    change = np.float32(1.0)
    while change > np.float32(1e-12):
        new = np.cos(x) * np.float32(0.99)
        change = abs(new - x) + np.float32(1e-9)
        x = new
    return x


@wb.graph
def collatz(n: int) -> int:
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
    return n


@wb.graph
def queue(front: int, back: int) -> int:
    served = 0
    while front < back:
        served = (served + 1) % 100
        if served < 0:
            front = front + 1
    return served


@wb.graph
def reversed_test(x: float, tol: float) -> float:
    while tol < abs(x):
        x = 0.9 * x + 0.01
    return x


@wb.graph
def doubled(x: float, n: int) -> float:
    i = 1
    while i < n:
        x = (x + 1.0) / 2.0
        i = i * 1
    return x


@wb.graph
def ratio(a: float, b: float) -> float:
    while not np.divide(a, b) < 0.5:
        a = a - 1.0
        b = b - 1.0
        if b < 0.0:
            b = 0.0
        if a < 0.0:
            a = 0.0
    return a


@wb.graph
def logistic(x: float) -> float:
    while x < 0.95:
        x = 3.5 * x * (1.0 - x)
    return x


@wb.graph
def growth(x: float) -> float:
    while x > 0.5:
        x = x * 1.25
    return x


@wb.graph
def backwards(i: int, n: int) -> int:
    while i < n:
        i = i - 2
    return i


@wb.graph
def searching(values: Any, wanted: float) -> int:
    i = 0
    while True:
        if values[i % 4] == wanted:
            return i
        i = (i + 1) % 4
    return -1


@wb.graph
def two_clauses(x: float, tol: float) -> float:
    k = 0
    while k < 50 or abs(x) > tol:
        x = 0.5 * x + 1e-5
        k = min(k + 1, 60)
    return x


@wb.graph
def ended_by_break(x: float, tol: float) -> float:
    k = 0
    while k >= 0:
        x = 0.5 * x
        if abs(x - 1.0) < tol:
            break
        k = (k + 1) % 10
    return x


@wb.graph
def jacobi(x: Any, rhs: Any, tol: float) -> Any:
    error = 1.0
    while error > tol:
        new = rhs - 0.3 * x[::-1]
        error = np.max(np.abs(new - x)) + 1e-6
        x = new
    return x


def programs(rng: np.random.Generator) -> Iterator[Caused]:
    def made(
        function: Any,
        feeds: dict[str, Any],
        root: tuple[str, ...],
        words: tuple[str, ...],
        slug: str,
        fix: str,
        at: int | None = None,
    ) -> Caused:
        graph = function.graph_for(**feeds)
        return Caused(f"program {graph.name}", graph, root, words, slug, fix, at, feeds)

    yield made(
        bisection,
        {"low": 1.0, "high": 2.0, "tol": 1e-20},
        ("low", "high"),
        ("high", "low", "tol"),
        "floor",
        "tolerance",
    )
    yield made(harmonic, {"goal": np.float16(8)}, ("total",), ("total", "goal"), "absorbed", "dtype")
    yield made(geometric, {"goal": 2.5}, ("total",), ("total", "goal"), "limit-beyond", "tolerance")
    yield made(countdown, {"n": 100}, ("n",), ("n", "!="), "steps-over", "comparison", 34)
    yield made(momentum, {"x": 4.0, "rate": 1.0, "tol": 1e-6}, ("x",), ("x", "tol"), "step-too-large", "step")
    yield made(fixed_point, {"x": np.float32(0.5)}, ("change",), ("change",), "floor", "tolerance")
    yield made(collatz, {"n": -5}, ("n",), ("n", "!="), "cycle", "cap")
    yield made(queue, {"front": 0, "back": 7}, ("front",), ("front", "back"), "guard", "cap", 0)
    yield made(reversed_test, {"x": 8.0, "tol": 0.05}, ("x",), ("x", "tol"), "limit-beyond", "tolerance")
    yield made(doubled, {"x": 8.0, "n": 5}, ("i",), ("i", "n"), "no-effect", "cap", 0)
    yield made(ratio, {"a": 9.0, "b": 6.0}, ("a", "b"), ("a", "b"), "nan", "stop-at-nan")
    yield made(logistic, {"x": 0.3}, ("x",), ("x",), "cycle", "cap")
    yield made(growth, {"x": 1.0}, ("x",), ("x",), "overflow", "stop-at-nan")
    yield made(backwards, {"i": 3, "n": 9}, ("i",), ("i", "n"), "moves-away", "sign", 0)
    yield made(
        searching,
        {"values": np.array([1.0, 2.0, 3.0, 4.0]), "wanted": 9.0},
        ("i",),
        ("wanted",),
        "flag-never-set",
        "cap",
    )
    yield made(two_clauses, {"x": 5.0, "tol": 1e-6}, ("x",), ("x", "tol"), "limit-beyond", "tolerance")
    yield made(ended_by_break, {"x": 5.0, "tol": 1e-3}, ("x",), ("x", "tol"), "flag-never-set", "tolerance")
    yield made(
        jacobi,
        {"x": np.ones(4), "rhs": np.arange(4.0), "tol": 1e-9},
        ("error",),
        ("error", "tol"),
        "limit-beyond",
        "tolerance",
    )


FAMILIES = (programs,)
