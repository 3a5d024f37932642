"""The table of ``loops`` under ``make bench``. All engines must agree on the results; no time fails the test."""

from __future__ import annotations

import pytest

from tests.benchmarks.loops import measure, report
from tests.benchmarks.wanted import PLAIN, SESSION, TRACED, UNTRACED
from tests.benchmarks.workloads import WORKLOADS

pytestmark = pytest.mark.bench


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", WORKLOADS)
def test_loop(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    seconds, missing = measure(WORKLOADS[name], rounds=5)
    with capsys.disabled():
        print("\n" + report(WORKLOADS[name], seconds, missing))
    assert {PLAIN, UNTRACED, TRACED, SESSION} <= set(seconds)
