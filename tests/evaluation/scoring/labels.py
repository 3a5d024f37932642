"""Labels: recall per class, confusion, the hard subset, the first quarter, calibration."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from tests.evaluation.scoring import calibration
from tests.evaluation.scoring.cases import LABELS, Case
from workbench.analysis import Evolution, classify

#: a quarter shorter than this is not asked
LEAST_QUARTER = 12


class Answered(NamedTuple):
    """A case with its answer and the seconds that it took."""

    case: Case
    answer: Evolution
    seconds: float

    @property
    def right(self) -> bool:
        return self.answer.label.name == self.case.label


def ask(cases: Iterable[Case]) -> list[Answered]:
    """Every case with its answer."""
    out = []
    for case in cases:
        begin = time.perf_counter()
        answer = classify(case.values)
        out.append(Answered(case, answer, time.perf_counter() - begin))
    return out


def quarters(cases: Iterable[Case]) -> list[Answered]:
    """The first quarters of the cases whose label is the same there, with their answers."""
    asked = (c for c in cases if c.quarter and len(c.values) >= 4 * LEAST_QUARTER)
    return ask(Case(c.family, c.values[: len(c.values) // 4], c.label, c.hard) for c in asked)


def share(values: Sequence[bool]) -> float:
    """Share of True; nan of nothing."""
    return float(np.mean(values)) if len(values) else float("nan")


def recalls(results: Sequence[Answered]) -> dict[str, float]:
    """Share of right answers per true label."""
    by: defaultdict[str, list[bool]] = defaultdict(list)
    for r in results:
        by[r.case.label].append(r.right)
    return {label: share(by[label]) for label in LABELS if by[label]}


def macro(results: Sequence[Answered]) -> float:
    """Mean of the recalls."""
    return float(np.mean(list(recalls(results).values())))


def hard(results: Sequence[Answered]) -> float:
    """Share of right answers on the hard subset."""
    return share([r.right for r in results if r.case.hard])


def confusion(results: Sequence[Answered]) -> dict[str, Counter[str]]:
    """True label -> answers, counted."""
    out: dict[str, Counter[str]] = {label: Counter() for label in LABELS}
    for r in results:
        out[r.case.label][r.answer.label.name] += 1
    return out


def stated(results: Iterable[Answered]) -> list[tuple[float, bool]]:
    """(confidence, right) of each answer."""
    return [(r.answer.confidence, r.right) for r in results]


def calibration_error(results: Iterable[Answered]) -> float:
    """Expected calibration error of the stated confidence."""
    return calibration.calibration_error(stated(results))


def wrong_families(results: Iterable[Answered]) -> list[str]:
    """Families with wrong answers, the worst first: "family: wrong/all, e.g. n, dtype, truth, answer"."""
    by: defaultdict[str, list[Answered]] = defaultdict(list)
    for r in results:
        by[r.case.family].append(r)
    lines = []
    key: Callable[[str], int] = lambda f: -sum(not r.right for r in by[f])  # noqa: E731
    for family in sorted(by, key=key):
        wrong = [r for r in by[family] if not r.right]
        if wrong:
            r = wrong[0]
            lines.append(
                f"{family}: {len(wrong)}/{len(by[family])} wrong, e.g. n={len(r.case.values)} {r.case.values.dtype}: "
                f"{r.case.label}, answered {r.answer.label.name} ({r.answer.confidence:.2f}, {r.answer.method})"
            )
    return lines
