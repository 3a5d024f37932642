"""Loops for the white box with structure: nested, branching, drawing, flagged, limited; traced functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import workbench as wb
from tests.evaluation.families.base import GRAPH, Rng, log_uniform
from tests.evaluation.families.loop_cases import in_graph, loop_family
from tests.evaluation.scoring.cases import GraphLoop

f64, i64 = np.float64, np.int64
STILL = "never changes|not change|not updated|invariant"


@loop_family(GRAPH)
def graph_forgotten_update(rng: Rng) -> GraphLoop:
    top = int(rng.integers(2, 99))
    cond = (lambda i, s: i < top, lambda i, s: (s < 0) | (i < top))[rng.integers(2)]
    return in_graph(rng, {"i": i64(0), "s": f64(0)}, cond, lambda i, s: {"i": i, "s": s + 1.5}, "i", STILL, n=None)


@loop_family(GRAPH)
def graph_cycle_of_period(rng: Rng) -> GraphLoop:
    """A rotation through p places, with something else that grows beside it."""
    p = int(rng.integers(2, 40))
    body = lambda i, s: {"i": (i + 1) % p, "s": s + 0.5}  # noqa: E731
    return in_graph(rng, {"i": i64(0), "s": f64(0)}, lambda i, s: i < p, body, "i", "recur|cycle|period", n=None)


@loop_family(GRAPH)
def graph_away_from_it(rng: Rng) -> GraphLoop:
    """Every step leads away; floats have no end of their range to come back from."""
    step, low = float(rng.choice([0.5, 1.0, 3.0, 1e-3])), -float(rng.integers(1, 99))
    up = lambda x: {"x": x + step}  # noqa: E731
    reason = "away|wrong|grow|absorb|change|direction"
    return in_graph(rng, {"x": f64(1)}, lambda x: x > low, up, "x", reason, n=None)


@loop_family(GRAPH)
def graph_trip_limit(rng: Rng) -> GraphLoop:
    most = int(log_uniform(rng, 5, 3000))
    return in_graph(rng, {"x": f64(1)}, lambda x: x > 0.25, lambda x: {"x": 0.5 * x + 0.5}, n=None, max_trips=most)


@loop_family(GRAPH)
def graph_counter_and_residual(rng: Rng) -> GraphLoop:
    rate, tol, most = float(rng.uniform(0.5, 0.99)), log_uniform(rng, 1e-9, 1e-2), int(rng.integers(5, 400))
    pick = int(rng.integers(3))
    conds: tuple[Callable[..., Any], ...] = (
        lambda i, r: (i < most) & (r > tol),
        lambda i, r: (i < most) | (r > tol),
        lambda i, r: ~((i >= most) | (r <= tol)),
    )
    return in_graph(rng, {"i": i64(0), "r": f64(1)}, conds[pick], lambda i, r: {"i": i + 1, "r": r * rate})


@loop_family(GRAPH)
def graph_flag(rng: Rng) -> GraphLoop:
    """``while not done``; the flag is computed in the body, an iteration late, and may never be set."""
    rate, tol = float(rng.uniform(0.3, 0.95)), float(rng.choice([1e-3, 1e-9, 0.0]))
    floor = float(rng.choice([0.0, 0.0, 1.0]))

    def step(x: Any, done: Any) -> dict[str, Any]:
        return {"x": floor + rate * (x - floor), "done": x <= tol}

    start = {"x": f64(4), "done": np.bool_(False)}
    return in_graph(rng, start, lambda x, done: ~done, step, "done x", "flag|recur|change|limit|never")


@loop_family(GRAPH)
def graph_nan_at_last(rng: Rng) -> GraphLoop:
    """inf - inf in a few iterations: NaN ends ``<`` and keeps ``!=`` for ever."""
    rate, differs = float(rng.uniform(10, 1e6)), rng.random() < 0.5
    cond = (lambda x: x != 0.5) if differs else (lambda x: x < 1e300)
    return in_graph(rng, {"x": f64(3)}, cond, lambda x: {"x": (x * x - x) * rate}, "x", "nan|inf|overflow|recur|change")


@loop_family(GRAPH)
def graph_draw_decides(rng: Rng) -> GraphLoop:
    """A draw in the condition, bounded or not: nothing may be proved."""
    seed, level = int(rng.integers(1, 99)), float(rng.choice([0.9, 0.99, 2.0]))

    def build() -> Any:
        b = wb.GraphBuilder("draws")

        def body(x: Any) -> Any:
            return b.random_uniform(b.constant(np.zeros(0, np.int64)), seed=seed, dtype="float64")

        return b.build(b.while_loop(lambda x: x < level, body, {"x": b.constant(0.0)})), {}

    return GraphLoop("", build, None, impure=True)


@loop_family(GRAPH)
def graph_draw_beside(rng: Rng) -> GraphLoop:
    seed, n = int(rng.integers(1, 99)), int(rng.integers(3, 300))

    def build() -> Any:
        b = wb.GraphBuilder("beside")

        def body(i: Any, x: Any) -> Any:
            return i + 1, x + b.random_normal(b.constant(np.zeros(0, np.int64)), seed=seed, dtype="float64")

        return b.build(list(b.while_loop(lambda i, x: i < n, body, (b.constant(0), b.constant(0.0))))), {}

    return GraphLoop("", build, n, done=int(rng.integers(0, 3)))


@wb.graph
def first_multiple(start, step):
    x, n = start, 0
    while True:
        x = x + step
        n = n + 1
        if x % 7 == 0:
            break
        if n >= 50:
            break
    return x


@wb.graph
def triangle(rows):
    i, total = 0, 0
    while i < rows:
        j = 0
        while j < i:
            total = total + j
            j = j + 1
        i = i + 1
    return total


@loop_family(GRAPH)
def graph_break(rng: Rng) -> GraphLoop:
    """The number of iterations is that of the loop's body, in which the break is taken."""
    start, step = int(rng.integers(1, 99)), int(rng.choice([1, 2, 3, 7, 14]))
    n = next((k for k in range(1, 51) if (start + k * step) % 7 == 0), 50)
    feeds = {"start": start, "step": step}
    return GraphLoop("", lambda: (first_multiple.graph_for(**feeds), feeds), n)


