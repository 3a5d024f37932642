"""Loops for long runs, each with a value of any iteration that is known without running it."""

from __future__ import annotations

from typing import Any

import numpy as np

import workbench as wb


def counter(trips: int) -> wb.Graph:
    b = wb.GraphBuilder("counter")
    return b.build(b.while_loop(lambda i: i < trips, lambda i: (i + 1,), {"i": b.constant(0)}))


def newton(trips: int) -> wb.Graph:
    """Newton's method for the square root of a number that moves with the iteration, so that no value comes twice."""
    b = wb.GraphBuilder("newton")

    def body(x: Any, i: Any) -> Any:
        a = b.alias("a", i.astype("float64") * 1e-3 + 2.0)
        return b.alias("next", (x + a / x) * 0.5), i + 1

    return b.build(b.while_loop(lambda x, i: i < trips, body, {"x": b.constant(1.0), "i": b.constant(0)}))


def newton_values(start: float, first: int, count: int) -> list[float]:
    """x from iteration ``first`` on, from x there: the same operations by Python's own floats."""
    found = [start]
    for i in range(first, first + count):
        x = found[-1]
        found.append((x + (float(i) * 1e-3 + 2.0) / x) * 0.5)
    return found


def nest(outer: int, inner: int) -> wb.Graph:
    """A counter in a counter, and a sum that forgets: s = s / 2 + j."""
    b = wb.GraphBuilder("nest")

    def body(i: Any, s: Any) -> Any:
        def step(j: Any, s: Any) -> Any:
            return j + 1, s * 0.5 + j.astype("float64")

        _, s = b.while_loop(lambda j, s: j < inner, step, (b.constant(0), s), name="inner")
        return i + 1, s

    i, s = b.while_loop(lambda i, s: i < outer, body, (b.constant(0), b.constant(0.0)), name="outer")
    return b.build({"i": i, "s": s})


def nest_value(outer: int, inner: int, i: int, j: int) -> float:
    """s at the beginning of inner iteration j of outer iteration i. Values from more than 200 steps before, which were
    below 2 ** 40, are shifted out of the 53 bits: the sum forgets it without a trace."""
    at = i * inner + j
    s = 0.0
    for k in range(max(0, at - 200), at):
        s = s * 0.5 + float(k % inner)
    return s


def triple(trips: int) -> wb.Graph:
    """Three levels; the innermost runs in few of the iterations around it."""
    b = wb.GraphBuilder("triple")

    def innermost(k: Any) -> Any:
        return (k + 1,)

    def inner(j: Any, t: Any) -> Any:
        rare = b.equal(t % 1000, 0)

        def some() -> Any:
            (k,) = b.while_loop(lambda k: k < 3, innermost, (b.constant(0),), name="innermost")
            return k

        k = b.cond(rare, some, lambda: b.constant(0), name="rare")
        return j + 1, t + 1 + k * 0

    def body(i: Any, t: Any) -> Any:
        _, t = b.while_loop(lambda j, t: j < 2, inner, (b.constant(0), t), name="inner")
        return i + 1, t

    i, t = b.while_loop(lambda i, t: i < trips, body, (b.constant(0), b.constant(0)), name="outer")
    return b.build({"i": i, "t": t})


def arrays(trips: int, size: int = 100) -> wb.Graph:
    """A vector of known shape; v[0] counts the iterations."""
    b = wb.GraphBuilder("arrays")
    v, i = b.while_loop(lambda v, i: i < trips, lambda v, i: (v + 1.0, i + 1), [b.constant(np.zeros(size)), 0])
    return b.build({"v": v, "i": i})


def objects(trips: int, size: int = 100) -> wb.Graph:
    """Vectors of a length that nobody knows ahead (it goes up and down), so that the rows hold references."""
    b = wb.GraphBuilder("objects")
    start = b.constant(np.zeros(size))

    def body(v: Any, i: Any) -> Any:
        longer = b.concat(v + 1.0, v[-1:], axis=0)
        return b.cond(i % 8 == 7, lambda: longer[8:] + 0.0, lambda: longer), i + 1

    v, i = b.while_loop(lambda v, i: i < trips, body, [start, 0])
    return b.build({"v": v, "i": i})


def draws(trips: int) -> wb.Graph:
    """A walk by random steps."""
    b = wb.GraphBuilder("draws")

    def body(x: Any, i: Any) -> Any:
        none = b.constant(np.array([], np.int32))
        return x + b.op("random_normal", none, seed=11, seed2=7, dtype="float64"), i + 1

    return b.build(b.while_loop(lambda x, i: i < trips, body, {"x": b.constant(0.0), "i": b.constant(0)}))
