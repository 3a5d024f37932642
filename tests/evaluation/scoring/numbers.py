"""The numbers of an Evolution against known ones: rate, order, exponent, period, limit; and tolerance iterations."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from tests.evaluation.scoring.cases import Tolerance
from tests.evaluation.scoring.labels import Answered, share
from workbench.analysis import iterations_to_tolerance

EPS = float(np.finfo(float).eps)


def _near(value: float | None, truth: float, relative: float) -> bool:
    return value is not None and abs(value / truth - 1) < relative


def shares(results: Sequence[Answered]) -> dict[str, float]:
    """Share within the wanted distance: rate 5 %, exponent 10 %, order 0.25, period 1 %."""
    right: defaultdict[str, list[bool]] = defaultdict(list)
    for case, a, _ in results:
        f = case.facts
        if "rate" in f:
            right["rate"].append(_near(a.rate, f["rate"], 0.05))
        if "exponent" in f:
            right["exponent"].append(_near(a.sublinear_exponent, f["exponent"], 0.1))
        if "order" in f:
            right["order"].append(a.order is not None and abs(a.order - f["order"]) < 0.25)
        if "period" in f:
            right["period"].append(_near(a.period, f["period"], 0.01))
    return {name: share(values) for name, values in right.items()}


def limits(results: Sequence[Answered]) -> dict[str, float]:
    """Digits gained over the last value (median, where it has not arrived yet), and the shares that lost or kept.

    ``kept`` is the share of stated errors that hold three times over.
    """
    gained, worse, kept = [], [], []
    for case, a, _ in results:
        if "limit" not in case.facts:
            continue
        truth = case.facts["limit"]
        floor = 4 * max(EPS, _eps(case.values)) * abs(truth)
        before = abs(float(case.values[-1]) - truth)
        after = abs(a.limit - truth) if a.limit is not None else math.inf
        worse.append(not after <= before + floor)
        kept.append(a.limit_error is not None and after <= 3 * a.limit_error + floor)
        if before > 8 * floor:
            held = max(after, floor, 1e-16 * before)
            gained.append(math.log10(before / held) if math.isfinite(held) else 0.0)
    return {"gained": float(np.median(gained)) if gained else math.nan, "worse": share(worse), "kept": share(kept)}


def _eps(values: np.ndarray) -> float:
    return float(np.finfo(values.dtype).eps) if values.dtype.kind == "f" else 0.0


def tolerance_shares(cases: Iterable[Tolerance], percents: Sequence[int] = (10, 30, 50)) -> dict[int, float]:
    """Share of forecast iterations within 10 % of the truth, asked at these percents of it (12 values or more)."""
    right: dict[int, list[bool]] = {p: [] for p in percents}
    for case in cases:
        for p in percents:
            seen = max(case.iteration * p // 100, 12)
            if seen >= case.iteration:
                continue
            answer = iterations_to_tolerance(case.values[:seen], case.tol)
            right[p].append(answer is not None and abs(answer.iteration / case.iteration - 1) <= 0.1)
    return {p: share(values) for p, values in right.items()}


def tolerance_coverage(cases: Iterable[Tolerance], percent: int = 30) -> float:
    """Share of the forecast intervals that hold the truth."""
    held = []
    for case in cases:
        answer = iterations_to_tolerance(case.values[: max(case.iteration * percent // 100, 12)], case.tol)
        if answer is not None:
            held.append(answer.low <= case.iteration <= answer.high)
    return share(held)
