"""numexpr: each statement of a step as one expression, one thread, results in arrays that are made once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.peers import Missing, need


def prepare(name: str, start: tuple[np.ndarray, ...]) -> Callable[[int], Any]:
    numexpr = need("numexpr")
    numexpr.set_num_threads(1)
    evaluate = numexpr.evaluate

    def stencil(n: int) -> Any:
        u, v = start[0].copy(), np.zeros_like(start[0])
        for _ in range(n):
            here = {"a": u[1:-1], "b": u[:-2], "c": u[2:]}
            evaluate("0.5 * a + 0.25 * (b + c)", here, out=v[1:-1])
            u, v = v, u
        return u

    def plate(n: int) -> Any:
        u, v = start[0].copy(), np.zeros_like(start[0])
        for _ in range(n):
            around = {"b": u[:-2, 1:-1], "c": u[2:, 1:-1], "d": u[1:-1, :-2], "e": u[1:-1, 2:]}
            evaluate("0.5 * a + 0.125 * (b + c + d + e)", {"a": u[1:-1, 1:-1], **around}, out=v[1:-1, 1:-1])
            u, v = v, u
        return u

    def map_reduce(n: int) -> Any:
        x, y, s = start[0].copy(), np.empty_like(start[0]), 0.0
        for _ in range(n):
            evaluate("sqrt(x * x + 1.0)", {"x": x}, out=y)
            s += evaluate("sum(y)", {"y": y})
            evaluate("y * 0.99", {"y": y}, out=x)
        return x

    def adam(n: int) -> Any:
        p, m, v, target = (a.copy() for a in start)
        for _ in range(n):
            state = {"p": p, "m": m, "v": v, "t": target}
            evaluate("0.9 * m + 0.1 * (p - t)", state, out=m)
            evaluate("0.999 * v + 0.001 * ((p - t) * (p - t))", state, out=v)
            evaluate("p - 0.001 * m / (sqrt(v) + 1e-8)", state, out=p)
        return p

    def logistic(n: int) -> Any:
        state = {"x": start[0].copy(), "r": start[1]}
        for _ in range(n):
            evaluate("r * x * (1.0 - x)", state, out=state["x"])
        return state["x"]

    loops = {"stencil": stencil, "plate": plate, "map": map_reduce, "adam": adam, "logistic": logistic}
    kind = name.partition("-")[0]
    if kind not in loops:
        raise Missing("numexpr has no product of matrices")
    return loops[kind]
