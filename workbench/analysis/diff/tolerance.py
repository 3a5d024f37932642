"""Kinds of differences, and the tolerance within which two items agree.

Two items agree if they are equal, both NaN, or within one of the tolerances::

    |a - b| <= atol + rtol * max(|a|, |b|)        or        ulp distance <= ulp

The rule is symmetric, so that ``diff(a, b)`` and ``diff(b, a)`` find the same differences. NaN and a number, an
infinity and anything else, and true and false are never within a tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from workbench.errors import WorkbenchError
from workbench.text import harmless


class Kind(Enum):
    """Kind of a difference; the value is its sentence."""

    VALUE = "The numbers differ by more than the tolerance."
    NAN = "One side is NaN where the other is not."
    INF = "One side is infinite where the other is not."
    SHAPE = "The shapes differ."
    DTYPE = "The dtypes differ."
    OTHER = "The values are of different kinds, or are texts or objects that differ."
    BRANCH = "A branch or a loop decides differently."
    ONLY_A = "It fired in a only: in b its branch was not taken."
    ONLY_B = "It fired in b only: in a its branch was not taken."
    LENGTH = "A loop runs a different number of iterations."


_KINDS = tuple(Kind)


@dataclass(frozen=True, slots=True)
class Tolerance:
    """If ``ulp`` is None, only an ulp distance of 0 is allowed. ``dtypes``: a different dtype is a difference."""

    rtol: float = 0.0
    atol: float = 0.0
    ulp: int | None = None
    dtypes: bool = False

    def __post_init__(self) -> None:
        for name in ("rtol", "atol", "ulp"):
            given = getattr(self, name)
            if given is None and name == "ulp":
                continue
            is_number = isinstance(given, int | float | np.integer | np.floating) and not isinstance(given, bool)
            if not is_number or not given >= 0:
                raise WorkbenchError(
                    f"diff: {name} must be a number of 0 or more, got {given!r}.",
                    slug="bad-tolerance",
                    fix="write something like wb.diff(a, b, rtol=1e-6).",
                )

    @harmless
    def __str__(self) -> str:
        parts = [f"rtol {self.rtol:g}", f"atol {self.atol:g}"]
        return ", ".join(parts + ([] if self.ulp is None else [f"ulp {self.ulp}"]))


def kind_of(code: int) -> Kind:
    return _KINDS[code]


def code_of(kind: Kind) -> int:
    return _KINDS.index(kind)
