"""``from_jax``: a function that JAX can trace as a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from workbench.errors import LoadError, WorkbenchError
from workbench.frontends.jax.calls import without_wrapper
from workbench.frontends.jax.jax_graph import Call, JaxGraph, attach
from workbench.frontends.jax.jitted import Traced
from workbench.frontends.jax.library import flushes_subnormals, library, opened, result_names
from workbench.frontends.jax.lower import JaxLowering
from workbench.frontends.jax.names import distinct, own_names
from workbench.frontends.jax.source_lines import function_source
from workbench.frontends.jax.types import type_of
from workbench.ir.builder.builder import GraphBuilder
from workbench.ir.collector import collector_paused


def from_jax(
    function: Callable[..., Any],
    /,
    *args: Any,
    static_argnums: int | Sequence[int] = (),
    rounded: bool = False,
    **kwargs: Any,
) -> JaxGraph:
    """Trace a JAX function and convert its jaxpr to a graph, with loops and branches as frames.

    The function is traced once, with the types of the arguments, and not executed. Inputs, loop variables and nodes
    have the names, lines and scopes of the user's code; calls such as ``jit`` are regions. Values equal those of
    op-by-op JAX (``jax.disable_jit()``) bit for bit. Arithmetic, comparisons and moves of elements are compiled here;
    they give the same bits, except that the maximum or minimum of zeros or subnormal numbers may be a zero of the other
    sign in XLA. On a CPU, XLA flushes subnormal inputs and results of float32 and float64 to zero; so does the graph
    (``flushes_subnormals``). Results under ``jax.jit`` differ, because there operations are fused.

    Parameters
    ----------
    function : callable
        A function that JAX can trace; it may be jitted, differentiated or vmapped.
    *args
        Arguments of the function, pytrees too. Only the types and shapes of numbers and arrays matter.
    static_argnums : int or sequence of int, optional
        Positions of arguments that are fixed when the function is traced.
    rounded : bool, optional
        If True, ``sin``, ``cos``, ``log`` and ``exp`` of float32, and these, ``tan``, ``cbrt``, ``pow``, ``log1p``,
        ``tanh``, ``acos``, ``sinh``, ``cosh``, ``asinh`` and ``atanh`` of float16 and bfloat16, are computed by
        compiled code of the workbench instead of JAX: within one unit in the last place, and many times as fast in
        loops.
    **kwargs
        Keyword arguments of the function.

    Returns
    -------
    JaxGraph
        A :class:`Graph` that also has ``feeds(*args)`` and ``result(outputs)``, to and from the function's pytrees.

    Raises
    ------
    LoadError
        ``no-jax``, ``jax-version``, ``jax-trace-failed`` (the function itself raised), ``no-results`` (it returns no
        value), ``unsupported-jax-type``.
    UnknownOpError
        Raised once, with every primitive that cannot be evaluated, its line and the reason.

    Notes ----- Jaxprs: https://docs.jax.dev/en/latest/jaxpr.html. Versions 0.7 to 0.12 of JAX are supported.

    Examples
    --------
    >>> import jax
    >>> def newton(a, x):
    ...     return jax.lax.while_loop(lambda x: abs(x * x - a) > 1e-6, lambda x: (x + a / x) / 2, x)
    >>> graph = wb.from_jax(newton, 2.0, 1.0)
    >>> graph.run(a=2.0, x=1.0)
    {'result': array(1.4142135, dtype=float32)}
    """
    jax = library()
    static = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
    if not callable(function):
        raise LoadError(
            f"from_jax takes a function, but got {type(function).__name__}.", slug="not-a-function", fix="give one."
        )
    try:
        closed, shape = jax.make_jaxpr(function, static_argnums=static, return_shape=True)(*args, **kwargs)
    except WorkbenchError:
        raise
    except Exception as error:  # the user's function may raise any exception
        raise LoadError(
            f"JAX cannot trace {getattr(function, '__name__', 'the function')!r}: {type(error).__name__}: "
            f"{str(error)[:1000].strip().rstrip('.')}.",
            slug="jax-trace-failed",
            fix="call it under jax.jit with these arguments first; name what is not an array in static_argnums.",
        ) from error
    if not jax.tree_util.tree_leaves(shape):
        raise LoadError(
            f"{getattr(function, '__name__', 'The function')!r} returns no value, so that nothing of it is computed.",
            slug="no-results",
            fix="let it return what you want to look at, such as the last state.",
        )
    with collector_paused():
        graph = _graph(without_wrapper(closed), _name_of(function), rounded)
    attach(graph, Call(args, kwargs, static, rounded), shape)
    return graph


def _name_of(function: Any) -> str:
    while hasattr(function, "__wrapped__") or hasattr(function, "func"):
        function = getattr(function, "__wrapped__", None) or function.func
    return str(getattr(function, "__name__", type(function).__name__)).strip("<>") or "function"


def _graph(closed: Any, name: str, rounded: bool) -> JaxGraph:
    jaxpr, _ = opened(closed)
    builder = GraphBuilder(name)
    builder.flushes_subnormals = flushes_subnormals()
    lowering = JaxLowering(builder, rounded)
    builder.source = function_source(jaxpr)
    names = distinct([n or f"arg{k}" for k, n in enumerate(own_names(jaxpr))])
    types = [type_of(v.aval) for v in jaxpr.invars]
    arguments = [builder.placeholder(n, t.dtype, t.shape) for n, t in zip(names, types, strict=True)]
    results = lowering.after_effects(lowering.closed(closed, arguments))
    lowering.finish()
    labels = distinct([_result_label(n, len(results)) for n in result_names(jaxpr)])
    made = builder.build(dict(zip(labels, results, strict=True))).with_notes(lowering.notes)
    graph: JaxGraph = object.__new__(JaxGraph)
    graph.__dict__.update(made.__dict__)
    graph.__dict__["_traced"] = Traced(closed, lowering.labels, lowering.x64, rounded)
    return graph


def _result_label(path: str, count: int) -> str:
    return (
        "result"
        if not path or (count == 1 and path == "result[0]")
        else path.removesuffix("[0]")
        if count == 1
        else path
    )
