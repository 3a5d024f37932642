"""``python -m tests.benchmarks.long_chains``: planning chains of many nodes, and building and planning nested loops.

Prints the seconds of each, and for chains the time per node relative to the shortest one: 1 is linear.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import workbench as wb
from tests.plan.test_long_chains import chain, nested
from workbench.ir.types import TensorType
from workbench.plan.plan import choose_outputs, make_plan

SIZES = (50_000, 100_000, 200_000)
DEPTH = 1000


def planned(graph: Any, input_: TensorType) -> float:
    """Seconds of one plan for all outputs, the plan cache left out."""
    began = time.perf_counter()
    make_plan(graph, choose_outputs(graph, None), (("x", input_),))
    return time.perf_counter() - began


def main(sizes: list[int]) -> None:
    for label, shape in (("numbers", ()), ("arrays", (4,))):
        least = 0.0
        for size in sizes:
            seconds = planned(chain(size, shape), TensorType("float64", shape))
            least = least or seconds / size
            print(f"{label:8} {size:8,} nodes planned in {seconds:6.2f} s, {seconds / size / least:.2f} per node")
    began = time.perf_counter()
    b = wb.GraphBuilder()
    graph = b.build([nested(b, DEPTH, b.placeholder("x", "int64", ()))])
    built = time.perf_counter() - began
    print(f"{DEPTH:,} nested loops built in {built:.2f} s, planned in {planned(graph, TensorType('int64', ())):.2f} s")


if __name__ == "__main__":
    main([int(a) for a in sys.argv[1:]] or list(SIZES))
