"""Runs of 1e8 iterations under a budget of 64 MB: time, resident memory, and how soon any value is there.

    python -m tests.benchmarks.long_runs                   all of them
    python -m tests.benchmarks.long_runs newton --trips 1e7 --budget 16e6

Each runs in a process of its own. The truth comes from elsewhere: of Newton's iteration from C, of counters from
arithmetic, of the nested sum from its last 200 terms (earlier ones are shifted out of a float64).
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import workbench as wb
from tests.benchmarks.peers import Missing
from tests.execution import loops
from workbench.plan.native import compile_loops

TRIPS, BUDGET = 100_000_000, 64 << 20
ASKED = 40
#: what is wanted: seconds for any value, and bytes beside the budget (the interpreter's own, replays)
SOON, BESIDE = 1.0, 8 << 20
CASES = ("newton", "counter", "nested", "short")
C_SOURCE = """
void at(const long long *wanted, int count, double *out) {
    double x = 1.0;
    long long i = 0;
    for (int k = 0; k < count; k++) {
        for (; i < wanted[k]; i++) x = (x + ((double)i * 1e-3 + 2.0) / x) * 0.5;
        out[k] = x;
    }
}
"""


def newton_truth(wanted: list[int]) -> dict[int, float]:
    """x in the iterations asked for, from C without fused operations. Missing where there is no compiler."""
    if shutil.which("cc") is None:
        raise Missing("there is no C compiler called cc")
    order = np.array(sorted(set(wanted)), np.int64)
    found = np.empty(len(order))
    with tempfile.TemporaryDirectory() as folder:
        source, built = Path(folder) / "truth.c", Path(folder) / "truth.so"
        source.write_text(C_SOURCE)
        subprocess.run(["cc", "-O2", "-ffp-contract=off", "-shared", "-fPIC", "-o", built, source], check=True)
        library = ctypes.CDLL(str(built))
    pointer = ctypes.c_void_p
    library.at(pointer(order.ctypes.data), ctypes.c_int(len(order)), pointer(found.ctypes.data))
    return dict(zip(order.tolist(), found.tolist(), strict=True))


def drawn(trips: int) -> list[int]:
    """The first, the middle, some near the end, and others by chance."""
    rng = np.random.default_rng(trips)
    return [0, 1, trips // 2, trips - 1000, trips - 2, *rng.integers(0, trips, ASKED).tolist()]


def graph_of(name: str, trips: int) -> tuple[wb.Graph, int, int]:
    """(graph, trips of the outer loop, trips of the inner one or 0)."""
    if name in ("nested", "short"):
        inner = 1000 if name == "nested" else 2
        return loops.nest(trips // inner, inner), trips // inner, inner
    return {"newton": loops.newton, "counter": loops.counter}[name](trips), trips, 0


def questions(name: str, session: wb.Session, outer: int, inner: int) -> list[tuple[str, Any, float]]:
    """(value, iteration, truth)."""
    if not inner:
        asked = drawn(outer)
        found: list[tuple[str, Any, float]] = [("i", k, k) for k in asked]
        if name == "newton":
            truth = newton_truth([n for k in asked for n in (k, k + 1)])
            found += [(v, k, truth[k + (v == "next")]) for k in asked for v in ("x", "next")]
        return found
    merge = next(
        n for n, _ in session.plan.layout.values if n.startswith("inner/s") and session.graph.nodes[n].op == "Merge"
    )
    paths = [(i, k * 7919 % inner) for k, i in enumerate(drawn(outer))]
    found = [("j", p, p[1]) for p in paths] + [("i", p[0], p[0]) for p in paths]
    return found + [(merge, p, loops.nest_value(outer, inner, *p)) for p in paths]


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def measure_here(name: str, trips: int, budget: int) -> dict[str, float]:
    """One run in this process: seconds, bytes, and whether every value was the right one."""
    with wb.Session(graph_of(name, 1000)[0], memory_budget=budget) as session:  # what is loaded once
        session.run()
        compile_loops(session.plan.program)
    graph, outer, inner = graph_of(name, trips)
    start = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    with wb.Session(graph, memory_budget=budget) as session:
        run, _ = timed(session.run)
        last, at_end = timed(lambda: session.value("i"))
        right = int(at_end) == outer
        waits = []
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - start
        for value, iteration, truth in questions(name, session, outer, inner):
            seconds, found = timed(lambda v=value, k=iteration: session.value(v, k))  # type: ignore[misc]
            waits.append(seconds)
            right &= found == truth
        back, _ = timed(lambda: session.step_back(3))
        place = (outer // 3, inner // 2) if inner else outer // 3
        there, _ = timed(lambda: session.run_to("j" if inner else "i", place))
        near, _ = timed(lambda: session.step_back(3))
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - start
        return {
            "run": run,
            "last": last,
            "longest": max(waits),
            "median": statistics.median(waits),
            "asked": len(waits),
            "step_back": max(back, near),
            "run_to": there,
            "peak": peak,
            "peak_replaying": after,
            "right": float(right),
            "held": session._run.held_bytes,
        }


def measure(name: str, trips: int = TRIPS, budget: int = BUDGET) -> dict[str, float]:
    """The same in a process of its own."""
    root = str(Path(__file__).resolve().parents[2])
    program = (
        f"import sys, json; sys.path.append({root!r}); from tests.benchmarks import long_runs; "
        f"print(json.dumps(long_runs.measure_here({name!r}, {trips}, {budget})))"
    )
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, timeout=900)
    if "Missing" in done.stderr:
        raise Missing(done.stderr.strip().splitlines()[-1])
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def report(name: str, trips: int, budget: int, found: dict[str, float]) -> str:
    mib = 1 << 20
    kept = "in time" if found["longest"] < SOON else "MISSED"
    bound = "kept" if found["peak"] < budget + BESIDE else "MISSED"
    return "\n".join(
        [
            f"{name}: {trips:.0e} iterations in {found['run']:.2f} s ({found['run'] / trips * 1e9:.0f} ns each), "
            f"budget {budget / mib:.0f} MiB",
            f"  resident memory +{found['peak'] / mib:.1f} MiB ({bound}), with replays "
            f"+{found['peak_replaying'] / mib:.1f}; held at the end {found['held'] / mib:.1f} MiB",
            f"  last value {found['last'] * 1e3:.2f} ms; {found['asked']:.0f} others: median "
            f"{found['median'] * 1e3:.2f} ms, longest {found['longest'] * 1e3:.1f} ms, of 1 s ({kept}); "
            f"all bit-equal: {bool(found['right'])}",
            f"  step_back {found['step_back'] * 1e3:.1f} ms, run_to a third of the way {found['run_to'] * 1e3:.1f} ms",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help=f"of {', '.join(CASES)}; all of them by default")
    parser.add_argument("--trips", type=float, default=TRIPS, help="iterations (of the innermost loop)")
    parser.add_argument("--budget", type=float, default=BUDGET, help="bytes")
    options = parser.parse_args()
    if unknown := set(options.cases) - set(CASES):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(CASES)}.")
    trips, budget = int(options.trips), int(options.budget)
    for name in options.cases or CASES:
        print(report(name, trips, budget, measure(name, trips, budget)))


if __name__ == "__main__":
    main()
