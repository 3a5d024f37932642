"""The figures of ``predictions`` under ``make bench``: every loop is answered; no time fails the test."""

from __future__ import annotations

import pytest

from tests.benchmarks.predictions import LENGTHS, measure

pytestmark = pytest.mark.bench


@pytest.mark.timeout(900)
def test_predictions(capsys: pytest.CaptureFixture[str]) -> None:
    times = measure(1)
    with capsys.disabled():
        print("\n" + "\n".join(times.report()))
    assert len(times.first) == len(LENGTHS) and len(times.going_on) > 5_000
