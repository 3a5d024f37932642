"""``Termination``: if a loop ends, and if not, why; one result type for proofs and forecasts.

Slugs of ``reason``, by what they say.

A loop that never ends, or would not without its iteration limit (the cause; the clause is the one that blocks):

==================  ===============================================================================================
not-updated         no update of the variable in the body: it never changes
clause-invariant    the clause did not change as long as it was observed (the black box sees no graph)
no-effect           the variable is updated, and its update gives back the same value
absorbed            the variable's dtype absorbs the step: fl(x + d) == x with d != 0 (float32 at 2^24 with + 1)
floor               a residual stagnates, or cycles by rounding errors, above its tolerance
stagnates           the best value is old, and neither the laws that fitted before nor wandering lead to the threshold
turned              the same of a record that leads away from the threshold since its best value
limit-beyond        the operand comes to rest at, or tends to, a limit at which the clause still holds
sign-flips          the iterates turn into their negatives each time, so that their distance does not shrink
cycle               the values repeat with a period and none of them ends the loop
step-too-large      the step of an iterative update swings over its goal, as lr = 2/L does: a cycle, or growing swings
steps-over          the values pass the one value at which ``!=`` turns
moves-away          every step leads away from the threshold: the step's sign or the comparison is the wrong way round
wraps               an integer wraps around its dtype's range without reaching the threshold
out-of-range        every number of the dtype satisfies the clause (the black box's word for such a wrap)
nan                 an operand is NaN, and a comparison with NaN never changes
overflow            an operand is infinite: it overflowed its dtype
flag-never-set      the loop is only left by a flag or break, and the condition that would set it never becomes true
inner-hangs         a loop inside never ends, so that this one never finishes its iteration
always-true         the condition reads nothing that the loop changes
recurrence          the state recurs, and no more is known
ray                 every period adds the same to the variables, and no comparison ever changes
identity            the difference of the sides stays zero, or never becomes zero
==================  ===============================================================================================

A loop that has ended, by how (:mod:`standing`): ``ended``, ``left``, ``cut-off``, ``stopped``, ``gave-up``,
``not-finite``, ``over``.  A loop that will end: ``no-iteration``, ``now``, ``lookahead``, ``trip-limit``, ``counter``,
``counter-long``, ``geometric``, ``wraps``, ``ray``, ``forecast``, ``draws``.  No answer: ``no-loop``, ``node-failed``,
``raw-frame``, ``not-entered``, ``slice-slow``, ``slice-failed``, ``slice-not-deterministic``, ``slice-inconsistent``,
``impure-slice``, ``capped``, ``at-rest``, ``chance``, ``few``, ``no-data``, ``no-clauses``, ``flag``, ``noisy``,
``limit-close``, ``doubtful``, ``no-model``, ``plateau``, ``not-scalar``, ``inconsistent``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from workbench.analysis.claims.claim import Claim
from workbench.analysis.comparisons import OPS
from workbench.analysis.series.result import percent
from workbench.analysis.standing import LoopEnd
from workbench.analysis.text import bounds, places, plain
from workbench.ir.node import Source
from workbench.text import harmless, words_html

#: ops that hand values on; they say nothing in a chain
CONTROL = ("Identity", "Switch", "Enter", "Exit", "NextIteration", "Merge", "LoopCond")


class Status(Enum):
    """The certainty of an answer; the values are full sentences.

    PROVED: an exact argument, which holds for every later iteration. PREDICTED: a forecast with an interval and a
    confidence. UNKNOWN: neither.
    """

    PROVED = "An exact argument holds for every later iteration."
    PREDICTED = "A forecast from what was observed, with an interval."
    UNKNOWN = "No proof, and no forecast with usable confidence."

    @harmless
    def __str__(self) -> str:
        return self.name


class Reason(NamedTuple):
    """The reason of an answer: ``slug`` for programs, ``sentence`` for people."""

    slug: str
    sentence: str

    @harmless
    def __str__(self) -> str:
        return self.sentence


class Proof(NamedTuple):
    """An exact argument about a loop.

    Attributes
    ----------
    kind : str
        "lookahead" (it was run ahead to its end), "recurrence" (its state returned), "invariant-predicate",
        "affine-counter" (a closed form), "ray" (periods that all add the same, in exact arithmetic), "identity" (a
        polynomial that stays zero, or never is), "interval" (one that is never left), "inner-loop" (it never ends),
        "observed" or "trip-limit".
    checked : str
        The facts that were checked, as a sentence.
    """

    kind: str
    checked: str


class Gap(NamedTuple):
    """The distance ``|left - right|`` of the operands of the blocking clause over consecutive evaluations.

    Attributes
    ----------
    trend : {"shrinking", "constant", "growing", "cycling", "nan"}
        How it evolves.
    values : tuple of float
        The distances, oldest first.
    iterations : tuple of int
        Their iterations.
    """

    trend: str
    values: tuple[float, ...]
    iterations: tuple[int, ...]

    @harmless
    def __str__(self) -> str:
        if not self.values:
            return self.trend
        first, last = self.iterations[0], self.iterations[-1]
        where = f"iteration {first:,}" if first == last else f"iterations {first:,} to {last:,}"
        shown = sorted(self.values) if self.trend == "cycling" else self.values
        ends = list(dict.fromkeys(f"{v:.6g}" for v in (shown[0], shown[-1])))
        if len(ends) == 1:
            return f"NaN in {where}" if ends == ["nan"] else f"{self.trend} at {ends[0]} in {where}"
        return f"{self.trend}, {ends[0]} to {ends[1]} in {where}"


def _holds(operands: str) -> bool | None:
    """True if a comparison of two numbers as text holds, ``2.0 > 1.0``; None where it is not one."""
    left, _, rest = operands.partition(" ")
    sign, _, right = rest.partition(" ")
    try:
        return bool(OPS[sign](float(left), float(right)))
    except (KeyError, ValueError):
        return None


class ChainLink(NamedTuple):
    """One node of the chain that updates a variable: ``node``, ``op``, and its line of ``source`` if that is known."""

    node: str
    op: str
    source: Source | None = None

    @harmless
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
    """The answer about one loop: if it ends, when, and if not, why not. ``print`` it.

    The header of ``workbench/analysis/verdict.py`` lists the slugs of ``reason``. Fields that do not apply are None or
    empty.

    Attributes
    ----------
    status : Status
        PROVED, PREDICTED or UNKNOWN.
    outcome : {"terminates", "never", None}
        The answer; None if it is unknown.
    remaining : int or None
        Executions of the body that follow the present evaluation of the condition; None if unknown or never.
    interval : tuple of int, or None
        Bounds of ``remaining``: certain for a proof (the upper one None where there is none), with 90 % probability for
        a forecast.
    reason : Reason
        ``slug`` for programs and ``sentence`` for people.
    root : list of str
        Variables that cause the answer, the most important first.
    blocking_clause : str or None
        The comparison that decides, with its present operands.
    confidence : float
        Probability that the answer is right, from 0 to 1; 1 for a proof.
    fix : list of Fix
        Proposals, which are sentences with data; see :meth:`workbench.Session.apply_fix`.
    proof : Proof or None
        ``kind`` of the argument and what was ``checked``.
    gap : Gap or None
        ``|left - right|`` of the blocking clause: ``trend``, ``values`` and ``iterations``.
    chain : list of ChainLink
        Nodes that update the first root variable, from its Merge to its NextIteration, with their source lines.
    first_bad : int or None
        Iteration from which the loop did not get nearer to its end: where the variable stopped, was absorbed, became
        NaN, began its cycle, or passed the value that it should have met.
    details : dict
        Further numbers by name.
    end : LoopEnd or None
        The state or end of the loop: ``standing`` is one of :class:`workbench.analysis.standing.Standing`, such as
        ENDED or CUT_OFF; with the number of ``iterations`` and the comparison ``by`` that ended it.
    ahead : LoopEnd or None
        How the loop will end, where it was run ahead to its end.
    claims : list of Claim
        What is said about the loop, each fact with its ``kind``, ``data`` and ``sentence``; ``check()`` recomputes it.
    candidates : list of Candidate
        The laws that were weighed, where a forecast is that of all declared laws together: ``law``, ``share`` of the
        weight, ``iterations``, ``error`` of their logarithm before, and why one was ``refused``. ``print`` each.
    fuse : Fix or None
        An iteration limit for a loop that never ends: no fix of its cause, but it ends every loop.
    evidence, begun, final, trials : object
        Internal: the last state of the look-ahead, the slice at the present iteration, the slice where the loop ends,
        and how fixes are tried. Not part of the answer.

    Examples
    --------
    >>> answer = session.termination()
    >>> answer.status.name, answer.outcome, answer.remaining
    ('PROVED', 'terminates', 0)
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
    end: LoopEnd | None = None
    ahead: LoopEnd | None = None
    claims: list[Claim] = field(default_factory=list)
    candidates: list[Any] = field(default_factory=list, repr=False, compare=False)
    fuse: Any = None
    #: the last state of the look-ahead, for the search of the cause; not part of the answer
    evidence: Any = field(default=None, repr=False, compare=False)
    #: the slice at the present evaluation of the condition, for the search of the cause; not part of the answer
    begun: Any = field(default=None, repr=False, compare=False)
    #: the slice at the evaluation of the condition that ends the loop; not part of the answer
    final: Any = field(default=None, repr=False, compare=False)
    #: tries the fixes in copies of the session when the answer is printed; not part of the answer
    trials: Callable[[Termination], list[str]] | None = field(default=None, repr=False, compare=False)

    @property
    def over(self) -> bool:
        """True if the loop has ended, in whatever way."""
        return self.end is not None and self.end.standing.over

    def _about_the_past(self) -> list[str]:
        """The lines about a loop that has ended."""
        assert self.end is not None
        return [f"{self.end.headline}.", *([self.end.why] if self.end.why else [])]

    @property
    def changed_in(self) -> str:
        """The lines that change the first root variable, ``in newton.py, lines 9 and 10``; empty if not known."""
        links = [c for c in self.chain if c.op not in CONTROL] or self.chain[1:]
        found = places(c.source for c in links if c.source is not None)
        return f"in {found}" if found else ""

    @harmless
    def __str__(self) -> str:
        text = self._about_the_past() if self.over else self._about_the_future()
        if self.gap is not None:
            text.append(f"Gap: {self.gap}.")
        if self.root:
            text.append("Root: " + ", ".join(self.root) + ".")
        if self.chain:
            nodes = [c.node for c in self.chain[1:-1]][:4]
            text.append("Changed " + (self.changed_in or f"by {', '.join(nodes) or 'nothing'}") + ".")
        if self.first_bad is not None:
            text.append(f"First bad iteration: {self.first_bad:,}.")
        if self.status is Status.PREDICTED:
            text.append(f"Confidence {percent(self.confidence)}.")
        for sentence in self.fixes_that_help():
            text.append("To fix it: " + sentence)
        if self.fuse is not None:
            text.append(f"As a fuse: {self.fuse}")
        return "\n".join(text)

    def _about_the_future(self) -> list[str]:
        head = {"terminates": "the loop ends", "never": "the loop never ends", None: "no answer"}[self.outcome]
        text = [f"{self.status.name}: {head}"]
        if self.reason.slug == "no-iteration":
            text[0] = f"{self.status.name}: the loop will not run at all"
        elif "fails_after" in self.details:
            text[0] = f"{self.status.name}: a node fails in the loop {after(self.details['fails_after'])}"
        if self.remaining is not None and self.reason.slug != "no-iteration":
            text[0] += f" {after(self.remaining)}"
        if self.status is Status.UNKNOWN and self.interval is not None:
            text[0] += f"; at least {self.interval[0]:,} more iterations"
        elif self.status is Status.PREDICTED and self.interval is not None:
            text[0] += f" (90 % interval {bounds(*self.interval)})"
        elif self.remaining is None and self.interval is not None and self.interval[1] is not None:
            text[0] += f" within {self.interval[1]:,} more iterations"
        if "unless" in self.details:
            text[0] += f", {self.details['unless']}"
        text[0] += "."
        text.append(self.reason.sentence)
        if self.proof is not None:
            text.append(f"Proof by {self.proof.kind}: {self.proof.checked}")
        if self.blocking_clause:
            text.append(f"{self.clause_role}: {self.clause_when}.")
        if self.ahead is not None and self.ahead.foretold:
            text.append(self.ahead.foretold)
        return text

    @harmless
    def __repr__(self) -> str:
        return f"<Termination {self.status.name}: {self.end.headline if self.over and self.end else self.outcome}>"

    @harmless
    def _repr_html_(self) -> str:
        return words_html(str(self))

    def fixes_that_help(self) -> list[str]:
        """The proposals in ``fix``, without those that do not help.

        For an endless loop in a paused session, the first four are tried, each in a copy of the session that is closed
        again; the first call takes the time for that. Other answers give all of ``fix``. Printing an answer shows
        these.

        Returns
        -------
        list of Fix

        Examples
        --------
        >>> session.termination().fixes_that_help()
        []
        """
        return self.fix if self.trials is None else self.trials(self)

    @property
    def clause_role(self) -> str:
        """Name of the clause in strings: it blocks the end of a loop, or decides it."""
        return "Deciding clause" if self.outcome == "terminates" else "Blocking clause"

    @property
    def clause_when(self) -> str:
        """The clause with its operands and their iteration: ``x > 1.0 (false in iteration 6: 1.0 > 1.0)``.

        For a clause that holds: ``x > 1.0 (2.0 > 1.0 in iteration 5)``.
        """
        text, at = self.blocking_clause or "", self.details.get("clause_iteration")
        if not isinstance(at, int) or not text.endswith(")"):
            return text
        clause, _, operands = text[:-1].rpartition(" (")
        if clause and self.outcome == "terminates" and _holds(operands) is False:
            return f"{clause} (false in iteration {at:,}: {operands})"
        return f"{text[:-1]} in iteration {at:,})"

    def table(self) -> dict[str, Any]:
        """Return the answer as plain data for JSON: numbers, strings, lists and dicts."""
        return {
            "status": self.status.name,
            "outcome": self.outcome,
            "remaining": self.remaining,
            "interval": None if self.interval is None else list(self.interval),
            "reason": {"slug": self.reason.slug, "sentence": self.reason.sentence},
            "root": list(self.root),
            "blocking_clause": self.blocking_clause,
            "gap": None
            if self.gap is None
            else {
                "trend": self.gap.trend,
                "values": [plain(v) for v in self.gap.values],
                "iterations": list(self.gap.iterations),
            },
            "chain": [
                {"node": c.node, "op": c.op, "source": None if c.source is None else str(c.source)} for c in self.chain
            ],
            "first_bad": self.first_bad,
            "confidence": self.confidence,
            "proof": None if self.proof is None else {"kind": self.proof.kind, "checked": self.proof.checked},
            "end": None if self.end is None else self.end.table(),
            "ahead": None if self.ahead is None else self.ahead.table(),
            "claims": [c.to_dict() for c in self.claims],
            "fix": [f.table() if hasattr(f, "table") else {"sentence": f} for f in self.fix],
            "fuse": None if self.fuse is None else self.fuse.table(),
            "details": {k: plain(v) for k, v in self.details.items()},
        }


def after(iterations: int) -> str:
    """``after 3 more iterations``, or ``at once``."""
    if not iterations:
        return "at once"
    return f"after {iterations:,} more iteration{'s' if iterations != 1 else ''}"


def proved_end(
    remaining: int | None, interval: tuple[int, int | None] | None, why: Reason, proof: Proof, **more: Any
) -> Termination:
    """A proved end."""
    return Termination(Status.PROVED, "terminates", remaining, interval, why, confidence=1.0, proof=proof, **more)


def predicted_never(why: Reason, root: list[str], clause: str | None, confidence: float) -> Termination:
    """A forecast that there is no end."""
    return Termination(Status.PREDICTED, "never", None, None, why, root, clause, confidence)


def unknown(slug: str, sentence: str, **more: object) -> Termination:
    """An UNKNOWN result with its reason."""
    return Termination(Status.UNKNOWN, reason=Reason(slug, sentence), **more)  # type: ignore[arg-type]
