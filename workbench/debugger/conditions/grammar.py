"""Grammar of breakpoint conditions: the allowed names, and the nodes of the syntax tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.errors import SessionError

#: reductions of a value, usable bare (``max > 3``) and as functions (``max(value)``)
REDUCTIONS = ("min", "max", "mean", "std", "sum", "norm", "any", "all")
#: functions of each item
ELEMENTWISE = ("abs", "isnan", "isinf", "isfinite", "sqrt", "log", "exp", "sign")
#: properties of a value other than arrays
FACTS = ("shape", "dtype", "size", "ndim")
NAMES = ("value", "previous", "delta", "iteration")
TRUTHS = frozenset(("any", "all", "isnan", "isinf", "isfinite"))


@dataclass(frozen=True, slots=True)
class Term:
    """One node of the tree. ``kind``: number, text, name, call, index, neg, not, binary, compare, and, or, tuple.

    ``what`` is the number, text, name or sign; for a comparison the tuple of signs, for an index its items.
    """

    kind: str
    what: Any
    parts: tuple[Term, ...] = ()


def refuse(text: str, why: str, what: str = "condition") -> SessionError:
    """SessionError for a condition or another text that is invalid."""
    fix = (
        'write something like "value > 1e6", "isnan(value)", "abs(delta) < 1e-9 and iteration > 3" or '
        "'value[0, -1] > value(\"y\")'."
    )
    if what == "expression":
        fix = 'write something like 2 * x, max(abs(x)) or x[0, -1] - previous("x").'
    return SessionError(f"The {what} {text[:80]!r} cannot be used: {why}.", slug="bad-condition", fix=fix)


def is_number(term: Term) -> bool:
    """True if the term certainly evaluates to a number or another value that is not a bool."""
    if term.kind in ("neg", "binary", "text", "tuple"):
        return True
    if term.kind == "number":
        return not isinstance(term.what, bool)
    if term.kind == "call":
        return term.what not in TRUTHS
    return term.kind == "name" and term.what not in ("value", "previous")


def others(term: Term) -> list[str]:
    """Names of other values that a condition reads."""
    found = [term.what[1]] if term.kind == "other" else []
    for part in term.parts:
        found += others(part)
    return list(dict.fromkeys(found))


def looks_back(term: Term) -> bool:
    """True if a condition reads the previous iteration."""
    return term.kind == "name" and term.what in ("previous", "delta") or any(looks_back(p) for p in term.parts)


def reads_own(term: Term) -> bool:
    """True if a text reads the value of its own breakpoint, by a word such as ``value`` or ``max``."""
    return term.kind == "name" and term.what != "iteration" or any(reads_own(p) for p in term.parts)
