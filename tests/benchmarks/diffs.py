"""How long ``wb.diff`` takes on long loops, wide tensors and large graphs, and how much memory.

::

    python -m tests.benchmarks.diffs            # all; --rows 1000000
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import workbench as wb


def recurrence(gain: float, trips: int, dtype: str = "float64", size: int = 0) -> wb.Session:
    """A finished run of x <- gain * sin(x) + 0.5, of one number or of ``size``."""
    b, number = wb.GraphBuilder("recurrence"), np.dtype(dtype).type
    x = b.placeholder("x", dtype, (size,) if size else ())
    start = {"i": np.int64(0), "x": x}
    out = b.while_loop(
        lambda i, x: i < trips, lambda i, x: {"i": i + 1, "x": b.sin(x) * number(gain) + number(0.5)}, start
    )
    session = wb.Session(b.build(out), {"x": np.full((size,) if size else (), 0.3, dtype)}, memory_budget=4 << 30)
    session.run()
    return session


def chain(nodes: int, late: float) -> wb.Session:
    """A finished run of a graph without loops, whose last quarter differs by ``late``."""
    b = wb.GraphBuilder("chain")
    x = b.placeholder("x", "float64", ())
    for k in range(nodes // 2):
        x = b.sin(x) + (0.1 if k < nodes * 3 // 8 else 0.1 + late)
    session = wb.Session(b.build({"y": x}), {"x": 0.3})
    session.run()
    return session


def cases(rows: int) -> Iterator[tuple[str, Callable[[], tuple[Any, Any]], dict[str, Any]]]:
    """(name, makes the two runs, tolerances)."""
    yield f"equal loops of {rows:,}", lambda: (recurrence(0.9, rows), recurrence(0.9, rows)), {}
    yield f"loops of {rows:,} that differ", lambda: (recurrence(0.9, rows), recurrence(0.91, rows)), {}
    yield (
        f"loops of {rows:,} within a tolerance",
        lambda: (recurrence(0.9, rows), recurrence(0.9 + 1e-13, rows)),
        {"rtol": 1e-9},
    )
    yield (
        f"loops of {rows:,} and {rows * 3 // 4:,}",
        lambda: (recurrence(0.9, rows), recurrence(0.9, rows * 3 // 4)),
        {},
    )
    yield (
        f"float64 and float32, {rows:,}",
        lambda: (recurrence(0.9, rows), recurrence(0.9, rows, "float32")),
        {"ulp": 4},
    )
    yield (
        f"{rows // 1000:,} iterations of 10,000 items",
        lambda: (recurrence(0.9, rows // 1000, size=10_000), recurrence(0.91, rows // 1000, size=10_000)),
        {},
    )
    yield "graphs of 10,000 nodes, other constants", lambda: (chain(10_000, 0.0), chain(10_000, 1e-3)), {}


def measure(name: str, make: Callable[[], tuple[Any, Any]], options: dict[str, Any]) -> float:
    """Seconds that one comparison takes; a line is printed."""
    a, b = make()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    found = wb.diff(a, b, **options)
    took = time.perf_counter() - started
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(
        f"{name:<46} {took:7.2f} s  {found.firings / took:12,.0f} firings/s  "
        f"{len(found.rows):>5} rows  first in {found.first.where if found.first else '-':<14} peak +{grown:.0f} MB"
    )
    for session in (a, b):
        session.close()
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    for case in cases(parser.parse_args().rows):
        measure(*case)


if __name__ == "__main__":
    main()
