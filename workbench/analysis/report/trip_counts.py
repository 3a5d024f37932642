"""Trip counts of a loop, one per activation: for an inner loop, a variable of its outer loop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.analysis.report.formatting import count, num
from workbench.analysis.series.classify import classify_history
from workbench.analysis.series.models import Counter
from workbench.analysis.series.result import Evolution, Pattern
from workbench.analysis.series.value_series import History
from workbench.ir.node import Ref
from workbench.trace import Trace
from workbench.trace.tail_reader import newest_of

#: number of newest evaluations of an inner condition that are read
EVALUATIONS = 200_000
#: maximum number of outer iterations over which inner ones are summed individually
SUMMED = 1 << 20


@dataclass
class TripCounts:
    """``counts`` (n,) are the iterations of each activation that has ended, in iterations ``outer`` of the outer loop;
    ``open`` is the count of the current activation if it has not ended. ``evolution`` says how the counts evolve.
    """

    counts: np.ndarray
    outer: np.ndarray
    open: int | None
    evolution: Evolution
    sentence: str

    def ahead(self, n: int) -> tuple[float, float] | None:
        """(iterations of this loop in the next ``n`` outer ones, half width of the 90 % interval); None if unknown."""
        if not len(self.counts) or n < 0:
            return None
        if np.all(self.counts == self.counts[0]) and len(self.counts) >= 2:
            return float(n) * float(self.counts[0]), 0.0
        model = self.evolution.model
        if model is None or self.evolution.label is Pattern.UNKNOWN or n > SUMMED or not n:
            return None
        with np.errstate(all="ignore"):
            expected = np.maximum(np.asarray(model.predict(np.arange(1, n + 1)), float), 0.0)
        total = float(expected.sum())
        spread = 0.0 if isinstance(getattr(model, "inner", model), Counter) else 4.0 * float(model.spread)
        return (total, spread * total) if np.isfinite(total) else None


def trip_counts(trace: Trace, cond: Ref, name: str, around: str) -> TripCounts | None:
    """The trip counts of the loop with this condition, in the current activation of its outer loop.

    None for a loop that is not nested, or that was not entered.
    """
    paths, going = newest_of(trace, cond, EVALUATIONS)
    if not len(paths) or paths.shape[1] < 2:
        return None
    mine = np.all(paths[:, :-2] == paths[-1, :-2], axis=1)
    paths, going = paths[mine], np.asarray(going).reshape(len(mine), -1)[mine, 0].astype(bool)
    ends = np.flatnonzero(np.append(np.any(paths[1:, :-1] != paths[:-1, :-1], axis=1), True))
    done = ends[~going[ends]]
    counts, outer = paths[done, -1].astype(np.int64), paths[done, -2].astype(np.int64)
    open_count = int(paths[-1, -1]) if going[-1] else None
    if not len(counts):
        evolution = Evolution(Pattern.UNKNOWN, why=["The loop has not ended yet."], method="few")
        return TripCounts(counts, outer, open_count, evolution, f"{name} is in its first time round {around}.")
    evolution = classify_history(History(counts, int(outer[0])))
    return TripCounts(counts, outer, open_count, evolution, _sentence(counts, outer, evolution, name, around))


def _sentence(counts: np.ndarray, outer: np.ndarray, e: Evolution, name: str, around: str) -> str:
    n, first, last = len(counts), int(counts[0]), int(counts[-1])
    each = f"each iteration of {around}"
    if n == 1:
        return f"{name} took {count(first, 'iteration')} in its only activation so far."
    if np.all(counts == first):
        return f"{name} takes {count(first, 'iteration')} in {each} ({n:,} so far)."
    steps = np.diff(counts)
    span = f"from {first:,} to {last:,} in {count(n, 'time')}"
    if np.all(steps == steps[0]):
        way = "more" if steps[0] > 0 else "fewer"
        return f"{name} takes {count(abs(int(steps[0])), 'iteration')} {way} with {each} ({span})."
    ratio = counts[1:] / np.maximum(counts[:-1], 1)
    if n >= 4 and counts.min() > 0 and ratio.max() - ratio.min() < 0.05 and abs(ratio[-1] - 1) > 0.05:
        return f"The iterations of {name} change by the factor {ratio[-1]:.3g} with {each} ({span})."
    if e.label is Pattern.CONVERGING and e.limit is not None:
        return f"The iterations of {name} settle at {num(round(e.limit, 6))} ({span})."
    if e.label is Pattern.OSCILLATING and e.period:
        between = f"between {counts.min():,} and {counts.max():,}"
        return f"The iterations of {name} repeat with period {num(e.period)} in {around} ({between})."
    if e.label is Pattern.DIVERGING and last != first:
        trend = "grow" if last > first else "shrink"
        return f"The iterations of {name} {trend} with the iterations of {around} ({span})."
    return f"{name} takes between {counts.min():,} and {counts.max():,} iterations, last {last:,} ({count(n, 'time')})."
