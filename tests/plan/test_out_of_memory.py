"""Memory that runs out in the middle of a run: an error, the same error again, and a way back with the right values."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# The root comes last: there ./workbench would hide a build that is installed elsewhere.
PROGRAM = (
    f"import sys; sys.path.append({str(ROOT)!r})"
    + """
import resource
import numpy as np
from tests.plan.checks import run_of
from tests.plan.test_array_rows import expected, grow

x = np.random.default_rng(0).normal(size=200_000)
run = run_of(grow(x.size), {"x": x, "n": np.int64(4000)}, budget=1 << 40)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (160 << 20), resource.RLIM_INFINITY))
failures = 0
for _ in range(3):
    try:
        while run.go() != "halt":
            pass
    except MemoryError as error:
        failures += 1
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
kept = run.trace["v"].firings()
for value, wanted in zip(kept, expected(x, len(kept)), strict=False):
    assert np.array_equal(value, wanted)
run.seek(run.before(run.event).events)
while run.event < 300:
    run.go(run.event + 1, exact=True, skip_silent=False)
values = run.trace["v"].values
assert failures == 3, failures
assert len(values) > 2
for value, wanted in zip(values, expected(x, len(values)), strict=False):
    assert np.array_equal(value, wanted)
print("right", len(values))
"""
)


@pytest.mark.slow
def test_memory_that_runs_out_leaves_no_wrong_value():
    done = subprocess.run([sys.executable, "-P", "-c", PROGRAM], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout.startswith("right"), done.stdout + done.stderr
