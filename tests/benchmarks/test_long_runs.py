"""The report of ``long_runs`` under ``make bench``. Values and memory fail the test, times do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.long_runs import BESIDE, BUDGET, CASES, TRIPS, measure, report
from tests.benchmarks.peers import Missing

pytestmark = [
    pytest.mark.bench,
    pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="resident memory is read from /proc"),
]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", CASES)
def test_long_run(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        found = measure(name)
    except Missing as reason:
        pytest.skip(str(reason))
    with capsys.disabled():
        print("\n" + report(name, TRIPS, BUDGET, found))
    assert found["right"] and found["held"] <= BUDGET and found["peak"] < BUDGET + BESIDE
