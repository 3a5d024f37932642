"""Memory of runs of ONNX's light models, against the lifetime lower bound (workbench.plan.memory.memory_bound).

    python -m tests.benchmarks.light_memory                       all of them
    python -m tests.benchmarks.light_memory resnet50 squeezenet   some

``off`` and ``stats`` are what rows and objects of a run come to at most, less the feeds; ``beside`` is what NumPy and
Python allocate meanwhile (tracemalloc). Both count for the ratio, which is wanted to be 1.2 at most, with trace="off"
(as graph.run) and with trace="stats". ``resident`` is how much the process grows in the first run (Linux, a process of
its own for each model): that includes what onnxruntime's kernels ask for while they compute (other layouts of arrays),
which its own arena keeps and which does not count in the ratio.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tracemalloc
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import workbench as wb
from tests.benchmarks.light_models import MODELS, feeds_of, path_of
from workbench.execution import NEWEST_ROWS, Run, prepare_feeds
from workbench.session import plan_for

WANTED = 1.2
TITLE = (
    f"{'model':<14} {'bound':>10} {'off':>10} {'ratio':>6} {'stats':>10} {'ratio':>6} {'beside':>9} {'resident':>10}"
)


@dataclass(frozen=True)
class Result:
    """Bytes; ``off`` and ``stats`` are peaks without feeds, ``beside`` the larger of the two."""

    name: str
    bound: int
    off: int
    stats: int
    beside: int
    resident: int | None = None

    def ratio(self, peak: int) -> float:
        return (peak + self.beside) / self.bound

    @property
    def worst(self) -> float:
        return max(self.ratio(self.off), self.ratio(self.stats))

    def line(self) -> str:
        grown = "" if self.resident is None else f"{self.resident / 1024:8.0f} K"
        return (
            f"{self.name:<14} {self.bound / 1024:8.0f} K {self.off / 1024:8.0f} K {self.ratio(self.off):6.3f} "
            f"{self.stats / 1024:8.0f} K {self.ratio(self.stats):6.3f} {self.beside / 1024:7.0f} K {grown:>10}"
            f"  wanted {WANTED}: {'reached' if self.worst <= WANTED else 'MISSED'}"
        )


def measure(name: str) -> Result:
    graph = wb.load(path_of(name))
    feeds = feeds_of(graph)
    peaks, beside, bound = {}, 0, 0
    for trace in ("off", "stats"):
        with wb.Session(graph, feeds, trace=trace) as session:
            session.run()  # what is made once
        with wb.Session(graph, feeds, trace=trace) as session:
            tracemalloc.start()
            session.run()
            beside = max(beside, tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
            report = session.memory()
            peaks[trace], bound = report.peak - report.feeds, report.bound
    return Result(name, bound, peaks["off"], peaks["stats"], beside)


def resident(name: str) -> int | None:
    """Bytes by which a fresh process grows at most while it runs the model for the first time; None if unknown."""
    command = [sys.executable, "-m", "tests.benchmarks.light_memory", "--grow", name]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=300)
    return int(done.stdout) if done.returncode == 0 and done.stdout.strip() else None


def grow(name: str) -> int:
    graph = wb.load(path_of(name))
    arrays = prepare_feeds(graph, feeds_of(graph))
    run = Run(plan_for(graph, arrays, None, lean=True), arrays, NEWEST_ROWS, back=False)
    Path("/proc/self/clear_refs").write_text("5")  # the high-water mark begins here
    before = _status("VmRSS")
    while run.go() != "halt":
        pass
    return (_status("VmHWM") - before) * 1024


def _status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.light_memory", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("model", nargs="*", help=f"one or more of {', '.join(MODELS)}; all by default")
    parser.add_argument("--grow", metavar="MODEL", help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.grow:
        print(grow(chosen.grow))
        return
    for name in chosen.model:
        if name not in MODELS:
            parser.error(f"there is no model {name!r}; there are {', '.join(MODELS)}")
    print(TITLE)
    for name in chosen.model or MODELS:
        found = measure(name)
        print(Result(**(vars(found) | {"resident": resident(name)})).line(), flush=True)


if __name__ == "__main__":
    main()
