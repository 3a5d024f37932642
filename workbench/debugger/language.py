"""The small language of conditions: its names, and the tree that :mod:`workbench.debugger.parser` makes of a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.errors import SessionError

#: what one value is reduced to: usable bare (``max > 3``) and as functions (``max(value)``)
REDUCTIONS = ("min", "max", "mean", "std", "sum", "norm", "any", "all")
#: item by item
ELEMENTWISE = ("abs", "isnan", "isinf", "isfinite", "sqrt", "log", "exp", "sign")
#: facts of a value that are no arrays
FACTS = ("shape", "dtype", "size", "ndim")
NAMES = ("value", "previous", "delta", "iteration")
TRUTHS = frozenset(("any", "all", "isnan", "isinf", "isfinite"))


@dataclass(frozen=True, slots=True)
class Term:
    """One node of the tree. ``kind``: number, text, name, call, index, neg, not, binary, compare, and, or, tuple.

    ``what`` is the number, text, name or sign; of a comparison the tuple of signs, of an index its items.
    """

    kind: str
    what: Any
    parts: tuple[Term, ...] = ()


def refuse(text: str, why: str, what: str = "condition") -> SessionError:
    """The error for a text that cannot be used."""
    return SessionError(
        f"The {what} {text[:80]!r} cannot be used: {why}.", slug="bad-condition",
        fix='write something like "value > 1e6", "isnan(value)", "abs(delta) < 1e-9 and iteration > 3" or '
        '\'value[0, -1] > value("y")\'.',
    )  # fmt: skip


def is_number(term: Term) -> bool:
    """Whether this is surely no yes or no."""
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
    """Whether a condition reads the iteration before."""
    return term.kind == "name" and term.what in ("previous", "delta") or any(looks_back(p) for p in term.parts)
