"""The answer to "will this loop end, and if not, why": one record for white box and black box.

Slugs of ``reason``, by what they say.

A loop that never ends, or would not without its trip limit (the cause; the clause is the one that blocks):

==================  ===============================================================================================
not-updated         no update of the variable in the body: it keeps its first value for ever
clause-invariant    the clause did not change as long as it was observed (the black box sees no graph)
no-effect           the variable is updated, and the update gives the value that it had from the start
absorbed            the variable's dtype absorbs the step: fl(x + d) == x with d != 0 (float32 at 2^24 with + 1)
floor               a residual comes to rest, or to a cycle of rounding errors, above its tolerance
limit-beyond        the operand comes to rest at, or tends to, a limit at which the clause still holds
cycle               the values repeat with a period and none of them ends the loop
step-too-large      the step of an iterative update swings over its goal, as lr = 2/L does: a cycle, or growing swings
steps-over          the values pass the one value at which ``!=`` turns
moves-away          every step leads away from the threshold: the step's sign or the comparison is the wrong way round
wraps               an integer goes round its dtype's range without meeting the threshold
out-of-range        every number of the dtype satisfies the clause (the black box's word for such a wrap)
nan                 an operand is NaN, and a comparison with NaN has one value for ever
overflow            an operand is infinite: it overflowed its dtype
flag-never-set      the loop is only left by a flag or break, and what would set it never comes to hold
inner-hangs         a loop inside never ends, so that this one never finishes its iteration
always-true         the condition reads nothing that the loop changes
recurrence          the state returns, and no more is known
==================  ===============================================================================================

A loop that ends: ``ended``, ``lookahead``, ``trip-limit``, ``counter``, ``counter-long``, ``geometric``, ``wraps``,
``forecast``.  No answer: ``no-loop``, ``node-failed``, ``raw-frame``, ``not-entered``, ``slice-slow``,
``slice-failed``, ``slice-not-deterministic``, ``slice-inconsistent``, ``impure-slice``, ``capped``, ``few``,
``no-data``, ``no-clauses``, ``flag``, ``noisy``, ``limit-close``, ``doubtful``, ``no-model``, ``not-scalar``,
``inconsistent``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from workbench.analysis.evolution import percent
from workbench.graph.node import Source


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
    """Kind of exact argument, and what was checked.

    Kinds: lookahead, recurrence, invariant-predicate, affine-counter (closed forms), interval (a box that is never
    left), inner-loop (one inside never ends), observed, trip-limit.
    """

    kind: str
    checked: str


class Gap(NamedTuple):
    """|left - right| of the blocking clause over consecutive evaluations, oldest first.

    ``trend`` is shrinking, constant, growing, cycling, or nan. ``iterations`` are those of ``values``.
    """

    trend: str
    values: tuple[float, ...]
    iterations: tuple[int, ...]

    def __str__(self) -> str:
        if not self.values:
            return self.trend
        first, last = self.iterations[0], self.iterations[-1]
        where = f"iteration {first:,}" if first == last else f"iterations {first:,} to {last:,}"
        return f"{self.trend}, {self.values[0]:.6g} to {self.values[-1]:.6g} in {where}"


class ChainLink(NamedTuple):
    """One node of the way on which a variable is updated, and its source line where that is known."""

    node: str
    op: str
    source: Source | None = None

    def __str__(self) -> str:
        return f"{self.node} ({self.op}" + (f", {self.source})" if self.source else ")")


def trend_of(values: Sequence[float]) -> str:
    """shrinking, constant, growing, cycling or nan, of gaps in the order of time."""
    if not values or math.isnan(values[-1]):
        return "nan"
    if max(values) - min(values) <= 1e-12 * max(map(abs, values)) or math.isinf(values[0]) and values[0] == values[-1]:
        return "constant"
    steps = [b - a for a, b in zip(values, values[1:], strict=False)]
    if all(s <= 0 for s in steps):
        return "shrinking" if values[-1] < values[-2] or len(values) < 5 else "constant"
    if all(s >= 0 for s in steps):
        return "growing" if values[-1] > values[-2] or len(values) < 5 else "constant"
    if values[-1] in values[:-1]:
        return "cycling"
    half = len(values) // 2
    early, late = max(values[:half]), max(values[half:])
    return "shrinking" if late < 0.9 * early else "growing" if late > 1.1 * early else "cycling"


@dataclass
class Termination:
    """Answer about one loop.

    ``remaining`` counts further executions of the body from the present evaluation of the predicate; None if unknown
    or never.  ``interval`` holds 90 % of the forecast's probability (for a proof: certain bounds, the upper one None
    where there is none).  ``root`` names the variables, most guilty first; ``chain`` is the way from the Merge of the
    first one to its NextIteration; ``first_bad`` the iteration from which it did not get any nearer to the end: where
    it came to rest, was absorbed, turned NaN, began its cycle, or passed the value that it should have met.
    ``gap`` is the distance of the blocking clause's operands.  ``fix`` holds sentences (see
    :class:`workbench.analysis.fixes.Fix`), ``details`` numbers by name.  What cannot be told is None or empty.
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
    gap: Gap | None = None
    chain: list[ChainLink] = field(default_factory=list)
    first_bad: int | None = None
    details: dict[str, Any] = field(default_factory=dict)
    #: where the look-ahead came to, for those who look for the cause; not part of the answer
    evidence: Any = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        head = {"terminates": "the loop ends", "never": "the loop never ends", None: "no answer"}[self.outcome]
        text = [f"{self.status.name}: {head}"]
        if self.remaining is not None:
            text[0] += f" {after(self.remaining)}"
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
        if self.gap is not None:
            text.append(f"Gap: {self.gap}.")
        if self.root:
            text.append("Root: " + ", ".join(self.root) + ".")
        if self.chain:
            lines = dict.fromkeys(c.source.where for c in self.chain if c.source is not None)
            shown = list(lines) if len(lines) <= 4 else [*list(lines)[:3], f"{len(lines) - 3} more lines"]
            text.append("Updated by " + ", ".join(shown or [c.node for c in self.chain[1:-1]][:4] or ["nothing"]) + ".")
        if self.first_bad is not None:
            text.append(f"First bad iteration: {self.first_bad:,}.")
        if self.status is Status.PREDICTED:
            text.append(f"Confidence {percent(self.confidence)}.")
        for sentence in self.fix:
            text.append("To fix it: " + sentence)
        return "\n".join(text)

    def table(self) -> dict[str, Any]:
        """The answer as plain data (numbers, text, lists and dictionaries), ready for JSON."""
        return {
            "status": self.status.name,
            "outcome": self.outcome,
            "remaining": self.remaining,
            "interval": None if self.interval is None else list(self.interval),
            "reason": {"slug": self.reason.slug, "sentence": self.reason.sentence},
            "root": list(self.root),
            "blocking_clause": self.blocking_clause,
            "gap": None if self.gap is None else {
                "trend": self.gap.trend, "values": [_plain(v) for v in self.gap.values],
                "iterations": list(self.gap.iterations),
            },
            "chain": [
                {"node": c.node, "op": c.op, "source": None if c.source is None else str(c.source)} for c in self.chain
            ],
            "first_bad": self.first_bad,
            "confidence": self.confidence,
            "proof": None if self.proof is None else {"kind": self.proof.kind, "checked": self.proof.checked},
            "fix": [f.table() if hasattr(f, "table") else {"sentence": f} for f in self.fix],
            "details": {k: _plain(v) for k, v in self.details.items()},
        }  # fmt: skip


def after(iterations: int) -> str:
    """``after 3 more iterations``, or ``without another iteration``."""
    if not iterations:
        return "without another iteration"
    return f"after {iterations:,} more iteration{'s' if iterations != 1 else ''}"


def _plain(value: Any) -> Any:
    """A number, text, list or dictionary of them; NaN and infinities as text, for JSON has none."""
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, (bool, int, str)) or value is None:
        return value
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    try:
        return float(value) if math.isfinite(value) else str(float(value))
    except (TypeError, ValueError, OverflowError):
        return str(value)


def unknown(slug: str, sentence: str, **more: object) -> Termination:
    """An honest UNKNOWN with its reason."""
    return Termination(Status.UNKNOWN, reason=Reason(slug, sentence), **more)  # type: ignore[arg-type]
