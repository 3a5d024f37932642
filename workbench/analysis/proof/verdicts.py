"""Builds the proved verdicts from a look-ahead, a recurrence or the formulas, combined with an iteration limit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from workbench.analysis.claims import period
from workbench.analysis.comparisons import NAMES, OPS
from workbench.analysis.proof.lookahead_search import CameTo, Search
from workbench.analysis.proof.rays.ray import Continuation
from workbench.analysis.slicing.protocol import HasInner, SliceRunner
from workbench.analysis.verdict import Proof, Reason, Status, Termination, after, proved_end
from workbench.text import number

#: number of stretches, and of variables in each, that a proof lists
STRETCHES, MAX_VARIABLES = 3, 4
BY_ITSELF = "The condition never becomes false by itself."


def ends(
    runner: SliceRunner, count: int, left: int | None, by: Proof | None = None, names: list[str] | None = None
) -> Termination:
    """The condition becomes false after ``count`` iterations; ``left`` iterations remain under an iteration limit."""
    proof = by or Proof(
        "lookahead", f"the condition was computed {count:,} iterations ahead, up to the first that is false."
    )
    if runner.trip_limit is not None:
        if left is None:
            # the number of finished iterations is unknown, so the limit may be reached first
            bound = 0, min(count, int(runner.trip_limit))
            why = f"The condition is false after {count:,} iterations, or the iteration limit comes first."
            return proved_end(None, bound, Reason("lookahead", why), proof)
        if left < count:
            return trip_limit(runner, left, f"The condition alone would end it after {count:,}.", proof)
    more: dict[str, Any] = {"blocking_clause": _clause_of(runner, names or [])}
    more["root"] = list(names or runner.state_names)[:1]
    return proved_end(
        count, (count, count), Reason(proof.kind, f"The condition becomes false {after(count)}."), proof, **more
    )


def recurs(runner: SliceRunner, search: Search, left: int | None) -> Termination:
    """The verdict on a recurrence: the state of the slice returned, with the condition true in between, so it does for
    ever.

    Iterations are counted from the present one.
    """
    p, at = search.period, search.slot_at
    what = f"what the condition depends on ({', '.join(runner.state_names) or 'no variable'})"
    # invariant from now on: the state (all that the condition reads) never changes
    invariant = p == 1 and at == 0
    slug = "invariant-predicate" if invariant else "recurrence"
    if invariant:
        checked = f"{what} is bit for bit the same after one more iteration, which was computed twice"
        why = f"The condition is true, and no iteration changes {what}."
    else:
        same = (
            f"{what} is bit for bit the same {after(at)} and {after(at + p)}"
            if at
            else f"{what} is bit for bit what it is now {after(p)}"
        )
        checked = f"{same}; the iterations between were computed twice"
        repeats = (
            f"no iteration after the next {at:,} changes {what}" if p == 1 else f"{what} repeats every {p:,} iterations"
        )
        why = f"The condition stays true: {repeats}."
    checked += ", with the condition true throughout."
    search.claims, search.came_to = period(search.ahead, p, at), CameTo(search.ahead, at, p)
    stays = "does not change" if p == 1 else f"repeats every {p:,} iterations"
    limited = f"The condition never becomes false by itself: {what} {stays}."
    return _never(slug, why, Proof(slug, checked), runner, search, left, limited)


def argued(runner: SliceRunner, search: Search, left: int | None) -> Termination:
    """The verdict proved by the formulas, from the position of the look-ahead."""
    found, at = search.argument, search.argued_from
    assert found is not None
    checked = found.checked.replace("the present state", "the state after these") if at else found.checked
    proof = Proof(found.kind, _ran(at) + checked)
    if found.after is not None:
        return _if_inner_ends(ends(runner, at + found.after, left, proof, found.counters), runner)
    why = (
        "The counters never take a value that makes the condition false."
        if found.kind == "affine-counter"
        else "The state never leaves a range in which the condition is true."
    )
    return _never(found.kind, why, proof, runner, search, left)


def _never(
    slug: str, why: str, proof: Proof, runner: SliceRunner, search: Search, left: int | None, limited: str = BY_ITSELF
) -> Termination:
    """A proved "never" with the details from the search; under an iteration limit, the answer ``limited`` instead."""
    root, clause = _blocking(runner, search)
    more: dict[str, Any] = {"root": root, "blocking_clause": clause, "proof": proof, "evidence": search.came_to}
    more["claims"] = list(search.claims)
    if runner.trip_limit is not None:
        return trip_limit(runner, left, limited, **more)
    return Termination(Status.PROVED, "never", reason=Reason(slug, why), confidence=1.0, **more)


def followed(runner: SliceRunner, search: Search, left: int | None) -> Termination:
    """The verdict proved by the rays along which the loop continues from the position of the look-ahead."""
    found, at = search.followed, search.followed_from
    assert found is not None
    proof = Proof("ray", _ran(at) + described(found, at))
    if found.kind == "ends":
        names = list(dict.fromkeys(n for s in found.stretches for n in s.steps()))
        answer = ends(runner, at + found.after, left, proof, [n for n in names if n in runner.state_names])
        return replace(answer, claims=list(search.claims))
    why = "Every period adds the same to the variables, and all comparisons keep their values for ever."
    if found.kind == "recurs":
        why = "The condition stays true: all that it depends on repeats."
    return _never("ray", why, proof, runner, search, left)


def kept(runner: SliceRunner, search: Search, left: int | None) -> Termination:
    """The verdict proved by polynomials whose comparisons with zero keep their values."""
    proof = Proof("identity", _ran(search.followed_from) + "; ".join(map(str, search.kept or [])) + ".")
    zero = all(k.holds == (k.op == "equal") for k in search.kept or [])
    stays = "stays zero" if zero else "never becomes zero"
    why = f"The difference of the two sides {stays}, whatever the iterations do."
    return _never("identity", why, proof, runner, search, left)


def _ran(at: int) -> str:
    return f"the condition was computed {at:,} iterations ahead; " if at else ""


def described(found: Continuation, at: int) -> str:
    """A description of the stretches that were followed, and of their end."""
    parts = []
    for stretch in found.stretches[:STRETCHES]:
        steps = ", ".join(f"{n} by {number(float(v))}" for n, v in list(stretch.steps().items())[:MAX_VARIABLES])
        period = "each iteration changes" if stretch.period == 1 else f"every {stretch.period:,} iterations change"
        begin = at + stretch.begin
        until = "for ever" if stretch.periods is None else f"up to +{begin + stretch.periods * stretch.period:,}"
        parts.append(f"from +{begin:,} on, {period} {steps or 'nothing else'}, {until}")
    if len(found.stretches) > STRETCHES:
        parts.append(f"{len(found.stretches) - STRETCHES} more such stretches")
    if found.kind == "recurs":
        parts.append(f"the state of +{at + found.begin:,} is there again at +{at + found.after:,}, bit for bit")
    return "; ".join(parts) + "."


def trip_limit(runner: SliceRunner, left: int | None, why: str, proof: Proof, **more: Any) -> Termination:
    """The verdict that the iteration limit ends the loop; it is exact if the number of finished iterations is known."""
    upper = left if left is not None else int(runner.trip_limit or 0)
    interval = (left, left) if left is not None else (0, upper)
    sentence = f"The limit of {runner.trip_limit:,} iterations ends the loop at the latest. {why}"
    return proved_end(left, interval, Reason("trip-limit", sentence), proof, **more)


def bounded(runner: SliceRunner, search: Search, left: int | None, capped: str) -> Termination | None:
    """The verdict of a proved bound, if the exact end is not known: a clause certainly ends the loop by then."""
    found = search.argument
    if found is None or found.within is None or found.after is None or _unseen(runner):
        return None
    low, high = max(search.argued_from + found.after, search.count + 1), search.argued_from + found.within
    if left is not None:
        low, high = min(low, left), min(high, left)
    elif runner.trip_limit is not None:
        low, high = 0, min(high, int(runner.trip_limit))
    why = f"{capped} The condition is false after {high:,} more iterations at the latest."
    more: dict[str, Any] = {"root": list(found.counters), "blocking_clause": _clause_of(runner, found.counters)}
    exact = high if low == high else None
    return proved_end(exact, (low, high), Reason("bound", why), Proof(found.kind, found.checked), **more)


def _if_inner_ends(answer: Termination, runner: SliceRunner) -> Termination:
    """The answer becomes a forecast if an inner loop may hang later: then the condition alone does not decide."""
    unseen = _unseen(runner)
    if not unseen:
        return answer
    sentence = f"{answer.reason.sentence} That is if the loops inside end every time ({', '.join(unseen)})."
    return replace(
        answer, status=Status.PREDICTED, proof=None, confidence=0.95, reason=Reason(answer.reason.slug, sentence)
    )


def _unseen(runner: SliceRunner) -> list[str]:
    """Inner loops that may behave differently in a later iteration."""
    return list(runner.unseen) if isinstance(runner, HasInner) else []


def clause_text(runner: SliceRunner, i: int = 0) -> str | None:
    """A clause with its present operands; None if there is no clause."""
    if i >= len(runner.clauses):
        return None
    (lhs, op, rhs), values = runner.clauses[i], runner.clause_values()
    return f"{lhs} {op} {rhs}" + (f" ({values[i][0]} {op} {values[i][2]})" if i < len(values) else "")


def _clause_of(runner: SliceRunner, names: list[str]) -> str | None:
    """The first clause that compares one of these variables."""
    sides = [(i, lhs, rhs) for i, (lhs, _, rhs) in enumerate(runner.clauses)]
    return clause_text(runner, next((i for i, lhs, rhs in sides if lhs in names or rhs in names), 0))


def _blocking(runner: SliceRunner, search: Search) -> tuple[list[str], str | None]:
    """The variables, beginning with those of the first clause that keeps the loop running, and that clause with its
    operands in the cycle.
    """
    names, values = list(runner.state_names), list(search.ahead.clause_values())
    if not runner.clauses or len(values) != len(runner.clauses):
        return names, None
    i = next((i for i, v in enumerate(values) if _holds(*v) != (runner.logic == "not")), 0)
    (lhs, op, rhs), (left, _, right) = runner.clauses[i], values[i]
    root = [n for n in (lhs, rhs) if n in names] + [n for n in names if n not in (lhs, rhs)]
    return root, f"{lhs} {op} {rhs} ({left} {op} {right})"


def _holds(left: Any, op: str, right: Any) -> bool | None:
    sign = NAMES.get(op, op)
    try:
        return bool(OPS[sign](left, right)) if sign in OPS else None
    except ValueError:
        return None
