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
from workbench.plan.native import compile


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main(name: str, trips: int, trace: str, budget: int) -> None:
    compile.HOT_EVENTS = 1 << 62  # LLVM takes some megabytes for each plan, which are not those of the run
    make = {"nest": lambda n: loops.nest(n // 1000, 1000), "short": lambda n: loops.nest(n // 2, 2)}.get(name)
    make = make or getattr(loops, name)
    with wb.Session(make(1000), trace=trace, memory_budget=budget) as session:  # what is loaded once
        session.run()
    start = resident()
    samples: list[int] = []
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.002):
            samples.append(resident())

    def held(trips: int) -> int:
        """Bytes that the process holds above the start after so many iterations, while their session is open."""
        with wb.Session(make(trips), trace=trace, memory_budget=budget) as session:
            session.run()
            assert session.outputs["i"] == {"nest": trips // 1000, "short": trips // 2}.get(name, trips)
            return resident() - start

    thread = threading.Thread(target=watch)
    thread.start()
    # Two runs, not two moments of one: how far a run is when a thread looks depends on the machine.
    early, end = held(trips // 10), held(trips)
    done.set()
    thread.join()
    print(json.dumps({"peak": max([end, *(sample - start for sample in samples)]), "early": early, "end": end}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
