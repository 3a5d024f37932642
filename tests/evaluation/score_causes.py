"""``python -m tests.evaluation.score_causes``: how often the cause of a loop is found, on loops whose cause is known.

Options: ``--wrong`` lists what is wrong.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import workbench as wb
from tests.evaluation.known_causes import programs, single_loops, structures
from tests.evaluation.known_causes.cases import Caused
from workbench.analysis import Termination

#: for each look-ahead; only few loops need more than a few milliseconds, and no answer may depend on a busy machine
SECONDS = 2.0
QUESTIONS = ("outcome", "root first", "clause", "reason", "first bad", "fix kind", "fix works")


@dataclass
class Verdict:
    """One loop, the answer about it, and which of the questions it gets right (None: not asked)."""

    case: Caused
    answer: Termination
    right: dict[str, bool | None]


def cases() -> Iterator[Caused]:
    """All loops, always the same."""
    for family in (*single_loops.FAMILIES, *structures.FAMILIES, *programs.FAMILIES):
        yield from family(np.random.default_rng(7))


def judge(case: Caused) -> Verdict:
    """Ask a session that stands at the beginning, and apply the first fix that can be."""
    with wb.Session(case.graph, case.feeds) as session:
        answer = session.termination(case.frame, SECONDS)
        clause = answer.blocking_clause or ""
        right: dict[str, bool | None] = {
            "outcome": answer.outcome == ("never" if case.ends is None else "terminates"),
            "root first": bool(answer.root) and answer.root[0] in case.root,
            "clause": all(word in clause for word in case.clause),
            "reason": answer.reason.slug == case.slug,
            "first bad": None if case.first_bad is None else answer.first_bad == case.first_bad,
            "fix kind": None,
            "fix works": None,
        }
        if case.ends is not None:
            right["outcome"] = answer.remaining == case.ends
            return Verdict(case, answer, right)
        if case.wraps_after is not None and answer.outcome == "terminates":
            right["outcome"], right["reason"] = answer.remaining == case.wraps_after, answer.reason.slug == "wraps"
        offered = [*answer.fix, answer.fuse]
        appliable = [getattr(f, "kind", "") for f in offered if getattr(f, "applies", False)]
        right["fix kind"] = case.fix in appliable[:2]
        try:
            fork = session.apply_fix(frame=case.frame, seconds=SECONDS)
            assert session.fixed is not None
            right["fix works"] = session.fixed.works
            fork.close()
        except wb.WorkbenchError:
            right["fix works"] = False
    return Verdict(case, answer, right)


def shares(verdicts: list[Verdict]) -> dict[str, dict[str, float]]:
    """Family -> question -> share of right answers; ``all`` is over all loops."""
    table: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for v in verdicts:
        for question, right in v.right.items():
            if right is not None:
                table[v.case.family][question].append(right)
                table["all"][question].append(right)
    return {family: {q: float(np.mean(r)) for q, r in row.items()} for family, row in table.items()}


def main(arguments: list[str]) -> None:
    verdicts = [judge(case) for case in cases()]
    table = shares(verdicts)
    print(f"{len(verdicts)} loops, {sum(v.case.ends is None for v in verdicts)} of them never end; shares in %")
    print(f"{'family':18}{'loops':>6}  " + "".join(f"{q:>12}" for q in QUESTIONS))
    for family, row in sorted(table.items(), key=lambda item: item[0] == "all"):
        count = sum(v.case.family == family for v in verdicts) or len(verdicts)
        cells = "".join(f"{100 * row[q]:12.1f}" if q in row else f"{'-':>12}" for q in QUESTIONS)
        print(f"{family:18}{count:6}  {cells}")
    if "--wrong" in arguments:
        for v in verdicts:
            wrong = [q for q, r in v.right.items() if r is False]
            if wrong:
                c, a = v.case, v.answer
                print(f"\n{c.family}: wrong {wrong}; truth root {c.root} {c.slug} first bad {c.first_bad} fix {c.fix}")
                print(f"  told {a.root} {a.reason.slug} {a.first_bad} {[getattr(f, 'kind', '') for f in a.fix]}\n  {a}")


if __name__ == "__main__":
    main(sys.argv[1:])
