"""Loops for the white box over whole numbers: strides, wraps, shifts, hashes, sieves, division, search in tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.evaluation.families.base import GRAPH, Rng, log_uniform
from tests.evaluation.families.loop_cases import in_graph, loop_family
from tests.evaluation.scoring.cases import GraphLoop

i32, i64 = np.int32, np.int64
NARROW = (np.int8, np.uint8, np.int16, np.uint16)
RECURS = "recur|cycle|period|repeats|steps over|wrap"


@loop_family(GRAPH)
def graph_counter(rng: Rng) -> GraphLoop:
    step, n = int(rng.integers(1, 9)), int(log_uniform(rng, 5, 4000))
    dtype: Any = (i32, i64, np.float32, np.float64, np.uint32, np.uint64)[rng.integers(6)]
    return in_graph(rng, {"i": dtype(0)}, lambda i: i < step * n, lambda i: {"i": i + step})


@loop_family(GRAPH)
def graph_counter_far(rng: Rng) -> GraphLoop:
    """Too long to be run: arithmetic gives the number."""
    step, top = int(rng.integers(1, 99)), int(log_uniform(rng, 1e10, 1e17))
    if rng.random() < 0.5:
        return in_graph(rng, {"i": i64(0)}, lambda i: i < top, lambda i: {"i": i + step}, n=-(-top // step))
    return in_graph(rng, {"i": i64(top)}, lambda i: i >= 0, lambda i: {"i": i - step}, n=top // step + 1)


@loop_family(GRAPH)
def graph_odd_stride_wraps(rng: Rng) -> GraphLoop:
    """``!=`` is met by wrapping: the stride is odd, so it has an inverse modulo 2^32."""
    step, goal = 2 * int(rng.integers(1, 500)) + 1, int(rng.integers(1, 2**31))
    n = goal * pow(step, -1, 2**32) % 2**32
    return in_graph(rng, {"i": i32(0)}, lambda i: i != goal, lambda i: {"i": i + step}, n=n)


@loop_family(GRAPH)
def graph_even_stride_misses(rng: Rng) -> GraphLoop:
    dtype: Any = (*NARROW, i32, i64)[rng.integers(6)]
    step, goal = 2 * int(rng.integers(1, 20)), 2 * int(rng.integers(1, 50)) + 1
    return in_graph(rng, {"i": dtype(0)}, lambda i: i != goal, lambda i: {"i": i + step}, "i", RECURS, n=None)


@loop_family(GRAPH)
def graph_narrow_wrap(rng: Rng) -> GraphLoop:
    dtype = NARROW[rng.integers(4)]
    top, step = np.iinfo(dtype).max - 5, int(rng.integers(1, 9))
    return in_graph(rng, {"i": dtype(50)}, lambda i: i < top - step, lambda i: {"i": i - step}, "i", RECURS)


@loop_family(GRAPH)
def graph_halving(rng: Rng) -> GraphLoop:
    x, d = int(rng.integers(2**30, 2**62)), int(rng.integers(2, 6))
    if rng.random() < 0.5:
        return in_graph(rng, {"x": i64(x)}, lambda x: x > 0, lambda x: {"x": x >> 1})
    return in_graph(rng, {"x": i64(x)}, lambda x: x > d, lambda x: {"x": x // d})


@loop_family(GRAPH)
def graph_loses_a_share(rng: Rng) -> GraphLoop:
    """x - x // d comes to rest at d - 1: it ends above, and never below."""
    d = int(rng.integers(3, 30))
    floor = d - 1 + int(rng.integers(-1, 2))
    start = {"x": i64(log_uniform(rng, 1e3, 1e9))}
    return in_graph(rng, start, lambda x: x > floor, lambda x: {"x": x - x // d}, "x", "change|rest|limit|recur")


@loop_family(GRAPH)
def graph_epochs(rng: Rng) -> GraphLoop:
    batches, count = int(rng.integers(2, 40)), int(rng.integers(2, 60))
    return in_graph(rng, {"k": i64(0)}, lambda k: k // batches < count, lambda k: {"k": k + 1})


@loop_family(GRAPH)
def graph_collatz(rng: Rng) -> GraphLoop:
    start, add = int(rng.integers(3, 10**6)), int(rng.choice([1, 1, 1, 5]))

    def step(n: Any) -> dict[str, Any]:
        return {"n": np.where(n % 2 == 0, n // 2, 3 * n + add)}

    return in_graph(rng, {"n": i64(start)}, lambda n: n != 1, step, "n", RECURS)


@loop_family(GRAPH)
def graph_gcd(rng: Rng) -> GraphLoop:
    start = {"a": i64(rng.integers(1, 2**60)), "b": i64(rng.integers(1, 2**60))}
    return in_graph(rng, start, lambda a, b: b != 0, lambda a, b: {"a": b, "b": a % b})


@loop_family(GRAPH)
def graph_whole_root(rng: Rng) -> GraphLoop:
    """Integer Newton: as long as the next value is smaller."""
    a = int(rng.integers(10, 2**60))
    start = {"x": i64(a), "y": i64(a // 2 + 1)}
    return in_graph(rng, start, lambda x, y: y < x, lambda x, y: {"x": y, "y": (y + a // y) // 2})


@loop_family(GRAPH)
def graph_smallest_divisor(rng: Rng) -> GraphLoop:
    """Trial division; without the bound p * p <= n it would still end, at n itself."""
    n = int(rng.integers(100, 100_000))
    return in_graph(rng, {"p": i64(2)}, lambda p: (p * p <= n) & (n % p != 0), lambda p: {"p": p + 1})


@loop_family(GRAPH)
def graph_sieve(rng: Rng) -> GraphLoop:
    """The sieve of Eratosthenes over an array of flags, one number an iteration."""
    size = int(rng.integers(20, 400))
    k = np.arange(size)

    def step(p: Any, crossed: Any) -> dict[str, Any]:
        return {"p": p + 1, "crossed": crossed | ((k % p == 0) & (k > p))}

    start = {"p": i64(2), "crossed": np.zeros(size, bool)}
    return in_graph(rng, start, lambda p, crossed: p * p < size, step)


@loop_family(GRAPH)
def graph_binary_search(rng: Rng) -> GraphLoop:
    table = np.unique(rng.integers(0, 10**6, 500))
    goal = int(table[rng.integers(len(table))])

    def step(low: Any, high: Any, t: Any) -> dict[str, Any]:
        middle = (low + high) // 2
        right = t[middle] < goal
        return {"low": np.where(right, middle + 1, low), "high": np.where(right, high, middle), "t": t}

    start = {"low": i64(0), "high": i64(len(table)), "t": table}
    return in_graph(rng, start, lambda low, high, t: low < high, step)


@loop_family(GRAPH)
def graph_search_without_progress(rng: Rng) -> GraphLoop:
    """The classic mistake: low = middle instead of middle + 1, and two neighbours hold each other for ever."""
    goal, width = int(rng.integers(40, 400)), int(rng.integers(500, 1000))

    def step(low: Any, high: Any) -> dict[str, Any]:
        middle = (low + high) // 2
        return {"low": np.where(middle <= goal, middle, low), "high": np.where(middle <= goal, high, middle)}

    start = {"low": i64(0), "high": i64(width)}
    return in_graph(rng, start, lambda low, high: low < high, step, "low high", "change|recur|rest", n=None)


@loop_family(GRAPH)
def graph_walk_in_a_table(rng: Rng) -> GraphLoop:
    """Pointers through a permutation: the goal lies on the cycle or does not."""
    table = rng.permutation(int(rng.integers(5, 300)))
    goal, at = (int(place) for place in rng.choice(len(table), 2, replace=False))
    start = {"at": i64(at), "t": table}
    return in_graph(rng, start, lambda at, t: at != goal, lambda at, t: {"at": t[at], "t": t}, "at", RECURS)


@loop_family(GRAPH)
def graph_hash_until_zero_bits(rng: Rng) -> GraphLoop:
    """xorshift in 32 bits until the low bits are zero, as a proof of work."""
    mask = (1 << int(rng.integers(3, 12))) - 1

    def step(h: Any) -> dict[str, Any]:
        h = h ^ (h << 13)
        h = h ^ (h >> 17)
        return {"h": h ^ (h << 5)}

    start = {"h": np.uint32(rng.integers(1, 2**32, dtype=np.uint64))}
    return in_graph(rng, start, lambda h: (h & mask) != mask - 1, step)


@loop_family(GRAPH)
def graph_congruential(rng: Rng) -> GraphLoop:
    m, a, c = int(rng.integers(7, 5000)), int(rng.integers(2, 999)), int(rng.integers(0, 999))
    goal, start = (int(number) for number in rng.choice(m, 2, replace=False))
    return in_graph(rng, {"x": i64(start)}, lambda x: x != goal, lambda x: {"x": (a * x + c) % m}, "x", RECURS)


@loop_family(GRAPH)
def graph_tortoise_and_hare(rng: Rng) -> GraphLoop:
    """Floyd's search for a cycle of x^2 + c modulo m."""
    m, c = int(rng.integers(100, 50_000)), int(rng.integers(1, 20))

    def f(x: Any) -> Any:
        return (x * x + c) % m

    start = {"slow": i64(c % m), "fast": i64((c * c + c) % m)}
    body = lambda slow, fast: {"slow": f(slow), "fast": f(f(fast))}  # noqa: E731
    return in_graph(rng, start, lambda slow, fast: slow != fast, body)


@loop_family(GRAPH)
def graph_powers_in_a_narrow_dtype(rng: Rng) -> GraphLoop:
    dtype = NARROW[rng.integers(4)]
    odd, goal = int(rng.choice([3, 5, 7, 11])), int(rng.integers(2, 100))
    return in_graph(rng, {"x": dtype(1)}, lambda x: x != goal, lambda x: {"x": x * odd}, "x", RECURS)
