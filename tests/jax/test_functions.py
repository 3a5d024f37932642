"""Functions that nodes of ours compute give the bits of JAX, on a million values of each dtype."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import workbench as wb
from tests.jax.harness import difference
from workbench.frontends.jax.library import numbers_of_64_bits
from workbench.frontends.jax.rules.elementwise import IN_C_LIBRARY

pytestmark = pytest.mark.jax
COUNT = 250_000


def values(dtype):
    """Small numbers, numbers of every size, and those on which functions turn."""
    random = np.random.default_rng(20261126)
    sizes = np.exp(random.uniform(-30, 30, COUNT)) * random.choice([-1, 1], COUNT)
    edges = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.5, np.pi, np.inf, -np.inf, np.nan]
    parts = (
        3 * random.normal(size=COUNT),
        random.uniform(-1, 1, COUNT),
        sizes,
        random.uniform(-100, 100, COUNT),
        edges,
    )
    return np.concatenate(parts).astype(dtype)


@pytest.mark.parametrize(
    ("function", "dtypes"),
    [
        (lax.tan, ("float32", "float64")),
        (lax.cbrt, ("float32", "float64")),
        (lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), ("float32", "float64")),
        (lax.sin, ("float64",)),
        (lax.cos, ("float64",)),
        (lax.log, ("float64",)),
    ],
    ids=["tan", "cbrt", "round", "sin", "cos", "log"],
)
def test_a_function_of_ours_gives_the_bits_of_jax(function, dtypes, request):
    ours = IN_C_LIBRARY or "round" in request.node.callspec.id
    for dtype in dtypes:
        x = values(dtype)
        with numbers_of_64_bits(dtype == "float64"):
            graph = wb.from_jax(function, jnp.asarray(x))
            wanted = np.asarray(function(jnp.asarray(x)))
        assert ours != any(n.op.startswith("jax:") for n in graph.nodes.values())
        (given,) = graph.run(dict(zip(graph.inputs, [x], strict=True))).values()
        assert difference(wanted, given, 0) is None


@pytest.mark.parametrize("function", [lax.exp, lax.tanh, lax.sin, lax.log])
def test_what_is_rounded_otherwise_stays_with_jax(function):
    graph = wb.from_jax(function, jnp.float32(1.0))
    assert [n for n in graph.nodes.values() if n.op.startswith("jax:")]
    with wb.Session(graph, graph.example) as session:
        assert [r for r in session.plan.reasons.values() if "computed by JAX: its results are rounded as XLA" in r[1]]


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "uint32"])
@pytest.mark.parametrize("function", [lax.div, lax.rem, jnp.floor_divide, jnp.remainder])
def test_whole_numbers_are_divided_as_by_jax_also_by_zero(function, dtype):
    kind = np.iinfo(dtype)
    some = np.unique(np.array([kind.min, kind.min + 1, 0, 1, 2, 3, 7, kind.max, kind.max - 6], dtype))
    x, y = (each.ravel() for each in np.meshgrid(some, np.concatenate([some, ~some])))
    wanted = np.asarray(function(jnp.asarray(x), jnp.asarray(y)))
    graph = wb.from_jax(function, x, y)
    assert not any(n.op.startswith("jax:") for n in graph.nodes.values())
    (given,) = graph.run(graph.feeds(x, y)).values()
    assert difference(wanted, given, 0) is None
    single = wb.from_jax(function, x[0], y[0])
    for k in range(0, len(x), 7):
        (number,) = single.run(single.feeds(x[k], y[k])).values()
        assert number == wanted[k]


def test_a_remainder_by_a_constant_needs_no_choice():
    graph = wb.from_jax(lambda n: lax.fori_loop(0, n, lambda i, t: (t * 5 + i) % 7, 1), 9)
    assert not any(n.op.startswith("jax:") for n in graph.nodes.values())
    assert [n.op for n in graph.nodes.values()].count("fmod") == 1
    assert [n.op for n in graph.nodes.values()].count("where") == 2  # those of jnp.remainder itself
