"""``python -m tests.benchmarks.terminations [EACH]``: what ``session.termination()`` costs, over many loops in graphs.

The loops are those of ``tests/evaluation``: known ones and ``EACH`` of every family. Each is stepped to the place where
it is asked; then the question is timed, in the time of this thread alone, and compared with one step of a session
(``next_iteration``) and with some plain Python, by which the figures of two machines can be compared.

``--write FILE`` keeps the answers; ``--against FILE`` lists those that differ from kept ones. ``--slow`` lists families
by the time of their answers.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence

import numpy as np

import workbench as wb
from tests.benchmarks.answers import add_options, keep_and_compare
from tests.benchmarks.predictions import text, yardstick
from tests.evaluation.families.base import GRAPH, draws, families
from tests.evaluation.known_loops import observed
from tests.evaluation.scoring.cases import GraphLoop
from workbench.analysis import Termination

#: steps of which the shortest is what a step takes
STEPS = 9


def loops(each: int, seed: int = 0) -> Iterator[GraphLoop]:
    """The known loops and ``each`` of every family."""
    yield from observed.graphs()
    yield from draws(families(GRAPH), seed, each)


def ask(loop: GraphLoop) -> tuple[Termination, float]:
    """The answer about a loop, asked in a session of its own, and seconds of this thread."""
    graph, feeds = loop.build()
    with wb.Session(graph, feeds) as session:
        if loop.done:
            session.next_iteration(loop.done)
        begin = time.thread_time()
        answer = session.termination(loop.frame)
        return answer, time.thread_time() - begin


@wb.graph
def halving(x: float, tol: float):
    while x > tol:
        x = 0.5 * x
    return x


def step() -> float:
    """Seconds of one step of a session on a small loop, the shortest of some; the first two prepare things."""
    best = float("inf")
    with wb.Session(halving.graph_for(x=1.0, tol=1e-9), {"x": 1.0, "tol": 1e-9}) as session:
        session.next_iteration(2)
        for _ in range(STEPS):
            begin = time.thread_time()
            session.next_iteration()
            best = min(best, time.thread_time() - begin)
    return best


class Times:
    """Seconds of answers, loop by loop, and the answers."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.answers: dict[str, str] = {}
        self.seconds: list[float] = []

    def add(self, loop: GraphLoop, repeats: int) -> None:
        found = [ask(loop) for _ in range(repeats)]
        name = f"{len(self.names)} {loop.family}"
        self.names.append(name)
        self.answers[name] = text(found[0][0])
        self.seconds.append(min(seconds for _, seconds in found))

    def report(self) -> list[str]:
        ms, each, plain = 1e3 * np.array(self.seconds), 1e3 * step(), 1e3 * yardstick()
        median, late = np.median(ms), np.quantile(ms, 0.9)
        return [
            f"{len(ms)} answers: median {median:.2f} ms, 90 % {late:.2f}, worst {ms.max():.1f}",
            f"a step of a session takes {each:.3f} ms; an answer takes {median / each:.0f}, 90 % {late / each:.0f}",
            f"100,000 additions in Python take {plain:.2f} ms now; an answer takes {median / plain:.2f} times that, "
            f"90 % {late / plain:.2f}",
        ]


def measure(each: int = 1, seed: int = 0, repeats: int = 2) -> Times:
    """Times of the known loops and of ``each`` of every family."""
    times = Times()
    for loop in loops(each, seed):
        times.add(loop, repeats)
    return times


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.terminations", description=__doc__.splitlines()[0]
    )
    add_options(parser)
    chosen = parser.parse_args(arguments)
    times = measure(chosen.each, chosen.seed)
    print("\n".join(times.report()))
    if chosen.slow:
        order = sorted(zip(times.seconds, times.names, strict=True), reverse=True)
        print(
            "\n".join(f"{1e3 * seconds:8.2f} ms  {name:40s} {times.answers[name][:90]}" for seconds, name in order[:60])
        )
    keep_and_compare(times.answers, chosen.write, chosen.against)


if __name__ == "__main__":
    main()
