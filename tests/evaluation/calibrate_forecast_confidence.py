"""Command that regenerates ``TABLE`` of ``workbench.analysis.forecast.calibrated_confidence``, or checks it.

``python -m tests.evaluation.calibrate_forecast_confidence [EACH]`` prints the table, from the answers of
``forecast_answers``.  ``--check`` prints, for each kind of answer, the calibration of a table that each family was left
out of in its turn; ``--wrong`` lists the wrong answers by kind and family.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from tests.evaluation import forecast_answers
from tests.evaluation.calibrate_confidence import isotonic
from tests.evaluation.scoring.calibration import bands, calibration_error, family_share
from workbench.analysis.forecast.calibrated_confidence import BINS, MOST, bin_of, is_exact, prior

#: Imagined families of the prior's share.  Families differ so much that ten of them say little about the next one: a
#: table that follows them more closely than this is worse for families left out (``--check``), by answers of all kinds.
IMAGINED = 12.0


class Said(NamedTuple):
    """An answer: its kind, the bin of its record's length, and whether it was right."""

    family: str
    kind: str
    bin: int
    right: bool


def answers(each: int) -> Iterator[Said]:
    """The answers to single clauses."""
    for s in forecast_answers.answers(each):
        yield Said(s.family, s.found.kind, bin_of(s.seen), bool(s.right))


def table(said: list[Said]) -> dict[str, tuple[list[float], int]]:
    """Kind -> its row, and the number of its families."""
    by: defaultdict[str, list[defaultdict[str, list[bool]]]] = defaultdict(
        lambda: [defaultdict(list) for _ in range(len(BINS) + 1)]
    )
    for s in said:
        by[s.kind][s.bin][s.family].append(s.right)
    out = {}
    for kind, bins in sorted(by.items()):
        found = [family_share(by_family, p, IMAGINED) for by_family, p in zip(bins, prior(kind), strict=True)]
        shares, weights = ([pair[i] for pair in found] for i in (0, 1))
        row = isotonic(shares[::-1], weights[::-1])[::-1]
        out[kind] = [min(v, MOST) for v in row], len({f for b in bins for f in b})
    return out


def left_out(said: list[Said], asked: list[Said]) -> list[tuple[float, bool]]:
    """(confidence, right) of each answer that is asked for, by a table made without its family."""
    out = []
    for family in sorted({s.family for s in asked}):
        rows = table([s for s in said if s.family != family])
        for s in asked:
            if s.family == family:
                row = rows.get(s.kind, (list(prior(s.kind)), 0))[0]
                out.append((row[s.bin], s.right))
    return out


def main() -> None:
    numbers = [int(a) for a in sys.argv[1:] if a.isdigit()]
    said = list(answers(numbers[0] if numbers else 12))
    if "--wrong" in sys.argv:
        kinds = Counter((s.kind, s.bin, s.family) for s in said if not s.right)
        print(
            *(f"{kind} {'few some many'.split()[b]} {family}: {n}" for (kind, b, family), n in kinds.most_common(60)),
            sep="\n",
        )
        return
    if "--check" not in sys.argv:
        for kind, (row, count) in table(said).items():
            print(f'    "{kind}": ({", ".join(f"{v:.3f}" for v in row)}),  # of {count} families')
        return
    for name, chosen in (("exact N", is_exact), ("never", _of_never), ("intervals", _with_bounds)):
        pairs = left_out(said, [s for s in said if chosen(s.kind)])
        print(f"{name}: calibration error {calibration_error(pairs):.4f} of {len(pairs)} answers")
        print(*bands(pairs), sep="\n")


def _of_never(kind: str) -> bool:
    return kind.startswith("never-")


def _with_bounds(kind: str) -> bool:
    return not is_exact(kind) and not _of_never(kind)


if __name__ == "__main__":
    main()
