"""Explanations of the checks: the values that :meth:`Claim.check` recomputes for each kind, and their sources."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.analysis.text import count, listed


def _over(c: Any) -> str:
    """The iterations from which a claim is recomputed."""
    return f"iteration {c.first:,}" if c.first == c.last else f"iterations {c.first:,} to {c.last:,}"


def _period(c: Any) -> str:
    again = listed([f"{c.since + k * c.n:,}" for k in range(3)])
    return f"all that the condition depends on, compared bit for bit in iterations {again}"


def _at(c: Any) -> str:
    return f"the operands and the result of the op, in iteration {c.iteration:,}"


def _each(c: Any) -> str:
    return f"the operands and the result of the op, in {_over(c)}"


def _sides(c: Any) -> str:
    return f"both sides of the comparison, read in {_over(c)}"


def _began(c: Any) -> str:
    return "" if c.since is None else f" and from {c.since:,} on"


def _ray(c: Any) -> str:
    return f"{count(c.period, 'iteration')}, computed with polynomials, and the states at both ends, which were run"


#: kind of a claim -> the recomputed facts, and the values that they are recomputed from
CHECKS: dict[str, Callable[[Any], str]] = {
    "period": _period,
    "ray": _ray,
    "bounded": lambda c: "an iteration, computed with ranges in place of numbers, none of which it leaves",
    "overflow": lambda c: "the loop, run from the last iterations in which all integers fit",
    "identity": lambda c: "the updates, put into the polynomial, and its value in iterations that were run",
    "first-bad": lambda c: f"the values in iteration {c.iteration:,}, against those that repeat; and the ones before",
    "compared": lambda c: f"both sides, read in iteration {c.iteration:,} and compared again",
    "rests": _sides,
    "circles": lambda c: f"both sides, read over {count(c.n, 'iteration')} from iteration {c.first:,} on",
    "observed": _sides,
    "steps-over": lambda c: f"both sides, read in iterations {c.iteration - 1:,} and {c.iteration:,}",
    "residue": lambda c: f"each step in {_over(c)}, and the remainder of the way by its size",
    "every-number": lambda c: f"the least and the largest {c.clause.dtype} number, put into the comparison",
    "moves-away": _sides,
    "not-updated": lambda c: f"the edges of the graph from {c.variable} to its next value",
    "not-read": lambda c: "the edges of the graph behind the comparison",
    "absorbed": lambda c: f"the op, computed again in {c.dtype} in {_over(c)}",
    "neutral": _each,
    "zero": _each,
    "saturated": _each,
    "truncated": _each,
    "fixed-point": lambda c: f"{c.variable} and its next value, compared bit for bit in {_over(c)}",
    "guard": lambda c: f"the predicate, read in {_over(c)}, and its two sides",
    "flag-guard": lambda c: f"the predicate, read in {_over(c)}",
    "flag": lambda c: f"{c.flag}, read in {_over(c)}",
    "nan": lambda c: f"both sides, read in iteration {c.last:,}{_began(c)}",
    "origin": _at,
    "edited": lambda c: "the list of the values that were set by hand",
    "infinite": lambda c: f"the value, read in iteration {c.last:,}{_began(c)}",
    "wraps": lambda c: f"the op in iteration {c.iteration:,}, computed again with integers of unlimited size",
    "last-digits": _at,
    "overshoots": lambda c: f"the steps of {c.variable} in {_over(c)}",
    "sign-flips": lambda c: f"the values in iteration {c.iteration:,} and in the one before",
    "stalls": lambda c: f"the step, added in {c.dtype} to this value and to its neighbour",
}


def check_of(claim: Any) -> str:
    """The values from which a claim is recomputed; empty for the end of a loop, whose sentence names them."""
    return CHECKS[claim.kind](claim) if claim.kind in CHECKS else ""