@loop_family(GRAPH)
def graph_nested_rows(rng: Rng) -> GraphLoop:
    """The inner loop takes as many iterations as the outer one has done; the outer one is asked."""
    rows = int(rng.integers(2, 40))
    made = triangle.graph_for(rows=rows)
    outer = min((path for path in made.frames if len(path) == 1), key=len)
    return GraphLoop("", lambda: (triangle.graph_for(rows=rows), {"rows": rows}), rows, frame=outer)


def _nested(outer: Any, inner: Any, inner_body: Any, finish: Any, start: float) -> Callable[[], Any]:
    def build() -> Any:
        b = wb.GraphBuilder("nested")

        def body(s: Any) -> Any:
            t = b.while_loop(lambda j, t: inner(j, t), inner_body, (b.constant(0), s), name="inner")[1]
            return finish(s, t)

        return b.build(b.while_loop(outer, body, {"s": b.constant(start)}, name="outer")), {}

    return build


@loop_family(GRAPH)
def graph_nested_by_data(rng: Rng) -> GraphLoop:
    """The inner loop halves until it is small, the outer one goes on with what it leaves."""
    start, add = float(rng.uniform(50, 5000)), float(rng.uniform(0.1, 3))
    n, s = 0, start
    while s > 1.0 and n < 2000:
        t, j = s, 0
        while (t > 2.0) & (j < 3):
            t, j = t * 0.5, j + 1
        s, n = t - add * 0.25, n + 1
    build = _nested(
        lambda s: s > 1.0,
        lambda j, t: (t > 2.0) & (j < 3),
        lambda j, t: (j + 1, t * 0.5),
        lambda s, t: t - add * 0.25,
        start,
    )
    return GraphLoop("", build, n, frame=("outer",))


@loop_family(GRAPH)
def graph_nested_stuck(rng: Rng) -> GraphLoop:
    """The outer loop gets the same number back from the inner one each time."""
    width = int(rng.integers(2, 30))
    build = _nested(
        lambda s: s < width + 1.0, lambda j, t: j < width, lambda j, t: (j + 1, j * 1.0 + 1.0), lambda s, t: t, 0.0
    )
    return GraphLoop("", build, None, ("s",), "recur|change|rest|never", frame=("outer",))


@loop_family(GRAPH)
def graph_inner_hangs(rng: Rng) -> GraphLoop:
    """The outer loop would end, and its inner loop never does."""
    limit = float(rng.integers(3, 20))
    build = _nested(
        lambda s: s < limit, lambda j, t: t < 2.0, lambda j, t: (j + 1, t * 0.5 + 0.5), lambda s, t: s + t, 1.0
    )
    return GraphLoop("", build, None, frame=("outer",), reason="inner|never ends|inside")


@loop_family(GRAPH)
def graph_branches(rng: Rng) -> GraphLoop:
    """Two updates, chosen by the state."""
    a, b, goal = int(rng.integers(1, 9)), int(rng.integers(1, 9)), int(rng.integers(50, 900))
    body = lambda x, k: {"x": np.where(x % 3 == 0, x + a, np.where(k % 2 == 0, x - b, x + a + b)), "k": k + 1}  # noqa: E731
    return in_graph(rng, {"x": i64(1), "k": i64(0)}, lambda x, k: (x < goal) & (k < 2000), body)
