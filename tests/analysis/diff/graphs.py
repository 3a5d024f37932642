"""Graphs that are compared with each other."""

from __future__ import annotations

from typing import Any

import numpy as np

import workbench as wb


def newton(dtype: str = "float64", tolerance: float = 1e-9, half: float = 0.5, name: str = "x") -> wb.Graph:
    """Newton's square root of ``a``."""
    b, number = wb.GraphBuilder("newton"), np.dtype(dtype).type
    a = b.placeholder("a", dtype)
    out = b.while_loop(
        lambda **v: abs(v[name] * v[name] - a) > number(tolerance),
        lambda **v: {name: (v[name] + a / v[name]) * number(half)},
        {name: a},
        max_trips=20,
    )
    return b.build(out)


def collatz(start_op: str = "multiply") -> wb.Graph:
    """A loop with a branch inside: n/2 or 3n+1 until 1."""
    b = wb.GraphBuilder("collatz")
    n = b.placeholder("n", "int64", ())
    two, three, one = np.int64(2), np.int64(3), np.int64(1)
    out = b.while_loop(
        lambda n: n > one,
        lambda n: {"n": b.cond(n % two < one, lambda: n // two, lambda: n * three + one)},
        {"n": n},
        max_trips=200,
    )
    return b.build(out)


def nested(gain: float = 1.0) -> wb.Graph:
    """An outer loop of 4 whose iteration i has an inner loop of i + 1."""
    b = wb.GraphBuilder("nested")
    x = b.placeholder("x", "float64", ())

    def inner(i: Any, x: Any) -> Any:
        out = b.while_loop(
            lambda j, y: j <= i,
            lambda j, y: {"j": j + 1, "y": y * 1.5 + gain},
            {"j": np.int64(0), "y": x},
            name="inner",
        )
        return {"i": i + 1, "x": out["y"]}

    out = b.while_loop(lambda i, x: i < 4, inner, {"i": np.int64(0), "x": x}, name="outer")
    return b.build(out)


def finished(graph: wb.Graph, **feeds: Any) -> wb.Session:
    session = wb.Session(graph, feeds)
    session.run()
    return session
