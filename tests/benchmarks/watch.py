"""Nanoseconds that a watch adds to an iteration, beside list.append and tqdm, in one process.

python -m tests.benchmarks.watch [iterations]
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

import workbench as wb
from tests.benchmarks.timing import Timed, interleaved

#: nanoseconds that an iteration may take: three numbers, an array of 1,000 numbers
GOALS = {"watch, 3 numbers": 1000.0, "watch, array of 1,000, at its budget": 5000.0}


def timed(body: Callable[[], Any]) -> Timed:
    began = time.perf_counter()
    body()
    return Timed(time.perf_counter() - began)


def appended(count: int) -> Timed:
    a, b, c = [], [], []

    def body() -> None:
        for _ in range(count):
            a.append(0.5)
            b.append(0.25)
            c.append(0.125)

    return timed(body)


def watched(count: int) -> Timed:
    watch = wb.watch("bench", show=False)
    a, b, c = 0.5, 0.25, 0.125

    def body() -> None:
        for _ in range(count):
            watch(a=a, b=b, c=c)

    return timed(body)


def by_method(count: int) -> Timed:
    record = wb.watch("bench", show=False).record
    a, b, c = 0.5, 0.25, 0.125

    def body() -> None:
        for _ in range(count):
            record(a=a, b=b, c=c)

    return timed(body)


def arrays(count: int, memory: int) -> Timed:
    """New memory costs what the system takes for its first touch, as it does for copies; at its budget a watch uses
    what it has."""
    watch = wb.watch("bench", show=False, memory=memory)
    x = np.linspace(0.0, 1.0, 1000)
    for _ in range(2000 if memory < 1 << 30 else 0):
        watch(x=x)

    def body() -> None:
        for _ in range(count):
            watch(x=x)

    return timed(body)


def copies(count: int) -> Timed:
    kept: list[np.ndarray] = []
    x = np.linspace(0.0, 1.0, 1000)

    def body() -> None:
        for _ in range(count):
            kept.append(x.copy())

    return timed(body)


def barred(count: int) -> Timed:
    tqdm = importlib.import_module("tqdm").tqdm

    def body() -> None:
        for _ in tqdm(range(count), disable=False, file=sys.stderr, leave=False):
            pass

    return timed(body)


def plain(count: int) -> Timed:
    def body() -> None:
        for _ in range(count):
            pass

    return timed(body)


def measure(count: int, rounds: int = 5) -> dict[str, float]:
    """Nanoseconds an iteration of each way, the empty loop taken away."""
    few = max(1, count // 20)
    jobs: dict[str, Callable[[], object]] = {
        "empty loop": lambda: plain(count),
        "3 x list.append": lambda: appended(count),
        "watch, 3 numbers": lambda: watched(count),
        "watch.record, 3 numbers": lambda: by_method(count),
        "copy of an array of 1,000, list.append": lambda: copies(few),
        "watch, array of 1,000, new memory": lambda: arrays(few, 1 << 30),
        "watch, array of 1,000, at its budget": lambda: arrays(few, 8 << 20),
    }
    with suppress(ImportError):
        importlib.import_module("tqdm")
        jobs["tqdm"] = lambda: barred(count)
    best = interleaved(jobs, rounds)
    empty = best.pop("empty loop") / count
    return {name: 1e9 * (s / (few if "1,000" in name else count) - empty) for name, s in best.items()}


def table(found: dict[str, float]) -> str:
    base = found["3 x list.append"]
    rows = [f"{name:<42} {ns:>8.0f} ns {ns / base:>6.1f} x" for name, ns in found.items()]
    return "\n".join(["An iteration, and times 3 x list.append:", *rows])


if __name__ == "__main__":
    found = measure(int(sys.argv[1]) if len(sys.argv) > 1 else 400_000)
    print(table(found))
    for name, goal in GOALS.items():
        print(f"{name}: {found[name]:.0f} of {goal:.0f} ns, {'within' if found[name] <= goal else 'MISSED'}")
