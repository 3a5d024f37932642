"""The printed score: rows, the confusion matrix, the reliability of the stated confidence, wrong families."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tests.evaluation.scoring.calibration import reliability
from tests.evaluation.scoring.cases import LABELS
from tests.evaluation.scoring.labels import Answered, confusion, stated
from tests.evaluation.scoring.rows import Row


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
        f"{low:.1f} to {low + 0.1:.1f}{said:>10.3f}{right:>10.3f}{n:>8d}"
        for low, said, right, n in reliability(stated(results))
    ]
    return "\n".join(["confidence    stated     right       n", *lines])
