"""The time that LLVM takes for loops of numbers, and the events of a run after which it pays.

    python -m tests.benchmarks.machine_code             every loop
    python -m tests.benchmarks.machine_code collatz     some

"polynomial k" is a Horner scheme of k ops, "branches k" has k // 2 branches of a few ops, "checked k" adds integers
that may overflow, "functions k" calls sin. Times are of the processor: compiling in this thread, an event of a run
whose rows are kept. "lasts" is the events of the interpreter that take as long as compiling, "begins after" what
``workbench.plan.native.compile.events_before`` requires with LLVM loaded, both in millions, and "loses" the largest
share by which a run takes longer, if it ends directly after compiling.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

import workbench as wb
from tests.benchmarks.timing import Timed
from tests.benchmarks.workloads import collatz, nested, newton
from workbench.kernels import machine as core
from workbench.plan.native import compile, compile_loops

EVENTS = 10_000_000  # of a run that is timed


def polynomial(ops: int) -> wb.Graph:
    b = wb.GraphBuilder(f"polynomial {ops}")
    n = b.placeholder("n", "int64")

    def body(x: wb.Value, i: wb.Value) -> tuple[wb.Value, wb.Value]:
        y = x
        for k in range(ops // 2):
            y = y * x - 0.01 * (k % 3)
        return y, i + 1

    x, _ = b.while_loop(lambda x, i: i < n, body, [b.constant(0.5), b.constant(np.int64(0))])
    return b.build({"x": x})


def branches(ops: int) -> wb.Graph:
    b = wb.GraphBuilder(f"branches {ops}")
    n = b.placeholder("n", "int64")

    def body(x: wb.Value, i: wb.Value) -> tuple[wb.Value, wb.Value]:
        for k in range(ops // 2):
            x = b.cond(x % (k + 2) == 0, lambda x=x: x + 1, lambda x=x, k=k: x * 3 - k)  # type: ignore[misc]
        return x % 1009, i + 1

    x, _ = b.while_loop(lambda x, i: i < n, body, [b.constant(np.int64(27)), b.constant(np.int64(0))])
    return b.build({"x": x})


def checked(ops: int) -> wb.Graph:
    b = wb.GraphBuilder(f"checked {ops}")
    n = b.placeholder("n", "int64")

    def body(x: wb.Value, i: wb.Value) -> tuple[wb.Value, wb.Value]:
        for k in range(ops // 2):
            x = b.op("subtract", b.op("add", x, k + 1, checked=True), k, checked=True)
        return x, b.op("add", i, 1, checked=True)

    x, _ = b.while_loop(lambda x, i: i < n, body, [b.constant(np.int64(0)), b.constant(np.int64(0))])
    return b.build({"x": x})


def functions(ops: int) -> wb.Graph:
    b = wb.GraphBuilder(f"functions {ops}")
    n = b.placeholder("n", "int64")

    def body(x: wb.Value, i: wb.Value) -> tuple[wb.Value, wb.Value]:
        for _ in range(ops // 2):
            x = b.op("sin", x) + 0.5
        return x, i + 1

    x, _ = b.while_loop(lambda x, i: i < n, body, [b.constant(0.5), b.constant(np.int64(0))])
    return b.build({"x": x})


LOOPS: dict[str, Callable[[], wb.Graph]] = {"newton": newton, "collatz": collatz, "nested": nested}
LOOPS |= {f"polynomial-{k}": partial(polynomial, k) for k in (10, 40, 160, 640, 1600)}
LOOPS |= {f"branches-{k}": partial(branches, k) for k in (10, 40, 160)}
LOOPS |= {
    "checked-10": partial(checked, 10),
    "checked-80": partial(checked, 80),
    "functions-10": partial(functions, 10),
}


def feeds(graph: wb.Graph, n: int) -> dict[str, object]:
    given: dict[str, object] = {"n": np.int64(n)}
    if "a" in graph.inputs:
        given["a"] = 0.9
    if "start" in graph.inputs:
        given["start"] = np.int64(27)
    return given


def opened(graph: wb.Graph, n: int) -> tuple[Timed, wb.Session]:
    """A run of n trips: seconds of the processor, and the closed session."""
    with wb.Session(graph, feeds(graph, n)) as session:
        session.step()  # starts the worker
        began = time.process_time()
        session.run()
        return Timed(time.process_time() - began), session


def line(name: str, rounds: int) -> str:
    graph = LOOPS[name]()
    _, session = opened(graph, 10)
    each = max(1, session.stop.event // 10)
    trips = max(10, EVENTS // each)
    events = opened(graph, trips)[1].stop.event
    interpreted = min(opened(graph, trips)[0] for _ in range(rounds)) / events
    program = session.plan.program
    size = sum(back - head for head, back in core.innermost_loops(program))
    asked = compile.events_before(compile.milliseconds_of(program))
    began = time.thread_time()
    reasons = compile_loops(program)
    took = time.thread_time() - began
    native = min(opened(graph, trips)[0] for _ in range(rounds)) / events
    said = "" if set(reasons.values()) == {""} else f" {reasons}"
    if not asked:
        return f"| {name} | {size} | - | {interpreted * 1e9:.2f} ns | - | - | - | - |{said}"
    return (
        f"| {name} | {size} | {took * 1e3:.1f} ms | {interpreted * 1e9:.2f} ns | {native * 1e9:.2f} ns | "
        f"{took / interpreted / 1e6:.1f} | {asked / 1e6:.1f} | {took / (asked * interpreted):.0%} |{said}"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("loop", nargs="*", help=f"one or more of {', '.join(LOOPS)}; all by default")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each, of which the fastest counts (3)")
    given = parser.parse_args(arguments)
    compile.HOT_EVENTS = 1 << 62
    began = time.thread_time()
    compile._llvm()
    print(f"LLVM is loaded in {(time.thread_time() - began) * 1e3:.0f} ms of the processor", flush=True)
    print("| loop | instructions | compiling | interpreter | machine code | lasts | begins after | loses |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for name in given.loop or LOOPS:
        print(line(name, given.rounds), flush=True)


if __name__ == "__main__":
    main()
