"""The figures of ``updates`` under ``make bench``. Both sides must agree on the results; no time fails the test."""

from __future__ import annotations

import pytest

from tests.benchmarks.updates import limited_loop, measure, reading_loop, two_branches

pytestmark = pytest.mark.bench


@pytest.mark.timeout(300)
@pytest.mark.parametrize("make, size", [(reading_loop, 100_000), (limited_loop, 1_000_000), (two_branches, 256)])
def test_updates(make, size: int, capsys: pytest.CaptureFixture[str]) -> None:
    line = measure(make(size), rounds=3)
    with capsys.disabled():
        print("\n" + line)
    assert "ratio" in line
