"""All claims of all answers about a program, each recomputed; the counts of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import workbench as wb
from tests.evaluation.claim_truth import about_clauses, about_ends, about_nodes
from tests.evaluation.claim_truth.executor import SEEN, Recorded
from tests.evaluation.claim_truth.faults import FAULTS
from tests.evaluation.claim_truth.looked_up import Case, TooFar, Unchecked, Wrong
from tests.evaluation.claim_truth.programs import Program

CHECKS = {**about_clauses.CHECKS, **about_nodes.CHECKS, **about_ends.CHECKS}
#: fields of claims that are numbers of iterations
ITERATIONS = ("first", "last", "since", "iteration", "iterations")


@dataclass
class Counts:
    """How many programs, answers and claims were looked at, and what was wrong or could not be recomputed."""

    programs: int = 0
    answers: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    claims: Counter[str] = field(default_factory=Counter)
    recomputed: Counter[str] = field(default_factory=Counter)
    unchecked: list[str] = field(default_factory=list)
    #: claims about iterations that plain Python takes too long to come to
    far: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    #: faults that were found, by kind and number, and claims with a fault that nothing was found of
    faults: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        by = ", ".join(f"{k} {self.recomputed[k]} of {n}" for k, n in sorted(self.claims.items()))
        far = sum(self.far.values())
        return (
            f"{self.programs} programs, {self.answers} answers, {sum(self.claims.values())} claims, "
            f"{sum(self.recomputed.values())} recomputed, {len(self.wrong)} wrong, {far} too far ahead; "
            f"refused {dict(self.refused)}; {by}"
        )


def judge(program: Program, folder: Path, counts: Counts) -> None:
    """Ask about a program at its begin, after some iterations, and at its end, and recompute what is claimed."""
    function = program.function(folder)
    counts.programs += 1
    try:
        graph = wb.graph(function).graph_for(*(value for _, value in program.given))
    except wb.WorkbenchError as error:
        counts.refused[f"{program.mechanism}: {type(error).__name__}"] += 1
        return
    short = Recorded(program, function, set(), SEEN)
    with wb.Session(graph, dict(program.given)) as session:
        answers = [(0, session.termination())]
        if short.end is not None and short.by != "error":
            session.run()
            answers.append((short.end, session.termination()))
    claims = [claim for _, answer in answers for claim in answer.claims]
    recorded = short if short.end is not None else _enough(program, function, claims, answers)
    case = Case(program, recorded)
    for at, answer in answers:
        counts.answers += 1
        _look(
            "verdict", lambda a=answer, k=at: about_ends.about_verdict(a, case, k), counts, program, str(answer.reason)
        )
        for claim in answer.claims:
            check = CHECKS.get(claim.kind)
            data = {**claim.data, "sentence": claim.sentence}
            _look(claim.kind, None if check is None else lambda c=check, d=data: c(d, case), counts, program, claim)
            _inject(claim.kind, data, case, counts, program)


def _inject(kind: str, data: dict[str, Any], case: Case, counts: Counts, program: Program) -> None:
    """The finding for a claim with a fault in it: it must be wrong, or its iterations not those of the run."""
    for i, fault in enumerate(FAULTS.get(kind, [])):
        changed = fault(data)
        if repr(changed) == repr(data):
            continue
        try:
            CHECKS[kind](changed, case)
            counts.missed.append(f"{program.name} {kind} fault {i}: {changed}")
        except Wrong:
            counts.faults[f"{kind} {i}"] += 1
        except (Unchecked, LookupError, TypeError, ValueError, NameError, AttributeError):
            continue


def _enough(program: Program, function: Any, claims: list[Any], answers: list[Any]) -> Recorded:
    """Plain Python's run as far as the claims and verdicts speak of."""
    wanted: set[int] = set()
    most = SEEN
    for claim in claims:
        numbers = [v for k, v in claim.data.items() if k in ITERATIONS and isinstance(v, int)]
        turns = 2 * int(claim.data.get("n") or claim.data.get("period") or 1)
        most = max([most, *(n + turns + 2 for n in numbers)])
        first, last = claim.data.get("first"), claim.data.get("last")
        if claim.kind == "circles":
            last = first + turns
        if isinstance(first, int) and isinstance(last, int):
            wanted |= set(range(first, last + 2))
        wanted |= {n + d for n in numbers for d in (-1, 0, 1)}
        if claim.kind in ("period", "first-bad", "ray"):
            wanted |= {n + d for n in numbers for d in range(turns + 2)}
    return Recorded(program, function, wanted, max([most, *(at + (a.remaining or 0) + 2 for at, a in answers)]))


def _look(kind: str, check: Any, counts: Counts, program: Program, what: Any) -> None:
    counts.claims[kind] += 1
    try:
        if check is None:
            raise Unchecked("nothing recomputes this kind")
        check()
        counts.recomputed[kind] += 1
    except TooFar:
        counts.far[kind] += 1
    except Unchecked as why:
        counts.unchecked.append(f"{program.name} {kind}: {why}: {what}")
    except Wrong as why:
        counts.recomputed[kind] += 1
        counts.wrong.append(f"{program.name} {kind}: {why}: {what} {getattr(what, 'data', '')}")
    except (LookupError, TypeError, ValueError, NameError, AttributeError) as error:
        counts.unchecked.append(f"{program.name} {kind}: {type(error).__name__} {error}: {what}")
