"""Notes on branches and loops that ``vmap`` transforms silently.

Source: https://docs.jax.dev/en/latest/_autosummary/jax.lax.cond.html: under ``vmap`` with a mapped predicate a ``cond``
becomes a ``select``.
"""

from __future__ import annotations

from typing import Any

from workbench.frontends.jax.library import made_in, opened
from workbench.frontends.jax.source_lines import place_of
from workbench.ir.node import Source

#: the JAX function that vmaps a cond or a switch
_BRANCHES = "_cond_batching_rule"


def note_of(equation: Any, around: Source | None) -> str | None:
    """A sentence on an equation into which vmap turned a branch, or on batched loops; None for all others. ``around``
    is the line of the call that contains the equation.
    """
    name = equation.primitive.name
    if name == "select_n" and made_in(equation, _BRANCHES):
        place = place_of(equation, around)
        return (
            f"The branch at {place} is under vmap, which computes all of its sides for every element and "
            "then selects (select_n): a NaN or an index out of range may stem from a side that is not taken."
        )
    if name == "while" and opened(equation.params["cond_jaxpr"])[0].outvars[0].aval.shape:
        place = place_of(equation, around)
        return (
            f"The loops at {place} run side by side under vmap, until the last of them ends; those that "
            "have ended keep their values."
        )
    return None
