"""A long run in a process of its own: how much its resident memory grows. Prints JSON: bytes above the start.

python -P resident.py GRAPH TRIPS TRACE BUDGET
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path

# The root comes last: there ./workbench would hide a build that is installed elsewhere.
sys.path.append(str(Path(__file__).resolve().parents[2]))

import workbench as wb
from tests.execution import loops
from workbench.plan.native import compile_loops


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main(name: str, trips: int, trace: str, budget: int) -> None:
    make = {"nest": lambda n: loops.nest(n // 1000, 1000), "short": lambda n: loops.nest(n // 2, 2)}.get(name)
    make = make or getattr(loops, name)
    with wb.Session(make(1000), trace=trace, memory_budget=budget) as session:  # what is loaded once
        session.run()
        compile_loops(session.plan.program)
    start = resident()
    samples: list[tuple[float, int]] = []
    done = threading.Event()
    with wb.Session(make(trips), trace=trace, memory_budget=budget) as session:
        whole = {"nest": trips // 1000, "short": trips // 2}.get(name, trips)

        def watch() -> None:
            frame = next(iter(session.plan.layout.frames[1:])).path
            while not done.wait(0.002):
                samples.append((session.snapshot().iterations.get(frame, 0) / whole, resident()))

        thread = threading.Thread(target=watch)
        thread.start()
        session.run()
        done.set()
        thread.join()
        assert session.outputs["i"] == whole
    early = max((r for part, r in samples if part <= 0.1), default=start)
    print(
        json.dumps(
            {
                "peak": max(r for _, r in samples) - start,
                "early": early - start,
                "end": samples[-1][1] - start,
                "samples": len(samples),
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
