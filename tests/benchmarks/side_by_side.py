"""One table in one process: loops in C, NumPy, numexpr, Numba, JAX, torch, onnxruntime and here.

    python -m tests.benchmarks.side_by_side                   the table
    python -m tests.benchmarks.side_by_side collatz plate     some rows

Processor time of an iteration (all threads of the process), the smallest of interleaved rounds, and in brackets how
many times as long as C. Every engine must first agree on the result; one that is not installed, or has no form of the
loop, has a dash. Loops of numbers are machine code here where llvmlite is installed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from tests.benchmarks import ours
from tests.benchmarks.array_bodies import BODIES, measure
from tests.benchmarks.loops import agree
from tests.benchmarks.peers import Missing, Run, c_loops, jax_loops, need, numba_bodies, onnx_loops, prepare_python
from tests.benchmarks.timing import interleaved
from tests.benchmarks.workloads import INNER, WORKLOADS, Workload
from workbench.plan.native import compile_loops

OURS = {"untraced": "off", "every value traced": "all"}
COLUMNS = ("C -O3", "NumPy", "numexpr", "Numba", "JAX jit", "torch compiled", "onnxruntime", *OURS)
NUMBERS = ("nested", "collatz")
SLOW = 500  # times fewer iterations of engines that carry out op by op
CHECKED = 7


def torch_compiled(workload: Workload) -> Run:
    """The step, or the whole inner loop, as one compiled function; Python goes round."""
    torch = need("torch")
    torch.set_num_threads(1)

    def collatz(x: Any) -> Any:
        return torch.where(x % 2 == 0, x // 2, 3 * x + 1)

    def nested(y: Any, a: float = 0.9) -> Any:
        for _ in range(INNER):
            y = y * a + 1.0
        return y

    step = torch.compile({"collatz": collatz, "nested": nested}[workload.name])
    (start,) = workload.inputs.values()

    def run(n: int) -> Any:
        x = torch.as_tensor(np.asarray(start))
        for _ in range(n):
            x = step(x)
        return x.numpy()

    return run


def make_machine_code(workload: Workload, trace: str) -> None:
    """Compile the loops of the plan that later runs find in the cache, as long runs do."""
    with ours.session(workload.graph(), workload.feeds(CHECKED), trace) as opened:
        opened.plan.native.reasons = compile_loops(opened.plan.program)


MAKERS: dict[str, Callable[[Workload], Run]] = {
    "C -O3": c_loops.prepare,
    "NumPy": prepare_python,
    "Numba": lambda workload: numba_bodies.prepare_plain(workload.plain, workload.inputs),
    "JAX jit": jax_loops.prepare,
    "torch compiled": torch_compiled,
    "onnxruntime": onnx_loops.prepare,
}


def measure_numbers(workload: Workload, rounds: int) -> dict[str, float]:
    """Seconds of the processor an iteration."""
    expected = prepare_python(workload)(CHECKED)
    engines: dict[str, Run] = {}
    for name, make in MAKERS.items():
        try:
            run = make(workload)
            agree(workload, name, run(CHECKED), expected)
        except Missing:
            continue
        engines[name] = run
    slow = {"NumPy": 10, "torch compiled": SLOW, "onnxruntime": SLOW}
    trips = {name: max(2, workload.trips // slow.get(name, 1)) for name in (*engines, *OURS)}
    jobs: dict[str, Callable[[], Any]] = {name: partial(run, trips[name]) for name, run in engines.items()}
    for name, trace in OURS.items():
        make_machine_code(workload, trace)
        agree(workload, name, ours.prepare(workload, trace)(CHECKED), expected)
        jobs[name] = ours.running(workload, trace, trips[name], time.process_time)
    seconds = interleaved(jobs, rounds, time.process_time)
    return {name: s / (trips[name] * workload.each) for name, s in seconds.items()}


def of_arrays(name: str, rounds: int) -> dict[str, float]:
    here = {f"workbench, {column}": column for column in OURS}
    seconds, _ = measure(BODIES[name], rounds, (*COLUMNS, *here))
    return {here.get(engine, engine): s for engine, s in seconds.items()}


def cells(seconds: Mapping[str, float]) -> list[str]:
    """Times, each with how many times as long as C."""
    base = seconds.get("C -O3", float("nan"))
    found = []
    for column in COLUMNS:
        s = seconds.get(column)
        shown = "-" if s is None else f"{s * 1e9:.3g} ns" if s < 1e-6 else f"{s * 1e6:.3g} us"
        found.append(shown if s is None or column == "C -O3" else f"{shown} ({s / base:.3g})")
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [*NUMBERS, *BODIES]
    parser.add_argument("loop", nargs="*", help=f"one or more of {', '.join(names)}; all by default")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds (5)")
    given = parser.parse_args(arguments)
    print("| loop | " + " | ".join(COLUMNS) + " |\n|" + "---|" * (len(COLUMNS) + 1), flush=True)
    for name in given.loop or names:
        if name not in names:
            parser.error(f"there is no loop {name!r}; there are {', '.join(names)}")
        seconds = measure_numbers(WORKLOADS[name], given.rounds) if name in NUMBERS else of_arrays(name, given.rounds)
        print(f"| {name} | " + " | ".join(cells(seconds)) + " |", flush=True)


if __name__ == "__main__":
    main()
