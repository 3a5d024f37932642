"""Fewer than six values: the label that they surely show, or UNKNOWN where they show none."""

from __future__ import annotations

import numpy as np

from tests.evaluation.families.base import HISTORY, UNKNOWN, C, D, O, Rng, S, case, family, scale
from tests.evaluation.scoring.cases import Case


@family(HISTORY)
def short_single_value(rng: Rng) -> Case:
    return case([rng.normal()], UNKNOWN, quarter=False)


@family(HISTORY)
def short_two_values(rng: Rng) -> Case:
    return case(rng.normal(size=2) * scale(rng), UNKNOWN, quarter=False)


@family(HISTORY)
def short_noise(rng: Rng) -> Case:
    """Three independent draws: any law fits them."""
    return case(rng.normal(size=3) * scale(rng), UNKNOWN, quarter=False)


@family(HISTORY)
def short_counter(rng: Rng) -> Case:
    return case(int(rng.integers(0, 100)) + int(rng.integers(1, 9)) * np.arange(5), D, hard=True, quarter=False)


@family(HISTORY)
def short_constant(rng: Rng) -> Case:
    return case(np.full(5, rng.normal()), S, hard=True, quarter=False)


@family(HISTORY)
def short_geometric_decay(rng: Rng) -> Case:
    """Five values in exact proportion: four differences in exact proportion, too."""
    rate = float(rng.choice([0.5, 0.25, 0.1, 0.75]))
    return case(scale(rng) * rate ** np.arange(5), C, hard=True, quarter=False, rate=rate, limit=0.0)


@family(HISTORY)
def short_geometric_growth(rng: Rng) -> Case:
    rate = float(rng.choice([2.0, 3.0, 10.0]))
    return case(scale(rng) * rate ** np.arange(5), D, hard=True, quarter=False, rate=rate)


@family(HISTORY)
def short_newton_residuals(rng: Rng) -> Case:
    """Digits double: 1e-1, 1e-2, 1e-4, 1e-8, 1e-16."""
    first = rng.uniform(0.05, 0.3)
    return case(first**2.0 ** np.arange(5), C, hard=True, quarter=False, limit=0.0)


@family(HISTORY)
def short_alternation(rng: Rng) -> Case:
    """a, b, a, b, a exactly."""
    a, b = rng.normal(size=2)
    return case([a, b, a, b, a], O, hard=True, quarter=False, period=2.0)


@family(HISTORY)
def short_flag(rng: Rng) -> Case:
    """A boolean that flips each time."""
    return case(np.arange(5) % 2 == int(rng.integers(2)), O, hard=True, quarter=False, period=2.0)


@family(HISTORY)
def short_not_a_number(rng: Rng) -> Case:
    """A number that turns into NaN and stays so."""
    return case([*rng.normal(size=3), np.nan, np.nan], D, hard=True, quarter=False)
