"""Command that regenerates the confidence table of ``workbench.analysis.series.calibration``, or checks it.

``python -m tests.evaluation.calibrate_confidence`` prints the table.

The table is made from the corpus, from random histories of seeds 1001 on and from the families that forecasts are
calibrated with, too (``forecast_answers.CALIBRATED``); each family counts as one, however many of its records were
asked. ``--check`` measures the calibration error of the table in force on histories of other seeds, ``--left-out``
that of tables from which each family was left out in its turn.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from tests.evaluation.corpus import cases
from tests.evaluation.families.base import HISTORY, UNKNOWN, draws, families
from tests.evaluation.forecast_answers import CALIBRATED
from tests.evaluation.random_histories.families import histories
from tests.evaluation.scoring.calibration import bands, calibration_error, family_share
from tests.evaluation.scoring.labels import quarters
from workbench.analysis import Evolution, classify
from workbench.analysis.series.calibration import DEFAULT, SHORT, bin_of

#: Imagined families of the default's share of right labels.
PRIOR = 0.5
#: Of the families that are learnt from: another than the scores draw by default.
SEED = 9_000_000
COUNT = 2000
#: No label is surer: other records are not like these.
MOST = 0.995


class Said(NamedTuple):
    """An answer, whether its label is right, and the family of the record."""

    answer: Evolution
    right: bool
    family: str


def answers(seeds: range, count: int = COUNT) -> Iterator[Said]:
    """Answers to random histories and to their first quarters."""
    for seed in seeds:
        for h in histories(seed, count):
            yield _said(h.values, h.label, h.family.split("+")[0])
            if h.quarter and len(h.values) >= 48:
                yield _said(h.values[: len(h.values) // 4], h.label, h.family.split("+")[0])


def corpus_answers() -> Iterator[Said]:
    """The same of the corpus."""
    for case in cases():
        yield _said(case.values, case.label, f"corpus-{case.family}")
    for asked in quarters(cases()):
        yield Said(asked.answer, asked.right, f"corpus-{asked.case.family}")


def family_answers(each: int = 12) -> Iterator[Said]:
    """The same of the families that are learnt from; those left out judge."""
    for case in draws(families(HISTORY, CALIBRATED), SEED, each):
        if case.label != UNKNOWN:
            yield _said(case.values, case.label, case.family)
            if case.quarter and len(case.values) >= 48:
                yield _said(case.values[: len(case.values) // 4], case.label, case.family)


def _said(values: np.ndarray, label: str, family: str) -> Said:
    answer = classify(values)
    return Said(answer, answer.label.name == label, family)


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


def table(said: Iterable[Said]) -> str:
    """Python text for ``confidence.TABLE``."""
    lines = []
    for method, (rows, count) in shares(said).items():
        texts = [", ".join(f"{p:.3f}" for p in row) for row in rows]
        lines.append(f'    "{method}": (({texts[0]}), ({texts[1]})),  # of {count} families')
    return "\n".join(lines)


def shares(said: Iterable[Said]) -> dict[str, tuple[list[list[float]], int]]:
    """Method -> its rows of the table, and the number of its families."""
    by: defaultdict[str, list[list[defaultdict[str, list[bool]]]]] = defaultdict(
        lambda: [[defaultdict(list) for _ in range(3)] for _ in range(2)]
    )
    for answer, right, family in said:
        if answer.method and answer.label.name != "UNKNOWN":
            by[answer.method][answer.count < SHORT][bin_of(answer.doubt)][family].append(right)
    found = {}
    for method, rows in sorted(by.items()):
        out = []
        for row, priors in zip(rows, DEFAULT, strict=True):
            found_shares = [family_share(bins, p, PRIOR) for bins, p in zip(row, priors, strict=True)]
            parts, weights = ([pair[i] for pair in found_shares] for i in (0, 1))
            out.append((isotonic(parts, weights), weights))
        # a short record is trusted no more than a long one
        pairs_of = [
            isotonic([a, b], [u, v]) for a, b, u, v in zip(out[0][0], out[1][0], out[0][1], out[1][1], strict=True)
        ]
        # pooling over lengths may have turned an order of doubts around by a little
        kept = [np.minimum.accumulate([min(p[i], MOST) for p in pairs_of]).tolist() for i in (0, 1)]
        found[method] = kept, len({f for row in rows for bins in row for f in bins})
    return found


def left_out(said: list[Said]) -> list[tuple[float, bool]]:
    """(confidence, right) of each answer, by a table made without its family."""
    out = []
    for family in sorted({s.family for s in said}):
        rows = shares(s for s in said if s.family != family)
        for answer, right, _ in (s for s in said if s.family == family and s.answer.label.name != "UNKNOWN"):
            row = rows[answer.method][0] if answer.method in rows else DEFAULT
            out.append((row[answer.count < SHORT][bin_of(answer.doubt)], right))
    return out


def main() -> None:
    if "--check" in sys.argv:
        pairs = [(s.answer.confidence, s.right) for s in answers(range(2001, 2003))]
        print(f"calibration error on {len(pairs)} other answers: {calibration_error(pairs):.4f}")
        return
    said = [*corpus_answers(), *answers(range(1001, 1003)), *family_answers()]
    if "--left-out" not in sys.argv:
        print(table(said))
        return
    pairs = left_out(said)
    print(
        f"calibration error, each family left out in its turn: {calibration_error(pairs):.4f} of {len(pairs)} answers"
    )
    print(*bands(pairs), sep="\n")


if __name__ == "__main__":
    main()
