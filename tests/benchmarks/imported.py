"""The loops of ``workloads`` as other systems wrote them: do they run as fast as those built by hand?

``python -m tests.benchmarks.imported`` prints, for each loop, the time of the imported graph over that of the one built
by hand, every value traced, measured in turns in one process; 1.00 is the same speed. And how long finding the plan
again takes in a second run, over what planning took in the first.

The TensorFlow graph is a while loop of TensorFlow 1 (frames); the ONNX graphs are those that onnxruntime runs in
``peers.onnx_loops``.
"""

from __future__ import annotations

import struct
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import workbench as wb
from tests.benchmarks.peers import onnx_loops
from tests.benchmarks.timing import Timed, interleaved
from tests.benchmarks.workloads import WORKLOADS, Workload
from tests.frontends import protobytes as p
from workbench.execution import prepare_feeds
from workbench.session import plan_for

#: DataType numbers of TensorFlow
DOUBLE, INT64 = 2, 9
TRIPS = 300_000
#: name -> trips of the loops that are compared
LOOPS = {"newton": TRIPS, "nested": TRIPS // 100, "collatz": TRIPS}


def tensorflow_newton() -> bytes:
    """x = (x + a / x) * 0.5 while i < n, as TensorFlow 1's while_loop lays it out."""

    def enter(name: str, of: str, dtype: int, constant: bool = False) -> bytes:
        return p.node(
            name,
            "Enter",
            of,
            T=p.integer(6, dtype),
            frame_name=p.data(2, "while/while_context"),
            is_constant=p.integer(5, int(constant)),
            parallel_iterations=p.integer(3, 10),
        )

    def variable(name: str, start: str, dtype: int, following: str) -> bytes:
        of = {"T": p.integer(6, dtype)}
        return b"".join(
            (
                enter(f"{name}/Enter", start, dtype),
                p.node(f"{name}/Merge", "Merge", f"{name}/Enter", f"{name}/NextIteration", N=p.integer(3, 2), **of),
                p.node(f"{name}/Switch", "Switch", f"{name}/Merge", "while/LoopCond", **of),
                p.node(f"{name}/Identity", "Identity", f"{name}/Switch:1", **of),
                p.node(f"{name}/NextIteration", "NextIteration", following, **of),
                p.node(f"{name}/Exit", "Exit", f"{name}/Switch", **of),
            )
        )

    double, whole = {"T": p.integer(6, DOUBLE)}, {"T": p.integer(6, INT64)}
    zero = p.tensor(INT64, (), p.data(4, struct.pack("<q", 0)))
    one = p.tensor(INT64, (), p.data(4, struct.pack("<q", 1)))
    half = p.tensor(DOUBLE, (), p.data(4, struct.pack("<d", 0.5)))
    return b"".join(
        (
            p.placeholder("a", DOUBLE),
            p.placeholder("n", INT64),
            p.const("i0", zero),
            enter("while/n", "n", INT64, constant=True),
            enter("while/a", "a", DOUBLE, constant=True),
            variable("while/x", "a", DOUBLE, "while/mul"),
            variable("while/i", "i0", INT64, "while/add_1"),
            p.node("while/Less", "Less", "while/i/Merge", "while/n", **whole),
            p.node("while/LoopCond", "LoopCond", "while/Less"),
            p.const("while/half", half, "^while/x/Identity"),
            p.const("while/one", one, "^while/x/Identity"),
            p.node("while/div", "RealDiv", "while/a", "while/x/Identity", **double),
            p.node("while/add", "AddV2", "while/x/Identity", "while/div", **double),
            p.node("while/mul", "Mul", "while/add", "while/half", **double),
            p.node("while/add_1", "AddV2", "while/i/Identity", "while/one", **whole),
        )
    )


def graphs(workload: Workload) -> dict[str, tuple[wb.Graph, dict[str, Any], str]]:
    """Source of the graph -> (graph, feeds, output)."""
    n = LOOPS[workload.name]
    feeds = workload.feeds(n)
    found = {"by hand": (workload.graph(), feeds, workload.output)}
    model = wb.from_onnx(onnx_loops.model(workload, False))
    found["ONNX Loop"] = (model, {k: np.asarray(v) for k, v in feeds.items()}, "x")
    if workload.name == "newton":
        graph = wb.from_graphdef(tensorflow_newton(), outputs=["while/x/Exit:0"])
        found["TensorFlow 1 while"] = (graph, {"a:0": feeds["a"], "n:0": feeds["n"]}, "while/x/Exit:0")
    return found


def measure(workload: Workload, rounds: int) -> dict[str, float]:
    """Seconds of each by who wrote it; all must give the same result."""
    jobs: dict[str, Callable[[], object]] = {}
    results: dict[str, Any] = {}
    for name, (graph, feeds, output) in graphs(workload).items():
        results[name] = graph.run(feeds)[output]

        def job(graph: wb.Graph = graph, feeds: dict[str, Any] = feeds) -> Timed:
            with wb.Session(graph, feeds) as opened:
                opened.step()
                began = time.perf_counter()
                opened.run()
                return Timed(time.perf_counter() - began)

        jobs[name] = job
    first = results["by hand"]
    assert all(np.array_equal(first, other) for other in results.values()), results
    return interleaved(jobs, rounds)


def second_plan(graph: wb.Graph, feeds: dict[str, Any]) -> float:
    """Time that a second run spends on its plan, relative to planning: the best of five look-ups."""
    arrays = prepare_feeds(graph, feeds)
    plan, seconds = plan_for(graph, arrays, None), []
    for _ in range(5):
        began = time.perf_counter()
        assert plan_for(graph, arrays, None).program is plan.program
        seconds.append(time.perf_counter() - began)
    return min(seconds) / plan.seconds


def report(workload: Workload, seconds: dict[str, float]) -> str:
    lines = [f"{workload.name}: time of the imported graph over that of the one built by hand, every value traced"]
    for name, value in seconds.items():
        if name != "by hand":
            lines.append(f"  {value / seconds['by hand']:6.2f}  {name}")
    for name, (graph, feeds, _) in graphs(workload).items():
        lines.append(f"  {second_plan(graph, feeds):7.3%} of the first run's planning time in a second run: {name}")
    return "\n".join(lines)


def main(names: Sequence[str]) -> int:
    for name in names or LOOPS:
        print(report(WORKLOADS[name], measure(WORKLOADS[name], rounds=7)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
