"""``python -m tests.benchmarks.predictions [EACH]``: what an answer of the loop monitor costs, over many loops.

Loops of all families of ``tests/evaluation`` are shown to a monitor. It is asked for the first time after 6, 12, 25 ...
evaluations (the whole search for a law), and, in a second monitor, after each of up to 200 evaluations (the answer goes
on from the one before). Times are of this thread alone, so that other work on the machine counts little.

``--write FILE`` keeps the answers; ``--against FILE`` lists those that differ from kept ones. ``--slow`` lists families
by the time of their answers.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tests.benchmarks.answers import add_options, keep_and_compare
from tests.evaluation.families.base import WATCHED, draws, families
from tests.evaluation.random_loops.families import all_loops
from tests.evaluation.scoring import blackbox
from workbench.analysis import Termination, TerminationMonitor

LENGTHS = (6, 12, 25, 50, 100, 200, 400)
EVERY = 200
Seen = tuple[dict[str, Any], list[tuple[Any, str, Any]]]


def loops(each: int, seed: int = 0) -> Iterator[tuple[str, str, list[Seen]]]:
    """(family, logic, evaluations with a true condition) of ``each`` loops of every family."""
    for loop in all_loops(each, seed):
        seen = [(state, clauses) for state, cond, clauses in loop.observations(max(LENGTHS)) if cond]
        yield loop.family, loop.logic, seen
    for watched in draws(families(WATCHED, range(9)), seed, each):
        most = min([max(LENGTHS), *(len(left) for _, left, _, _ in watched.clauses)])
        if watched.n is not None:
            most = min(most, watched.n)
        yield watched.family, watched.logic, list(blackbox.observations(watched, most))


class Times:
    """Seconds of answers by the number of evaluations seen, and the answers."""

    def __init__(self) -> None:
        self.first: defaultdict[int, list[float]] = defaultdict(list)
        self.going_on: list[float] = []
        self.families: defaultdict[str, list[float]] = defaultdict(list)
        self.answers: dict[str, str] = {}

    def ask(self, name: str, family: str, logic: str, seen: Sequence[Seen], repeats: int) -> None:
        """Both ways of asking about one loop."""
        monitor = TerminationMonitor()
        for n, (state, clauses) in enumerate(seen[:EVERY], 1):
            monitor.observe(state, True, clauses, logic)
            answer, seconds = _timed(monitor)
            self.going_on.append(seconds)
            self.answers[f"{name} every {n}"] = text(answer)
        for n in LENGTHS:
            if n > len(seen):
                break
            best = float("inf")
            for _ in range(repeats):
                monitor = TerminationMonitor()
                for state, clauses in seen[:n]:
                    monitor.observe(state, True, clauses, logic)
                answer, seconds = _timed(monitor)
                best = min(best, seconds)
            self.first[n].append(best)
            self.families[family].append(best)
            self.answers[f"{name} first {n}"] = text(answer)

    def report(self) -> list[str]:
        """Median and 90 % quantile in milliseconds, and the work they stand for."""
        lines = [line(f"first asked after {n:3d}", self.first[n]) for n in LENGTHS]
        everything = [seconds for n in LENGTHS for seconds in self.first[n]]
        lines += [line("first asked, all", everything), line("asked after each", self.going_on)]
        return [*lines, f"for comparison: 100,000 additions in Python take {1e3 * yardstick():.2f} ms now"]


def text(answer: Termination) -> str:
    """All of an answer, numbers to the last bit."""
    facts = (answer.status.name, answer.outcome, answer.remaining, answer.interval, answer.reason, answer.root)
    return repr((*facts, answer.blocking_clause, answer.confidence, answer.fix))


def line(name: str, seconds: Sequence[float]) -> str:
    """One line of the table."""
    ms = 1e3 * np.array(seconds)
    return (
        f"{name:22s} {len(ms):6d} answers: median {np.median(ms):7.3f} ms, 90 % {np.quantile(ms, 0.9):7.3f}, "
        f"worst {ms.max():8.3f}"
    )


def measure(each: int = 1, seed: int = 0, repeats: int = 2) -> Times:
    """Times of ``each`` loops of every family."""
    times = Times()
    for i, (family, logic, seen) in enumerate(loops(each, seed)):
        if seen:
            times.ask(f"{i} {family}", family, logic, seen, repeats)
    return times


def yardstick() -> float:
    """Seconds of this thread for some plain Python, by which a time of the table can be judged."""
    spent = []
    for _ in range(5):
        begin, total = time.thread_time(), 0
        for k in range(100_000):
            total += k
        spent.append(time.thread_time() - begin)
    return min(spent)


def _timed(monitor: TerminationMonitor) -> tuple[Termination, float]:
    begin = time.thread_time()
    answer = monitor.prediction()
    return answer, time.thread_time() - begin


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.predictions", description=__doc__.splitlines()[0])
    add_options(parser)
    chosen = parser.parse_args(arguments)
    times = measure(chosen.each, chosen.seed)
    print("\n".join(times.report()))
    if chosen.slow:
        order = sorted(times.families, key=lambda name: -float(np.quantile(times.families[name], 0.9)))
        print("\n".join(line(name, times.families[name]) for name in order[:40]))
    keep_and_compare(times.answers, chosen.write, chosen.against)


if __name__ == "__main__":
    main()
