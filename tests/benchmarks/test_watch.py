"""The figures of ``watch`` under ``make bench``; no time fails the test."""

from __future__ import annotations

import pytest

from tests.benchmarks.watch import measure, table

pytestmark = pytest.mark.bench


def test_watch(capsys: pytest.CaptureFixture[str]) -> None:
    found = measure(100_000, rounds=3)
    with capsys.disabled():
        print("\n" + table(found))
    assert all(ns > 0 for ns in found.values())
