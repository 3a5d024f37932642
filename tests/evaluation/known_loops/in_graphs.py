"""Loops in graphs with known truth, for the white box: they end, never end, wrap, draw random numbers, are nested."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import workbench as wb
from tests.evaluation.scoring.cases import GraphLoop

UNCHANGED = r"never changes|not change|not updated|invariant"
RECURS = r"recur|cycle|period|repeats"
IN_RANGE = RECURS + "|stays between"
LIMIT = r"limit|floor|not change|never changes|recur|tends|converg"


def _built(start: dict[str, Any], cond: Callable[..., Any], body: Callable[..., Any], trips: int | None = None) -> Any:
    def build() -> tuple[Any, dict[str, Any]]:
        b = wb.GraphBuilder("development")
        init = {name: b.constant(np.asarray(v)) for name, v in start.items()}
        return b.build(b.while_loop(lambda **v: cond(**v), lambda **v: body(**v), init, max_trips=trips)), {}

    return build


def _count(start: dict[str, Any], cond: Callable[..., Any], body: Callable[..., Any]) -> int:
    n, state = 0, dict(start)
    with np.errstate(all="ignore"):
        while cond(**state):
            state = {k: np.asarray(v, np.asarray(start[k]).dtype)[()] for k, v in body(**state).items()}
            n += 1
    return n


def _ends(family: str, start: Any, cond: Any, body: Any, n: int | None = None, trips: int | None = None) -> GraphLoop:
    n = _count(start, cond, body) if n is None else n
    return GraphLoop(family, _built(start, cond, body, trips), n if trips is None else min(n, trips))


def _never(family: str, start: Any, cond: Any, body: Any, roots: str, reason: str) -> GraphLoop:
    return GraphLoop(family, _built(start, cond, body), None, tuple(roots.split()), reason)


def ending() -> Iterator[GraphLoop]:
    for n in (1, 17, 400, 20_000):
        yield _ends("up", {"i": np.int64(0)}, lambda i, n=n: i < n, lambda i: {"i": i + 1})
        yield _ends("down", {"i": np.int32(5 * n)}, lambda i: i > 0, lambda i: {"i": i - 5})
        yield _ends("decay", {"x": np.float64(n)}, lambda x: x > 1e-5, lambda x: {"x": x * 0.9})
        yield _ends("decay32", {"x": np.float32(n)}, lambda x: x > 1e-3, lambda x: {"x": x * 0.97})
        yield _ends("capped", {"x": np.float64(1)}, lambda x: x < 3.0, lambda x: {"x": x}, 10**9, n)
        yield _ends(
            "sum",
            {"k": np.float64(1), "s": np.float64(0)},
            lambda k, s, n=n: s < 2.0 + n / 20000,
            lambda k, s: {"k": k + 1.0, "s": s + 1.0 / k},
        )
    for dtype, step in ((np.int8, 5), (np.uint8, 9), (np.int16, 13), (np.uint16, 21)):
        yield _ends("wraps_to", {"i": dtype(1)}, lambda i: i != 0, lambda i, s=step: {"i": i + s})
    n = (9 * pow(5, -1, 2**32)) % 2**32
    yield _ends("wraps_to_far", {"i": np.int32(0)}, lambda i: i != 9, lambda i: {"i": i + 5}, n)
    for top, step in ((10**11, 3), (10**14, 10), (2**60, 4096)):
        n = -(-top // step)
        yield _ends("far", {"i": np.int64(0)}, lambda i, t=top: i < t, lambda i, s=step: {"i": i + s}, n)
    yield _ends("far_runs_away", {"i": np.int32(-1)}, lambda i: i < 50, lambda i: {"i": i - 3}, (2**31 - 1) // 3 + 1)


def never() -> Iterator[GraphLoop]:
    f, i64 = np.float64, np.int64
    for top in (3, 50):
        yield _never(
            "still",
            {"i": i64(0), "j": i64(0)},
            lambda i, j, t=top: i < t,
            lambda i, j: {"i": i, "j": j + 1},
            "i",
            UNCHANGED,
        )
        yield _never("ring", {"i": i64(0)}, lambda i, t=top: i <= t, lambda i, t=top: {"i": (i + 1) % t}, "i", IN_RANGE)
        yield _never("mean", {"x": f(0)}, lambda x, t=top: x < t, lambda x, t=top: {"x": 0.5 * (x + t - 1)}, "x", LIMIT)
        yield _never(
            "parity",
            {"i": i64(1)},
            lambda i, t=top: i != 2 * t,
            lambda i: {"i": i + 2},
            "i",
            r"steps over|never equal|parity|congruen|jumps|skips|multiple",
        )
        yield _never("negated", {"x": f(top)}, lambda x: x != 0.0, lambda x: {"x": -x}, "x", RECURS)
    yield _never(
        "absorbs", {"x": np.float32(2**24 - 9)}, lambda x: x < 3e7, lambda x: {"x": x + 1.0}, "x", r"changes nothing"
    )
    yield _never(
        "absorbs_far", {"x": np.float32(0)}, lambda x: x < 3e7, lambda x: {"x": x + 1.0}, "x", r"changes nothing"
    )
    yield _never(
        "whole_range",
        {"i": np.int8(0)},
        lambda i: i >= -128,
        lambda i: {"i": i + 1},
        "i",
        r"every|range|always|wrap|recur",
    )
    yield _never("away", {"x": f(0)}, lambda x: x < 1.0, lambda x: {"x": x - 0.5}, "x", r"away|never|absorb|not change")
    yield _never(
        "residual",
        {"x": f(1)},
        lambda x: abs(x * x - 3.0) > 1e-30,
        lambda x: {"x": (x + 3.0 / x) * 0.5},
        "x",
        LIMIT + "|cycle|period",
    )
    yield _never("grows", {"x": f(2)}, lambda x: x > 1.0, lambda x: {"x": x * x}, "x", r"inf|overflow|not change|limit")


def drawing() -> Iterator[GraphLoop]:
    """The condition depends on draws: no proof."""
    for seed in (1, 2, 3):

        def build(seed: int = seed) -> tuple[Any, dict[str, Any]]:
            b = wb.GraphBuilder("drawing")

            def body(x: Any) -> Any:
                return b.random_uniform(b.constant(np.zeros(0, np.int64)), seed=seed, dtype="float64")

            return b.build(b.while_loop(lambda x: x < 0.99, body, {"x": b.constant(0.0)})), {}

        yield GraphLoop("draws", build, None, impure=True)


def nested() -> Iterator[GraphLoop]:
    for outer, inner in ((3, 2), (12, 9)):

        def build(outer: int = outer, inner: int = inner) -> tuple[Any, dict[str, Any]]:
            b = wb.GraphBuilder("nested")

            def body(s: Any) -> Any:
                return b.while_loop(lambda t: t % inner != 0, lambda t: t + 1, {"t": s + 1}, name="in")["t"]

            return b.build(b.while_loop(lambda s: s < outer * inner, body, {"s": b.constant(0)}, name="out")), {}

        yield GraphLoop("nested", build, outer, frame=("out",))


def graphs() -> Iterator[GraphLoop]:
    """All loops in graphs, always the same."""
    for generator in (ending, never, drawing, nested):
        yield from generator()
