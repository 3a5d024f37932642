"""``whitebox``: runs the slice of a loop's condition ahead, exactly, and proves when the loop ends or that it never
does.

These arguments are exact.  *Look-ahead*: the slice alone is run until its condition is false; the loop has the same
number of iterations. *Recurrence*: if the state of a pure slice returns bit for bit, with the condition true at every
iteration in between, it does so for ever (R. P. Brent, "An improved Monte Carlo factorization algorithm", BIT 20,
1980).  The state is compared as bytes, never by hash alone, and a recurrence is run and compared once more before it is
accepted. *Formulas* (``arguments``): counters in closed form, and boxes of values that the state never leaves.

Nothing is proved about an impure slice, and a loop with an iteration limit is never called infinite. If the cost cap
stops the look-ahead, the black box forecasts the end from the clause operands seen so far, as PREDICTED.
"""

from __future__ import annotations

from dataclasses import replace

from workbench.analysis.forecast.edge_of_support import IRREGULAR, in_words
from workbench.analysis.forecast.monitor import TerminationMonitor
from workbench.analysis.proof import lookahead_floor
from workbench.analysis.proof.crossing_chance import may_cross
from workbench.analysis.proof.lookahead_search import Search, new_monitor
from workbench.analysis.proof.verdicts import argued, bounded, clause_text, ends, followed, kept, recurs, trip_limit
from workbench.analysis.slicing.protocol import HasInner, SliceRunner
from workbench.analysis.text import loop_named
from workbench.analysis.verdict import Proof, Reason, Status, Termination, predicted_never, proved_end, unknown

#: confidence in a limit to which the whole look-ahead tends
LIMIT_SEEN = 0.97
#: confidence in a nearest approach that is the same at both ends of a look-ahead
FLOOR_SEEN = 0.9
#: a predicted end is rejected as a coincidence if the look-ahead without an end is this many times longer
COINCIDENCE = 1000


