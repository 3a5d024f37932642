"""New loops for the white box: loans, capacitors, Newton's cycle, backoff, decaying rates, patience, ring buffers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.evaluation.families.base import GRAPH, Rng, log_uniform
from tests.evaluation.families.loop_cases import in_graph, loop_family
from tests.evaluation.scoring.cases import GraphLoop

f32, f64, i64 = np.float32, np.float64, np.int64
RESTS = "limit|floor|fixed|change|recur|tends|converg|rest|cycle|period|absorb"


@loop_family(GRAPH, new=1)
def graph_loan(rng: Rng) -> GraphLoop:
    """Paid off, or the payment is below the interest and the debt grows for ever."""
    rate, start = float(rng.uniform(0.002, 0.012)), float(rng.uniform(2e4, 9e4))
    pays = rng.random() < 0.6
    payment = start * rate * float(rng.uniform(1.1, 3) if pays else rng.uniform(0.3, 0.95))
    body = lambda b: {"b": b * (1 + rate) - payment}  # noqa: E731
    return in_graph(
        rng, {"b": f64(start)}, lambda b: b > 0.0, body, "b", "diverg|grow|away|increas|inf", n="run" if pays else None
    )


@loop_family(GRAPH, new=1)
def graph_capacitor(rng: Rng) -> GraphLoop:
    rate, share = log_uniform(rng, 0.005, 0.2), float(rng.choice([0.9, 0.99, 0.999]))
    dtype: Any = (f32, f64)[rng.integers(2)]
    body = lambda v: {"v": v + rate * (12.0 - v)}  # noqa: E731
    return in_graph(rng, {"v": dtype(0)}, lambda v: v < share * 12.0, body, "v", RESTS)


@loop_family(GRAPH, new=1)
def graph_newton_cycle(rng: Rng) -> GraphLoop:
    """x^3 - 2 x + 2 from near 0: the cycle of 0 and 1."""
    tol = log_uniform(rng, 1e-9, 1e-3)
    cond = lambda x: abs(x * x * x - 2.0 * x + 2.0) > tol  # noqa: E731
    body = lambda x: {"x": x - (x * x * x - 2.0 * x + 2.0) / (3.0 * x * x - 2.0)}  # noqa: E731
    return in_graph(rng, {"x": f64(rng.uniform(-0.08, 0.08))}, cond, body, "x", RESTS, n=None)


@loop_family(GRAPH, new=1)
def graph_backoff(rng: Rng) -> GraphLoop:
    """A waiting time that doubles up to a cap which the condition allows."""
    cap = int(rng.integers(20, 2000))
    body = lambda d: {"d": np.minimum(d * 2, i64(cap))}  # noqa: E731
    return in_graph(rng, {"d": i64(1)}, lambda d: d <= cap, body, "d", RESTS, n=None)


@loop_family(GRAPH, new=1)
def graph_rate_decays(rng: Rng) -> GraphLoop:
    """Gradient descent with a learning rate that shrinks geometrically: it rests short of the goal, or ends."""
    rate, decay, goal = float(rng.uniform(0.1, 0.4)), float(rng.uniform(0.6, 0.9)), log_uniform(rng, 1e-3, 4.0)
    body = lambda x, r: {"x": x - r * x, "r": r * decay}  # noqa: E731
    return in_graph(rng, {"x": f64(5), "r": f64(rate)}, lambda x, r: x > goal, body, "x r", RESTS)


@loop_family(GRAPH, new=1)
def graph_patience(rng: Rng) -> GraphLoop:
    """Steps since the best value of a damped wave against a patience."""
    rate, patience = float(rng.uniform(0.9, 0.99)), int(rng.integers(5, 40))

    def body(x: Any, v: Any, best: Any, since: Any) -> dict[str, Any]:
        better = x < best
        return {
            "v": rate * v - 0.1 * x,
            "x": x + rate * v - 0.1 * x,
            "best": np.minimum(x, best),
            "since": np.where(better, i64(0), since + 1),
        }

    start = {"x": f64(1), "v": f64(0), "best": f64(9), "since": i64(0)}
    return in_graph(rng, start, lambda x, v, best, since: since < patience, body, "since", RESTS)


@loop_family(GRAPH, new=1)
def graph_ring_buffer(rng: Rng) -> GraphLoop:
    size, stride = int(rng.integers(3, 20)), int(rng.integers(1, 9))
    goal = int(rng.integers(1, size + 4))
    body = lambda i: {"i": (i + stride) % size}  # noqa: E731
    return in_graph(rng, {"i": i64(0)}, lambda i: i != goal, body, "i", RESTS + "|congru|never equal")


@loop_family(GRAPH, new=1)
def graph_bounces(rng: Rng) -> GraphLoop:
    """Times of bounces: before the end of them or after it."""
    e, goal = float(rng.uniform(0.5, 0.9)), float(rng.uniform(0.5, 1.6))
    body = lambda t, h: {"t": t + h, "h": e * h}  # noqa: E731
    start = {"t": f64(0), "h": f64(1)}
    return in_graph(rng, start, lambda t, h: t < goal / (1 - e), body, "t h", RESTS)
