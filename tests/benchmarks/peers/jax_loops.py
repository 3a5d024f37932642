"""JAX: ``jit`` of ``lax.while_loop``, in 64 bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.peers import Run, need
from tests.benchmarks.workloads import CENTRE, INNER, RATE, SIDE, Workload


def prepare(workload: Workload) -> Run:
    jax = need("jax")
    jax.config.update("jax_enable_x64", True)
    jnp, lax = jax.numpy, jax.lax

    def loop(start: Any, n: Any, step: Any) -> Any:
        return lax.while_loop(lambda s: s[1] < n, lambda s: (step(s[0]), s[1] + 1), (start, jnp.int64(0)))[0]

    def newton(n: Any, a: Any) -> Any:
        return loop(a, n, lambda x: (x + a / x) * 0.5)

    def nested(n: Any, a: Any) -> Any:
        return loop(a, n, lambda y: loop(y, INNER, lambda z: z * a + 1.0))

    def collatz(n: Any, start: Any) -> Any:
        return loop(start, n, lambda x: lax.cond(x % 2 == 0, lambda v: v // 2, lambda v: 3 * v + 1, x))

    def gd(n: Any, A: Any, b: Any, x0: Any) -> Any:
        return loop(x0, n, lambda x: x - RATE * (A @ x - b))

    def stencil(n: Any, u: Any) -> Any:
        return loop(u, n, lambda x: jnp.pad(CENTRE * x[1:-1] + SIDE * (x[:-2] + x[2:]), 1))

    known = {"newton": newton, "nested": nested, "collatz": collatz, "gd": gd, "stencil": stencil}
    compiled = jax.jit(known[workload.name.partition("-")[0]])
    inputs = {k: jnp.asarray(np.asarray(v)) for k, v in workload.inputs.items()}
    return lambda n: compiled(jnp.int64(n), **inputs).block_until_ready()
