"""``Claim``: one fact about a loop, with the data to recompute it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, TypeVar

import numpy as np

from workbench.analysis.claims.checks import check_of
from workbench.analysis.claims.sentences import SENTENCES
from workbench.analysis.text import plain
from workbench.errors import WorkbenchError
from workbench.kernels.machine import Subnormals, flushes
from workbench.text import harmless

#: kind of a claim -> the fixes that it suggests; the package ``fixes`` fills it
FIXES: dict[str, Callable[[Any], list[str]]] = {}

Proposals = TypeVar("Proposals", bound=Callable[[Any], list[str]])


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One fact about a loop. Each kind is a subclass whose docstring says what it asserts.

    Attributes
    ----------
    kind : str
        Stable word for programs, one per class.
    data : dict
        The numbers and strings of the claim, as plain values for JSON.
    sentence : str
        The claim for people.
    evidence : object
        Internal: the values of the run from which :meth:`check` recomputes. Pickled copies have none.

    Examples
    --------
    >>> for claim in session.termination().claims:
    ...     assert claim.check()
    ...     print(claim.kind, claim.sentence)
    """

    kind: ClassVar[str] = ""

    evidence: Any = field(default=None, repr=False, compare=False)
    #: Internal: whether the graph flushes subnormal numbers to zero; a claim is recomputed with the same arithmetic.
    flushed: bool = field(default_factory=flushes, repr=False, compare=False)

    @property
    def data(self) -> dict[str, Any]:
        return {f.name: plain(getattr(self, f.name)) for f in fields(self) if f.compare}

    @property
    @harmless
    def sentence(self) -> str:
        return SENTENCES[self.kind](self)

    @property
    @harmless
    def checked_by(self) -> str:
        """The values from which :meth:`check` recomputes it, in words; empty if the sentence names them."""
        return check_of(self)

    def check(self) -> bool:
        """Recompute the claim from the values of the run.

        Returns
        -------
        bool
            True if every number in it follows from the values.

        Raises
        ------
        WorkbenchError
            If the values are missing, as in a pickled answer (``no-evidence``).
        """
        if self.evidence is None:
            raise WorkbenchError(
                f"The claim {self.kind!r} has no values to be recomputed from.",
                slug="no-evidence",
                fix="get the claims again: session.termination().claims.",
            )
        with Subnormals(self.flushed), np.errstate(all="ignore"):
            return bool(self._holds(self.evidence))

    def _holds(self, run: Any) -> bool:
        raise NotImplementedError

    def fixes(self) -> list[str]:
        """Fixes that the claim suggests, untried; fixes are tried before they are shown."""
        return FIXES[self.kind](self) if self.kind in FIXES else []

    def to_dict(self) -> dict[str, Any]:
        """The claim as plain data for JSON."""
        return {"kind": self.kind, "sentence": self.sentence, "data": self.data}

    @harmless
    def __str__(self) -> str:
        return self.sentence

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "evidence": None}


def released(claims: Iterable[Claim]) -> None:
    """Release the machines and records behind the claims; only the values that their checks have read are kept."""
    for claim in claims:
        for part in claim.evidence if isinstance(claim.evidence, tuple) else (claim.evidence,):
            if hasattr(part, "release"):
                part.release()


def checked(claims: Iterable[Claim]) -> list[Claim]:
    """The claims that hold when they are recomputed; claims that cannot be recomputed are dropped, too."""
    return [claim for claim in claims if _holds(claim)]


def _holds(claim: Claim) -> bool:
    try:
        return claim.check()
    except (LookupError, ValueError, TypeError, ArithmeticError, RuntimeError, WorkbenchError):
        return False


def fixes_for(*kinds: str) -> Callable[[Proposals], Proposals]:
    """Decorator: the function returns the fixes of claims of these kinds."""

    def enter(function: Proposals) -> Proposals:
        for kind in kinds:
            FIXES[kind] = function
        return function

    return enter


__all__ = ["FIXES", "Claim", "checked", "fixes_for", "released"]
