"""The white box on graphs: exact counts, never-ending loops detected and proved, roots, reasons, wrong proofs."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

import workbench as wb
from tests.evaluation.scoring.blackbox import RAISED, raised
from tests.evaluation.scoring.cases import GraphLoop
from tests.evaluation.scoring.labels import share
from workbench.analysis import Termination


@dataclass
class Outcome:
    """Tallies of the white box; ``notes`` are the loops with a wrong or missing answer."""

    exact: list[bool] = field(default_factory=list)
    detected: list[bool] = field(default_factory=list)
    proved: list[bool] = field(default_factory=list)
    root: list[bool] = field(default_factory=list)
    reason: list[bool] = field(default_factory=list)
    false_never: list[bool] = field(default_factory=list)
    wrong_proofs: int = 0
    errors_raised: int = 0
    seconds: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        names = ("exact", "detected", "proved", "root", "reason", "false_never")
        return {name: share(getattr(self, name)) for name in names} | {
            "wrong proofs": float(self.wrong_proofs),
            "raised": float(self.errors_raised),
        }


def ask(loop: GraphLoop, seconds: float = 0.2) -> tuple[Termination, int | None, float]:
    """The session's answer, the true number that remains, and the seconds that the question took."""
    graph, feeds = loop.build()
    with wb.Session(graph, feeds) as session:
        for _ in range(loop.done):
            session.next_iteration()
        gone = 0
        if loop.done:
            frames = session.snapshot().iterations
            path = tuple(loop.frame) if loop.frame else next(p for p in frames if p)
            gone = max(frames[path], 0)
        begin = time.perf_counter()
        try:
            answer = session.termination(loop.frame, seconds)
        except Exception as error:  # a question must never raise: that is a figure of its own
            answer = raised(error)
        spent = time.perf_counter() - begin
    return answer, None if loop.n is None else loop.n - gone, spent


def is_wrong_proof(loop: GraphLoop, truth: int | None, answer: Termination) -> bool:
    """PROVED, but of something false; of a slice that draws random numbers nothing can be proved."""
    if answer.status.name != "PROVED":
        return False
    if loop.impure:
        return True
    if truth is None:
        return answer.outcome != "never"
    low, high = answer.interval or (0, None)
    outside = truth < low or (high is not None and truth > high)
    return answer.outcome != "terminates" or answer.remaining not in (None, truth) or outside


def score(loops: Iterable[GraphLoop], seconds: float = 0.2) -> Outcome:
    """All figures. ``seconds`` caps each look-ahead."""
    out = Outcome()
    for loop in loops:
        answer, truth, spent = ask(loop, seconds)
        out.seconds.append(spent)
        out.errors_raised += answer.reason.slug == RAISED
        problems = []
        if is_wrong_proof(loop, truth, answer):
            out.wrong_proofs += 1
            problems.append("WRONG PROOF")
        if not loop.impure:
            problems += _ends(out, truth, answer) if truth is not None else _never(out, loop, answer)
        if problems:
            said = f"{answer.status.name} {answer.outcome} {answer.remaining} [{answer.reason.slug}] root {answer.root}"
            out.notes.append(f"{loop.family}: {', '.join(problems)}; truth {truth}, done {loop.done}: {said}")
    return out


def hurried(loops: Iterable[GraphLoop], seconds: float = 1e-4) -> tuple[int, int]:
    """Wrong proofs and raised errors with hardly any look-ahead: only what is derived from the graph is left."""
    wrong = errors = 0
    for loop in loops:
        answer, truth, _ = ask(loop, seconds)
        wrong += is_wrong_proof(loop, truth, answer)
        errors += answer.reason.slug == RAISED
    return wrong, errors


def _ends(out: Outcome, truth: int, answer: Termination) -> list[str]:
    out.exact.append(answer.remaining == truth)
    out.false_never.append(answer.outcome == "never")
    return [] if out.exact[-1] else ["count"]


def _never(out: Outcome, loop: GraphLoop, answer: Termination) -> list[str]:
    found = answer.outcome == "never"
    out.detected.append(found)
    out.proved.append(found and answer.status.name == "PROVED")
    problems = [] if found else ["not detected"]
    if found and not out.proved[-1]:
        problems.append("not proved")
    if loop.roots:
        out.root.append(bool(answer.root) and answer.root[0].rsplit("/", 1)[-1] in loop.roots)
        problems += [] if out.root[-1] else [f"root is {loop.roots}"]
    if loop.reason:
        out.reason.append(re.search(loop.reason, str(answer), re.IGNORECASE) is not None)
        problems += [] if out.reason[-1] else [f"reason not like {loop.reason}"]
    return problems
