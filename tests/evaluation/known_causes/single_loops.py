"""Single loops that never end, a family for each cause."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.evaluation.known_causes.cases import Caused, loop, settles, trail

FLOATS = (np.float16, np.float32, np.float64)
INTS = (np.int8, np.int16, np.int32, np.uint8, np.uint16)


def floors(rng: np.random.Generator) -> Iterator[Caused]:
    for dtype in FLOATS:
        eps = float(np.finfo(dtype).eps)
        for _ in range(12):
            a, half = dtype(rng.uniform(1.5, 9.0)), dtype(0.5)

            def step(s: dict[str, Any], a: Any = a, half: Any = half) -> dict[str, Any]:
                return {"x": (s["x"] + a / s["x"]) * half}

            states, start, period = trail({"x": dtype(1)}, step)
            residuals = [abs(s["x"] * s["x"] - a) for s in states[start : start + period]]
            if min(residuals) == 0:
                continue
            tol = dtype(float(min(residuals)) * 0.01) if dtype != np.float16 else dtype(float(min(residuals)) * 0.1)
            if tol == 0:
                continue
            graph = loop(
                lambda b, x, a=a, tol=tol: b.abs(x * x - a) > tol,
                lambda b, x, a=a, half=half: {"x": (x + a / x) * half},
                {"x": dtype(1)},
            )
            at = settles({"x": dtype(1)}, step, "x")
            yield Caused("floor newton", graph, ("x",), ("x", ">"), "floor", "tolerance", at)
        for _ in range(6):
            r, floor = dtype(rng.uniform(0.2, 0.9)), dtype(rng.uniform(3, 9) * eps)
            start = dtype(rng.uniform(0.5, 4))

            def damp(s: dict[str, Any], r: Any = r, floor: Any = floor) -> dict[str, Any]:
                return {"err": max(s["err"] * r, floor)}

            feeds = {"tol": np.asarray(floor / dtype(8), dtype)}
            graph = loop(
                lambda b, tol, err, i: b.logical_and(i >= 0, err > tol),
                lambda b, tol, err, i, r=r, floor=floor: {"err": b.maximum(err * r, floor), "i": (i + 1) % 1000},
                {"err": start, "i": np.int64(0)},
                feeds,
            )
            yield Caused(
                "floor damped and",
                graph,
                ("err",),
                ("err", "tol"),
                "saturated",
                "tolerance",
                settles({"err": start}, damp, "err"),
                feeds,
            )


def absorbed(rng: np.random.Generator) -> Iterator[Caused]:
    for dtype in FLOATS:
        top = 2.0 ** (np.finfo(dtype).nmant + 1)
        for sign in (1, -1):
            for c in (1, 2):
                most = 60000 if dtype is np.float16 else np.inf
                start, limit = dtype(sign * (top * c - 60)), dtype(sign * min(top * 8, most))
                step_by = dtype(sign * c)

                def step(s: dict[str, Any], c: Any = step_by) -> dict[str, Any]:
                    return {"i": s["i"] + c}

                at = settles({"i": start}, step, "i")
                op = "less" if sign > 0 else "greater"
                graph = loop(
                    lambda b, i, op=op, limit=limit: b.op(op, i, limit),
                    lambda b, i, c=step_by: {"i": i + c},
                    {"i": start},
                )
                yield Caused(f"absorbed {dtype.__name__}", graph, ("i",), ("i",), "absorbed", "dtype", at)


def not_updated(rng: np.random.Generator) -> Iterator[Caused]:
    for dtype in (np.int32, np.int64, np.float32, np.float64):
        for op, limit in (("less", 10), ("less_equal", 10), ("greater", -3), ("not_equal", 9)):
            graph = loop(
                lambda b, i, j, op=op, limit=limit, dtype=dtype: b.op(op, j, dtype(limit)),
                lambda b, i, j: {"i": i + 1, "j": j},
                {"i": np.int64(0), "j": dtype(3)},
            )
            yield Caused("not updated", graph, ("j",), ("j",), "not-updated", "cap", 0)
        graph = loop(
            lambda b, n, i, j: j < n,
            lambda b, n, i, j: {"i": i + 1, "j": j},
            {"i": np.int64(0), "j": dtype(3)},
            feeds := {"n": np.asarray(8, dtype)},
        )
        yield Caused("not updated", graph, ("j",), ("j", "n"), "not-updated", "cap", 0, feeds)


def no_effect(rng: np.random.Generator) -> Iterator[Caused]:
    bodies: list[Callable[..., Any]] = [
        lambda b, i: {"i": i * 1},
        lambda b, i: {"i": i + 0},
        lambda b, i: {"i": b.maximum(i, 3)},
        lambda b, i: {"i": i - 2 + 2},
        lambda b, i: {"i": b.minimum(i + 1, 5)},
    ]
    for dtype in (np.int32, np.int64, np.float32, np.float64):
        for body, slug in zip(bodies, ("no-effect",) * 4 + ("saturated",), strict=True):
            graph = loop(lambda b, i: i < 10, body, {"i": dtype(5)})
            yield Caused("no effect", graph, ("i",), ("i", "<"), slug, "cap", 0)


def steps_over(rng: np.random.Generator) -> Iterator[Caused]:
    for dtype in (*INTS, np.int32, np.int64):
        for _ in range(3):
            c = dtype(2 * int(rng.integers(1, 5)))
            goal = dtype(2 * int(rng.integers(10, 30)) + 1)
            graph = loop(lambda b, i, g=goal: b.not_equal(i, g), lambda b, i, c=c: {"i": i + c}, {"i": dtype(0)})
            yield Caused("steps over", graph, ("i",), ("i", "!="), "steps-over", "comparison", -(-int(goal) // int(c)))
    for dtype in (np.float32, np.float64):
        for c in map(dtype, (0.1, 0.3, 0.7)):
            values = [dtype(0)]
            while len(values) < 400:
                values.append(values[-1] + c)
            k = int(rng.integers(20, 90))
            goal = dtype(k * c) if dtype(k * c) not in values else dtype(k * c * dtype(1.0001))
            if goal in values:
                continue
            first = next(i for i, v in enumerate(values) if v > goal)
            graph = loop(lambda b, x, g=goal: b.not_equal(x, g), lambda b, x, c=c: {"x": x + c}, {"x": dtype(0)})
            yield Caused("steps over", graph, ("x",), ("x", "!="), "steps-over", "comparison", first)


def cycles(rng: np.random.Generator) -> Iterator[Caused]:
    for dtype in (np.float32, np.float64):
        c = dtype(rng.uniform(0.5, 3))
        start = dtype(c * dtype(0.75))
        graph = loop(lambda b, x: b.abs(x) > 1e-3, lambda b, x: {"x": -x}, {"x": start})
        yield Caused("cycle", graph, ("x",), ("x",), "cycle", "cap", 0)
        graph = loop(lambda b, x: b.not_equal(x, 0.5), lambda b, x: {"x": 1.0 - x}, {"x": dtype(0.25)})
        yield Caused("cycle", graph, ("x",), ("x", "!="), "cycle", "cap", 0)
    for m, f in ((7, 3), (31, 3), (101, 2), (257, 3), (1009, 11)):
        graph = loop(lambda b, n: b.not_equal(n, 0), lambda b, n, m=m, f=f: {"n": (n * f) % m}, {"n": np.int64(1)})
        yield Caused("cycle", graph, ("n",), ("n", "!="), "cycle", "cap", 0)
    for r in (3.2, 3.5):
        graph = loop(lambda b, x: x > 0.2, lambda b, x, r=r: {"x": x * (1.0 - x) * r}, {"x": 0.6})
        at = settles({"x": np.float64(0.6)}, lambda s, r=r: {"x": s["x"] * (1.0 - s["x"]) * r}, "x")
        yield Caused("cycle", graph, ("x",), ("x", ">"), "cycle", "cap", at)


def nans(rng: np.random.Generator) -> Iterator[Caused]:
    for dtype in (np.float32, np.float64):
        for start in (3.0, 7.0, 20.0):
            values = [dtype(start)]
            with np.errstate(all="ignore"):
                while not np.isnan(values[-1]):
                    values.append(np.sqrt(values[-1] - dtype(2)))
            first = len(values) - 1
            graph = loop(lambda b, x: b.not_equal(x, -1.0), lambda b, x: {"x": b.sqrt(x - 2.0)}, {"x": dtype(start)})
            yield Caused("nan", graph, ("x",), ("x", "!="), "nan", "stop-at-nan", first)
            graph = loop(lambda b, x: b.logical_not(x < -1.0), lambda b, x: {"x": b.sqrt(x - 2.0)}, {"x": dtype(start)})
            yield Caused("nan", graph, ("x",), ("x", "<"), "nan", "stop-at-nan", first)


def overflows(rng: np.random.Generator) -> Iterator[Caused]:
    for dtype in FLOATS:
        for f in map(dtype, (1.5, 2.0, 10.0)):

            def step(s: dict[str, Any], f: Any = f) -> dict[str, Any]:
                return {"x": s["x"] * f}

            graph = loop(lambda b, x: x > 1e-3, lambda b, x, f=f: {"x": x * f}, {"x": dtype(1)})
            at = settles({"x": dtype(1)}, step, "x")
            yield Caused("overflow", graph, ("x",), ("x", ">"), "overflow", "stop-at-nan", at)
        graph = loop(lambda b, x: x > 1.0, lambda b, x: {"x": x * x}, {"x": dtype(1.5)})
        at = settles({"x": dtype(1.5)}, lambda s: {"x": s["x"] * s["x"]}, "x")
        yield Caused("overflow", graph, ("x",), ("x", ">"), "overflow", "stop-at-nan", at)


def away(rng: np.random.Generator) -> Iterator[Caused]:
    for dtype in (np.int64, np.float16, np.float32, np.float64):
        for c in (1, 3):
            graph = loop(lambda b, i: i > 0, lambda b, i, c=c: {"i": i + c}, {"i": dtype(5)})
            up, down = ((2**63 - 5 - 1) // c + 1, (2**63 + 5) // c + 1) if dtype is np.int64 else (None, None)
            yield Caused("moves away", graph, ("i",), ("i", ">"), "moves-away", "sign", 0, wraps_after=up)
            graph = loop(lambda b, i: i < 20, lambda b, i, c=c: {"i": i - c}, {"i": dtype(5)})
            yield Caused("moves away", graph, ("i",), ("i", "<"), "moves-away", "sign", 0, wraps_after=down)


def limits(rng: np.random.Generator) -> Iterator[Caused]:
    for dtype in (np.float32, np.float64):
        for _ in range(8):
            r, c = dtype(rng.uniform(0.1, 0.9)), dtype(rng.uniform(0.5, 3))
            goal = float(c) / (1 - float(r))
            rising = bool(rng.integers(0, 2))
            start = dtype(goal * (0.1 if rising else 3.0))
            t = dtype(goal * (1.2 if rising else 0.7))

            def step(s: dict[str, Any], r: Any = r, c: Any = c) -> dict[str, Any]:
                return {"x": s["x"] * r + c}

            op = "less" if rising else "greater"
            graph = loop(lambda b, x, op=op, t=t: b.op(op, x, t), lambda b, x, r=r, c=c: {"x": x * r + c}, {"x": start})
            at = settles({"x": start}, step, "x")
            yield Caused("limit beyond", graph, ("x",), ("x",), "limit-beyond", "tolerance", at)
    for dtype in (np.int32, np.int64):
        graph = loop(lambda b, n: n >= 0, lambda b, n: {"n": n // 2}, {"n": dtype(1000)})
        yield Caused("limit beyond", graph, ("n",), ("n", ">="), "limit-beyond", "comparison", 10)
        graph = loop(lambda b, n: n < 10, lambda b, n: {"n": b.minimum(n + 1, 7)}, {"n": dtype(0)})
        yield Caused("limit beyond", graph, ("n",), ("n", "<"), "saturated", "tolerance", 7)


def wraps(rng: np.random.Generator) -> Iterator[Caused]:
    for dtype in (np.uint8, np.uint16):
        graph = loop(lambda b, u: u >= 0, lambda b, u: {"u": u - 1}, {"u": dtype(9)})
        yield Caused("wraps", graph, ("u",), ("u", ">="), "wraps", "dtype", 10)
    for dtype in (np.int8, np.uint8):
        top = int(np.iinfo(dtype).max)
        for c in (1, 3):
            start = dtype(top - 40)
            graph = loop(
                lambda b, u, top=top: b.cast(u, dtype="int64") < top + 50, lambda b, u, c=c: {"u": u + c}, {"u": start}
            )
            yield Caused("wraps", graph, ("u",), ("u", "<"), "wraps", "dtype", 40 // c + 1)


def too_large(rng: np.random.Generator) -> Iterator[Caused]:
    for dtype in (np.float32, np.float64):
        for curvature in map(dtype, (1.0, 2.0, 4.0, 8.0)):
            lr, tol = dtype(2) / curvature, dtype(1e-4)
            start = dtype(3.0)
            feeds = {"lr": np.asarray(lr, dtype)}
            graph = loop(
                lambda b, lr, x, tol=tol: b.abs(x) > tol,
                lambda b, lr, x, c=curvature: {"x": x - lr * (x * c)},
                {"x": start},
                feeds,
            )
            yield Caused("step too large", graph, ("x",), ("x",), "step-too-large", "step", 0, feeds)
            graph = loop(
                lambda b, x, tol=tol: b.abs(x * 2.0) > tol,
                lambda b, x, lr=lr, c=curvature: {"x": x - (x * c) * lr},
                {"x": start},
            )
            yield Caused("step too large", graph, ("x",), ("x",), "step-too-large", "step", 0)
    graph = loop(
        lambda b, x: b.logical_not(b.abs(x) < 1e-6), lambda b, x: {"x": x - (x * 4.0) * 0.75}, {"x": np.float64(1)}
    )
    yield Caused("step too large", graph, ("x",), ("x",), "step-too-large", "step")


FAMILIES = (
    floors,
    absorbed,
    not_updated,
    no_effect,
    steps_over,
    cycles,
    nans,
    overflows,
    away,
    limits,
    wraps,
    too_large,
)
