"""Loops of JAX: reading a function, the first run, and an iteration, beside JAX and beside loops built by hand.

``.venv-jax/bin/python -m tests.benchmarks.jax_loops``, after ``make test-jax``, prints

- the seconds that ``wb.from_jax`` takes for a jaxpr of 5,000 equations, beside JAX's tracing, and its first run;
- for each loop the time of an iteration of the graph, every value traced, over that of JAX under
  ``jax.disable_jit()``, of JAX under ``jax.jit``, and of the same loop built by hand, in turns in one process.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import workbench as wb
from tests.benchmarks.timing import Timed, interleaved

EQUATIONS = 5_000
#: trips here and under jit, and under disable_jit, where a trip takes about a millisecond
TRIPS, FEW = 100_000, 50


class Loop(NamedTuple):
    """A function of the number of trips, and the same loop built by hand where there is one."""

    function: Callable[[Any], Any]
    by_hand: Callable[[], wb.Graph] | None
    trips: int
    rounded: bool = False


def loops() -> dict[str, Loop]:
    import jax.numpy as jnp
    from jax import lax

    def newton(n: Any) -> Any:
        return lax.while_loop(
            lambda s: s[1] < n, lambda s: ((s[0] + jnp.float32(2.0) / s[0]) * 0.5, s[1] + 1), (jnp.float32(1.0), 0)
        )[0]

    def newton_by_hand() -> wb.Graph:
        b = wb.GraphBuilder("newton")
        n, two, half = b.placeholder("n", "int32", ()), b.constant(np.float32(2)), b.constant(np.float32(0.5))
        start = {"x": b.constant(np.float32(1)), "i": b.constant(np.int32(0))}
        one = b.constant(np.int32(1))
        step = lambda x, i: {"x": (x + two / x) * half, "i": i + one}  # noqa: E731
        return b.build(b.while_loop(lambda x, i: i < n, step, start)["x"])

    def collatz(n: Any) -> Any:
        def step(state: Any) -> Any:
            k, i = state
            following = lax.cond(k % 2 == 0, lambda k: k // 2, lambda k: 3 * k + 1, k)
            return jnp.where(following <= 1, 27, following), i + 1

        return lax.while_loop(lambda s: s[1] < n, step, (27, 0))[0]

    def cosine(n: Any) -> Any:
        return lax.fori_loop(0, n, lambda i, x: jnp.cos(x), jnp.float32(0.5))

    return {
        "newton": Loop(newton, newton_by_hand, TRIPS),
        "collatz, a branch": Loop(collatz, None, TRIPS),
        "cosine, computed by JAX": Loop(cosine, None, TRIPS // 20),
        "cosine, rounded": Loop(cosine, None, TRIPS, rounded=True),
    }


def long_function(x: Any) -> Any:
    """About as many equations as are counted, none of which can be folded."""
    for k in range(EQUATIONS // 2):
        x = x * 1.0001 + (k % 7)
    return x


def reading() -> None:
    import jax

    from_jax = wb.from_jax  # imported when it is first asked for
    begun = time.process_time()  # other load does not count
    count = len(jax.make_jaxpr(long_function)(1.0).eqns)
    traced = time.process_time() - begun
    begun = time.process_time()
    graph = from_jax(long_function, 1.0)  # JAX has the trace
    read = time.process_time() - begun
    begun = time.process_time()
    graph.run(x=1.0)
    first = time.process_time() - begun
    print(
        f"{count:,} equations, seconds of processor time: traced by JAX {traced:.2f}, from_jax {read:.2f}, "
        f"first run {first:.2f}"
    )


def iterations(name: str, loop: Loop) -> None:
    import jax

    def ours(graph: wb.Graph) -> Callable[[], Timed]:
        feeds = {next(iter(graph.inputs)): np.asarray(loop.trips, np.int32)}

        def job() -> Timed:
            with wb.Session(graph, feeds) as session:
                session.step()
                begun = time.perf_counter()
                session.run()
                return Timed((time.perf_counter() - begun) / loop.trips)

        return job

    def theirs(function: Callable[[Any], Any], trips: int) -> Callable[[], Timed]:
        def job() -> Timed:
            begun = time.perf_counter()
            jax.block_until_ready(function(trips))
            return Timed((time.perf_counter() - begun) / trips)

        return job

    def op_by_op(trips: Any) -> Any:
        with jax.disable_jit():
            return loop.function(trips)

    jobs = {"here": ours(wb.from_jax(loop.function, loop.trips, rounded=loop.rounded))}
    if loop.by_hand is not None:
        jobs["by hand"] = ours(loop.by_hand())
    jobs["jit"] = theirs(jax.jit(loop.function), loop.trips)
    jobs["disable_jit"] = theirs(op_by_op, FEW)
    jobs["jit"](), jobs["disable_jit"]()  # compiled once
    seconds = interleaved(jobs, rounds=3)
    parts = [f"{k} {seconds[k] / seconds['here']:,.2f}" for k in seconds if k != "here"]
    print(f"{name:24} {seconds['here'] * 1e6:9.3f} us an iteration; times this long: {', '.join(parts)}")


def main() -> None:
    reading()
    for name, loop in loops().items():
        iterations(name, loop)


if __name__ == "__main__":
    main()
