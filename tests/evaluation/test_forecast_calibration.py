"""The tables of forecasts: of kinds that exist, drawn towards their group, and right on families left out."""

from __future__ import annotations

import numpy as np
import pytest

from tests.evaluation import calibrate_forecast_confidence as command
from tests.evaluation.calibrate_forecast_confidence import IMAGINED, Said
from tests.evaluation.scoring.calibration import calibration_error
from workbench.analysis.forecast.calibrated_confidence import MOST, TABLE, is_exact, prior
from workbench.analysis.forecast.calibrated_intervals import FACTOR, POINTS, SHARE


def test_both_tables_are_about_the_same_kinds():
    with_bounds = {k for k in FACTOR if not k.startswith("tol-")}
    assert with_bounds <= set(TABLE) and set(TABLE) >= POINTS
    assert {k for k in SHARE if not k.startswith("tol-")} <= with_bounds
    for kind, row in TABLE.items():
        assert 0.0 < row[0] <= row[1] <= row[2] <= MOST, kind
        assert not (is_exact(kind) and kind in FACTOR), kind


def test_a_kind_of_few_families_stays_near_its_group():
    few = [Said(f"family {i % 2}", "walk", 2, False) for i in range(40)]
    many = [Said(f"family {i % 80}", "walk", 2, False) for i in range(1600)]
    (said, families), (known, _) = (command.table(s)["walk"] for s in (few, many))
    assert families == 2 and prior("walk")[2] * IMAGINED / (2 + IMAGINED) <= said[2] < prior("walk")[2]
    assert known[2] < 0.3
    # left out, the only family that knows a kind leaves its group's share
    assert command.left_out(few[:1], few[:1]) == [(prior("walk")[2], False)]


@pytest.mark.slow
def test_what_is_said_holds_on_families_left_out():
    said = list(command.answers(3))
    for chosen, most in ((is_exact, 0.03), (command._of_never, 0.03), (command._with_bounds, 0.06)):
        pairs = command.left_out(said, [s for s in said if chosen(s.kind)])
        assert len(pairs) > 200 and calibration_error(pairs) <= most
        certain = [right for stated, right in pairs if stated >= 0.985]
        assert not certain or np.mean(certain) >= 0.98
