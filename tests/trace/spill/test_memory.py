"""A trace many times as large as its memory: the budget holds, and any row is there at once."""

from __future__ import annotations

import os
import threading
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.execution.test_retire import numbers
from tests.work import work_of

pytest.importorskip("pyarrow")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="resident memory is read from /proc"),
]
MIB = 1 << 20


def resident() -> int:
    """Bytes of memory of this process that are not pages of files."""
    _, everything, shared = (int(n) for n in Path("/proc/self/statm").read_text().split()[:3])
    return (everything - shared) * os.sysconf("SC_PAGE_SIZE")


def test_hundreds_of_megabytes_with_a_budget_of_32(tmp_path):
    with wb.Session(numbers(200_000), trace=wb.Retention(spill=tmp_path / "warm", memory=32 * MIB)) as session:
        session.run()
    before, most, ended = resident(), [0], threading.Event()

    def watch() -> None:
        while not ended.wait(0.01):
            most[0] = max(most[0], resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        trips = 6_000_000
        with wb.Session(numbers(trips), trace=wb.Retention(spill=tmp_path / "cold", memory=32 * MIB)) as session:
            session.run()
            session.trace.spill.flush()
            ended.set()
            status = session.trace.spill.status
            assert status.on_disk > 300 * MIB and session._run.held_bytes <= 32 * MIB
            assert most[0] - before < 32 * MIB + 12 * MIB  # of the allocator and of Python
            series = session.trace["i"]
            for row in np.random.default_rng(0).integers(0, trips, 200).tolist():
                assert series.at(row) == row
            rows = np.random.default_rng(1).integers(0, trips, 200).tolist()
            calls = [work_of(partial(series.at, row)) for row in rows]
            assert max(calls) < 2000, "any row is found without looking at the others"
            assert np.array_equal(series[10:20], np.arange(10, 20)) and series[-1] == trips
    finally:
        ended.set()
        watcher.join()
    assert list((tmp_path / "cold").iterdir()) == []
