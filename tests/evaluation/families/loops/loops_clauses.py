"""Loops for the black box whose conditions join clauses: and, or, not, flags, NaN, invariants, reductions, draws."""

from __future__ import annotations

import numpy as np

from tests.evaluation.families.base import WATCHED, Rng, log_uniform
from tests.evaluation.families.loop_cases import DrawAgain, loop_family, observed, watched
from tests.evaluation.scoring.cases import Watched

K = np.arange(6000)


@loop_family(WATCHED)
def first_of_two_counters(rng: Rng) -> Watched:
    a, b = int(rng.integers(1, 9)), int(rng.integers(1, 9))
    top, low = int(log_uniform(rng, 300, 9000)), -int(log_uniform(rng, 300, 9000))
    return watched([("i", a * K, "<", top), ("j", -b * K, ">", low)], "and")


@loop_family(WATCHED)
def last_of_two_counters(rng: Rng) -> Watched:
    """``or``: the loop goes on until the second clause fails, too."""
    a, b = int(rng.integers(2, 9)), int(rng.integers(2, 9))
    top, low = int(log_uniform(rng, 300, 9000)), -int(log_uniform(rng, 300, 9000))
    return watched([("i", a * K, "<", top), ("j", -b * K, ">", low)], "or")


@loop_family(WATCHED)
def not_yet_there(rng: Rng) -> Watched:
    n = int(log_uniform(rng, 60, 4000))
    return watched([("i", K, ">=", n) if rng.random() < 0.5 else ("e", 0.99**K, "<", 0.99 ** (n - 0.5))], "not")


@loop_family(WATCHED)
def counter_or_tolerance(rng: Rng) -> Watched:
    """``i < most and residual > tol``, either may be first."""
    rate, tol, most = float(rng.uniform(0.85, 0.995)), log_uniform(rng, 1e-9, 1e-2), int(rng.integers(80, 2000))
    return watched([("i", K, "<", most), ("r", 3.0 * rate**K, ">", tol)], "and")


@loop_family(WATCHED)
def flag_and_counter(rng: Rng) -> Watched:
    """``not done and i < n``: the flag is never set, the counter ends the loop."""
    n = int(log_uniform(rng, 60, 3000))
    done = np.zeros(n + 1, bool)
    flag = ("done", done, "==", False) if rng.random() < 0.5 else ("done", done, "!=", True)
    return watched([flag, ("i", K[: n + 1], "<", n)], "and")


@loop_family(WATCHED)
def flag_set_at_last(rng: Rng) -> Watched:
    """``while not done``: what sets the flag is not shown, and "never" would be false."""
    n = int(log_uniform(rng, 60, 2000))
    done = np.arange(n + 1) == n
    return watched([("done", done, "==", False)] if rng.random() < 0.5 else [("done", done, "!=", True)], exact=False)


@loop_family(WATCHED)
def stuck_clause_of_or(rng: Rng) -> Watched:
    j = int(rng.integers(1, 50))
    clauses = [("r", 0.9**K, ">", 1e-3), ("j", np.full(6000, j), "<", j + int(rng.integers(1, 9)))]
    return watched(clauses if rng.random() < 0.5 else clauses[::-1], "or", ends=False)


@loop_family(WATCHED)
def both_for_ever(rng: Rng) -> Watched:
    """A residual above its tolerance and a counter that runs the wrong way; float counters do not wrap."""
    floor = float(rng.uniform(0.1, 2.0))
    return watched([("r", floor + 0.7**K, ">", 0.3 * floor), ("i", -1.5 * K, "<", 100.0)], "and", ends=False)


@loop_family(WATCHED)
def nan_unequal(rng: Rng) -> Watched:
    """NaN differs from everything, itself included."""
    x = np.where(K < rng.integers(5, 30), np.cos(K), np.nan)
    return watched([("x", x, "!=", 0.5)], ends=False)


@loop_family(WATCHED)
def nan_under_not(rng: Rng) -> Watched:
    """``not (x < tol)`` stays true as soon as x is NaN."""
    x = np.where(K < rng.integers(5, 30), 1.0 + 0.9**K, np.nan)
    return watched([("x", x, "<", 1e-6) if rng.random() < 0.5 else ("x", x, ">", 9.0)], "not", ends=False)


