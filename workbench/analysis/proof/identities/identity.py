"""Comparisons that keep their values for ever, because an iteration multiplies their polynomial by a factor.

For a comparison of p with zero the updates are substituted into p, and the result p' is expanded and divided by p. If
p' = c p on every path through the iteration, p stays zero once it is zero; if c is invertible (odd, modulo 2^bits), p
never becomes zero either. If p' = c p + g q with an integer g, p is only multiplied by c modulo g: if it is not a
multiple of g now, it is never zero. The same holds modulo 2^bits if g is a power of two.

Sources: E. Rodriguez-Carbonell and D. Kapur, "Generating all polynomial invariants in simple loops", J. Symb. Comput.
42, 2007, https://doi.org/10.1016/j.jsc.2007.01.002; M. Mueller-Olm and H. Seidl, "Analysis of modular arithmetic",
TOPLAS 29, 2007.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.analysis.intervals.interval import FLOATS, INTEGERS, Interval, bounds, top
from workbench.analysis.proof.identities.formulas import Unknown, Way, ways
from workbench.analysis.proof.identities.terms import Terms, TooLarge, content, divided, substituted, value, written
from workbench.analysis.proof.rays.iteration import LoopBody
from workbench.analysis.slicing.formulas import SliceProgram
from workbench.ir.node import Ref
from workbench.text import harmless


@dataclass(frozen=True)
class Kept:
    """A comparison that keeps its value.

    ``polynomial`` is its left side minus its right side; on each path an iteration multiplies it by one of ``factors``,
    up to multiples of ``modulus`` (0: exactly). The identity holds modulo 2 to the power of ``bits``, or in the
    integers if that is None.
    """

    node: str
    op: str
    holds: bool
    names: tuple[str, ...]
    terms: Terms
    factors: tuple[Terms, ...]
    modulus: int
    bits: int | None

    @property
    def polynomial(self) -> str:
        return written(self.terms, self.names)

    @property
    def written_factors(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(written(c, self.names) for c in self.factors))

    @harmless
    def __str__(self) -> str:
        factors = " or ".join(self.written_factors)
        modulo = f" modulo {self.modulus:,}" if self.modulus else f" modulo 2^{self.bits}" if self.bits else ""
        return f"an iteration multiplies {self.polynomial} by {factors}{modulo}"


def identity(program: SliceProgram, body: LoopBody, state: Mapping[str, np.ndarray]) -> list[Kept] | None:
    """The comparisons that keep the condition true for ever; None if this cannot be proved."""
    checked = any(n.attrs.get("checked") for n in (program.graph.nodes[x] for x in body.computed()))
    try:
        found = ways(body, state, checked)
        if not found:
            return None
        compared = [way.compared(body) for way in found]
        names = dict.fromkeys(name for one in compared for name in one)
        kept = [k for name in names if (k := _kept(name, compared, found, body, state)) is not None]
    except (TooLarge, RecursionError):
        return None
    if not kept:
        return None
    known: dict[Ref, Interval] = {Ref(k.node): bounds("bool", int(k.holds), int(k.holds)) for k in kept}
    any_state = {name: top(v.dtype.name) if v.dtype.name in (*FLOATS, *INTEGERS) else None for name, v in state.items()}
    return kept if bool(program.condition(any_state, 1, known)[0].all()) else None


def _kept(
    name: str,
    compared: Sequence[Mapping[str, Unknown]],
    found: Sequence[Way],
    body: LoopBody,
    state: Mapping[str, np.ndarray],
) -> Kept | None:
    seen = [one[name] for one in compared if name in one]
    op, formula = seen[0].op, seen[0].difference
    if formula is None or op not in ("equal", "not_equal"):
        return None
    if any(other.difference != formula for other in seen):
        return None
    p, bits = formula.terms, formula.bits
    names = tuple(body.variables)
    used = {i for e in p for i, n in enumerate(e) if n}
    if any(state[names[i]].dtype.name != formula.dtype for i in used):
        return None
    here = value(p, [int(state[n]) if state[n].dtype.kind in "iu" and not state[n].ndim else 0 for n in names], bits)
    factors, rest = [], 0
    for way in found:
        after = substituted(p, way.next_values, bits)
        if after is None:
            return None
        factor, left = divided(after, p, bits)
        factors.append(factor)
        rest = math.gcd(rest, content(left))
    if bits is not None:
        rest = math.gcd(rest, 1 << bits) if rest else 0
    if here == 0 and rest == 0 or here != 0 and _never_zero(here, factors, rest, bits):
        holds = (here == 0) == (op == "equal")
        return Kept(name, op, holds, names, p, tuple(factors), rest, bits)
    return None


def _never_zero(here: int, factors: Sequence[Terms], rest: int, bits: int | None) -> bool:
    """True if a number that is not zero stays nonzero: modulo ``rest``, if that is not zero."""
    modulus = rest if rest else 1 << bits if bits is not None else 0
    if modulus == 1 or modulus and here % modulus == 0:
        return False
    for factor in factors:
        if any(any(e) for e in factor) or not factor:
            return False
        (c,) = factor.values()
        if modulus and math.gcd(c, modulus) != 1:
            return False
    return True
