"""Differences of ``jax.jit`` from JAX op by op: the first difference first, also inside of loops and branches."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import workbench as wb
from tests.jax.programs import programs
from workbench.analysis.diff.run_with import JIT

pytestmark = pytest.mark.jax
PROGRAMS = programs()
X = jnp.linspace(-3.0, 3.0, 1001)


def cancelled(x):
    return jnp.sum(jnp.tanh(x) * jnp.exp(-x * x) + x / 3)


def grown(x):
    return lax.fori_loop(0, 8, lambda i, x: x * 1.1 + x * x * 0.01, x)


def test_the_first_difference_of_a_fused_function_is_named():
    found = wb.diff(jax.jit(cancelled), wb.from_jax(cancelled, X), labels=("jit", "op by op"))
    assert not found.equal and found.first.node in {row.node for row in found.introduced}
    assert 0 < found.first.max_rel < 1e-6, "rounding, and not another function"
    (end,) = (row for row in found.rows if row.node == "reduce_sum")
    assert float(end.value_a) == float(jax.jit(cancelled)(X)) != float(end.value_b)


def test_a_difference_inside_of_a_loop_has_its_iteration():
    graph = wb.from_jax(grown, X)
    with wb.Session(graph, graph.feeds(X)) as session:
        session.run()
        found = wb.diff(jax.jit(grown), session)
    assert not found.equal and found.first.iteration == (0,)
    assert found.first.node in {row.node for row in found.introduced}


@pytest.mark.parametrize(
    "name",
    ["newton", "nested", "collatz", "scan backwards", "several carries", "switch", "keys in a scan", "custom_root"],
)
def test_values_inside_of_loops_are_recorded_under_the_names_of_the_graph(name):
    function, arguments = PROGRAMS[name]
    graph = wb.from_jax(function, *arguments)
    record = wb.run_with(JIT, graph, graph.feeds(*arguments))
    with wb.Session(graph, graph.feeds(*arguments)) as session:
        session.run()
        found = wb.diff(session, record, rtol=1e-6, atol=1e-6)  # x * x - a is fused, and cancels
    assert found.equal and found.values > 2 and not found.lengths


def test_a_function_of_the_same_equations_without_rounding_is_equal():
    assert wb.diff(
        jax.jit(lambda n: lax.fori_loop(0, n, lambda i, t: t + i, 0)),
        wb.from_jax(lambda n: lax.fori_loop(0, n, lambda i, t: t + i, 0), 9),
    ).equal


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda graph: wb.run_with(JIT, "model.onnx"), "runs functions of JAX"),
        (lambda graph: wb.run_with(JIT, wb.parse(graph.text()), {"x": 1.0}), "runs functions of JAX"),
        (lambda graph: wb.diff(grown, {"x": 1.0}), "can be compared with a graph of JAX"),
    ],
)
def test_what_cannot_be_run_under_jit_is_one_clear_error(call, words):
    with pytest.raises(wb.WorkbenchError, match=words):
        call(wb.from_jax(lambda x: x * 2, 1.0))


def test_an_endless_loop_and_effects_are_refused():
    endless = wb.from_jax(lambda x: lax.while_loop(lambda x: x > -1.0, lambda x: x * 0.5, x), 1.0)
    with pytest.raises(wb.WorkbenchError, match="more than 50 trips"):
        wb.run_with(JIT, endless, {"x": 1.0}, max_trips=50)

    def loud(x):
        jax.debug.print("{}", x)
        return x

    with pytest.raises(wb.WorkbenchError, match="effects"):
        wb.run_with(JIT, wb.from_jax(loud, 1.0), {"x": 1.0})
