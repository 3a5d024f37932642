"""The tables of confidence and of intervals: of kinds that exist, the surer the longer a record is, right on families
left out."""

from __future__ import annotations

import numpy as np
import pytest

from tests.evaluation import calibrate_confidence as command
from tests.evaluation.calibrate_confidence import PRIOR, Said
from tests.evaluation.scoring.calibration import calibration_error
from workbench.analysis.forecast.calibrated_intervals import FACTOR, POINTS, interval
from workbench.analysis.series.calibration import KINDS, MOST, MOST_AHEAD, TABLE, confidence, kind_of, label_kind


def test_the_longer_a_record_is_the_surer_is_an_answer_of_every_kind():
    for kind, row in TABLE.items():
        assert 0.5 < row[0] <= row[1] <= row[2] <= (MOST if kind.startswith("label") else MOST_AHEAD), kind
    doubted = [label_kind(doubt) for doubt in (0.0, 0.2, 0.7)]
    assert [confidence(k, 100) for k in doubted] == sorted((confidence(k, 100) for k in doubted), reverse=True)


def test_every_name_of_an_answer_is_of_a_kind():
    assert {kind for _, kind in KINDS} <= set(TABLE)
    assert all(kind_of(kind) == "interval" for kind in FACTOR)
    assert {kind_of(name) for name in ("rule-line", "exact", "exact-far", "staircase", "rule-power")} == {"rule"}
    assert kind_of("never-floor-exact") == "never" and kind_of("rule-counter-whole") == "counter"


def test_a_law_to_the_last_digits_gives_one_number_and_the_others_an_interval_around_it():
    for kind in POINTS:
        assert interval(40, 3.0, 3.0, 50, kind) == (40, 40)
    for kind in FACTOR:
        low, high = interval(40, 3.0, 3.0, 50, kind)
        assert 1 <= low <= 40 <= high


def test_a_kind_is_as_sure_as_families_that_were_left_out_were_right():
    said = [Said("interval", 2, i % 10 > 0, f"family {i % 80}") for i in range(1600)]
    row, families = command.table(said)["interval"]
    assert families == 80 and row[2] == pytest.approx(0.9, abs=0.01)
    few = [*said, *(Said("never", 2, False, "one") for _ in range(40))]
    assert command.table(few)["never"][0][2] <= PRIOR / (1 + PRIOR)
    assert command.left_out(few[-40:]) == []


@pytest.mark.slow
def test_what_is_said_holds_on_families_left_out():
    said = list(command.ends(3))
    for kinds, most in ((("rule", "counter"), 0.03), (("never",), 0.03), (("interval", "posterior"), 0.06)):
        pairs = command.left_out([s for s in said if s.kind in kinds])
        assert len(pairs) > 200 and calibration_error(pairs) <= most
        certain = [right for stated, right in pairs if stated >= 0.985]
        assert not certain or np.mean(certain) >= 0.98
