"""Each declared law continues the records that it describes, and says never or nothing of others."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.analysis.laws.record import as_record
from workbench.analysis.laws.smooth import best_so_far, levels_off, straight_line

K = np.arange(200.0)
LINES = [(module.FAMILY, i) for module in (straight_line, best_so_far) for i in range(len(module.FAMILY.laws))]
LIMITS = [(levels_off.FAMILY, i) for i in range(len(levels_off.FAMILY.laws))]


def name(law):
    family, i = law
    return family.laws[i].name


def times(law, values, keep, level, upto):
    """Iterations from value number upto - 1 to the level, by a law that knows the values before."""
    (family, i), record = law, as_record(values, keep, level)
    with np.errstate(all="ignore"):
        return float(family.times(record, np.array([upto]), np.array([[record.mark]]))[i, 0, 0])


def first(values, level):
    return int(np.flatnonzero(values < level)[0])


@pytest.mark.parametrize("law", LINES, ids=name)
@pytest.mark.parametrize("rate", [0.5, 0.9, 0.99])
def test_a_geometric_decay_is_a_line_at_every_moment(law, rate):
    values = 3.0 * rate**K
    level = 3.0 * rate**150.5
    for upto in (20, 60, 140):
        assert abs(times(law, values, ">", level, upto) - (151 - (upto - 1))) < 1.0


@pytest.mark.parametrize("law", LINES, ids=name)
def test_what_rises_never_falls_below(law):
    assert times(law, 1.0 + K, ">", 0.5, 100) == np.inf
    assert times(law, -1.0 - K, "<", -0.5, 100) == np.inf


def test_a_change_of_rate_shows_in_the_last_half():
    values = np.concatenate((0.5 ** K[:20], 0.5**19 * 0.9 ** (1 + K[:180])))
    whole, half, quarter = (times(law, values, ">", 1e-12, 80) for law in LINES[:3])
    true = first(values, 1e-12) - 79
    assert abs(half - true) < 0.05 * true and abs(quarter - true) < 0.05 * true < abs(whole - true)


@pytest.mark.parametrize("law", LIMITS[:2], ids=name)
def test_a_limit_below_the_level_is_on_the_way_and_one_above_is_not(law):
    values = 2.0 + 5.0 * 0.95**K
    below, above = 2.5, 1.5
    true = first(values, below) - 29
    assert abs(times(law, values, ">", below, 30) - true) < 1.5
    assert times(law, values, ">", above, 30) == np.inf


@pytest.mark.parametrize("law", LIMITS, ids=name)
def test_what_quickens_has_no_limit_of_its_own(law):
    assert np.isnan(times(law, 100.0 - 0.01 * K[:90] ** 2, ">", 1.0, 80))


def test_a_record_that_has_no_direction_has_no_laws():
    assert as_record(K, "!=", 3.0) is None and as_record(K, "<", np.inf) is None
    assert as_record(np.array([1.0, np.nan]), ">", 0.0) is None
    assert as_record(1.0 + K, ">", 0.5).logarithmic and not as_record(1.0 + K, ">", -0.5).logarithmic
