"""The end of a loop whose condition depends on random numbers: a probability, found by simulation.

A draw is not determined by the state, so nothing is proved about such a loop. The condition's slice is run ahead many
times from the current state, each time with different random numbers from the same distributions
(``workbench.ops.random.other_draws``). The number of iterations left is the median of these runs, with the range from
the 5 % to the 95 % quantile, and the probability that the loop ends is the share of runs that ended (by Laplace's rule
of succession).

Source: https://en.wikipedia.org/wiki/Monte_Carlo_method; https://en.wikipedia.org/wiki/Rule_of_three_(statistics).
"""

from __future__ import annotations

from workbench.analysis.slicing import work
from workbench.analysis.slicing.execution import SliceMachine, slice_of
from workbench.analysis.slicing.protocol import SliceFailed, SliceTimeout
from workbench.analysis.text import count
from workbench.analysis.verdict import Proof, Reason, Status, Termination, proved_end, unknown
from workbench.execution import Run
from workbench.ops.random.other_draws import other_draws

#: maximum number of simulated runs, and minimum number for which quantiles are reported
MOST, FEWEST = 200, 20
#: iterations after which a simulated run counts as not ended
HORIZON = 100_000
#: nominal seconds of the start of a simulated run, and of one firing of a random op
START, DRAW = 1e-3, 50e-6
#: one run takes at most one part in so many of the time
SHARES = 8
#: maximum number of draws for the current condition until one for which it holds, as it does in the run
TRIED = 50


def ends_by_draws(run: Run, path: tuple[str, ...], inside: bool, seconds: float, names: list[str]) -> Termination:
    """Forecast of a loop whose condition depends on the random numbers of the nodes ``names``, within nominal seconds.

    Returns
    -------
    Termination
        PROVED if the condition is false now. PREDICTED if at least half of the simulated runs ended, with
        ``details["probability"]`` of ending within the horizon. Else UNKNOWN; if no run ended, with an upper bound of
        the probability per iteration (the rule of three).
    """
    holds = _condition_now(run, path) if inside else None
    if holds is False:
        checked = Proof("observed", "the condition's value in the present iteration.")
        ended = Reason("now", "The condition is false now.")
        return proved_end(0, (0, 0), ended, checked)
    begin, done, lost, iterations = work.now(), [], 0, 0
    runner = slice_of(run.plan.graph, path, run.plan, run.feeds)
    runner.patience = max(seconds, 0.05)
    main = run if inside else None
    for number in range(1, MOST + 1):
        with other_draws(number):
            try:
                left, seen = _simulated(runner, main, holds, number, seconds)
            except (SliceTimeout, SliceFailed):
                lost += 1
                continue
        iterations += seen
        if left is None:
            lost += 1
        else:
            done.append(left)
        if work.now() - begin > seconds:
            break
    return _answer(sorted(done), lost, iterations, names)


def _condition_now(run: Run, path: tuple[str, ...]) -> bool | None:
    """The condition in the run's current iteration; None before it is computed."""
    number = run.plan.numbers[path]
    cond = next(n for n in run.plan.layout.nodes if n.op == "LoopCond" and n.frame == number)
    if run.view.ip <= cond.ip:
        return None
    place = run.plan.layout.values[cond.name, 0].place
    assert place is not None  # the input of a Switch has a place
    return bool(run._now(place))


def _simulated(
    runner: SliceMachine, main: Run | None, holds: bool | None, number: int, seconds: float
) -> tuple[int | None, int]:
    """(iterations until a simulated run ended, or None; iterations simulated)."""
    _start(runner, main)
    tries = 0
    while holds and not runner.cond():  # in the run, the draw let the loop continue
        tries += 1
        if tries > TRIED:
            return None, 0
        with other_draws(number + MOST * tries):
            _start(runner, main)
    done, steps, begin = 0, 32, work.now()
    while runner.cond():
        if done >= HORIZON or work.now() - begin > seconds / SHARES:
            return None, done
        more = runner.advance(steps)
        work.charge(more * DRAW * len(runner.impure_nodes))
        done += more
        steps *= 2
    return done, done


def _start(runner: SliceMachine, main: Run | None) -> None:
    """Move to the condition, in the current state of ``main``, with the random numbers of this simulation."""
    runner.restart()
    work.charge(START)
    if not runner.align(main):
        raise SliceTimeout("the loop is not entered with these random numbers")


def _answer(done: list[int], lost: int, iterations: int, names: list[str]) -> Termination:
    total = len(done) + lost
    nodes = ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")
    first = f"The condition depends on random numbers ({nodes})."
    share = (len(done) + 1) / (total + 2)
    details = {"probability": share, "simulated": total, "ended": len(done)}
    if not done:
        most = 3 / max(iterations, 1)
        words = f"None of {count(total, 'simulated run')} ended" + (
            f", in {iterations:,} iterations together: the chance of an end is at most {most:.1g} per iteration."
            if iterations
            else "."
        )
        return unknown("draws", f"{first} {words}", details=details)
    if len(done) < total / 2 or total < FEWEST:
        words = f"{len(done)} of {count(total, 'simulated run')} ended within the iterations that were looked at."
        return unknown("draws", f"{first} {words}", details=details)

    # runs that did not end count as the longest
    def quantile(q: float) -> int | None:
        at = int(q * (total - 1) + 0.5)
        return done[at] if at < len(done) else None

    low, median, high = quantile(0.05), quantile(0.5), quantile(0.95)
    assert low is not None
    most_words = "more" if high is None else f"{high:,}"
    words = (
        f"Of {total} simulated runs from here with other random numbers {len(done)} ended, nine of ten "
        f"after {low:,} to {most_words} iterations."
    )
    return Termination(
        Status.PREDICTED,
        "terminates",
        median,
        (low, high),
        Reason("draws", f"{first} {words}"),
        confidence=share,
        details=details,
    )
