"""The sentence of each kind of claim: one table, in natural English, with the numbers of the claim."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.analysis.text import count, listed, shown


def _period(c: Any) -> str:
    if c.n == 1:
        return f"Iteration {c.since + 1:,} begins exactly like iteration {c.since:,}, so all later ones do the same."
    return (
        f"Iteration {c.since + c.n:,} begins exactly like iteration {c.since:,}: "
        f"from there on the loop repeats these {c.n:,} iterations."
    )


def _reaches(c: Any) -> str:
    over = f"in each of the {count(c.n, 'iteration')} that repeat"
    if c.lowest == c.highest:
        return f"{c.name} is {shown(c.lowest)} {over}."
    return f"{c.name} goes from {shown(c.lowest)} to {shown(c.highest)} {over}."


def _limit(c: Any) -> str:
    error = f", to within {c.error:.1g}" if c.error else ""
    return f"{c.name} tends to {shown(c.value)}{error}: there the update gives the same value back."


def _first_bad(c: Any) -> str:
    return f"From iteration {c.iteration:,} on {listed(list(c.names))} " + (
        "no longer changes." if c.n == 1 and len(c.names) == 1 else "repeats." if len(c.names) == 1 else "repeat."
    )


def _ray(c: Any) -> str:
    when = "each iteration changes" if c.period == 1 else f"every {c.period:,} iterations change"
    steps = listed([f"{name} by {shown(step)}" for name, step in c.steps.items()])
    until = "for ever" if c.periods is None else f"for {c.period * c.periods:,} iterations"
    return f"From iteration {c.since:,} on, {when} {steps or 'the variables by the same differences'}, {until}."


def _overflow(c: Any) -> str:
    return (
        f"Python's ints have no end; those of this graph have 64 bits, which {c.node} no longer fits in iteration "
        f"{c.iteration:,}."
    )


def _identity(c: Any) -> str:
    stays = "stays zero" if c.zero else "never becomes zero"
    modulo = f" modulo {c.modulus:,}" if c.modulus else f" modulo 2^{c.bits}" if c.bits else ""
    return f"{c.polynomial} {stays}{modulo}: an iteration multiplies it by {' or '.join(c.factors)}."


#: kind of a claim -> its sentence
SENTENCES: dict[str, Callable[[Any], str]] = {
    "period": _period,
    "ray": _ray,
    "overflow": _overflow,
    "identity": _identity,
    "reaches": _reaches,
    "limit": _limit,
    "first-bad": _first_bad,
}