@loop_family(WATCHED)
def nan_in_one_of_or(rng: Rng) -> Watched:
    """One clause turned NaN and false; the other one is a counter and ends the loop."""
    n = int(log_uniform(rng, 60, 2000))
    x = np.where(K < rng.integers(1, 6), 2.0, np.nan)
    return watched([("x", x, ">", 1.0), ("i", K, "<", n)], "or")


@loop_family(WATCHED)
def overflowed(rng: Rng) -> Watched:
    """An infinite operand stays above every threshold."""
    with np.errstate(over="ignore"):
        x = (np.float32(rng.uniform(1, 9)) * np.float32(rng.uniform(20, 99)) ** K[:200].astype(np.float32)).astype(
            np.float32
        )
    return watched([("x", x, ">", np.float32(0.5))], ends=False)


@loop_family(WATCHED)
def active_points(rng: Rng) -> Watched:
    """``count_nonzero(active) > 0``: points leave one after the other."""
    lives = rng.exponential(float(rng.uniform(20, 400)), int(rng.integers(20, 300)))
    return watched([("active", (lives[:, None] > K).sum(0), ">", 0)], exact=False)


@loop_family(WATCHED)
def largest_change(rng: Rng) -> Watched:
    """max |dx| of Jacobi's method on a chain."""
    size, tol = int(rng.integers(4, 16)), log_uniform(rng, 1e-9, 1e-3)
    right = rng.normal(size=size)

    def step(k: int, x: np.ndarray, d: np.ndarray) -> dict[str, np.ndarray]:
        around = np.r_[0, x[:-1]] + np.r_[x[1:], 0]
        new = (right + around) / 2
        return {"x": new, "d": np.abs(new - x)}

    start = {"x": np.zeros(size), "d": np.full(size, 9.0)}
    return observed(start, step, lambda x, d: [("max|dx|", d.max(), ">", tol)], exact=False)


@loop_family(WATCHED)
def drawn_until_large(rng: Rng) -> Watched:
    """A condition on random draws: no end is certain, and none is impossible."""
    draws = rng.random(6000)
    return watched([("u", rng.permuted(draws), "<", float(rng.choice([0.99, 0.995, 0.998])))], exact=False)


@loop_family(WATCHED)
def random_walk_to_barrier(rng: Rng) -> Watched:
    walk = np.cumsum(rng.normal(size=6000)) if rng.random() < 0.5 else np.cumsum(rng.choice([-1, 1], 6000))
    return watched([("x", np.abs(walk), "<", float(rng.integers(8, 40)))], exact=False)


@loop_family(WATCHED)
def hailstone(rng: Rng) -> Watched:
    """Collatz: nothing tells the end in advance."""
    out = [int(rng.integers(1000, 10**7))]
    while out[-1] != 1:
        out.append(out[-1] // 2 if out[-1] % 2 == 0 else 3 * out[-1] + 1)
    if len(out) < 100:
        raise DrawAgain
    return watched([("n", np.array(out), "!=", 1)], exact=False)


@loop_family(WATCHED)
def congruential_hits(rng: Rng) -> Watched:
    """A generator of full period meets every number below its modulus."""
    m, a, c = 1 << int(rng.integers(8, 12)), 4 * int(rng.integers(1, 60)) + 1, 2 * int(rng.integers(60)) + 1
    x = [int(rng.integers(m))]
    while len(x) <= m:
        x.append((a * x[-1] + c) % m)
    return watched([("x", np.array(x), "!=", int(rng.integers(m)))], exact=False)


@loop_family(WATCHED)
def next_prime(rng: Rng) -> Watched:
    """The sieve's ``p * p <= n``, with the primes for p."""
    top = int(rng.integers(200, 4000))
    primes = [p for p in range(2, top) if all(p % q for q in range(2, int(p**0.5) + 1))]
    return watched([("p*p", np.array([p * p for p in primes]), "<=", primes[-1] ** 2 - 1)], exact=False)


@loop_family(WATCHED)
def euclid(rng: Rng) -> Watched:
    """Remainders of neighbours in a sequence of Fibonacci's kind, the longest division there is."""
    a, b = int(rng.integers(1, 9)), int(rng.integers(1, 9))
    for _ in range(int(rng.integers(55, 80))):
        a, b = a + b, a
    out = [b]
    while b:
        a, b = b, a % b
        out.append(b)
    return watched([("b", np.array(out), "!=", 0)], exact=False)
