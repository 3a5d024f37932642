"""Flat memory: what the system says a process holds after long runs and after ten times longer ones, under budgets."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="resident memory is read from /proc")
SCRIPT = Path(__file__).with_name("resident.py")
MIB = 1 << 20
#: of the allocator and of Python
SLACK = 3 * MIB


def grown(name: str, trips: int, trace: str, budget: int) -> dict[str, int]:
    done = subprocess.run(
        [sys.executable, "-P", str(SCRIPT), name, str(trips), trace, str(budget)],
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "trips"), [("newton", 2_000_000), ("short", 1_000_000)])
def test_a_budget_bounds_what_the_process_holds(name: str, trips: int) -> None:
    found = grown(name, trips, "all", 8 * MIB)
    assert 6 * MIB < found["peak"] < 8 * MIB + SLACK, found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "trips", "trace"),
    [
        ("newton", 10_000_000, "off"),
        ("newton", 10_000_000, "stats"),
        ("newton", 10_000_000, "all"),
        ("counter", 10_000_000, "all"),
        ("nest", 10_000_000, "all"),
        ("nest", 10_000_000, "off"),
        ("short", 10_000_000, "all"),
        ("short", 10_000_000, "off"),
        ("triple", 2_000_000, "all"),
        ("arrays", 10_000_000, "off"),
        ("arrays", 10_000_000, "stats"),
        ("arrays", 10_000_000, "all"),
        ("objects", 200_000, "off"),
        ("objects", 200_000, "stats"),
        ("objects", 200_000, "all"),
    ],
)
def test_memory_is_flat(name: str, trips: int, trace: str) -> None:
    budget = 8 * MIB
    found = grown(name, trips, trace, budget)
    assert found["end"] - found["early"] < SLACK, found
    assert found["peak"] < (5 * MIB if trace == "off" else budget) + SLACK, found