def analyze_loop(
    runner: SliceRunner,
    *,
    seconds: float = 0.2,
    iterations: int = 1 << 27,
    iteration: int | None = None,
    observed: TerminationMonitor | None = None,
) -> Termination:
    """Prove or forecast whether a loop ends, and after how many more iterations.

    Parameters
    ----------
    runner : SliceRunner
        The slice at the present evaluation of the condition; it is forked, never moved.
    seconds : float, default 0.2
        Time limit of the look-ahead.
    iterations : int, default 2**27
        Maximum number of iterations of the look-ahead.
    iteration : int, optional
        Number of executions of the body so far; needed for an exact count if there is an iteration limit.
    observed : TerminationMonitor, optional
        Observations of the loop, from which its end is forecast if the slice cannot be run.

    Returns
    -------
    Termination
        PROVED (by look-ahead, recurrence, an invariant condition, a counter's closed form, an interval, or the
        iteration limit), else PREDICTED, else UNKNOWN.

    References
    ----------
    R. P. Brent, "An improved Monte Carlo factorization algorithm", BIT 20, 1980, for recurrences; the modules of
    ``workbench/analysis/proof`` name the sources of the other arguments.
    """
    left = None
    if runner.trip_limit is not None and iteration is not None:
        left = max(int(runner.trip_limit) - int(iteration), 0)
    if not runner.pure:
        return _impure(runner, observed)
    if not runner.cond():
        proof = Proof("observed", "the condition's value at the present iteration.")
        return proved_end(0, (0, 0), Reason("ended", "The condition is false now."), proof)
    if left == 0:
        return trip_limit(
            runner, left, "The iteration limit is reached.", Proof("trip-limit", "iterations done against the limit.")
        )
    search = Search(runner, seconds, iterations, left, iteration or 0)
    kind = search.run()
    if kind == "ended":
        return _to_the_end(runner, search, left)
    if kind == "recurs":
        return recurs(runner, search, left)
    if kind == "argued":
        return argued(runner, search, left)
    if kind == "followed":
        return followed(runner, search, left)
    if kind == "kept":
        return kept(runner, search, left)
    if kind == "limit":
        return trip_limit(
            runner,
            left,
            f"The condition stays true for {search.count:,} iterations and more.",
            Proof(
                "lookahead", f"the condition was computed {search.count:,} iterations ahead, up to the iteration limit."
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
                return _under_limit(runner, found, left)
        return _troubled(runner, search)
    return _forecast(runner, search, left, observed)


def _to_the_end(runner: SliceRunner, search: Search, left: int | None) -> Termination:
    """Describe the end of the loop, which the look-ahead has reached."""
    answer = ends(runner, search.count, left)
    answer.final = search.ahead
    return answer


def _troubled(runner: SliceRunner, search: Search) -> Termination:
    answer = unknown(*search.trouble, blocking_clause=clause_text(runner))
    if search.fails_after is not None:
        answer.details["fails_after"] = search.fails_after
    return answer


def _impure(runner: SliceRunner, observed: TerminationMonitor | None) -> Termination:
    nodes = ", ".join(runner.impure_nodes) or "unnamed nodes"
    sentence = (
        f"The condition depends on nodes that cannot be run ahead ({nodes}): their values are not fixed by the state."
    )
    if observed is not None:
        answer = observed.prediction()
        if answer.status is not Status.UNKNOWN:
            answer.reason = Reason(answer.reason.slug, sentence + " From observation: " + answer.reason.sentence)
            return answer
    return unknown("impure-slice", sentence, blocking_clause=clause_text(runner))


def _inner_hangs(search: Search, seconds: float) -> Termination | None:
    """Prove that the inner loop in which the look-ahead got stuck never ends, so that this loop never ends either."""
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
        Status.PROVED,
        "never",
        None,
        None,
        Reason("inner-hangs", f"The {loop_named(path)} inside never ends, {ahead}: {found.reason.sentence}"),
        found.root,
        found.blocking_clause,
        1.0,
        proof=Proof("inner-loop", f"of the {loop_named(path)}, by {found.proof.kind}: {found.proof.checked}"),
    )


def _forecast(
    runner: SliceRunner, search: Search, left: int | None, observed: TerminationMonitor | None
) -> Termination:
    """Forecast from the recorded values after the cap: first from the end of the look-ahead, then from the start."""
    capped = f"The look-ahead ran {search.count:,} iterations and found neither the end nor a recurrence."
    past = observed.start + observed.count if observed else 0
    late = search.late = new_monitor(runner, past + search.count)
    kind = search.follow(late)
    if kind == "ended":
        return _to_the_end(runner, search, left)
    if kind == "recurs":
        return recurs(runner, search, left)
    if kind == "trouble":
        return _troubled(runner, search)
    base = search.count
    bound = bounded(runner, search, left, capped)
    if bound is not None:
        return bound
    search.watch_on(runner)
    monitors = [(late, base), (search.monitor, search.watched), (observed, 0)]
    if late.prediction().outcome == "never" and search.unsettled():
        monitors = monitors[1:]  # in a short stretch far ahead, slow growth looks like a limit
    found = _by_trend(runner, search, capped) or _first_forecast(runner, monitors, base, left, capped)
    if found is None or found.reason.slug in ("stagnates", "turned"):  # the whole look-ahead takes precedence
        found = _by_floor(runner, search, base, capped) or found
    if found:
        irregular = found.status is Status.PREDICTED and found.reason.slug in IRREGULAR
    else:
        irregular = runner.trip_limit is None and _may_meet(monitors)
    if irregular:
        found = _by_chance(runner, search, capped) or found
    if found:
        return _under_limit(runner, found, left)
    why = late.prediction().reason
    if runner.trip_limit is not None:
        upper = left if left is not None else int(runner.trip_limit)
        low = min(base + 1, upper) if left is not None else 0
        limit = f"{capped} The limit of {runner.trip_limit:,} iterations ends it at the latest."
        return proved_end(None, (low, upper), Reason("trip-limit", limit), Proof("trip-limit", "the limit itself."))
    if late.prediction().outcome == "terminates":  # the look-ahead refutes it
        why = Reason("capped", "No law of its operands holds over all of it.")
    return unknown("capped", f"{capped} {why.sentence}", interval=(base + 1, None), blocking_clause=clause_text(runner))


def _first_forecast(
    runner: SliceRunner, monitors: list[tuple[TerminationMonitor | None, int]], base: int, left: int | None, why: str
) -> Termination | None:
    """The first of the monitors' forecasts that the look-ahead (``base`` iterations) does not refute."""
    for monitor, offset in monitors:
        answer = monitor.prediction() if monitor is not None else None
        if answer is None or answer.status is not Status.PREDICTED:
            continue
        if answer.outcome == "never" and answer.reason.slug == "clause-invariant" and base > 0:
            continue  # the state moves (no recurrence): a variable at rest may still be moved by another
        if answer.outcome == "terminates" and answer.remaining is not None:
            total = answer.remaining + offset
            if total <= base:
                continue  # the look-ahead has passed that iteration without an end
            low, high = answer.interval or (0, None)
            if low != high and (total - base) * COINCIDENCE < base:
                continue  # an event that has not happened in so many iterations is unlikely in the next few
            answer.remaining = total
            answer.interval = (max(low + offset, base + 1), None if high is None else high + offset)
        # for a loop that never ends, ``why`` is from the graph: a law fitted to a stretch is not an explanation
        sentence = why if answer.outcome == "never" else f"{why} {answer.reason.sentence}"
        return replace(answer, reason=Reason(answer.reason.slug, sentence), claims=[], fix=[], first_bad=None)
    return None


def _by_trend(runner: SliceRunner, search: Search, capped: str) -> Termination | None:
    """The answer from the trend over the whole look-ahead, which takes precedence over forecasts from a stretch of it.

    If the operands tend to limits at which the condition holds, the loop never ends; if they are at rest, nothing is
    predicted: the state still moves, and may move them later.
    """
    trends = search.trends()
    holds = [trend.never_turns for trend in trends]
    if not holds or not (any(holds) if runner.logic == "or" else all(holds)):
        return None
    i = next((k for k, trend in enumerate(trends) if trend.kind == "limit"), holds.index(True))
    clause, root = clause_text(search.ahead, i), search.late.root_names(i)
    if trends[i].kind == "rest":
        sentence = f"{capped} The operands of the condition have not changed over the last half of it."
        return unknown("at-rest", sentence, interval=(search.count + 1, None), blocking_clause=clause, root=root)
    return predicted_never(Reason("limit-beyond", capped), root, clause, LIMIT_SEEN)


def _by_floor(runner: SliceRunner, search: Search, base: int, capped: str) -> Termination | None:
    """ "Never", if the operands come just as near to each other at the end of the look-ahead as at its beginning."""
    if base < lookahead_floor.APART:
        return None
    both = zip(search.monitor.clauses, search.late.clauses, strict=True)
    pairs = [(list(zip(a.lhs, a.rhs, strict=True)), list(zip(b.lhs, b.rhs, strict=True))) for a, b in both]
    near = [lookahead_floor.nearest(early, late) for early, late in pairs]
    enough = any if runner.logic == "or" else all
    for every in lookahead_floor.STRIDES:  # a slow motion has too few turning points in consecutive iterations
        if enough(v is not None for v in near) or base < lookahead_floor.LOOKS * every * 4:
            break
        early, late = search.sampled(runner, every, 0), search.sampled(search.ahead, every, search.count)
        near = [lookahead_floor.nearest(a, b) for a, b in zip(early, late, strict=True)]
    holds = [v is not None for v in near]
    if not holds or not enough(holds):
        return None
    i = holds.index(True)
    sentence = (
        f"{capped} The two sides of the clause keep coming as near as {near[i]:.6g} to each other, at its beginning "
        "and at its end, and no nearer."
    )
    root, clause = search.late.root_names(i), clause_text(search.ahead, i)
    return predicted_never(Reason("cycle", sentence), root, clause, FLOOR_SEEN)


def _may_meet(monitors: list[tuple[TerminationMonitor | None, int]]) -> bool:
    """True if a forecast says that an irregular motion may meet its threshold at some time."""
    return any(m is not None and m.prediction().reason.slug == "chance" for m, _ in monitors)


def _by_chance(runner: SliceRunner, search: Search, capped: str) -> Termination | None:
    """The chance per iteration, instead of "never", for an irregular motion whose support may contain the threshold."""
    may = may_cross(search, runner.logic)
    if may is None:
        return None
    (chance,) = may
    low = (search.count + 1, None)
    answer = unknown("chance", f"{capped} {in_words(chance)}", interval=low, blocking_clause=clause_text(search.ahead))
    if chance:
        answer.details["chance"] = chance
    return answer


def _under_limit(runner: SliceRunner, answer: Termination, left: int | None) -> Termination:
    """A forecast beyond the iteration limit becomes the statement that the limit ends the loop."""
    if runner.trip_limit is None:
        return answer
    bound = left if left is not None else int(runner.trip_limit)
    if answer.outcome == "never" or answer.remaining is not None and answer.remaining > bound:
        answer.outcome, answer.remaining = "terminates", left
        answer.interval = (bound, bound) if left is not None else (0, bound)
        answer.reason = Reason(
            "trip-limit", f"The limit of {runner.trip_limit:,} iterations ends the loop. {answer.reason.sentence}"
        )
    return answer
