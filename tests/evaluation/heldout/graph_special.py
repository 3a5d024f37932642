"""Nested and sequential loops, impure slices, traced Python functions with break, return and for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import workbench as wb
from tests.evaluation.scoring.cases import GraphLoop


def nested() -> Iterator[GraphLoop]:
    for outer, width in ((4, 3), (30, 5), (7, 40)):

        def build(outer: int = outer, width: int = width) -> Any:
            b = wb.GraphBuilder("nested")

            def body(i: Any, s: Any) -> Any:
                _, t = b.while_loop(
                    lambda j, t: j < width, lambda j, t: (j + 1, t + 2), (b.constant(0), s), name="inner"
                )
                return i + 1, t

            out = b.while_loop(lambda i, s: i < outer, body, (b.constant(0), b.constant(0)), name="outer")
            return b.build(list(out)), {}

        yield GraphLoop("outer_counts", build, outer, frame=("outer",))
        yield GraphLoop("outer_counts", build, outer, frame=("outer",), done=2)

        def by_inner(outer: int = outer, width: int = width) -> Any:
            b = wb.GraphBuilder("by_inner")

            def body(s: Any) -> Any:
                return b.while_loop(
                    lambda j, t: j < width, lambda j, t: (j + 1, t + 1), (b.constant(0), s), name="inner"
                )[1]

            return b.build(b.while_loop(lambda s: s < outer * width, body, {"s": b.constant(0)}, name="outer")), {}

        yield GraphLoop("outer_by_inner", by_inner, outer, frame=("outer",))

        def stuck(width: int = width) -> Any:
            b = wb.GraphBuilder("stuck")

            def body(s: Any, k: Any) -> Any:
                t = b.while_loop(
                    lambda j, t: j < width, lambda j, t: (j + 1, t + 1.0), (b.constant(0), k), name="inner"
                )[1]
                return s * 1, t

            out = b.while_loop(lambda s, k: s < 5, body, (b.constant(0), b.constant(0.0)), name="outer")
            return b.build(list(out)), {}

        yield GraphLoop("outer_stuck", stuck, None, ("s",), "never changes|not change|not updated", frame=("outer",))

        def resets(width: int = width) -> Any:
            b = wb.GraphBuilder("resets")

            def body(s: Any) -> Any:
                j, _ = b.while_loop(
                    lambda j, t: j < width, lambda j, t: (j + 1, t + s), (b.constant(0), s), name="inner"
                )
                return j

            return b.build(b.while_loop(lambda s: s < width + 1, body, {"s": b.constant(0)}, name="outer")), {}

        yield GraphLoop("outer_reset_by_inner", resets, None, ("s",), "recur|not change|never", frame=("outer",))

        def after(outer: int = outer, width: int = width) -> Any:
            b = wb.GraphBuilder("after")
            m = b.while_loop(lambda i: i < outer, lambda i: i + 1, {"i": b.constant(0)}, name="first")["i"]
            return b.build(
                b.while_loop(lambda k: k < m * width, lambda k: k + 1, {"k": b.constant(0)}, name="second")
            ), {}

        yield GraphLoop("first_of_two", after, outer, frame=("first",))
        yield GraphLoop("second_of_two", after, outer * width, frame=("second",))


def impure() -> Iterator[GraphLoop]:
    """The condition depends on draws: nothing may be proved; draws beside the condition's slice are harmless."""
    for seed in range(5):

        def drawn(seed: int = seed) -> Any:
            b = wb.GraphBuilder("drawn")

            def body(x: Any) -> Any:
                return x + b.random_uniform(b.constant(np.zeros(0, np.int64)), seed=seed + 1, dtype="float64")

            return b.build(b.while_loop(lambda x: x < 50.0, body, {"x": b.constant(0.0)})), {}

        def held(seed: int = seed) -> Any:
            b = wb.GraphBuilder("held")

            def body(x: Any) -> Any:
                return b.random_uniform(b.constant(np.zeros(0, np.int64)), seed=seed + 1, dtype="float64")

            return b.build(b.while_loop(lambda x: x < 2.0, body, {"x": b.constant(0.0)})), {}

        def beside(seed: int = seed) -> Any:
            b = wb.GraphBuilder("beside")

            def body(i: Any, x: Any) -> Any:
                return i + 1, x + b.random_uniform(b.constant(np.zeros(0, np.int64)), seed=seed + 1, dtype="float64")

            return b.build(list(b.while_loop(lambda i, x: i < 9 + seed, body, (b.constant(0), b.constant(0.0))))), {}

        yield GraphLoop("draw_in_slice", drawn, None, impure=True)
        yield GraphLoop("draw_bounded", held, None, impure=True)
        yield GraphLoop("draw_beside", beside, 9 + seed)


@wb.graph
def search(target, step):
    x = 0
    while True:
        x = x + step
        if x >= target:
            break
    return x


@wb.graph
def skip(n):
    i, total = 0, 0
    while i < n:
        i = i + 1
        if i % 2 == 0:
            continue
        total = total + i
    return total


@wb.graph
def root(a, tol):
    x = a
    while abs(x * x - a) > tol:
        x = 0.5 * (x + a / x)
    return x


@wb.graph
def missed(limit):
    i, s = 0, 0.0
    while i < limit:
        s = s + 1.0
    return s


@wb.graph
def descent(rate, tol):
    x = 4.0
    while abs(x) > tol:
        x = x - rate * x
    return x


def _steps(a: float, tol: float) -> int:
    x, n = a, 0
    while abs(x * x - a) > tol:
        x, n = 0.5 * (x + a / x), n + 1
    return n


def _overflows(rate: float, tol: float) -> int:
    x, n = 4.0, 0
    while abs(x) > tol:
        x, n = x - rate * x, n + 1
    return n


def _call(function: Any, **feeds: Any) -> Any:
    return lambda: (function.graph_for(**feeds), feeds)


def functions() -> Iterator[GraphLoop]:
    for n in (5, 77, 2000):
        yield GraphLoop("skip", _call(skip, n=n), n)
        yield GraphLoop("skip", _call(skip, n=n), n, done=3)
        yield GraphLoop(
            "missed", _call(missed, limit=n), None, ("i", "limit"), "never changes|not change|not updated|invariant"
        )
    for a, tol in ((2.0, 1e-9), (1234.5, 1e-6), (9.0, 1e-12)):
        yield GraphLoop("root", _call(root, a=a, tol=tol), _steps(a, tol))
    yield GraphLoop("descent", _call(descent, rate=2.0, tol=1e-3), None, ("x",), "recur|cycle|period")
    yield GraphLoop("descent", _call(descent, rate=0.5, tol=1e-3), 12)
    # the values overflow and inf - inf is NaN, which compares false: the loop ends
    yield GraphLoop("descent", _call(descent, rate=2.5, tol=1e-3), _overflows(2.5, 1e-3))


GENERATORS = (nested, impure, functions)
