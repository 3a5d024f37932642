"""Cost of Python's integer checks in a hot loop: Collatz on ints that wrap, on checked ones, and captured from Python.

    python -m tests.benchmarks.checked

One process, interleaved rounds, the smallest time of each; the ratios of one run hold also on a busy machine.
"""

from __future__ import annotations

import numpy as np

import workbench as wb
from tests.benchmarks.timing import interleaved
from workbench.frontends.python.decorator import graph

#: Collatz sequences of 1 ... LAST - 1
LAST, ROUNDS = 4000, 15
#: what the checks may cost
WANTED = 1.3


def by_hand(checked: bool) -> wb.Graph:
    """The steps of all sequences together; ``checked`` is the attr of every op on ints."""
    b = wb.GraphBuilder("collatz")

    def op(name, *args):
        return b.op(name, *args, checked=True) if checked else b.op(name, *args)

    def step(n, steps):
        even = b.op("equal", op("remainder", n, 2), 0)
        n = b.cond(even, lambda: op("floor_divide", n, 2), lambda: op("add", op("multiply", n, 3), 1))
        return n, op("add", steps, 1)

    def sequence(start, total):
        _, steps = b.while_loop(lambda n, steps: b.op("greater", n, 1), step, [start, b.constant(np.int64(0))])
        return op("add", start, 1), op("add", total, steps)

    last = b.placeholder("last", "int64", ())
    first = [b.constant(np.int64(1)), b.constant(np.int64(0))]
    return b.build({"total": b.while_loop(lambda start, total: b.op("less", start, last), sequence, first)[1]})


def collatz(last):
    total = 0
    start = 1
    while start < last:
        n = start
        steps = 0
        while n > 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        total += steps
        start += 1
    return total


def main() -> None:
    captured = graph(collatz).graph_for(LAST)
    output = next(iter(captured.outputs))
    graphs = {"wraps": (by_hand(False), "total"), "checked": (by_hand(True), "total"), "captured": (captured, output)}
    expected = collatz(LAST)
    jobs = {}
    for name, (made, out) in graphs.items():
        if int(made.run(last=np.int64(LAST))[out]) != expected:
            raise AssertionError(f"{name} is wrong")
        jobs[name] = lambda made=made: made.run(last=np.int64(LAST))
    jobs["Python"] = lambda: collatz(LAST)
    times = interleaved(jobs, ROUNDS)
    for name, seconds in times.items():
        print(f"{name:10s} {seconds / expected * 1e9:7.1f} ns a step, {seconds / times['wraps']:5.2f} x")
    ratio = times["checked"] / times["wraps"]
    print(f"checked / wraps: {ratio:.2f}, wanted at most {WANTED}: {'ok' if ratio <= WANTED else 'MISSED'}")


if __name__ == "__main__":
    main()
