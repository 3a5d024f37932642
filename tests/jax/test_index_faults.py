"""Indices out of range, which JAX never reports."""

from __future__ import annotations

import jax.numpy as jnp
import pytest
from jax import lax

import workbench as wb
from workbench.widgets.panel.health_model import health_model

pytestmark = pytest.mark.jax
X = jnp.arange(5.0)


def faults(function, *arguments):
    graph = wb.from_jax(function, *arguments)
    with wb.Session(graph, graph.feeds(*arguments)) as session:
        session.run()
        return wb.index_faults(session)


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (lambda x: x[jnp.array([0, 7])], [(7, 4, "clamped")]),
        (lambda x: jnp.take(x, jnp.array([1, 9])), [(9, 4, "filled")]),
        (lambda x: x.at[jnp.array([5, 2])].set(1.0), [(5, 4, "dropped")]),
        (lambda x: x.at[jnp.array([5, 2])].add(1.0, mode="clip"), [(5, 4, "clamped")]),
        (lambda x: lax.dynamic_slice(x, (3,), (3,)), [(3, 2, "clamped")]),
        (lambda x: lax.dynamic_update_slice(x, jnp.ones(2), (4,)), [(4, 3, "clamped")]),
        (lambda x: x[jnp.array([0, 4])] + x[jnp.array([-1, -5])], []),
        (lambda x: x.at[jnp.array([4])].multiply(2.0), []),
    ],
)
def test_each_fault_is_found_with_what_becomes_of_it(function, wanted):
    assert [(f.index, f.limit, f.otherwise) for f in faults(function, X)] == wanted


def test_the_iteration_and_the_line_are_named():
    def body(i, total):
        return total + lax.dynamic_slice(X, (i,), (1,))[0]  # this line

    found = faults(lambda n: lax.fori_loop(0, n, body, 0.0), 7)
    assert [(f.iteration, f.index) for f in found] == [((5,), 5), ((6,), 6)]
    assert {f.source.expression for f in found} == {"return total + lax.dynamic_slice(X, (i,), (1,))[0]  # this line"}
    assert "in iteration 5" in str(found[0]) and "test_index_faults.py" in str(found[0])


def test_the_health_card_says_so():
    graph = wb.from_jax(lambda n: lax.fori_loop(0, n, lambda i, t: t + X[i], 0.0), 7)
    with wb.Session(graph, graph.feeds(7)) as session:
        session.run_to("i", iteration=4)
        assert "finite" in health_model(session)
        session.run()
        model = health_model(session)
    assert model["text"].startswith("Index out of range: ") and "in iteration 5, 5 where 0 to 4" in model["text"]
    assert model["iteration"] == [5] and model["node"] in graph.nodes


def test_no_more_than_asked_for():
    graph = wb.from_jax(lambda n: lax.fori_loop(0, n, lambda i, t: t + X[i], 0.0), 50)
    with wb.Session(graph, graph.feeds(50)) as session:
        session.run()
        assert len(wb.index_faults(session, most=3)) == 3
