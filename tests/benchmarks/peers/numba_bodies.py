"""Numba: loops of arrays and numbers as one function, written as in array_bodies.c; no fast mathematics."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.peers import need


def stencil(u: Any, n: int) -> Any:
    u, v = u.copy(), np.zeros_like(u)
    for _ in range(n):
        for k in range(1, u.size - 1):
            v[k] = 0.5 * u[k] + 0.25 * (u[k - 1] + u[k + 1])
        u, v = v, u
    return u


def plate(u: Any, n: int) -> Any:
    u, v = u.copy(), np.zeros_like(u)
    for _ in range(n):
        for r in range(1, u.shape[0] - 1):
            for c in range(1, u.shape[1] - 1):
                v[r, c] = 0.5 * u[r, c] + 0.125 * (((u[r - 1, c] + u[r + 1, c]) + u[r, c - 1]) + u[r, c + 1])
        u, v = v, u
    return u


def map_reduce(x: Any, s: Any, n: int) -> Any:
    x, s, all_ = x.copy(), s.copy(), 0.0
    for _ in range(n):
        total = 0.0
        for k in range(x.size):
            y = math.sqrt(x[k] * x[k] + 1.0)
            total += y
            x[k] = 0.99 * y
        all_ += total
    s[()] = all_
    return x


def adam(p: Any, m: Any, v: Any, target: Any, n: int) -> Any:
    p, m, v = p.copy(), m.copy(), v.copy()
    for _ in range(n):
        for k in range(p.size):
            g = p[k] - target[k]
            m[k] = 0.9 * m[k] + 0.1 * g
            v[k] = 0.999 * v[k] + 0.001 * (g * g)
            p[k] -= 0.001 * m[k] / (math.sqrt(v[k]) + 1e-8)
    return p


def logistic(x: Any, r: Any, n: int) -> Any:
    x = x.copy()
    for _ in range(n):
        for k in range(x.size):
            x[k] = r[k] * x[k] * (1.0 - x[k])
    return x


def gd(x: Any, A: Any, b: Any, n: int) -> Any:
    x, r = x.copy(), np.empty_like(x)
    for _ in range(n):
        for j in range(x.size):
            s = 0.0
            for k in range(x.size):
                s += A[j, k] * x[k]
            r[j] = s - b[j]
        for j in range(x.size):
            x[j] -= 0.05 * r[j]
    return x


LOOPS = {"stencil": stencil, "plate": plate, "map": map_reduce, "adam": adam, "logistic": logistic, "gd": gd}


def prepare(name: str, start: tuple[np.ndarray, ...]) -> Callable[[int], Any]:
    function = need("numba").njit(error_model="numpy")(LOOPS[name.partition("-")[0]])
    return lambda n: function(*start, n)


def prepare_plain(function: Callable[..., Any], inputs: dict[str, Any]) -> Callable[[int], Any]:
    """A loop of numbers, as it is written in Python."""
    compiled = need("numba").njit(error_model="numpy")(function)
    return lambda n: compiled(*inputs.values(), n)
