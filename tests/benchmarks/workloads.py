"""The loops that are measured: as a graph, as plain Python or NumPy, with inputs and sizes.

===============  ==================================================================================  =============
name             one iteration                                                                       counted
===============  ==================================================================================  =============
newton           x = (x + a / x) * 0.5; i = i + 1; i < n                                             5 scalar ops
nested           y = y * a + 1; j = j + 1; j < 100, in a loop over i that carries y on               inner ones
collatz          x = x // 2 if x % 2 == 0 else 3 * x + 1; i = i + 1; i < n                           from x = 27
gd               x = x - lr * (A @ x - b), 32 unknowns; (32, 1) for onnxruntime, (32,) for others    the step
stencil-1e3      heat: u[k] = 0.5 * u[k] + 0.25 * (u[k-1] + u[k+1]), both ends kept at 0             the step
stencil-1e6      the same on 1e6 points
===============  ==================================================================================  =============
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import workbench as wb

INNER = 100  # trips of the inner loop of `nested`
UNKNOWNS = 32
RATE = 0.05
CENTRE, SIDE = 0.5, 0.25  # weights of the stencil


@dataclass(frozen=True)
class Workload:
    """A loop. ``trips`` is n for the workbench and compiled peers, ``plain_trips`` for Python and NumPy, ``slow_trips``
    for interpreters of tensors, ``scan_trips`` for onnxruntime with scan outputs; ``each`` is how many counted
    iterations one trip has."""

    name: str
    graph: Callable[[], wb.Graph]
    plain: Callable[..., Any]
    inputs: dict[str, Any]
    trips: int
    plain_trips: int
    slow_trips: int
    scan_trips: int
    each: int = 1
    output: str = "x"
    microseconds: bool = field(default=False)

    def feeds(self, n: int) -> dict[str, Any]:
        return {**self.inputs, "n": np.int64(n)}


def newton() -> wb.Graph:
    b = wb.GraphBuilder("newton")
    a, n = b.placeholder("a", "float64"), b.placeholder("n", "int64")
    x, _ = b.while_loop(lambda x, i: i < n, lambda x, i: ((x + a / x) * 0.5, i + 1), [a, 0])
    return b.build({"x": x})


def plain_newton(a: Any, n: int) -> Any:
    x, i = a, 0
    while i < n:
        x = (x + a / x) * 0.5
        i = i + 1
    return x


def nested() -> wb.Graph:
    b = wb.GraphBuilder("nested")
    a, n = b.placeholder("a", "float64"), b.placeholder("n", "int64")

    def outer(y: Any, i: Any) -> Any:
        y, _ = b.while_loop(lambda y, j: j < INNER, lambda y, j: (y * a + 1.0, j + 1), [y, 0], name="inner")
        return y, i + 1

    y, _ = b.while_loop(lambda y, i: i < n, outer, [a, 0], name="outer")
    return b.build({"x": y})


def plain_nested(a: Any, n: int) -> Any:
    y, i = a, 0
    while i < n:
        j = 0
        while j < INNER:
            y = y * a + 1.0
            j = j + 1
        i = i + 1
    return y


def collatz() -> wb.Graph:
    b = wb.GraphBuilder("collatz")
    start, n = b.placeholder("start", "int64"), b.placeholder("n", "int64")

    def body(x: Any, i: Any) -> Any:
        return b.cond(x % 2 == 0, lambda: x // 2, lambda: 3 * x + 1), i + 1

    x, _ = b.while_loop(lambda x, i: i < n, body, [start, 0])
    return b.build({"x": x})


def plain_collatz(start: Any, n: int) -> Any:
    x, i = start, 0
    while i < n:
        x = x // 2 if x % 2 == 0 else 3 * x + 1
        i = i + 1
    return x


def gd() -> wb.Graph:
    b = wb.GraphBuilder("gd")
    matrix, right = b.placeholder("A", "float64", (UNKNOWNS, UNKNOWNS)), b.placeholder("b", "float64", (UNKNOWNS,))
    start, n = b.placeholder("x0", "float64", (UNKNOWNS,)), b.placeholder("n", "int64")
    x, _ = b.while_loop(lambda x, i: i < n, lambda x, i: (x - RATE * (matrix @ x - right), i + 1), [start, 0])
    return b.build({"x": x})


def plain_gd(A: Any, b: Any, x0: Any, n: int) -> Any:
    x = x0
    for _ in range(n):
        x = x - RATE * (A @ x - b)
    return x


def stencil(size: int) -> Callable[[], wb.Graph]:
    def graph() -> wb.Graph:
        b = wb.GraphBuilder(f"stencil {size}")
        start, n = b.placeholder("u", "float64", (size,)), b.placeholder("n", "int64")

        def body(x: Any, i: Any) -> Any:
            inner = CENTRE * x[1:-1] + SIDE * (x[:-2] + x[2:])
            return b.op("pad", inner, pad_width=((1, 1),)), i + 1

        x, _ = b.while_loop(lambda x, i: i < n, body, [start, 0])
        return b.build({"x": x})

    return graph


def plain_stencil(u: Any, n: int) -> Any:
    ends = u[:1] * 0.0
    for _ in range(n):
        u = np.concatenate([ends, CENTRE * u[1:-1] + SIDE * (u[:-2] + u[2:]), ends])
    return u


def _heat(size: int) -> np.ndarray:
    u = np.sin(np.linspace(0, np.pi, size)) + np.random.default_rng(0).uniform(0, 0.1, size)
    u[[0, -1]] = 0.0
    return u


def _quadratic() -> dict[str, np.ndarray]:
    draw = np.random.default_rng(0)
    q, _ = np.linalg.qr(draw.normal(size=(UNKNOWNS, UNKNOWNS)))
    matrix = np.ascontiguousarray((q * np.linspace(0.01, 10.0, UNKNOWNS)) @ q.T)
    return {"A": matrix, "b": draw.normal(size=UNKNOWNS), "x0": draw.normal(size=UNKNOWNS)}


WORKLOADS = {
    w.name: w
    for w in (
        Workload("newton", newton, plain_newton, {"a": 2.0}, 1_000_000, 1_000_000, 50_000, 50_000),
        Workload("nested", nested, plain_nested, {"a": 0.9}, 10_000, 5_000, 500, 500, each=INNER),
        Workload("collatz", collatz, plain_collatz, {"start": 27}, 1_000_000, 1_000_000, 30_000, 30_000),
        Workload("gd", gd, plain_gd, _quadratic(), 50_000, 30_000, 20_000, 20_000),
        Workload("stencil-1e3", stencil(1_000), plain_stencil, {"u": _heat(1_000)}, 10_000, 10_000, 10_000, 3_000),
        Workload(
            "stencil-1e6", stencil(1_000_000), plain_stencil, {"u": _heat(1_000_000)}, 30, 30, 30, 5, microseconds=True
        ),
    )
}
