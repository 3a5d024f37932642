"""Histories with mathematically known truth, deterministic. The development set of the loop analysis.

Each generator yields ``Case`` objects; the truth follows from how the values were made, never from looking at them.
Truths that depend on a convention follow the rules of analysis.md and of ``workbench.analysis.series.noise.levels``.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.evaluation.corpus import (
    chaos,
    edges,
    growth,
    noise,
    oscillation,
    solvers,
    spread_chaos,
    spread_cycles,
    spread_dtypes,
    spread_noise,
    spread_solvers,
    spread_sums,
)
from tests.evaluation.corpus.crossing import tolerances
from tests.evaluation.scoring.cases import Case

__all__ = ["Case", "cases", "tolerances"]

FIRST = (solvers, oscillation, noise, chaos, growth, edges)
SPREAD = (spread_solvers, spread_sums, spread_dtypes, spread_cycles, spread_noise, spread_chaos)

#: families whose first quarter has another truth: the event comes later
LATER = {
    "absorb",
    "saturate",
    "arrived",
    "flag",
    "overflow",
    "overflow_low",
    "overflow_to_nan",
    "becomes_nan",
    "nan_once",
    "best_so_far",
    "cycle_transient",
    "sgd_decay",
    "constant",
    "spiral_to_circle",
}


def cases() -> Iterator[Case]:
    """All cases, always the same ones in the same order."""
    for module in FIRST + SPREAD:
        for generator in module.GENERATORS:
            for case in generator():
                case.quarter = case.quarter and case.family not in LATER
                yield case
