"""Random small loops in the arithmetic of small dtypes; running them on NumPy scalars tells whether they end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.evaluation.heldout.common import rng_of
from tests.evaluation.heldout.machines import brute, graph
from tests.evaluation.scoring.cases import GraphLoop

SMALL = (np.int8, np.uint8, np.int16, np.uint16)
FLOATS = (np.float16, np.float32, np.float64)
#: iterations that are run to find the truth; 16-bit counters take 65,536 to come round
CAPS = {"i": 70_000, "u": 70_000, "f": 4_000}
Fn = Callable[..., Any]


def _number(rng: np.random.Generator, dtype: Any) -> Any:
    if np.dtype(dtype).kind == "f":
        size = dtype(rng.choice([0.0, 0.5, 1.0, 2.0, 3.0, 10.0, 100.0, 0.1, 1e-3, 60000.0]))
        return float(size) * int(rng.choice([-1, 1, 1]))
    info = np.iinfo(dtype)
    near = int(rng.choice([0, 1, 2, 3, 5, 7, 10, 64, 100, 120]))
    edge = int(rng.choice([info.min, info.max, info.max - 3, info.min + 2]))
    value = near if rng.random() < 0.75 else edge
    return -value if info.min < 0 < value and rng.random() < 0.3 else value


def _step(rng: np.random.Generator, dtype: Any) -> Fn:
    """One update x -> f(x, y); the operators are those of NumPy and of the builder alike."""
    a, c = _number(rng, dtype), _number(rng, dtype)
    small = int(rng.choice([1, 1, 1, 2, 2, 3, 4, 6]))
    if np.dtype(dtype).kind == "f":
        rate = float(rng.choice([0.5, 0.9, 0.99, 1.5, 2.0, -1.0, -0.5, 1.0]))
        options: list[Fn] = [
            lambda x, y: x + small,
            lambda x, y: x - small,
            lambda x, y: x * rate,
            lambda x, y: x * rate + c,
            lambda x, y: x + 0.1,
            lambda x, y: x * 0.5 + y * 0.5,
            lambda x, y: -x + c,
            lambda x, y: abs(x) * rate,
        ]
    else:
        m = max(2, abs(a) % 100)
        odd = int(rng.choice([3, 5, 7, 2, 6]))
        options = [
            lambda x, y: x + small,
            lambda x, y: x - small,
            lambda x, y: x + small,
            lambda x, y: x * odd,
            lambda x, y: x * odd + small,
            lambda x, y: x // 2,
            lambda x, y: x % m,
            lambda x, y: x + y,
            lambda x, y: (x + small) % m,
            lambda x, y: x ^ small,
            lambda x, y: x & 12,
            lambda x, y: x - y,
        ]
    return options[int(rng.integers(len(options)))]


def _clause(rng: np.random.Generator, dtype: Any) -> Fn:
    t = _number(rng, dtype)
    return [lambda v: v < t, lambda v: v <= t, lambda v: v > t, lambda v: v >= t, lambda v: v != t, lambda v: v != t][
        int(rng.integers(6))
    ]


def random_loop(i: int) -> GraphLoop | None:
    """The loop number ``i``; None where running it decides nothing within the cap, or where it does not start."""
    rng = rng_of("random_loop", i)
    dtype = (SMALL + FLOATS)[int(rng.integers(7))]
    init = {"x": np.asarray(_number(rng, dtype), dtype)[()], "y": np.asarray(_number(rng, dtype), dtype)[()]}
    f, g = _step(rng, dtype), _step(rng, dtype) if rng.random() < 0.5 else (lambda y, x: y)
    first, second, joint = _clause(rng, dtype), _clause(rng, dtype), int(rng.integers(4))

    def cond(x: Any, y: Any) -> Any:
        return (first(x), first(x) & second(y), first(x) | second(y), first(x))[joint] if joint < 3 else first(x)

    def body(x: Any, y: Any) -> dict[str, Any]:
        return {"x": f(x, y), "y": g(y, x)}

    try:
        n = brute(init, cond, body, CAPS[np.dtype(dtype).kind])
    except AssertionError:
        return None
    return GraphLoop("random_loop", graph(init, cond, body), n) if n != 0 else None


def random_loops(start: int = 0, stop: int = 150) -> Iterator[GraphLoop]:
    for i in range(start, stop):
        loop = random_loop(i)
        if loop is not None:
            yield loop


GENERATORS = (random_loops,)
