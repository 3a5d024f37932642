"""``python -m tests.evaluation.score_families``: the score by family, a column for each part of the set.

Every run draws fresh cases and prints its seed; ``--seed N`` repeats a run.  ``--each K`` draws K cases of a family.
``--wrong`` lists wrong answers by kind, of the development families only, unless ``--third`` names another third:
whoever mends the analysis looks at third 0 and reads only the figures of the others.  ``--loops`` asks the loops too.
"""

from __future__ import annotations

import argparse
import re
import secrets
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from tests.evaluation.families import score_loops as loops
from tests.evaluation.families.base import HISTORY, THIRDS, UNKNOWN, draws, families
from tests.evaluation.scoring import labels, numbers, rows
from tests.evaluation.scoring.cases import Case
from tests.evaluation.scoring.labels import Answered
from tests.evaluation.scoring.rows import Row

#: the columns of the table, and the thirds of the families in each
SIDES: dict[str, tuple[int, ...]] = {
    "development": (0,),
    "left out": (1, 2),
    "new": (3, 4),
    "unseen": (5,),
    "latest": (6,),
    "mended": (7,),
    "later": (8,),
    "outside": (9,),
    "judged": (10,),
    "abroad": (11,),
    "sealed": (12,),
}
#: stated confidence from which an answer counts as said for certain
CERTAIN = 0.985
#: figures of loops that are not shares
COUNTS = re.compile("questions|answers|proofs|calibration error|raised")


class Side(NamedTuple):
    """Figures of some thirds, and lines that describe their wrong answers."""

    title: str
    rows: list[Row]
    wrong: list[str]


def ask(cases: Iterable[Case]) -> tuple[list[Answered], list[str]]:
    """Answers, and a line for each question that raised an error."""
    answered, raised = [], []
    for case in cases:
        try:
            answered += labels.ask([case])
        except Exception as error:  # a question must never raise: that is a figure of its own
            raised.append(f"{case.family}: n={len(case.values)} {case.values.dtype} raised {error!r}")
    return answered, raised


def score_histories(cases: Sequence[Case]) -> tuple[list[Row], list[str]]:
    """Rows of the histories, and their wrong answers by kind."""
    everything, raised = ask(cases)
    first, more_raised = ask(_quarters(cases))
    whole = [r for r in everything if r.case.label != UNKNOWN]
    unknown = [r.right for r in everything if r.case.label == UNKNOWN]
    short = [r.right for r in everything if len(r.case.values) < 6]
    out = rows.of_labels(whole, first) + rows.of_numbers(whole)
    for name, results in (("", whole), ("first quarters: ", first)):
        certain = [r.right for r in results if r.answer.confidence >= CERTAIN]
        out.append(Row(f"{name}said for certain (>= {CERTAIN})", len(certain), unit="answers"))
        out.append(Row(f"{name}right of them", labels.share(certain), 0.98))
    out += [
        Row("UNKNOWN where nothing is shown", labels.share(unknown)),
        Row("records of fewer than 6 values", labels.share(short)),
        Row("errors raised", len(raised + more_raised), None, 0, ""),
    ]
    wrong = ["Wrong labels", *_by_kind(everything), "Wrong labels of first quarters", *_by_kind(first)]
    wrong += ["Wrong numbers", *_wrong_numbers(whole), "Raised", *raised, *more_raised]
    return out, [*wrong, "Examples", *labels.wrong_families(everything)]


def _quarters(cases: Iterable[Case]) -> list[Case]:
    """The first quarters that have the label of the whole record and are long enough to be asked."""
    asked = (c for c in cases if c.quarter and len(c.values) >= 4 * labels.LEAST_QUARTER)
    return [Case(c.family, c.values[: len(c.values) // 4], c.label, c.hard) for c in asked]


def _by_kind(results: Iterable[Answered]) -> list[str]:
    """Truth, wrong answer, and the families where it was given; frequent kinds first."""
    kinds: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for r in results:
        if not r.right:
            kinds[r.case.label, r.answer.label.name][r.case.family] += 1
    key: Callable[[tuple[str, str]], int] = lambda kind: -kinds[kind].total()  # noqa: E731
    return [f"{truth} answered {said}: {_counted(kinds[truth, said])}" for truth, said in sorted(kinds, key=key)]


def _wrong_numbers(results: Iterable[Answered]) -> list[str]:
    """Per number the families where it is wrong or missing; the limit counts where the last value is nearer."""
    kinds: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for r in results:
        for name, share in numbers.shares([r]).items():
            kinds[name][r.case.family] += share < 1
        kinds["limit"][r.case.family] += numbers.limits([r])["worse"] == 1
    return [f"{name}: {_counted(+counts)}" for name, counts in kinds.items()]


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.most_common()) or "none"


def score_loops(thirds: Sequence[int], seed: int, each: int) -> tuple[list[Row], list[str]]:
    """Rows of the loops, black box and white box, and their wrong answers."""
    black, white = loops.ask_third(thirds, seed, each)
    found = loops.figures(black, white)
    out = [Row(name, value, unit="" if COUNTS.search(name) else "%") for name, value in found.items()]
    return out, ["Wrong about loops", *(str(q) for q in (*black, *white) if loops.is_wrong(q))]


def side(title: str, thirds: Sequence[int], seed: int, each: int, with_loops: bool) -> Side:
    """Score of the families in some thirds."""
    histories = draws(families(HISTORY, thirds), seed, each)
    out, wrong = score_histories(histories)
    out.insert(0, Row("histories", len(histories), unit=""))
    if with_loops:
        more = score_loops(thirds, seed, each)
        out, wrong = out + more[0], wrong + more[1]
    return Side(title, out, wrong)


def table(sides: Sequence[Side]) -> str:
    """The sides' figures, side by side; a figure short of what is wanted has a star."""
    lines = [f"{'':52s}" + "".join(f"{s.title:>13s}" for s in sides)]
    for same in zip(*(s.rows for s in sides), strict=True):
        name = same[0].name.split(" (")[0] if any(r.name != same[0].name for r in same) else same[0].name
        lines.append(f"{name:52s}" + "".join(f"{_figure(r):>13s}" for r in same))
    return "\n".join(lines)


def _figure(row: Row) -> str:
    if row.value != row.value:
        return "none asked"
    value = f"{row.value * 100:.1f} %" if row.unit == "%" else f"{row.value:.4g}"
    return value + (" *" if row.missed else "  ")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**31))
    parser.add_argument("--each", type=int, default=4)
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--loops", action="store_true")
    parser.add_argument("--third", type=int, choices=THIRDS)
    chosen = parser.parse_args(arguments)
    wanted = list(SIDES.items())
    if chosen.third is not None:
        wanted = [(f"third {chosen.third}", (chosen.third,))]
    sides = [side(title, thirds, chosen.seed, chosen.each, chosen.loops) for title, thirds in wanted]
    print(f"seed {chosen.seed}, {chosen.each} of each family\n")
    print(table(sides))
    if chosen.wrong:
        print("\n" + "\n".join(sides[0].wrong))


if __name__ == "__main__":
    main()
