"""Solvers of the JAX world: Optax's updates and Optimistix's searches, by the size of the gradient or residual."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from tests.evaluation.solver_records.record import SolverRecord, maker, record

jax.config.update("jax_enable_x64", True)


def valley(x: Any) -> Any:
    """Rosenbrock's function."""
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def huber(x: Any) -> Any:
    """A robust regression."""
    a = jnp.asarray(np.random.default_rng(2).normal(size=(60, 8)))
    return jnp.mean(optax.huber_loss(a @ x - jnp.sin(jnp.arange(60.0) * 3)))


PROBLEMS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "valley": (valley, jnp.array([-1.0, 0.8, 0.3])),
    "huber": (huber, jnp.zeros(8)),
}


@maker
def updates() -> Iterator[SolverRecord]:
    """The norm of the gradient under Optax's rules."""
    for name, (f, x0) in PROBLEMS.items():
        for kind, rule in (
            ("AdaBelief", optax.adabelief(0.03)),
            ("Yogi", optax.yogi(0.03)),
            ("Lion", optax.lion(0.003)),
            ("Adamax", optax.adamax(0.03)),
            ("SM3", optax.sm3(0.3)),
            ("cosine schedule", optax.adam(optax.cosine_decay_schedule(0.05, 500))),
        ):
            value = jax.jit(jax.value_and_grad(f))
            x, state, told = x0, rule.init(x0), []
            for _ in range(500):
                _, gradient = value(x)
                told.append(float(jnp.linalg.norm(gradient)))
                step, state = rule.update(gradient, state, x)
                x = optax.apply_updates(x, step)
            yield record(f"optax {kind}, gradient", name, told, 1e-3)


@maker
def fixed_points() -> Iterator[SolverRecord]:
    """The change of an iterate under ``jax.scipy``'s and Optax's projections: alternating ones between two sets."""
    for name, seed in (("simplex and plane", 1), ("simplex and slab", 4)):
        rng = np.random.default_rng(seed)
        normal = jnp.asarray(rng.normal(size=12))
        x, told = jnp.asarray(rng.normal(size=12)), []
        for _ in range(300):
            y = optax.projections.projection_simplex(x)
            y = y - jnp.maximum(0.0, normal @ y - float(normal.min()) - 0.02) / (normal @ normal) * normal
            told.append(float(jnp.linalg.norm(y - x)))
            x = y
        yield record("optax alternating projections", name, told, 1e-8)
