"""Sweeps of functions of JAX: each point equals a session of its own."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import workbench as wb

pytestmark = pytest.mark.jax


def root(a):
    return lax.while_loop(lambda x: jnp.abs(x * x - a) > 1e-5, lambda x: (x + a / x) * 0.5, a)


def test_a_function_of_jax():
    graph = wb.from_jax(root, jnp.float32(2.0))
    (name,) = graph.inputs
    found = wb.sweep(graph, {name: np.linspace(1, 50, 60, dtype=np.float32)}, work=20_000)
    assert {"ended"} <= set(found["outcome"]) <= {"ended", "endless"}
    (values,) = found.columns.all.values.values()
    for k in np.flatnonzero(found["outcome"] == "ended")[::9]:
        with found.session(int(k)) as session:
            session.run()
            (value,) = session.outputs.values()
            assert np.asarray(value).tobytes() == values[k].tobytes()
