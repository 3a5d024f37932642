"""``python -m tests.evaluation.solver_questions.ask [first | second | NAME ...]``: right and wrong answers, and every
wrong one, of both sets of loops, of one of them, or of the loops that are named.

Of each loop is asked: what comes (the exact number, or never), the same in mid-run, the status (proved), the variable
or clause that decides, why a loop never ends, and how the variable evolves.  The truth is found by running the loop.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import workbench as wb
from tests.evaluation.solver_questions.eigenvalues import EIGEN
from tests.evaluation.solver_questions.loops import Loop
from tests.evaluation.solver_questions.narrow import NARROW
from tests.evaluation.solver_questions.numbers import NUMBERS
from tests.evaluation.solver_questions.optimisers import OPTIMISERS
from tests.evaluation.solver_questions.roots import ROOTS
from tests.evaluation.solver_questions.searches import SEARCHES
from tests.evaluation.solver_questions.second import SECOND
from tests.evaluation.solver_questions.steppers import STEPPERS
from tests.evaluation.solver_questions.sums import SUMS
from workbench.analysis import Termination, classify

FIRST: list[Loop] = [*ROOTS, *SUMS, *EIGEN, *OPTIMISERS, *STEPPERS, *NUMBERS, *SEARCHES, *NARROW]
LOOPS: list[Loop] = [*FIRST, *SECOND]
QUESTIONS = ("outcome", "mid-run", "proved", "decides", "reason", "label")
#: iterations run before the question in mid-run, at most
DONE = 20


@dataclass
class Asked:
    """One question with its answer; ``right`` and what was said."""

    loop: Loop
    question: str
    right: bool
    said: str


def wrong_proof(answer: Termination, truth: int | None) -> bool:
    """PROVED, and not so."""
    if answer.status.name != "PROVED":
        return False
    if truth is None:
        return answer.outcome != "never"
    return answer.outcome != "terminates" or answer.remaining not in (None, truth)


def _outcome(answer: Termination, truth: int | None) -> bool:
    return answer.outcome == "never" if truth is None else answer.remaining == truth


def ask(loop: Loop) -> tuple[list[Asked], int]:
    """All questions about a loop, and how many proofs are wrong."""
    truth = loop.length()
    graph, feeds = loop.build()
    with wb.Session(graph, feeds) as session:
        first = session.termination()
        done = DONE if truth is None else min(DONE, max(truth - 2, 0))
        for _ in range(done):
            session.next_iteration()
        gone = max(next((k for p, k in session.snapshot().iterations.items() if p), 0), 0)
        later = session.termination()
    left = None if truth is None else truth - gone
    wrong = wrong_proof(first, truth) + wrong_proof(later, left)
    names = loop.variable.split()
    named = first.root[:1] if first.root else []
    decides = (
        any(n.rsplit("/", 1)[-1] in names for n in named)
        if truth is None
        else _mentions(first.blocking_clause or "", names)
    )
    out = [
        Asked(loop, "outcome", _outcome(first, truth), f"{truth}: {first}"),
        Asked(loop, "mid-run", _outcome(later, left), f"{left} after {gone}: {later}"),
        Asked(loop, "decides", decides, f"{names}: {first.root} {first.blocking_clause}"),
    ]
    if loop.proved:
        out.append(Asked(loop, "proved", first.status.name == "PROVED", str(first)))
    if truth is None:
        out.append(Asked(loop, "reason", re.search(loop.reason, str(first), re.IGNORECASE) is not None, str(first)))
    if loop.label:
        found = classify(loop.record())
        out.append(
            Asked(loop, "label", found.label.name == loop.label, f"{loop.label}: {found.label.name} {found.why}")
        )
    return out, wrong


def _mentions(text: str, names: Iterable[str]) -> bool:
    return any(re.search(rf"\b{re.escape(name)}\b", text) for name in names)


def main() -> None:
    sets = {"first": FIRST, "second": SECOND}
    named = sys.argv[1:] or list(sets)
    loops = [loop for name in named for loop in sets.get(name, [x for x in LOOPS if x.name == name])]
    counts: defaultdict[str, Counter[bool]] = defaultdict(Counter)
    wrong_proofs, wrong = 0, []
    for loop in loops:
        try:
            asked, proofs = ask(loop)
        except Exception as error:  # a question must never raise: that is a figure of its own
            asked, proofs = [Asked(loop, "outcome", False, f"raised {error!r}")], 0
        wrong_proofs += proofs
        for a in asked:
            counts[a.question][a.right] += 1
            wrong += [] if a.right else [f"{a.loop.name}, {a.question}: {a.said}"]
    right, total = sum(c[True] for c in counts.values()), sum(c.total() for c in counts.values())
    print(f"{len(loops)} loops, {total} questions: {right} right, {total - right} wrong; wrong proofs: {wrong_proofs}")
    print("  ".join(f"{q} {counts[q][True]}/{counts[q].total()}" for q in QUESTIONS))
    print("\n".join(wrong))


if __name__ == "__main__":
    main()
