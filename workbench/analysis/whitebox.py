"""The white box: run the slice of LoopCond ahead of the loop, exactly, and prove what can be proved.

Two arguments are exact here.  *Look-ahead*: the slice alone is run until its predicate is false; the number of
iterations is the loop's.  *Recurrence*: a pure slice whose state returns bit for bit, with the predicate true all the
way, does so for ever (R. P. Brent, "An improved Monte Carlo factorization algorithm", BIT 20, 1980).  The state is
compared as bytes, never by hash alone, and a recurrence is run once more and compared again before it is believed.

Nothing is proved of an impure slice, nor is a loop called infinite where a trip limit applies.  What the cost cap
leaves undecided is forecast by the black box from the clause operands seen on the way, as PREDICTED.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from workbench.analysis.blame import blame
from workbench.analysis.monitor import TerminationMonitor
from workbench.analysis.search import Search, new_monitor
from workbench.analysis.slice_runner import HasInner, SliceRunner
from workbench.analysis.termination import Proof, Reason, Status, Termination, unknown


def analyze_loop(
    runner: SliceRunner,
    *,
    seconds: float = 0.2,
    iterations: int = 1 << 27,
    iteration: int | None = None,
    observed: TerminationMonitor | None = None,
) -> Termination:
    """Will this loop end, and after how many more iterations?

    Parameters
    ----------
    runner:
        The slice at the present evaluation of the predicate; it is forked, never moved.
    seconds, iterations:
        Cost cap of the look-ahead; the caller usually gives 5 % of the loop's elapsed time.
    iteration:
        Body executions done so far; needed for an exact count where a trip limit applies.
    observed:
        What a black box saw of the real loop, used where the slice cannot be run.

    Returns
    -------
    Termination
        PROVED (lookahead, recurrence, invariant-predicate, affine-counter, interval, trip-limit, observed), else
        PREDICTED, else UNKNOWN.
    """
    left = None
    if runner.trip_limit is not None and iteration is not None:
        left = max(int(runner.trip_limit) - int(iteration), 0)
    if not runner.pure:
        return _impure(runner, observed)
    if not runner.cond():
        return Termination(
            Status.PROVED,
            "terminates",
            0,
            (0, 0),
            Reason("ended", "The predicate is false now."),
            confidence=1.0,
            proof=Proof("observed", "the predicate's value at the present iteration."),
        )
    if left == 0:
        return _trip_limit(
            runner, left, "The trip limit is reached.", Proof("trip-limit", "iterations done against the limit.")
        )
    search = Search(runner, seconds, iterations, left)
    kind = search.run()
    if kind == "ended":
        return _ends(runner, search.count, left)
    if kind == "recurs":
        return _recurs(runner, search, left)
    if kind == "argued":
        return _argued(runner, search, left)
    if kind == "limit":
        return _trip_limit(
            runner,
            left,
            f"The predicate stays true for {search.count:,} iterations and more.",
            Proof(
                "lookahead", f"the predicate's slice was run ahead {search.count:,} iterations, up to the trip limit."
            ),
        )
    if kind == "trouble":
        monitors = [(search.monitor, search.watched), (observed, 0)]
        if search.trouble[0] == "slice-slow":
            hang = _inner_hangs(search, seconds)
            if hang is not None:
                return hang
            found = _first_forecast(runner, monitors, search.count, left, search.trouble[1])
            if found:
                return found
        return unknown(*search.trouble, blocking_clause=_clause_text(runner))
    return _forecast(runner, search, left, observed)


def _clause_text(runner: SliceRunner, i: int = 0) -> str | None:
    if i >= len(runner.clauses):
        return None
    (lhs, op, rhs), values = runner.clauses[i], runner.clause_values()
    return f"{lhs} {op} {rhs}" + (f" ({values[i][0]} {op} {values[i][2]})" if i < len(values) else "")


def _impure(runner: SliceRunner, observed: TerminationMonitor | None) -> Termination:
    nodes = ", ".join(runner.impure_nodes) or "unnamed nodes"
    sentence = (
        f"The predicate depends on nodes that cannot be run ahead ({nodes}): their values are not fixed by the state."
    )
    if observed is not None:
        answer = observed.prediction()
        if answer.status is not Status.UNKNOWN:
            answer.reason = Reason(answer.reason.slug, sentence + " From observation: " + answer.reason.sentence)
            return answer
    return unknown("impure-slice", sentence, blocking_clause=_clause_text(runner))


def _trip_limit(runner: SliceRunner, left: int | None, why: str, proof: Proof, **more: Any) -> Termination:
    """The trip limit ends the loop: exactly counted if the number of iterations done is known."""
    upper = left if left is not None else int(runner.trip_limit or 0)
    interval = (left, left) if left is not None else (0, upper)
    sentence = f"The trip limit of {runner.trip_limit:,} iterations ends the loop at the latest. {why}"
    return Termination(
        Status.PROVED, "terminates", left, interval, Reason("trip-limit", sentence), confidence=1.0, proof=proof, **more
    )


def _ends(
    runner: SliceRunner, count: int, left: int | None, by: Proof | None = None, names: list[str] | None = None
) -> Termination:
    proof = by or Proof(
        "lookahead", f"the predicate's slice was run ahead {count:,} iterations, up to the first false predicate; "
        "it holds unless a node of the body fails before."
    )
    if runner.trip_limit is not None:
        if left is None:
            # how many are done is not known, so the limit may come first
            bound = min(count, int(runner.trip_limit))
            return Termination(
                Status.PROVED,
                "terminates",
                None,
                (0, bound),
                Reason(
                    "lookahead", f"The predicate is false after {count:,} iterations, or the trip limit comes first."
                ),
                confidence=1.0,
                proof=proof,
            )
        if left < count:
            return _trip_limit(runner, left, f"The predicate alone would end it after {count:,}.", proof)
    return Termination(
        Status.PROVED,
        "terminates",
        count,
        (count, count),
        Reason(proof.kind, f"The predicate becomes false after {count:,} more iterations."),
        confidence=1.0,
        proof=proof,
        blocking_clause=_clause_of(runner, names or []),
        root=list(names or runner.state_names)[:1],
    )


def _recurs(runner: SliceRunner, search: Search, left: int | None) -> Termination:
    p, at = search.period, search.slot_at
    names = ", ".join(runner.state_names) or "nothing"
    # invariant means from now on: the state (all that the predicate reads) is the present one for ever
    invariant = p == 1 and at == 0
    kind = "invariant-predicate" if invariant else "recurrence"
    checked = (
        f"the state of the predicate's slice ({names}, {len(search.slot)} bytes) "
        + ("is the same after one iteration" if invariant else f"at iteration +{at} returns at +{at + p}")
        + ", bit for bit, twice, with the predicate true throughout."
    )
    proof = Proof(kind, checked)
    root, clause, fix = blame(runner, search)
    if runner.trip_limit is not None:
        return _trip_limit(
            runner,
            left,
            f"The predicate never becomes false by itself: its state recurs with period {p}.",
            proof,
            root=root,
            blocking_clause=clause,
            fix=fix,
            evidence=(search.ahead, at, p),
        )
    period = "does not change any more" if p == 1 else f"recurs with period {p}"
    slug = "invariant-predicate" if invariant else "recurrence"
    return Termination(
        Status.PROVED,
        "never",
        None,
        None,
        Reason(slug, f"The state that the predicate reads {period}, and the predicate is true."),
        root,
        clause,
        1.0,
        fix,
        proof,
        evidence=(search.ahead, at, p),
    )


def _argued(runner: SliceRunner, search: Search, left: int | None) -> Termination:
    """What the formulas proved, from where the look-ahead stood."""
    found = search.argument
    assert found is not None
    at = search.argued_from
    ran = f"the predicate's slice was run ahead {at:,} iterations; " if at else ""
    proof = Proof(found.kind, ran + found.checked)
    if found.after is not None:
        ends = _ends(runner, at + found.after, left, proof, found.counters)
        return _if_inner_ends(ends, runner)
    root, clause, fix = blame(runner, search)
    if runner.trip_limit is not None:
        why = "The predicate never becomes false by itself."
        return _trip_limit(runner, left, why, proof, root=root, blocking_clause=clause, fix=fix)
    why = (
        "The counters never take a value that makes the predicate false."
        if found.kind == "affine-counter"
        else "The state never leaves a range in which the predicate is true."
    )
    return Termination(Status.PROVED, "never", None, None, Reason(found.kind, why), root, clause, 1.0, fix, proof)


def _inner_hangs(search: Search, seconds: float) -> Termination | None:
    """A loop inside, in which the look-ahead got stuck, that is proved never to end: then this one does not either."""
    stuck = search.stuck
    inner = stuck.inner() if isinstance(stuck, HasInner) else None
    if inner is None:
        return None
    found = analyze_loop(inner, seconds=seconds)
    if found.status is not Status.PROVED or found.outcome != "never" or found.proof is None:
        return None
    path = "/".join(inner.frame)
    ahead = f"{search.count:,} iterations ahead" if search.count else "in the present iteration"
    return Termination(
        Status.PROVED, "never", None, None,
        Reason("inner-hangs", f"The loop {path} inside never ends, {ahead}: {found.reason.sentence}"),
        found.root, found.blocking_clause, 1.0, found.fix,
        Proof("inner-loop", f"of the loop {path}, by {found.proof.kind}: {found.proof.checked}"),
    )  # fmt: skip


def _if_inner_ends(answer: Termination, runner: SliceRunner) -> Termination:
    """The condition alone does not end a loop inside of which another may hang later: then it is a forecast only."""
    unseen = _unseen(runner)
    if not unseen:
        return answer
    sentence = f"{answer.reason.sentence} That is if the loops inside end every time ({', '.join(unseen)})."
    return replace(
        answer, status=Status.PREDICTED, proof=None, confidence=0.95, reason=Reason(answer.reason.slug, sentence)
    )


def _unseen(runner: SliceRunner) -> list[str]:
    """Loops inside that may do in a later iteration what they do not do now."""
    return list(runner.unseen) if isinstance(runner, HasInner) else []


def _bounded(runner: SliceRunner, search: Search, left: int | None, capped: str) -> Termination | None:
    """A proved bound where the end itself is not known: a clause that certainly ends the loop by then."""
    found = search.argument
    if found is None or found.within is None or found.after is None or _unseen(runner):
        return None
    low, high = max(search.argued_from + found.after, search.count + 1), search.argued_from + found.within
    if left is not None:
        low, high = min(low, left), min(high, left)
    elif runner.trip_limit is not None:
        low, high = 0, min(high, int(runner.trip_limit))
    why = f"{capped} The predicate is false after {high:,} more iterations at the latest."
    return Termination(
        Status.PROVED, "terminates", high if low == high else None, (low, high), Reason("bound", why),
        root=list(found.counters), blocking_clause=_clause_of(runner, found.counters), confidence=1.0,
        proof=Proof(found.kind, found.checked),
    )  # fmt: skip


def _clause_of(runner: SliceRunner, names: list[str]) -> str | None:
    """The first clause that compares one of these variables."""
    sides = [(i, lhs, rhs) for i, (lhs, _, rhs) in enumerate(runner.clauses)]
    return _clause_text(runner, next((i for i, lhs, rhs in sides if lhs in names or rhs in names), 0))


def _forecast(
    runner: SliceRunner, search: Search, left: int | None, observed: TerminationMonitor | None
) -> Termination:
    """The cap was reached: ask the black box, first from where the look-ahead stands, then from the start."""
    capped = f"The look-ahead ran {search.count:,} iterations and found neither the end nor a recurrence."
    past = observed.start + observed.count if observed else 0
    late = new_monitor(runner, past + search.count)
    kind = search.follow(late)
    if kind == "ended":
        return _ends(runner, search.count, left)
    if kind == "recurs":
        return _recurs(runner, search, left)
    if kind == "trouble":
        return unknown(*search.trouble)
    base = search.count
    bound = _bounded(runner, search, left, capped)
    if bound is not None:
        return bound
    search.watch_on(runner)
    monitors = [(late, base), (search.monitor, search.watched), (observed, 0)]
    if late.prediction().outcome == "never" and search.unsettled():
        monitors = monitors[1:]  # a short stretch far ahead looks like a limit where there is only slow growth
    found = _first_forecast(runner, monitors, base, left, capped)
    if found:
        return found
    why = late.prediction().reason
    if runner.trip_limit is not None:
        upper = left if left is not None else int(runner.trip_limit)
        return Termination(
            Status.PROVED,
            "terminates",
            None,
            (min(base + 1, upper) if left is not None else 0, upper),
            Reason("trip-limit", f"{capped} The trip limit of {runner.trip_limit:,} ends the loop at the latest."),
            confidence=1.0,
            proof=Proof("trip-limit", "the limit itself."),
        )
    return unknown(
        "capped", f"{capped} {why.sentence}", interval=(base + 1, None), blocking_clause=_clause_text(runner)
    )


def _first_forecast(
    runner: SliceRunner, monitors: list[tuple[TerminationMonitor | None, int]], base: int, left: int | None, why: str
) -> Termination | None:
    """The first of the monitors' forecasts that what was run ahead (``base`` iterations) does not refute."""
    for monitor, offset in monitors:
        answer = monitor.prediction() if monitor is not None else None
        if answer is None or answer.status is not Status.PREDICTED:
            continue
        if answer.outcome == "never" and answer.reason.slug == "clause-invariant" and base > 0:
            continue  # the state moves, else it had recurred: what is at rest now may be moved by what is not
        if answer.outcome == "terminates" and answer.remaining is not None:
            total = answer.remaining + offset
            if total <= base:
                continue  # the look-ahead has been there and did not find an end
            answer.remaining = total
            low, high = answer.interval or (0, None)
            answer.interval = (max(low + offset, base + 1), None if high is None else high + offset)
        answer.reason = Reason(answer.reason.slug, why + " " + answer.reason.sentence)
        return _under_limit(runner, answer, left)
    return None


def _under_limit(runner: SliceRunner, answer: Termination, left: int | None) -> Termination:
    """A forecast beyond the trip limit becomes the trip limit's."""
    if runner.trip_limit is None:
        return answer
    bound = left if left is not None else int(runner.trip_limit)
    if answer.outcome == "never" or answer.remaining is not None and answer.remaining > bound:
        answer.outcome, answer.remaining = "terminates", left
        answer.interval = (bound, bound) if left is not None else (0, bound)
        answer.reason = Reason(
            "trip-limit", f"The trip limit of {runner.trip_limit:,} ends the loop. {answer.reason.sentence}"
        )
    return answer
