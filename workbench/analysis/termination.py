"""The answer to "will this loop end, and if not, why": one record for white box and black box."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple


class Status(Enum):
    """How sure an answer is; the three are never mixed. The values are full sentences."""

    PROVED = "An exact argument holds for every later iteration."
    PREDICTED = "A forecast from what was observed, with an interval."
    UNKNOWN = "Neither a proof nor a forecast that deserves the name."

    def __str__(self) -> str:
        return self.name


class Reason(NamedTuple):
    """Slug for programs, sentence for people."""

    slug: str
    sentence: str

    def __str__(self) -> str:
        return self.sentence


class Proof(NamedTuple):
    """Kind of exact argument (lookahead, recurrence, invariant-predicate, observed, trip-limit); what was checked."""

    kind: str
    checked: str


@dataclass
class Termination:
    """Answer about one loop.

    ``remaining`` counts further executions of the body from the present evaluation of the predicate; None if unknown
    or never.  ``interval`` holds 90 % of the forecast's probability (for a proof: certain bounds, the upper one None
    where there is none).  ``root`` names the variables, most guilty first.
    """

    status: Status
    outcome: str | None = None
    remaining: int | None = None
    interval: tuple[int, int | None] | None = None
    reason: Reason = Reason("none", "No reason was recorded.")
    root: list[str] = field(default_factory=list)
    blocking_clause: str | None = None
    confidence: float = 0.0
    fix: list[str] = field(default_factory=list)
    proof: Proof | None = None

    def __str__(self) -> str:
        head = {"terminates": "the loop ends", "never": "the loop never ends", None: "no answer"}[self.outcome]
        text = [f"{self.status.name}: {head}"]
        if self.remaining is not None:
            text[0] += f" after {self.remaining:,} more iteration{'s' if self.remaining != 1 else ''}"
        if self.status is Status.UNKNOWN and self.interval is not None:
            text[0] += f"; at least {self.interval[0]:,} more iterations"
        elif self.status is Status.PREDICTED and self.interval is not None:
            low, high = self.interval
            text[0] += f" (90 % interval {low:,} to {'any' if high is None else format(high, ',')})"
        elif self.remaining is None and self.interval is not None and self.interval[1] is not None:
            text[0] += f" within {self.interval[1]:,} more iterations"
        text[0] += "."
        text.append(self.reason.sentence)
        if self.proof is not None:
            text.append(f"Proof by {self.proof.kind}: {self.proof.checked}")
        if self.blocking_clause:
            text.append(f"Blocking clause: {self.blocking_clause}.")
        if self.root:
            text.append("Root: " + ", ".join(self.root) + ".")
        if self.status is Status.PREDICTED:
            text.append(f"Confidence {self.confidence:.0%}.")
        for sentence in self.fix:
            text.append("To fix it: " + sentence)
        return " ".join(text)


def unknown(slug: str, sentence: str, **more: object) -> Termination:
    """An honest UNKNOWN with its reason."""
    return Termination(Status.UNKNOWN, reason=Reason(slug, sentence), **more)  # type: ignore[arg-type]
