"""Random programs of two variables: composed updates with branches, casts and clips; conditions of derived values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.evaluation.heldout.common import rng_of
from tests.evaluation.heldout.graph_random import CAPS, FLOATS, SMALL, Fn, _number, _step
from tests.evaluation.heldout.machines import brute, graph
from tests.evaluation.scoring.cases import GraphLoop


def _composed(rng: np.random.Generator, dtype: Any) -> Fn:
    """A step, and with luck something around it: a clip, a branch, a cast to a narrower dtype and back."""
    f, g = _step(rng, dtype), _step(rng, dtype)
    c, kind = _number(rng, dtype), np.dtype(dtype).kind
    name = np.dtype(dtype).name
    narrow = {"f": "float16", "i": "int8", "u": "uint8"}[kind]
    options: list[Fn] = [
        lambda x, y: np.minimum(f(x, y), np.asarray(c, dtype)),
        lambda x, y: np.maximum(f(x, y), np.asarray(c, dtype)),
        lambda x, y: np.where(x > c, f(x, y), g(x, y)),
        lambda x, y: np.where(x == y, g(x, y), f(x, y)),
        lambda x, y: g(f(x, y), y),
        lambda x, y: f(x, y).astype(narrow).astype(name),
        lambda x, y: np.where(f(x, y) != c, f(x, y), x),
        lambda x, y: f(x, y),
    ]
    return options[int(rng.integers(len(options)))]


def _condition(rng: np.random.Generator, dtype: Any) -> Fn:
    s, t = _number(rng, dtype), _number(rng, dtype)
    options: list[Fn] = [
        lambda x, y: x < y,
        lambda x, y: x != y,
        lambda x, y: x * x < t,
        lambda x, y: x + y != t,
        lambda x, y: x - y > t,
        lambda x, y: (x < s) | (y > t),
        lambda x, y: (x != s) & (y != t),
        lambda x, y: ~((x > s) & (y < t)),
        lambda x, y: np.abs(x) > t,
        lambda x, y: (x <= s) & (x + y > t),
        lambda x, y: x % 4 != 3,
        lambda x, y: (x < s) ^ (y < t),
        lambda x, y: np.maximum(x, y) < t,
    ]
    return options[int(rng.integers(len(options)))]


def random_program(i: int) -> GraphLoop | None:
    """The program number ``i``; None where running it decides nothing within the cap, or where it does not start."""
    rng = rng_of("random_program", i)
    dtype = (SMALL + FLOATS)[int(rng.integers(7))]
    init = {"x": np.asarray(_number(rng, dtype), dtype)[()], "y": np.asarray(_number(rng, dtype), dtype)[()]}
    f = _composed(rng, dtype)
    g = _composed(rng, dtype) if rng.random() < 0.6 else (lambda y, x: y)
    cond = _condition(rng, dtype)

    def body(x: Any, y: Any) -> dict[str, Any]:
        return {"x": f(x, y), "y": g(y, x)}

    try:
        n = brute(init, cond, body, CAPS[np.dtype(dtype).kind])
    except AssertionError:
        return None
    return GraphLoop("random_program", graph(init, cond, body), n) if n != 0 else None


def random_programs(start: int = 0, stop: int = 150) -> Iterator[GraphLoop]:
    for i in range(start, stop):
        loop = random_program(i)
        if loop is not None:
            yield loop


GENERATORS = (random_programs,)
