"""A jaxpr evaluated equation by equation by JAX alone, loops and branches in Python: what a graph is held against.

``jax.disable_jit()`` does the same for most functions, but runs the loops inside of a linear solve compiled as a whole.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from workbench.frontends.jax.library import counts_of_scan


def results(function: Callable[..., Any], *args: Any, **kwargs: Any) -> list[Any]:
    """The leaves of what the function returns."""
    import jax

    closed = jax.make_jaxpr(function)(*args, **kwargs)
    return run(closed, jax.tree_util.tree_leaves((args, kwargs)))


def run(closed: Any, arguments: Sequence[Any]) -> list[Any]:
    import jax.numpy as jnp

    jaxpr, consts = getattr(closed, "jaxpr", closed), list(getattr(closed, "consts", ()))
    values: dict[Any, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
    values.update(
        (v, jnp.asarray(a, v.aval.dtype) if isinstance(a, (int, float, np.generic, np.ndarray)) else a)
        for v, a in zip(jaxpr.invars, arguments, strict=True)
    )

    def value(atom: Any) -> Any:
        return jnp.asarray(atom.val, atom.aval.dtype) if hasattr(atom, "val") else values[atom]

    for eqn in jaxpr.eqns:
        values.update(zip(eqn.outvars, _equation(eqn, [value(a) for a in eqn.invars]), strict=True))
    return [value(a) for a in jaxpr.outvars]


def _equation(eqn: Any, given: list[Any]) -> list[Any]:
    import jax

    name, params = eqn.primitive.name, eqn.params
    if name in ("jit", "pjit", "checkpoint", "remat2", "closed_call", "custom_jvp_call", "custom_vjp_call"):
        return run(params.get("jaxpr", params.get("call_jaxpr")), given)
    if name == "while":
        return _while(params, given)
    if name == "scan":
        return _scan(params, given, eqn.outvars)
    if name == "cond":
        last = len(params["branches"]) - 1
        return run(params["branches"][min(max(int(given[0]), 0), last)], given[1:])
    if name == "custom_linear_solve":
        lengths = params["const_lengths"]
        before = lengths.matvec + lengths.vecmat
        after = before + lengths.solve
        return run(params["jaxprs"].solve, [*given[before:after], *given[after + lengths.transpose_solve :]])
    function = eqn.primitive.impl
    inside = name == "call_hi_primitive" or (
        isinstance(function, FunctionType) and function.__module__.partition(".")[0] != "jax"
    )
    with jax.disable_jit() if inside else contextlib.nullcontext():  # a primitive that may have loops inside
        made = eqn.primitive.bind(*given, **params)
    return list(made) if eqn.primitive.multiple_results else [made]


def _while(params: Any, given: list[Any]) -> list[Any]:
    import jax.numpy as jnp

    tests, extra = params["cond_nconsts"], params["body_nconsts"]
    test_consts, body_consts, state = given[:tests], given[tests : tests + extra], given[tests + extra :]
    while True:
        go_on = np.asarray(run(params["cond_jaxpr"], [*test_consts, *state])[0])
        if not go_on.any():
            return state
        new = run(params["body_jaxpr"], [*body_consts, *state])
        if go_on.shape:
            new = [
                jnp.where(go_on.reshape(go_on.shape + (1,) * (n.ndim - go_on.ndim)), n, s)
                for n, s in zip(new, state, strict=True)
            ]
        state = new


def _scan(params: Any, given: list[Any], outputs: list[Any]) -> list[Any]:
    import jax.numpy as jnp

    consts, carried = counts_of_scan(params)
    fixed, state, scanned = given[:consts], given[consts : consts + carried], given[consts + carried :]
    count = len(getattr(params["jaxpr"], "jaxpr", params["jaxpr"]).outvars) - carried
    order = range(params["length"])[::-1] if params["reverse"] else range(params["length"])
    rows: list[list[Any]] = [[] for _ in range(count)]
    for k in order:
        made = run(params["jaxpr"], [*fixed, *state, *(x[k] for x in scanned)])
        state = made[:carried]
        for row, element in zip(rows, made[carried:], strict=True):
            row.append(element)
    if not params["length"]:
        return [*state, *(jnp.zeros(v.aval.shape, v.aval.dtype) for v in outputs[carried:])]
    stacked = [jnp.stack(r[::-1] if params["reverse"] else r) for r in rows]
    return [*state, *stacked]
