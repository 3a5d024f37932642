"""``python -m tests.analysis.calibrate``: prints the table of ``workbench.analysis.confidence``, and checks it.

The table is made from the corpus and from random histories of seeds 1001 on; ``--check`` measures the calibration error
of the table in force on histories of other seeds, which it was not made from.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from tests.analysis.corpus import cases
from tests.analysis.random_histories import histories
from tests.analysis.scoring.labels import quarters
from workbench.analysis import Evolution, classify
from workbench.analysis.confidence import DEFAULT, SHORT, bin_of

#: Imagined cases of the default's share of right labels.
PRIOR = 4.0
COUNT = 2000
#: No label is surer: other records are not like these.
MOST = 0.995


def answers(seeds: range, count: int = COUNT) -> Iterator[tuple[Evolution, bool]]:
    """Answers to random histories and to their first quarters, and whether each label is right."""
    for seed in seeds:
        for h in histories(seed, count):
            answer = classify(h.values)
            yield answer, answer.label.name == h.label
            if h.quarter and len(h.values) >= 48:
                answer = classify(h.values[: len(h.values) // 4])
                yield answer, answer.label.name == h.label


def corpus_answers() -> Iterator[tuple[Evolution, bool]]:
    """The same of the corpus."""
    for case in cases():
        answer = classify(case.values)
        yield answer, answer.label.name == case.label
    for asked in quarters(cases()):
        yield asked.answer, asked.right


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


def table(pairs: list[tuple[Evolution, bool]]) -> str:
    """Python text for ``confidence.TABLE``."""
    by: defaultdict[str, list[list[list[bool]]]] = defaultdict(lambda: [[[], [], []], [[], [], []]])
    for answer, right in pairs:
        if answer.method and answer.label.name != "UNKNOWN":
            by[answer.method][answer.count < SHORT][bin_of(answer.doubt)].append(right)
    lines = []
    for method, rows in sorted(by.items()):
        out = []
        for row, priors in zip(rows, DEFAULT, strict=True):
            weights = [len(v) + PRIOR for v in row]
            shares = [(sum(v) + PRIOR * p) / w for v, p, w in zip(row, priors, weights, strict=True)]
            out.append((isotonic(shares, weights), weights))
        # a short record is trusted no more than a long one
        pairs_of = [
            isotonic([a, b], [u, v]) for a, b, u, v in zip(out[0][0], out[1][0], out[0][1], out[1][1], strict=True)
        ]
        # pooling over lengths may have turned an order of doubts around by a little
        kept = [np.minimum.accumulate([min(p[i], MOST) for p in pairs_of]) for i in (0, 1)]
        texts = [", ".join(f"{p:.3f}" for p in row) for row in kept]
        lines.append(f'    "{method}": (({texts[0]}), ({texts[1]})),  # of {sum(len(v) for row in rows for v in row)}')
    return "\n".join(lines)


def error(pairs: list[tuple[Evolution, bool]]) -> float:
    """Expected calibration error over ten bins of stated confidence."""
    stated = np.array([a.confidence for a, _ in pairs])
    right = np.array([r for _, r in pairs])
    bins = np.minimum((stated * 10).astype(int), 9)
    return float(
        sum(abs(stated[bins == b].mean() - right[bins == b].mean()) * np.mean(bins == b) for b in np.unique(bins))
    )


def main() -> None:
    if "--check" in sys.argv:
        pairs = list(answers(range(2001, 2003)))
        print(f"calibration error on {len(pairs)} other answers: {error(pairs):.4f}")
    else:
        print(table([*corpus_answers(), *answers(range(1001, 1005))]))


if __name__ == "__main__":
    main()
