"""The command that leaves out each declared law: it has no share meanwhile, and scores are those of the formula."""

from __future__ import annotations

import numpy as np
import pytest

from tests.evaluation.ablate_laws import interval_score, left_out
from workbench.analysis.forecast import operand
from workbench.analysis.laws.posterior import LAWS
from workbench.analysis.verdict import Reason, Status, Termination


@pytest.mark.parametrize("name", [law.name for law in LAWS])
def test_a_law_is_left_out_and_back_again(name):
    values = 0.9 ** np.arange(60) * np.exp(0.1 * np.sin(np.arange(60) ** 2))
    with left_out(name):
        without = {c.law.name: c.share for c in operand.outlook(values, ">", 1e-9).candidates}
    assert without[name] == 0.0 and len(without) == len(LAWS)
    again = {c.law.name: c.share for c in operand.outlook(values, ">", 1e-9).candidates}
    assert again[name] > 0.0 and np.isclose(sum(again.values()), 1.0)


def test_the_score_of_an_interval_is_its_width_and_what_it_misses():
    def answer(outcome, interval):
        return Termination(Status.PREDICTED, outcome, None, interval, Reason("forecast", "x ends."), [], None, 0.9)

    assert interval_score(answer("terminates", (8, 32)), 16, 10) == pytest.approx(2.0)
    assert interval_score(answer("terminates", (8, 32)), 64, 10) == 20.0
    assert interval_score(answer("terminates", (8, 32)), 34, 10) == pytest.approx(2.0 + 20.0 * np.log2(34 / 32))
    assert interval_score(answer("never", None), 16, 10) == 20.0
    assert interval_score(answer(None, None), 16, 10) == pytest.approx(np.log2(400))
