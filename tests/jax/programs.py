"""Functions with loops and branches as users of JAX write them, with arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Program(NamedTuple):
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


def programs() -> dict[str, Program]:
    """Name -> function and arguments; made when asked, because they need JAX."""
    import jax
    import jax.experimental.ode
    import jax.numpy as jnp
    import jax.scipy.optimize
    from jax import lax

    x, key = jnp.arange(4.0), jax.random.key(7)

    def newton(a, x):
        def cond(state):
            x, i = state
            return (abs(x * x - a) > 1e-6) & (i < 50)

        def body(state):
            x, i = state
            return (x + a / x) * 0.5, i + 1

        return lax.while_loop(cond, body, (x, 0))

    def nested(n):
        def outer(i, acc):
            return lax.while_loop(lambda s: s[0] < i, lambda s: (s[0] + 1, s[1] + s[0] * i), (0, acc))[1]

        return lax.fori_loop(0, n, outer, 0)

    def collatz(n):
        def step(state):
            n, count = state
            return lax.cond(n % 2 == 0, lambda n: n // 2, lambda n: 3 * n + 1, n), count + 1

        return lax.while_loop(lambda s: s[0] != 1, step, (n, 0))

    def root(a):
        def solve(f, start):
            return lax.while_loop(lambda x: abs(f(x)) > 1e-5, lambda x: x - f(x) / (2 * x), start)

        return lax.custom_root(lambda x: x * x - a, 1.0, solve, lambda g, y: y / g(1.0))

    def sampler(key):
        def step(i, state):
            key, total = state
            key, part = jax.random.split(key)
            take = jax.random.bernoulli(part)
            return key, jnp.where(take, total + jax.random.gamma(part, 2.0), total)

        return lax.fori_loop(0, 3, step, (key, 0.0))[1]

    def pick(i, x):
        return lax.switch(i, [lambda x: x, jnp.sin, lambda x: jnp.sort(-x)], x)

    diagonal = jnp.array([1.0, 2.0, 3.0, 4.0])
    return {
        "newton": Program(newton, (2.0, 1.0)),
        "nested": Program(nested, (6,)),
        "collatz": Program(collatz, (27,)),
        "scan": Program(lambda x: lax.scan(lambda c, v: (c + v, c * v), 0.0, x), (x,)),
        "scan backwards": Program(lambda x: lax.scan(lambda c, v: (c + v, (c * v, c)), 0.0, x, reverse=True), (x,)),
        "scan of nothing": Program(lambda c: lax.scan(lambda c, _: (c * 1.5, c), c, None, length=5), (1.0,)),
        "scan of length 0": Program(lambda x: lax.scan(lambda c, v: (c + v, c), 0.0, x), (jnp.zeros((0,)),)),
        "several carries": Program(lambda x: lax.scan(lambda c, v: ((c[1], c[0] + v), c[0]), (0.0, 1.0), x), (x,)),
        "map": Program(lambda x: lax.map(lambda v: v * v + 1, x), (x,)),
        "associative_scan": Program(lambda x: lax.associative_scan(jnp.add, x), (x,)),
        "fori with known bounds": Program(lambda x: lax.fori_loop(0, 5, lambda i, x: x * 2 + i, x), (1.0,)),
        "fori with a bound as argument": Program(lambda n, x: lax.fori_loop(0, n, lambda i, x: x + i, x), (5, 1.0)),
        "switch": Program(pick, (1, x)),
        "switch beyond the last": Program(pick, (9, x)),
        "switch before the first": Program(pick, (-3, x)),
        "cond": Program(lambda p, x: lax.cond(p > 0, jnp.sin, lambda x: x * 2, x), (1.0, x)),
        "loops side by side": Program(
            jax.vmap(lambda a: lax.while_loop(lambda x: abs(x * x - a) > 1e-3, lambda x: (x + a / x) / 2, a)),
            (jnp.array([2.0, 3.0, 100.0]),),
        ),
        "branches side by side": Program(
            jax.vmap(lambda a: lax.cond(a > 2.0, jnp.sqrt, lambda v: -v, a)), (jnp.array([1.0, 3.0, 9.0]),)
        ),
        "sum over a mapped axis": Program(
            lambda x: jax.vmap(lambda v: v / lax.psum(v, "i"), axis_name="i")(x), (x + 1,)
        ),
        "gradient of a scan": Program(
            jax.grad(lambda a: lax.scan(lambda c, _: (jnp.sin(c) * a, None), 1.0, None, length=4)[0]), (0.7,)
        ),
        "gradient of a branch": Program(jax.grad(lambda a: lax.cond(a > 0, lambda a: a**3, lambda a: -a, a)), (0.7,)),
        "gradient with a checkpoint": Program(jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)))), (1.0,)),
        "custom_root": Program(root, (2.0,)),
        "conjugate gradients": Program(lambda b: jax.scipy.sparse.linalg.cg(lambda v: v * diagonal, b)[0], (x,)),
        "BFGS": Program(
            lambda x0: (
                jax.scipy.optimize.minimize(
                    lambda x: jnp.sum((x - 1) ** 2 * jnp.array([1.0, 10.0])), x0, method="BFGS"
                ).x
            ),
            (jnp.zeros(2),),
        ),
        "an ODE with rejected steps": Program(
            lambda y, t: jax.experimental.ode.odeint(lambda y, t: -30.0 * y * jnp.cos(9.0 * t), y, t),
            (1.0, jnp.linspace(0.0, 1.0, 4)),
        ),
        "expm": Program(jax.scipy.linalg.expm, (jnp.arange(4.0).reshape(2, 2) / 10,)),
        "random numbers": Program(lambda key: jax.random.normal(key, (3,)), (key,)),
        "random numbers by old keys": Program(lambda key: jax.random.normal(key, (3,)), (jax.random.PRNGKey(3),)),
        "keys in a scan": Program(
            lambda k: lax.scan(lambda k, _: (jax.random.split(k)[0], jax.random.uniform(k)), k, None, length=4)[1],
            (key,),
        ),
        "keys in a result": Program(lambda k: jax.random.split(k, 3), (key,)),
        "sampler": Program(sampler, (key,)),
        "solve": Program(jnp.linalg.solve, (jnp.eye(3) + 0.1, jnp.ones(3))),
        "incomplete gamma": Program(jax.scipy.special.gammainc, (2.0, 3.0)),
        "a pytree": Program(lambda p: {"twice": p["w"] * 2, "both": (p["s"].sum(), p["w"])}, ({"w": 1.0, "s": x},)),
        "bfloat16": Program(lambda x: lax.fori_loop(0, 5, lambda i, x: x * jnp.bfloat16(1.1), x), (jnp.bfloat16(1),)),
        "float8": Program(lambda x: x.astype(jnp.float8_e4m3fn).astype(jnp.float32), (x,)),
        "int4": Program(lambda x: (x.astype(jnp.int4) + jnp.int4(1)).astype(jnp.float32), (x,)),
        "an array over a number": Program(
            lambda x, y: (lax.div(x, y), lax.div(x, x + 1), lax.rem(x, y), lax.mul(x, y)),
            (jnp.array([3391.789, 1384.4034, 565.06256]), jnp.float32(3952.1418)),
        ),
        "whole numbers": Program(lambda n: (n // 3, n % 3, n >> 1, -n // 3, jnp.sign(n), n**3), (jnp.arange(-5, 6),)),
        "a callback": Program(
            lambda x: jax.pure_callback(lambda v: v + 1, jax.ShapeDtypeStruct((), jnp.float32), x), (1.0,)
        ),
    }
