"""Loops for the black box that end: counters of every dtype, laws, mixtures, noise, compound conditions."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.evaluation.heldout.common import orbit, rng_of
from tests.evaluation.scoring.cases import Watched

OPS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "!=": operator.ne, "==": operator.eq}
Clause = tuple[str, Any, str, Any]


def truth(clauses: list[Clause], logic: str) -> int | None:
    """First evaluation at which the condition is false, by evaluating it."""
    sides = [(OPS[op](np.asarray(a), np.asarray(b) if np.ndim(b) else b)) for _, a, op, b in clauses]
    whole = {"and": np.logical_and, "or": np.logical_or}.get(logic)
    held = sides[0] if whole is None else whole.reduce(np.broadcast_arrays(*sides))
    if logic == "not":
        held = ~held
    wrong = np.flatnonzero(~np.asarray(held))
    return int(wrong[0]) if wrong.size else None


def loop(family: str, clauses: list[Clause], logic: str = "single", exact: bool = True) -> Iterator[Watched]:
    n = truth(clauses, logic)
    if n is not None and n >= 20:
        yield Watched(family, clauses, n, logic, exact)


def counted() -> Iterator[Watched]:
    """The end follows from a law without noise."""
    for i in range(14):
        rng = rng_of("counted", i)
        n = int(rng.choice([25, 60, 210, 900, 4000]))
        k = np.arange(n + 60)
        step, start = int(rng.integers(1, 6)), int(rng.integers(-20, 20))
        dtype = (np.int64, np.int32, np.uint16, np.float64, np.float32, np.int16)[i % 6]
        up = (abs(start) + step * k).astype(dtype)
        yield from loop("up", [("i", up, "<", up[n])])
        yield from loop("up_inclusive", [("i", up, "<=", up[n - 1])])
        yield from loop("down", [("i", up[::-1], ">=", up[40])])
        yield from loop("hits", [("i", up, "!=", up[n])])
        c = np.float64(rng.choice([0.1, 0.01, 0.3, 1 / 7]))
        yield from loop("time_step", [("t", np.add.accumulate(np.full(n + 60, c)), "<", c * n - c / 3)])
        low = np.add.accumulate(np.full(n + 60, np.float32(c)), dtype=np.float32)
        yield from loop("time_step_low", [("t", low, "<", low[n] - np.float32(c / 3))])
        yield from loop("two_ended", [("lo", 3 * k, "<", 7 * n - 2 * k)])
        yield from loop("moving_goal", [("i", k * 2.0, "<", n + 0.5 * k)])
        yield from loop("square", [("s", k * k, "<=", n * n - 1)])
        yield from loop("triangular", [("s", k * (k + 1) // 2, "<", n * (n + 1) // 2)])
        yield from loop("cube", [("v", 0.001 * k**3.0 - 5, "<", 0.001 * (n - 0.5) ** 3 - 5)])
        yield from loop("pattern_step", [("s", np.cumsum(np.resize([1, 4, 2], n + 60)), "<", 7 * n // 3 - 3)])
        rate = float(rng.uniform(0.9, 0.995))
        tol = 10.0 ** float(rng.uniform(-9, -2))
        e = rate ** np.arange(9000.0)
        yield from loop("geometric", [("e", 8 * e, ">", tol)])
        yield from loop("learning_rate", [("lr", 1e-150 * e, ">=", 1e-150 * tol)])
        yield from loop("to_limit", [("x", 5 - e, "<", 5 - tol)])
        yield from loop("interest", [("m", 100 * 1.002 ** np.arange(9000.0), "<", 100 / tol**0.4)])
        yield from loop("annealing", [("T", 50 / (1 + 0.1 * np.arange(90000)), ">", 0.05 + 50 * tol**0.3)])
        yield from loop("relative", [("e", 4 * e, ">", tol * (2 - e))])
    for base, limit in ((2, 2**55), (3, 3**33)):
        yield from loop("integer_growth", [("x", base ** np.arange(39 if base == 3 else 62), "<", limit)])
    widths = 0.5 ** np.arange(60.0)
    yield from loop("bisection", [("width", widths, ">", 1e-9)])
    yield from loop("bisection_ends", [("hi", 0.5 + widths, ">", 0.5 + 1e-10 + 0 * widths)])


def asymptotic() -> Iterator[Watched]:
    """Mixtures of modes, residuals of solvers, oscillation under the tolerance, noise."""
    for i in range(16):
        rng = rng_of("asymptotic", i)
        k = np.arange(12000.0)
        rate, tol = float(rng.uniform(0.9, 0.996)), 10.0 ** float(rng.uniform(-7, -3))
        e = rng.normal(size=12000)
        yield from loop("mixture", [("r", rate**k + 2 * (0.9 * rate) ** k + (0.6 * rate) ** k, ">", tol)], exact=False)
        yield from loop("noisy_decay", [("r", rate**k * np.exp(0.1 * e), ">", tol)], exact=False)
        yield from loop(
            "random_rate", [("r", np.exp(np.cumsum(math.log(rate) * (1 + 0.5 * e))), ">", tol)], exact=False
        )
        w = float(rng.uniform(0.05, 0.5))
        norm = rate**k * np.sqrt(1 + 0.4 * np.cos(w * k))
        yield from loop("wavy_norm", [("r", norm, ">", tol)], exact=False)
        steps = rng.uniform(0.5, 1.5, 12000)
        yield from loop("random_steps", [("i", np.cumsum(steps), "<", float(rng.uniform(80, 2000)))], exact=False)
        yield from loop("drift_walk", [("x", np.cumsum(0.5 + e), "<", float(rng.uniform(100, 900)))], exact=False)
        power = (k + 3) ** -float(rng.uniform(0.6, 1.5)) * (1 + 0.05 * np.sin(k))
        yield from loop("wavy_power", [("r", power, ">", float(rng.uniform(0.003, 0.03)))], exact=False)
        q, _ = np.linalg.qr(rng.normal(size=(12, 12)))
        a = q @ np.diag(np.geomspace(1.0, float(rng.uniform(8, 60)), 12)) @ q.T
        b, x, norms = rng.normal(size=12), np.zeros(12), []
        for _ in range(3000):
            g = a @ x - b
            norms.append(float(np.linalg.norm(g)))
            if norms[-1] < tol / 10:
                break
            x = x - g / np.linalg.norm(a, 2)
        yield from loop("descent", [("g", np.array(norms), ">", tol)], exact=False)
        fixed = orbit(lambda x, r=rate: r * math.sin(x), 1.2, 4000)
        yield from loop("sine_steps", [("d", np.abs(np.diff(fixed)), ">", tol)], exact=False)


def compound() -> Iterator[Watched]:
    """Two clauses: an iteration cap and a residual, whichever ends first; negated and swapped ones."""
    for i in range(20):
        rng = rng_of("compound", i)
        k = np.arange(4000)
        rate = float(rng.uniform(0.9, 0.99))
        need = int(rng.integers(60, 600))
        residual = ("r", rate**k, ">", float(rate ** (need - 0.5)))
        cap = ("i", k, "<", int(need * rng.choice([0.5, 0.8, 1.5, 3.0])))
        yield from loop("cap_or_tolerance", [cap, residual], "and")
        yield from loop("both_needed", [residual, cap], "or")
        yield from loop("negated", [("i", 2 * k, ">=", 2 * need)], "not")
        other = ("j", 5 * need - 3.0 * k, ">", 0.5)
        yield from loop("two_counters", [("i", k, "<=", need), other], "and" if i % 2 else "or")


GENERATORS = (counted, asymptotic, compound)
