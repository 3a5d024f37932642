"""The printed score: rows, the confusion matrix, the reliability of the stated confidence, wrong families."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from tests.analysis.scoring.cases import LABELS
from tests.analysis.scoring.labels import Answered, confusion, reliability
from tests.analysis.scoring.rows import Row


def of_rows(title: str, rows: Iterable[Row]) -> str:
    """A title and its rows."""
    return "\n".join([title, "-" * len(title), *map(str, rows)])


def of_confusion(results: Sequence[Answered]) -> str:
    """Truth by row, answer by column."""
    columns = (*LABELS, "UNKNOWN")
    counts = confusion(results)
    head = "truth \\ answer  " + "".join(f"{c[:9]:>10s}" for c in columns)
    lines = [f"{truth:16s}" + "".join(f"{counts[truth][c] or '.':>10}" for c in columns) for truth in LABELS]
    return "\n".join([head, *lines])


def of_reliability(results: Sequence[Answered]) -> str:
    """Stated confidence against the share that is right, per bin."""
    lines = [
        f"{low:.1f} to {low + 0.1:.1f}{stated:>10.3f}{right:>10.3f}{n:>8d}"
        for low, stated, right, n in reliability(results)
    ]
    return "\n".join(["confidence    stated     right       n", *lines])


def of_calibration(pairs: Iterable[Answered]) -> str:
    """Shares of right labels per method and bin of doubt, shrunk, as Python text for ``confidence.TABLE``."""
    by: defaultdict[str, list[list[bool]]] = defaultdict(lambda: [[], [], []])
    for r in pairs:
        by[r.answer.method][0 if r.answer.doubt == 0 else 1 if r.answer.doubt <= 0.25 else 2].append(r.right)
    lines = []
    for method, bins in sorted(by.items()):
        row = [(sum(v) + 2 * prior) / (len(v) + 2) for v, prior in zip(bins, (0.95, 0.85, 0.65), strict=True)]
        lines.append(f'    "{method}": ({row[0]:.3f}, {row[1]:.3f}, {row[2]:.3f}),  # of {sum(map(len, bins))}')
    return "\n".join(lines)
