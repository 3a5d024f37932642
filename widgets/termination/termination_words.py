"""The answer about a loop in words: its certainty, the iterations left, the cause, and the fixes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workbench.analysis.fixes.trial import offered
from workbench.analysis.series.result import percent
from workbench.analysis.text import count, listed
from workbench.widgets.text.formulas import with_symbols
from workbench.widgets.text.numerals import numeral, spaced

UNKNOWN: dict[str, Any] = {
    "status": "UNKNOWN",
    "outcome": None,
    "headline": "No forecast",
    "remaining": None,
    "interval": None,
    "reason": "",
    "root": [],
    "blocking": None,
    "fix": [],
    "proof": "",
    "confidence": None,
    "ended": False,
    "word": "",
    "left": "",
    "sure": "",
    "clause": None,
    "changed": "",
    "first_bad": None,
    "trend": "",
    "tone": "unknown",
    "claims": [],
    "laws": "",
    "fails": False,
}
#: maximum claims listed
CLAIMS = 8
#: the basis of a proof of each kind (analysis: Proof)
HOW = {
    "lookahead": "the condition was computed ahead, iteration by iteration",
    "recurrence": "the values that the condition reads repeat",
    "invariant-predicate": "no iteration changes the values that the condition reads",
    "affine-counter": "the values of its counters follow from their first value and their step",
    "ray": "every period adds the same amounts to the variables",
    "identity": "no iteration changes whether the two sides of the condition are equal",
    "interval": "its variables never leave a range",
    "inner-loop": "an inner loop never ends",
    "observed": "the condition is false",
    "trip-limit": "the loop reaches its limit of iterations",
}
#: a counter in a proof: k(t) = 4 + 2 t
COUNTER = re.compile(r"(\S+)\(t\) = -?\d+ ([+-]) (?:(\d+) )?t(?= modulo|[;:])")


def law_words(candidates: Sequence[Any]) -> str:
    """The laws of a forecast, with their shares, and the refused ones; "" if there are none."""
    taken = [f"{c.law.what} {c.share:.0%}" for c in candidates if not c.refused]
    refused = [f"{c.law.what} ({c.refused})" for c in candidates if c.refused]
    return "; refused: ".join(part for part in (", ".join(taken), ", ".join(refused)) if part)


def describe(termination: Any, spoken: Callable[[str], str] = str) -> dict[str, Any]:
    """A Termination in words; ``spoken`` gives a sentence of the analysis with the names that screens give to loops.

    ``status``, ``outcome``, ``headline``, ``remaining``, ``interval``, ``reason``, ``root``, ``blocking``, ``fix``,
    ``proof``, ``confidence`` as there; ``ended``; ``left`` (iterations left) and ``sure`` (its certainty) as text;
    ``clause``: the node of the blocking clause; ``changed``: the place where the responsible variable is changed;
    ``first_bad``; ``trend`` of the gap; ``laws`` of a forecast; ``word``: how it has ended, if it has; ``tone``:
    "ends", "never", "unknown", or the slug of the :class:`workbench.analysis.standing.Standing` with which it has
    ended, or will end unintentionally; ``fails``: a node will fail before.
    """
    if termination is None:
        return dict(UNKNOWN)
    status = getattr(termination.status, "name", str(termination.status))
    outcome, remaining = termination.outcome, termination.remaining
    end: Any = getattr(termination, "end", None)
    ahead: Any = getattr(termination, "ahead", None)
    ended = end is not None and end.standing.over
    foretold = ahead is not None and bool(ahead.foretold) and status == "PROVED"
    clause = getattr(termination, "blocking_clause", None)
    proof = getattr(termination, "proof", None)
    interval = _interval(getattr(termination, "interval", None))
    confidence = getattr(termination, "confidence", None)
    details = getattr(termination, "details", None) or {}
    how = ahead.word if ahead is not None and foretold else ""
    sentence = (
        spaced(end.headline)
        if end is not None and ended
        else headline(status, outcome, remaining, interval, details, how)
    )
    if getattr(getattr(termination, "reason", None), "slug", "") == "no-iteration":
        sentence = "Proved: will not run at all"
    node = details.get("clause") if isinstance(details, dict) else None
    gap = getattr(termination, "gap", None)
    return {
        "status": status,
        "outcome": outcome,
        "headline": sentence,
        "remaining": None if remaining is None else int(remaining),
        "interval": interval,
        "reason": spaced(
            spoken(
                _why(end) if ended else ahead.foretold if foretold else _sentence(getattr(termination, "reason", ""))
            )
        ),
        "root": [str(r) for r in (getattr(termination, "root", None) or ())],
        "blocking": None if clause is None else spaced(spoken(_sentence(clause))),
        "fix": [str(f) for f in offered(termination)],
        "proof": spaced(spoken(_sentence(proof))) if proof is not None else "",
        "confidence": confidence,
        "ended": ended,
        "word": end.word if ended else "",
        "left": spaced(_left(termination, interval)),
        "sure": _sure(status, proof, confidence),
        "clause": node if isinstance(node, str) else None,
        "changed": getattr(termination, "changed_in", ""),
        "first_bad": getattr(termination, "first_bad", None),
        "trend": str(getattr(gap, "trend", "") or ""),
        "claims": [] if ended else claim_rows(termination, spoken),
        "laws": "" if ended else spaced(law_words(getattr(termination, "candidates", ()))),
        "fails": isinstance(details, dict) and "fails_after" in details,
        "tone": end.standing.slug
        if ended
        else ahead.standing.slug
        if foretold
        else {"terminates": "ends", "never": "never"}.get(str(outcome), "unknown"),
    }


def _why(end: Any) -> str:
    """The reason of an end, with the comparison as a formula."""
    why = str(end.why)
    for part in (p for clause in (end.by, end.still) if clause is not None for p in (clause.text, clause.values)):
        why = why.replace(part, with_symbols(part)) if part else why
    return why


def headline(
    status: str,
    outcome: Any,
    remaining: Any,
    interval: tuple[int, int | None] | None,
    details: Mapping[str, Any] | None = None,
    how: str = "",
) -> str:
    """The answer in a few words: ``Predicted: stops after 12 more iterations (10 to 15)``; ``how``: as what it ends."""
    if details and "unless" in details:
        return f"{headline(status, outcome, remaining, interval)}, unless a node fails first"
    if details and "fails_after" in details:
        more = int(details["fails_after"])
        return f"A node fails after {numeral(more)} more iteration{'' if more == 1 else 's'}"
    word = {"PROVED": "Proved", "PREDICTED": "Predicted"}.get(status, "Unknown")
    if outcome == "never":
        return f"{word}: never stops"
    if outcome != "terminates":
        return "No forecast yet"
    stops = how or "stops"
    if remaining == 0:
        return f"{word}: {stops} at once"
    if remaining is None:
        return f"{word}: {stops}"
    text = f"{word}: {stops} after {numeral(int(remaining))} more iteration{'' if remaining == 1 else 's'}"
    if interval and status != "PROVED" and interval[0] != interval[1]:
        text += f" ({_bounds(*interval)})"
    return text


def _left(termination: Any, interval: tuple[int, int | None] | None) -> str:
    """The iterations left, with their interval."""
    status = getattr(termination.status, "name", "")
    low = termination.interval[0] if getattr(termination, "interval", None) is not None else None
    if termination.outcome == "never":
        return "unlimited"
    if termination.remaining is None:
        if termination.outcome == "terminates" and interval is not None and interval[1] is not None:
            return f"at most {count(interval[1], 'iteration')}"
        return f"at least {count(int(low), 'iteration')}" if low is not None else "not known"
    if termination.remaining == 0:
        return "none"
    text = count(int(termination.remaining), "iteration")
    if status == "PROVED":
        return f"exactly {text}"
    if interval is None or interval[0] == interval[1]:
        return text
    return f"{text} (90 % interval {_bounds(*interval)})"


def _bounds(low: int, high: int | None) -> str:
    return f"{numeral(low)} {'or more, no upper bound known' if high is None else f'to {numeral(high)}'}"


def _sure(status: str, proof: Any, confidence: Any) -> str:
    if status == "PROVED":
        return counted(_sentence(proof)) or HOW.get(str(getattr(proof, "kind", "")), "an exact argument")
    if status == "PREDICTED":
        return f"a forecast, correct in {percent(confidence)} of such cases" if confidence else "a forecast"
    return "there is no proof and no forecast"


def counted(checked: str) -> str:
    """The steps of the counters of a proof, ``k grows by 1 in each iteration``; "" for other proofs."""
    moves = [
        f"{name} {'grows' if sign == '+' else 'shrinks'} by {numeral(int(step or 1))}"
        for name, sign, step in COUNTER.findall(checked)
    ]
    return f"{listed(moves)} in each iteration" if moves else ""


def _sentence(reason: Any) -> str:
    for name in ("sentence", "checked", "text"):
        value = getattr(reason, name, None)
        if isinstance(value, str):
            return value
    if isinstance(reason, (tuple, list)) and reason:
        return str(reason[-1])
    return str(reason or "")


def _interval(interval: Any) -> tuple[int, int | None] | None:
    if interval is None:
        return None
    try:
        low, high = interval
        return int(low), None if high is None else int(high)
    except (TypeError, ValueError, OverflowError):
        return None


def claim_rows(termination: Any, spoken: Callable[[str], str] = str) -> list[dict[str, Any]]:
    """The claims about a loop, and how each was checked; for a sentence that the reason, and so the card, contains only
    the check.
    """
    # for a loop that ends the card shows when, not the reason
    reason = "" if termination.outcome == "terminates" else _sentence(getattr(termination, "reason", ""))
    found: list[dict[str, Any]] = []
    for claim in getattr(termination, "claims", ())[:CLAIMS]:
        said, how = claim.sentence, claim.checked_by
        at = reason.find(said.rstrip("."))
        if how or at < 0:
            found.append({"text": spaced(spoken(said)), "how": spaced(spoken(how)), "card": at})
    on_card = sorted(row["card"] for row in found if row["card"] >= 0)
    for row in found:
        if row["card"] >= 0:
            number = on_card.index(row["card"]) + 1
            row["text"] = "The sentence on the card" if len(on_card) == 1 else f"Sentence {number} on the card"
    return sorted(found, key=lambda row: row["card"] if row["card"] >= 0 else len(reason))
