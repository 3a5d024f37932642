"""The figures of ``terminations`` under ``make bench``: every loop is answered; no time fails the test."""

from __future__ import annotations

import pytest

from tests.benchmarks.terminations import measure

pytestmark = pytest.mark.bench


@pytest.mark.timeout(900)
def test_terminations(capsys: pytest.CaptureFixture[str]) -> None:
    times = measure(1)
    with capsys.disabled():
        print("\n" + "\n".join(times.report()))
    assert len(times.answers) == len(times.seconds) > 100
