"""How fast a long series is drawn, and any stretch of it drawn again in detail.

    python -m tests.benchmarks.long_series [iterations]

A loop of ten million iterations is recorded; the evolution view reads it whole, and is then zoomed into stretches of
all lengths. A picture holds all points of short stretches, and the extremes of each pixel's worth of long ones: the
largest and smallest are held against the record.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import workbench as wb
from workbench.widgets import EvolutionView


@dataclass(frozen=True)
class Figure:
    """Milliseconds of one question, points of its picture within the stretch, and whether the extremes are in it."""

    what: str
    ms: float
    points: int
    extremes: bool

    def __str__(self) -> str:
        kept = "extremes kept" if self.extremes else "EXTREMES LOST"
        return f"{self.what:<34} {self.ms:9.1f} ms  {self.points:6,} points  {kept}"


def long_loop(n: int) -> wb.Graph:
    """Ten million values of a map that never repeats, with one spike."""
    b = wb.GraphBuilder("long")
    i, x = b.while_loop(
        lambda i, x: i < n,
        lambda i, x: (i + 1, b.op("cos", x * 78.233 + 12.9898)),
        (b.constant(0, "int64"), b.constant(0.5)),
    )
    return b.build({"x": x})


def stretches(n: int) -> Iterator[tuple[int, int]]:
    """Stretches of 100 to all values, in different places."""
    length, k = n, 0
    while length >= 100:
        low = (0, n - length, (n - length) // 3)[k % 3]
        yield low, low + length
        length, k = length // 10, k + 1
        if length * 3 < n:
            yield n // 2, min(n, n // 2 + 3 * length)


def measure(n: int) -> Iterator[Figure]:
    with wb.Session(long_loop(n), memory_budget=max(1 << 28, 64 * n)) as session:
        session.run()
        name = session.graph.frames[("while",)].variables[1].name
        record = session.trace[name].values
        view = EvolutionView(session.trace, [name])
        try:
            began = time.perf_counter()
            while view.behind:
                view.show(None)
            view.show(None)
            yield _figure("the whole, read for the first time", began, view, record, 0, n)
            began = time.perf_counter()
            view.show(None)
            yield _figure("the whole again", began, view, record, 0, n)
            for low, high in stretches(n):
                began = time.perf_counter()
                view.zoom(low, high)
                yield _figure(f"{low:,} to {high:,}", began, view, record, low, high)
        finally:
            view.close()


def _figure(what: str, began: float, view: EvolutionView, record: np.ndarray, low: int, high: int) -> Figure:
    ms = 1e3 * (time.perf_counter() - began)
    x, y = np.asarray(view.live.figure.data[0].x), np.asarray(view.live.figure.data[0].y)
    inside = (x >= low) & (x <= high)
    true = record[low : high + 1]
    kept = bool(np.nanmax(y[inside]) == true.max() and np.nanmin(y[inside]) == true.min())
    return Figure(what, ms, int(inside.sum()), kept)


if __name__ == "__main__":
    for each in measure(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000):
        print(each, flush=True)
