"""Command that regenerates ``TABLE`` of ``workbench.analysis.series.calibration``, the confidence of labels and ends.

``python -m tests.evaluation.calibrate_confidence [EACH]`` prints the table.

Labels are those of the corpus, of random histories of seeds 1001 on and of the families that forecasts are calibrated
with, too (``forecast_answers.CALIBRATED``); ends are the answers of ``forecast_answers``.  ``--left-out`` prints the
calibration error of tables from which each family was left out in its turn; ``--wrong`` lists wrong answers by kind and
family.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from tests.evaluation import forecast_answers
from tests.evaluation.corpus import cases
from tests.evaluation.families.base import HISTORY, UNKNOWN, draws, families
from tests.evaluation.random_histories.families import histories
from tests.evaluation.scoring.calibration import bands, calibration_error, family_share
from tests.evaluation.scoring.labels import quarters
from workbench.analysis import Evolution, classify
from workbench.analysis.series.calibration import BINS, MOST, MOST_AHEAD, bin_of, kind_of, label_kind

#: Imagined families of the share of right answers of a kind.
PRIOR = 2.0
#: Of the families that are learnt from: another than the scores draw by default.
SEED = 9_000_000
COUNT = 2000

Table = dict[str, tuple[list[float], int]]


class Said(NamedTuple):
    """An answer: its kind, the bin of its record's length, whether it was right, and the family of the record."""

    kind: str
    bin: int
    right: bool
    family: str


def labels(each: int = 12) -> Iterator[Said]:
    """Labels of records and of their first quarters; the families that are left out judge."""
    for h in (h for seed in (1001, 1002) for h in histories(seed, COUNT)):
        yield from _asked(h.values, h.label, h.family.split("+")[0], h.quarter)
    for case in cases():
        yield from _said(classify(case.values), case.label, f"corpus-{case.family}")
    for asked in quarters(cases()):
        yield from _said(asked.answer, asked.case.label, f"corpus-{asked.case.family}")
    for case in draws(families(HISTORY, forecast_answers.CALIBRATED), SEED, each):
        if case.label != UNKNOWN:
            yield from _asked(case.values, case.label, case.family, case.quarter)


def ends(each: int) -> Iterator[Said]:
    """Answers about single clauses."""
    for s in forecast_answers.answers(each):
        yield Said(kind_of(s.found.kind), bin_of(s.seen), bool(s.right), s.family)


def _asked(values: np.ndarray, label: str, family: str, quarter: bool) -> Iterator[Said]:
    yield from _said(classify(values), label, family)
    if quarter and len(values) >= 48:
        yield from _said(classify(values[: len(values) // 4]), label, family)


def _said(answer: Evolution, label: str, family: str) -> Iterator[Said]:
    if answer.method and answer.label.name != UNKNOWN:
        yield Said(label_kind(answer.doubt), bin_of(answer.count), answer.label.name == label, family)


def isotonic(shares: list[float], weights: list[float]) -> list[float]:
    """The non-increasing sequence nearest to ``shares`` in weighted squares: pool adjacent violators."""
    pools: list[list[float]] = []
    for share, weight in zip(shares, weights, strict=True):
        pools.append([share, weight, 1])
        while len(pools) > 1 and pools[-1][0] > pools[-2][0]:
            b, a = pools.pop(), pools.pop()
            weight = a[1] + b[1]
            pools.append([(a[0] * a[1] + b[0] * b[1]) / weight, weight, a[2] + b[2]])
    return [share for share, _, count in pools for _ in range(int(count))]


def table(said: Iterable[Said]) -> Table:
    """Kind -> its row of ``TABLE``, and the number of its families."""
    by: defaultdict[str, list[defaultdict[str, list[bool]]]] = defaultdict(
        lambda: [defaultdict(list) for _ in range(len(BINS) + 1)]
    )
    for s in said:
        by[s.kind][s.bin][s.family].append(s.right)
    out = {}
    for kind, bins in sorted(by.items()):
        every = float(np.mean([right for b in bins for answers in b.values() for right in answers]))
        found = [family_share(by_family, every, PRIOR) for by_family in bins]
        shares, weights = ([pair[i] for pair in found] for i in (0, 1))
        most = MOST if kind.startswith("label") else MOST_AHEAD
        row = [min(v, most) for v in isotonic(shares[::-1], weights[::-1])[::-1]]
        out[kind] = row, len({f for b in bins for f in b})
    return out


def left_out(said: list[Said]) -> list[tuple[float, bool]]:
    """(confidence, right) of each answer, by a table made without its family."""
    out = []
    for family in sorted({s.family for s in said}):
        rows = table(s for s in said if s.family != family)
        out += [(rows[s.kind][0][s.bin], s.right) for s in said if s.family == family and s.kind in rows]
    return out


def main() -> None:
    each = next((int(a) for a in sys.argv[1:] if a.isdigit()), 12)
    said = [*labels(each), *ends(each)]
    if "--wrong" in sys.argv:
        kinds = Counter((s.kind, s.bin, s.family) for s in said if not s.right)
        print(*(f"{kind} {b} {family}: {n}" for (kind, b, family), n in kinds.most_common(60)), sep="\n")
    elif "--left-out" in sys.argv:
        for kind in sorted({s.kind for s in said}):
            pairs = left_out([s for s in said if s.kind == kind])
            print(f"{kind}: calibration error {calibration_error(pairs):.4f} of {len(pairs)} answers")
            print(*bands(pairs), sep="\n")
    else:
        for kind, (row, count) in table(said).items():
            print(f'    "{kind}": ({", ".join(f"{v:.3f}" for v in row)}),  # of {count} families')


if __name__ == "__main__":
    main()
