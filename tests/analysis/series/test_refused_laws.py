"""The laws that were rejected for a label: their names, reasons and numbers."""

from __future__ import annotations

import numpy as np

import workbench as wb
from tests.evaluation.random_histories.families import FAMILIES, histories
from workbench.analysis.report.to_dict import value


def test_the_law_of_the_label_is_not_among_the_refused_ones() -> None:
    found = wb.classify([1 + 0.5**k + 0.2**k for k in range(30)])
    laws = [refused.law for refused in found.why_not]
    assert laws and found.method not in laws and len(set(laws)) == len(laws)
    for refused in found.why_not:
        text = str(refused)
        assert ": refused, " in text and "{" not in text, text


def test_the_factor_by_which_a_law_misses_the_steps_is_that_of_the_record() -> None:
    steps = 0.9 ** np.arange(40) + 0.05 * 0.97 ** np.arange(40)
    found = wb.classify(np.cumsum(steps))
    off = {refused.law: refused.numbers["off"] for refused in found.why_not if "factor" in refused.reason}
    assert off and all(number >= 1.0 for number in off.values()), off
    for refused in found.why_not:
        if refused.law in off:
            assert f"{off[refused.law]:.3g}" in str(refused)


def test_a_law_that_may_be_a_part_of_a_swing_is_refused_with_that_reason() -> None:
    found = []
    for seed in (5, 8, 10, 13):
        orbits = (h for h in histories(seed, 2 * len(FAMILIES)) if h.family == "lotka_volterra")
        found += [wb.classify(h.values) for h in orbits]
    swings = [e for e in found if any("may be a part of a swing" in str(refused) for refused in e.why_not)]
    assert len(found) == 8 and len(swings) >= 2
    assert all(e.label is wb.Pattern.OSCILLATING for e in found), found


def test_a_report_as_json_writes_the_reasons_with_their_numbers() -> None:
    found = wb.classify(0.9 ** np.arange(40.0) + 0.1)
    written = value(found)["why_not"]
    assert [law["reason"] for law in written] == [law["reason"] for law in found.table()["why_not"]]
    assert written and not any("{" in law["reason"] for law in written)
