"""Loops of several kinds against other engines, in one process: the table of times an iteration, and wanted ratios.

    make bench                                    everything
    python -m tests.benchmarks.loops              the loops
    python -m tests.benchmarks.loops newton gd    some of them

The rounds are interleaved and the smallest time of each is kept. All engines must first agree on the result. A machine
that does other work makes all times longer; ratios of one run hold.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.benchmarks import ours
from tests.benchmarks.peers import Missing, Run, c_loops, jax_loops, onnx_loops, prepare_python, torch_loops
from tests.benchmarks.timing import interleaved
from tests.benchmarks.wanted import (
    CARRIED,
    COLD,
    JAX,
    ORT,
    PLAIN,
    SCANS,
    SESSION,
    STATS,
    TORCH,
    TRACED,
    UNTRACED,
    WANTED,
    C,
)
from tests.benchmarks.workloads import WORKLOADS, Workload

PEERS: dict[str, Callable[[Workload], Run]] = {
    ORT: onnx_loops.prepare,
    SCANS: lambda workload: onnx_loops.prepare(workload, scan=True),
    PLAIN: prepare_python,
    C: c_loops.prepare,
    JAX: jax_loops.prepare,
    TORCH: torch_loops.prepare,
}
TRACES = {UNTRACED: "off", TRACED: "all", CARRIED: "carried", STATS: "stats"}
CHECK_TRIPS = 57


def trips_of(name: str, workload: Workload) -> int:
    """How many trips of the loop an engine makes: fewer for slow ones."""
    if name in (ORT, SCANS, TORCH):
        return workload.scan_trips if name == SCANS else workload.slow_trips
    return workload.plain_trips if name == PLAIN else workload.trips


def measure(workload: Workload, rounds: int) -> tuple[dict[str, float], dict[str, str]]:
    """Seconds an iteration of every engine that is there, and why the others are not."""
    jobs: dict[str, Callable[[], Any]] = {}
    missing: dict[str, str] = {}
    expected = prepare_python(workload)(CHECK_TRIPS)
    for name, prepare in PEERS.items():
        try:
            run, n = prepare(workload), trips_of(name, workload)
            agree(workload, name, run(CHECK_TRIPS), expected)
        except Missing as reason:
            missing[name] = str(reason)
        else:
            jobs[name] = lambda run=run, n=n: run(n)
    for name, trace in TRACES.items():
        try:
            agree(workload, name, ours.prepare(workload, trace)(CHECK_TRIPS), expected)
        except Missing as reason:
            missing[name] = str(reason)
        else:
            jobs[name] = ours.running(workload, trace, workload.trips)
    jobs[SESSION] = ours.whole(workload, workload.trips)
    jobs[COLD] = ours.cold(workload, workload.trips)
    seconds = interleaved(jobs, rounds)
    return {name: s / (trips_of(name, workload) * workload.each) for name, s in seconds.items()}, missing


def agree(workload: Workload, name: str, found: Any, expected: Any) -> None:
    """The same result: integers exactly; floats to 1e-12, for other orders of additions and fused operations."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape), f"{workload.name}: {name} gives {found!r}"
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12, err_msg=f"{workload.name}: {name}")
    else:
        np.testing.assert_array_equal(found, expected, err_msg=f"{workload.name}: {name}")


def report(workload: Workload, seconds: dict[str, float], missing: dict[str, str]) -> str:
    scale, unit = (1e6, "us") if workload.microseconds else (1e9, "ns")
    lines = [f"{workload.name}: {unit} an iteration, and times as fast as {ORT}"]
    width = max(map(len, [*seconds, *missing]))
    base = seconds.get(ORT, float("nan"))
    lines += [f"  {name:<{width}}  {s * scale:10.1f} {unit}  {base / s:8.2f}x" for name, s in seconds.items()]
    lines += [f"  {name:<{width}}  -  {why}" for name, why in missing.items()]
    lines += [w.line(seconds) for w in WANTED if w.workload == workload.name]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.loops", description=__doc__.partition("\n")[0])
    parser.add_argument("workload", nargs="*", help=f"one or more of {', '.join(WORKLOADS)}; all by default")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds (5)")
    chosen = parser.parse_args(arguments)
    for name in chosen.workload or WORKLOADS:
        if name not in WORKLOADS:
            parser.error(f"there is no workload {name!r}; there are {', '.join(WORKLOADS)}")
        workload = WORKLOADS[name]
        print(report(workload, *measure(workload, chosen.rounds)), flush=True)


if __name__ == "__main__":
    main()
