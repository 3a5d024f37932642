"""A JAX function as one of two runs: ``wb.diff(jax.jit(f), graph)`` shows where jit differs from single ops."""

from __future__ import annotations

from typing import Any

from workbench.analysis.diff.external_record import Record
from workbench.analysis.diff.run_with import JIT, run_with
from workbench.errors import WorkbenchError
from workbench.execution import Run, prepare_feeds
from workbench.execution.one_shot import plan_for
from workbench.frontends.jax import JaxGraph, from_jax
from workbench.trace import Trace

#: maximum bytes and node executions of the run of a graph
_MEMORY, _MOST = 1 << 30, 10_000_000


def as_runs(a: Any, b: Any) -> tuple[Any, Any]:
    """Both as runs: a JAX function under ``jax.jit`` with the inputs of the other, a JAX graph with the arguments from
    which it was made. Anything else is returned unchanged.

    Raises
    ------
    WorkbenchError
        For a function together with anything else (``not-comparable``).
    """
    made = _compiled(a, b) if _is_function(a) else a, _compiled(b, a) if _is_function(b) else b
    first, second = (_traced(x) if isinstance(x, JaxGraph) else x for x in made)
    return first, second


def _is_function(thing: Any) -> bool:
    return callable(thing) and not isinstance(thing, type)


def _compiled(function: Any, other: Any) -> Record:
    graph = other if isinstance(other, JaxGraph) else getattr(other, "graph", None)
    if not isinstance(graph, JaxGraph) or not hasattr(other, "inputs"):
        raise WorkbenchError(
            f"A {type(function).__name__} can be compared with a graph of JAX or a session of one, got "
            f"{type(other).__name__}.",
            slug="not-comparable",
            fix="give wb.from_jax(function, arguments) or a session of it.",
        )
    call = graph.call
    inputs = graph.example if graph is other else dict(other.inputs)
    made = from_jax(function, *call.args, static_argnums=call.static, rounded=call.rounded, **call.kwargs)
    return run_with(JIT, made, inputs)


def _traced(graph: JaxGraph) -> Trace:
    feeds = prepare_feeds(graph, graph.example)
    run = Run(plan_for(graph, feeds, None), feeds, _MEMORY)
    while run.go(_MOST, exact=True) != "halt" and run.event < _MOST:
        pass
    return run.trace
