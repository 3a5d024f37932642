"""Loops of more structure: compound conditions, flags, nests, arrays, Python functions; and some that end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import workbench as wb
from tests.evaluation.known_causes.cases import Caused, loop, settles


def _halved(floor: float) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda s: {"err": np.maximum(s["err"] * 0.5, floor)}


def compounds(rng: np.random.Generator) -> Iterator[Caused]:
    for floor in (1e-7, 3e-6, 2e-5):
        at = settles({"err": np.float64(1)}, _halved(floor), "err")
        tol = floor / 10

        def body(b: Any, i: Any, err: Any, floor: float = floor) -> dict[str, Any]:
            return {"i": b.minimum(i + 1, 50), "err": b.maximum(err * 0.5, floor)}

        start = {"i": np.int64(0), "err": np.float64(1)}
        conds: list[Callable[..., Any]] = [
            lambda b, i, err, tol=tol: b.logical_or(i < 20, err > tol),
            lambda b, i, err, tol=tol: b.logical_or(err > tol, i < 20),
            lambda b, i, err, tol=tol: b.logical_not(err <= tol),
            lambda b, i, err, tol=tol: b.logical_not(b.logical_and(i >= 20, err <= tol)),
            lambda b, i, err, tol=tol: b.logical_and(b.logical_or(i < 3, err > tol), i >= 0),
            lambda b, i, err, tol=tol: b.logical_and(i > -1, err > tol),
        ]
        for cond in conds:
            yield Caused("compound", loop(cond, body, start), ("err",), ("err",), "saturated", "tolerance", at)
    for limit in (10, 30):
        graph = loop(
            lambda b, go, i, j, limit=limit: b.logical_and(go, j < limit),
            lambda b, go, i, j: {"go": go, "i": i + 1, "j": j},
            {"go": np.bool_(True), "i": np.int64(0), "j": np.int64(2)},
        )
        yield Caused("compound", graph, ("j",), ("j",), "not-updated", "cap", 0)
        graph = loop(
            lambda b, i, j, limit=limit: b.logical_or(i < limit, j < limit),
            lambda b, i, j: {"i": i + 1 - i // 1000, "j": j},
            {"i": np.int64(0), "j": np.int64(2)},
        )
        yield Caused("compound", graph, ("j",), ("j",), "not-updated", "cap", 0)


def flags(rng: np.random.Generator) -> Iterator[Caused]:
    for goal in (-1.0, -5.0, 3.0):
        graph = loop(
            lambda b, done, x: b.logical_not(done),
            lambda b, done, x, goal=goal: {"done": x < goal if goal < 0 else x > goal, "x": x * 0.5},
            {"done": np.bool_(False), "x": np.float64(1)},
        )
        yield Caused("flag", graph, ("done", "x"), (), "flag-never-set", "tolerance")
    graph = loop(
        lambda b, done, i: b.logical_not(done),
        lambda b, done, i: {"done": done, "i": i + 1},
        {"done": np.bool_(False), "i": np.int64(0)},
    )
    yield Caused("flag", graph, ("done",), ("done",), "not-updated", "cap", 0)


@wb.graph
def python_break(x: float, tol: float) -> float:
    while True:
        x = 0.5 * x + 1.0
        if abs(x - 1.0) < tol:
            break
    return x


@wb.graph
def python_flag(x: float, goal: float) -> float:
    found = False
    while not found:
        x = x * 0.5
        if x < goal:
            found = True
    return x


@wb.graph
def python_newton(a: np.float32, tol: np.float32) -> np.float32:
    x = a
    steps = 0
    while steps >= 0 and abs(x * x - a) > tol:
        x = (x + a / x) / np.float32(2.0)
        steps = (steps + 1) % 64
    return x


@wb.graph
def python_forgotten(n: int) -> int:
    i = 0
    total = 0
    while i < n:
        total = (total + i) % 7
    return total


@wb.graph
def python_descent(x: float, lr: float, tol: float) -> float:
    gradient = 1.0
    while abs(gradient) > tol:
        gradient = 4.0 * (x - 1.0)
        x = x - lr * gradient
    return x


@wb.graph
def python_bisection(low: int, high: int) -> int:
    while low < high:
        middle = (low + high) // 2
        if middle * middle <= 50:
            low = middle
        else:
            high = middle
    return low


@wb.graph
def python_either(a: float, b: float, tol: float) -> float:
    while a > tol or b > tol:
        a = a * 0.5
        b = max(b * 0.5, 0.01)
    return a + b


@wb.graph
def python_steps(goal: float) -> float:
    x = 0.0
    while x != goal:
        x = x + 0.1
    return x


def python_functions(rng: np.random.Generator) -> Iterator[Caused]:
    def made(function: Any, feeds: dict[str, Any], *rest: Any, **more: Any) -> Caused:
        graph = function.graph_for(**feeds)
        return Caused("python", graph, *rest, feeds=feeds, **more)

    yield made(python_break, {"x": 100.0, "tol": 1e-3}, ("x",), ("x", "tol"), "flag-never-set", "tolerance")
    yield made(python_flag, {"x": 1.0, "goal": -1.0}, ("found", "x"), ("x", "goal"), "flag-never-set", "tolerance")
    for a in (2.0, 5.0, 7.0):
        x, rounds = np.float32(a), 0
        while rounds < 50:
            x, rounds = (x + np.float32(a) / x) / np.float32(2), rounds + 1
        if abs(x * x - np.float32(a)) > 0:
            feeds = {"a": np.float32(a), "tol": np.float32(1e-9)}
            yield made(python_newton, feeds, ("x",), ("x", "tol"), "floor", "tolerance")
    yield made(python_forgotten, {"n": 10}, ("i",), ("i", "n"), "not-updated", "cap")
    feeds = {"x": 3.0, "lr": 0.5, "tol": 1e-6}
    yield made(python_descent, feeds, ("gradient", "x"), ("gradient", "tol"), "step-too-large", "step")
    yield made(python_bisection, {"low": 0, "high": 100}, ("low",), ("low", "high"), "truncated", "cap")
    yield made(python_either, {"a": 1.0, "b": 1.0, "tol": 1e-3}, ("b",), ("b", "tol"), "saturated", "tolerance")
    yield made(python_steps, {"goal": 1.0}, ("x",), ("x", "goal"), "steps-over", "comparison", first_bad=11)


def arrays(rng: np.random.Generator) -> Iterator[Caused]:
    for dtype in (np.float32, np.float64):
        start = rng.uniform(1, 2, 4).astype(dtype)
        floor = np.array([0, 0, 1e-3, 0], dtype)
        graph = loop(
            lambda b, x, tol=dtype(1e-4): b.any(b.abs(x) > tol),  # noqa: B008
            lambda b, x, floor=floor: {"x": b.maximum(x * 0.5, floor)},
            {"x": start},
        )
        yield Caused("arrays", graph, ("x",), ("x",), "saturated", "tolerance")
        graph = loop(lambda b, x: b.sum(x * x) > 1e-2, lambda b, x: {"x": -x}, {"x": start})
        yield Caused("arrays", graph, ("x",), ("x",), "cycle", "cap", 0)
        graph = loop(
            lambda b, x, y: b.sqrt(b.sum(x * x)) > 1e-3,
            lambda b, x, y: {"x": x, "y": y * 0.5},
            {"x": start, "y": start},
        )
        yield Caused("arrays", graph, ("x",), ("x",), "not-updated", "cap", 0)


def nests(rng: np.random.Generator) -> Iterator[Caused]:
    for start in (0.0, 2.0):
        b = wb.GraphBuilder("nest")

        def inner(i: Any, b: Any = b, start: float = start) -> Any:
            return b.while_loop(lambda j: j >= 0.0, lambda j: b.maximum(j * 0.5, start), np.float64(8.0), name="inner")

        out = b.while_loop(lambda i: i < 3.0, lambda i: i + inner(i) + 1.0, np.float64(0), name="outer")
        graph = b.build(out)
        fix = "tolerance" if start else "comparison"
        yield Caused("nest outer", graph, ("inner/j", "j"), ("j",), "inner-hangs", fix, 0, frame="outer")
        slug = "saturated" if start else "limit-beyond"
        yield Caused("nest inner", graph, ("inner/j", "j"), ("j", ">="), slug, fix, frame="inner")


def ending(rng: np.random.Generator) -> Iterator[Caused]:
    for n in (3, 40, 700):
        graph = loop(lambda b, i, n=n: i < n, lambda b, i: {"i": i + 1}, {"i": np.int64(0)})
        yield Caused("ends", graph, ("i",), ("i", "<"), "lookahead", ends=n)
        graph = loop(
            lambda b, i, x, n=n: b.logical_and(i < 10 * n, x > 1.0),
            lambda b, i, x: {"i": i + 1, "x": x - 1.0},
            {"i": np.int64(0), "x": np.float64(n + 1)},
        )
        yield Caused("ends", graph, ("x",), ("x", ">"), "lookahead", ends=n)
        graph = loop(
            lambda b, i, x, n=n: b.logical_or(i < n, x > 1.0),
            lambda b, i, x: {"i": i + 1, "x": x * 0.1},
            {"i": np.int64(0), "x": np.float64(50)},
        )
        yield Caused("ends", graph, ("i",), ("i", "<"), "lookahead", ends=n)


FAMILIES = (compounds, flags, python_functions, arrays, nests, ending)
