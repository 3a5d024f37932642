"""Loops of known length for the black box, deterministic: what is compared, and the whole history of both sides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.analysis.exact_steps import OPS


@dataclass
class Loop:
    """``while x op threshold``; ``values`` reaches beyond the end, ``n`` evaluations are true; None: it never ends."""

    family: str
    values: Any
    op: str
    threshold: Any
    n: int | None


def _loop(family: str, values: Any, op: str, threshold: Any, *, endless: bool = False) -> Loop | None:
    wrong = [i for i, v in enumerate(values) if not OPS[op](v, threshold)]
    if endless:
        return None if wrong else Loop(family, values, op, threshold, None)
    return Loop(family, values, op, threshold, wrong[0]) if wrong and wrong[0] >= 20 else None


def _all() -> Iterator[Loop | None]:
    rng = np.random.default_rng(2024)
    for _ in range(30):
        n = int(rng.integers(40, 3000))
        k = np.arange(n + 50)
        step, rate = int(rng.integers(1, 9)), float(rng.uniform(0.8, 0.999))
        scale = 10.0 ** float(rng.integers(-6, 7))
        yield _loop("int", k * step - 7, "<", n * step)
        yield _loop("int32", (k[::-1] * step).astype(np.int32), ">", 40 * step)
        dtype = (np.float32, np.float64)[int(rng.integers(0, 2))]
        c = dtype(rng.choice([0.1, 0.25, 1e-3, 0.7]))
        yield _loop("float_counter", np.add.accumulate(np.full(n + 50, c)), "<", dtype(c * n))
        yield _loop("geometric", scale * rate ** np.arange(8000.0), ">", scale * 10.0 ** float(rng.uniform(-9, -1)))
        yield _loop(
            "to_limit",
            scale * (3 - 2 * rate ** np.arange(8000.0)),
            "<",
            scale * (3 - 10.0 ** float(rng.uniform(-6, -1))),
        )
        two = rate ** np.arange(8000.0) + 0.3 * (rate * 0.8) ** np.arange(8000.0)
        yield _loop("two_modes", two, ">", 10.0 ** float(rng.uniform(-8, -2)))
        yield _loop(
            "power", (1.0 + np.arange(20000.0)) ** -float(rng.uniform(0.7, 2)), ">", 10.0 ** float(rng.uniform(-4, -2))
        )
        yield _loop("growth", float(rng.uniform(1.01, 1.2)) ** np.arange(800.0), "<", 10.0 ** float(rng.uniform(2, 20)))
        w = float(rng.uniform(0.2, 1.5))
        # hardly decidable from 50 values: UNKNOWN is the honest answer to most of these
        k60 = np.arange(60.0)
        yield _loop("damped", rate**k60 * np.abs(np.cos(w * k60)) + 1e-3, ">", 1e-9, endless=True)
        yield _loop("limit_short", 1 + rate ** np.arange(60.0), ">", 0.9, endless=True)
        yield _loop("cycle", np.tile(rng.normal(size=int(rng.integers(2, 9))), 40)[:60], "<", 50.0, endless=True)
        yield _loop("away", -step * k[:60], "<", 10, endless=True)
        yield _loop("stuck", [5] * 60, "<", 10, endless=True)
        yield _loop("floor", 1e-7 + 0.3 ** np.arange(60.0), ">", 1e-8, endless=True)
        yield _loop("steps_over", k[:60] * 2, "!=", 2 * n + 1, endless=True)
        yield _loop("sine", np.sin(w * np.arange(60.0)), "<", 1.2, endless=True)


def loops() -> list[Loop]:
    """All loops, always the same."""
    return [loop for loop in _all() if loop is not None]
