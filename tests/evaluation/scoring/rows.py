"""The figures beside what is wanted of them, row by row; a missed one is marked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from tests.evaluation.scoring import blackbox, cost, labels, numbers, whitebox
from tests.evaluation.scoring.cases import LABELS, Case, Tolerance


class Row(NamedTuple):
    """A figure; ``low`` and ``high`` bound what is wanted, None: no bound; ``unit`` "%" shows a share in percent."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    unit: str = "%"

    @property
    def missed(self) -> bool:
        if math.isnan(self.value):
            return False
        return self.low is not None and self.value < self.low or self.high is not None and self.value > self.high

    def _show(self, value: float) -> str:
        if math.isnan(value):
            return "none asked"
        return f"{value * 100:.1f} %" if self.unit == "%" else f"{value:.4g} {self.unit}".rstrip()

    def __str__(self) -> str:
        low, high = (None if v is None else self._show(v) for v in (self.low, self.high))
        wanted = f"{low} to {high}" if low and high else f">= {low}" if low else f"<= {high}" if high else ""
        return f"{self.name:52s}{self._show(self.value):>12s}   {wanted:20s}{'MISSED' if self.missed else ''}".rstrip()


def of_labels(results: Sequence[labels.Answered], first: Sequence[labels.Answered]) -> list[Row]:
    """Labels and calibration: whole records, and their first quarters."""
    by = labels.recalls(results)
    rows = [Row(f"recall {label}", by.get(label, math.nan)) for label in LABELS]
    return rows + [
        Row("macro recall", labels.macro(results), 0.98),
        Row(f"hard subset ({sum(r.case.hard for r in results)})", labels.hard(results), 0.95),
        Row(f"from the first quarter ({len(first)})", labels.share([r.right for r in first]), 0.97),
        Row("calibration error (ECE)", labels.calibration_error(results), None, 0.02, ""),
        Row("calibration error, first quarters too", labels.calibration_error([*results, *first]), None, 0.02, ""),
    ]


def of_numbers(results: Sequence[labels.Answered]) -> list[Row]:
    """Rate, exponent, order, period, limit."""
    s, lim = numbers.shares(results), numbers.limits(results)
    wanted = (("rate", "5 %", 0.97), ("exponent", "10 %", 0.98), ("order", "0.25", 0.95), ("period", "1 %", 0.99))
    rows = [Row(f"{name} within {by}", s.get(name, math.nan), low) for name, by, low in wanted]
    return rows + [
        Row("limit: digits gained, median", lim["gained"], 7.0, None, ""),
        Row("limit worse than the last value", lim["worse"], None, 0.02),
        Row("limit within three stated errors", lim["kept"]),
    ]


def of_tolerances(cases: Sequence[Tolerance]) -> list[Row]:
    """Iterations to a tolerance."""
    s = numbers.tolerance_shares(cases)
    wanted = ((10, 0.65), (30, 0.8), (50, 0.9))
    rows = [Row(f"iteration to a tolerance within 10 %, at {p} %", s[p], low) for p, low in wanted]
    return [*rows, Row("its 90 % interval holds the truth, at 30 %", numbers.tolerance_coverage(cases))]


def of_black_box(out: blackbox.Outcome) -> list[Row]:
    """Forecasts of the monitor."""
    f = out.figures()
    rows = [Row(f"exact N at {p} % of the run", f[f"exact {p}"], w) for p, w in ((10, 0.85), (30, 0.92), (50, 0.96))]
    return rows + [
        Row("asymptotic loops: median error at 30 %", f["error 30"], None, 0.03),
        Row("90 % intervals hold the truth, asymptotic loops", f["coverage"], 0.88, 0.92),
        Row("intervals hold the truth, loops with a law", f["coverage exact"]),
        Row(f"never-ending found within {blackbox.NEVER_WITHIN}", f["never found"], 0.98),
        Row("false never", f["false never"], None, 0.01),
        Row("false proofs, black box", f["false proofs"], None, 0, ""),
        Row("errors raised by the questions", f["raised"], None, 0, ""),
    ]


def of_white_box(out: whitebox.Outcome, hurried: tuple[int, int]) -> list[Row]:
    """Proofs of the session; ``hurried``: wrong ones and raised errors with hardly any look-ahead."""
    f = out.figures()
    wanted = (
        ("exact", "white box: exact N", 1.0),
        ("detected", "white box: never-ending detected", 1.0),
        ("proved", "white box: never-ending proved", 0.9),
        ("root", "white box: root named first", 1.0),
        ("reason", "white box: reason right", 0.98),
    )
    return [
        *(Row(name, f[key], low) for key, name, low in wanted),
        Row("white box: false never, predicted", f["false_never"], None, 0.01),
        Row("wrong proofs", f["wrong proofs"], None, 0, ""),
        Row("wrong proofs, look-ahead cut short", hurried[0], None, 0, ""),
        Row("errors raised by the questions, both ways", f["raised"] + hurried[1], None, 0, ""),
    ]


def of_cost(cases: Sequence[Case]) -> list[Row]:
    """Times and bytes."""
    middle, high = cost.queries(cases)
    update, copy = cost.per_element()
    return [
        Row("an iteration of a scalar fed in bulk", cost.per_iteration(), None, 10.0, "ns"),
        Row("an element of a tensor", update, None, None, "ns"),
        Row("copying an element of a tensor", copy, None, None, "ns"),
        Row("a variable", cost.state_bytes(), None, 8192, "bytes"),
        Row("a query, median", middle, None, 200.0, "us"),
        Row("a query, 95 %", high, None, 200.0, "us"),
    ]
