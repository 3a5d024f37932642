"""Arrays on a device: ``python -m tests.benchmarks.device [cuda]``, ratios in one process.

Where a GPU is: a stencil of 1e7 points against our own compiled host code (wanted: 20 times as fast), a matrix
iteration of 4,096 x 4,096 against plain CuPy (wanted: 1.2 times its time at most), and the overhead of an iteration
(wanted: 10 us at most). With NumPy as the library only the overhead is printed: there is next to no work in it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

import workbench as wb

ROUNDS = 5


def repeated(step: Callable[[Any, Any], Any], dims: tuple[int, ...], dtype: str = "float64") -> Any:
    """The graph of ``trips`` iterations of a step on one array, with a second one that stays."""
    b = wb.GraphBuilder("repeated")
    x, still = b.placeholder("x", dtype, dims), b.placeholder("still", dtype, dims)
    trips = b.placeholder("trips", "int64")
    x, _ = b.while_loop(lambda x, i: i < trips, lambda x, i: (step(b, (x, still)), i + 1), [x, 0], name="loop")
    return b.build({"x": x})


def stencil(b: Any, arrays: Any) -> Any:
    x, _ = arrays
    return b.op("pad", 0.5 * x[1:-1] + 0.25 * (x[:-2] + x[2:]), pad_width=((1, 1),))


def product(b: Any, arrays: Any) -> Any:
    return b.op("matmul", *arrays)


def one(b: Any, arrays: Any) -> Any:
    return arrays[0] + arrays[1]


def least(run: Callable[[], Any]) -> float:
    """Least seconds of some rounds, after one that is not counted."""
    run()
    seconds = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def an_iteration(graph: Any, feeds: dict[str, Any], device: Any, few: int, many: int) -> float:
    """Seconds of one iteration: the difference of two runs, without what both do."""
    short, long = (least(lambda n=n: graph.run({**feeds, "trips": n}, device=device)) for n in (few, many))
    return (long - short) / (many - few)


def overhead(device: wb.Device) -> None:
    """An iteration whose only array op works on 8 numbers, less that op of the library alone."""
    feeds = {"x": np.zeros(8), "still": np.ones(8)}
    small = wb.Device(device.name, least_bytes=1)
    took = an_iteration(repeated(one, (8,)), feeds, small, 1000, 21000)
    library = import_module(small.library)
    a, b = library.zeros(8), library.ones(8)
    alone = least(lambda: [library.add(a, b) for _ in range(20000)]) / 20000
    beside = f"{library.__name__}.add: {1e6 * alone:.2f} us"
    print(f"overhead of an iteration, {device.name}: {1e6 * (took - alone):.2f} us ({beside})")


def on_a_gpu(device: wb.Device) -> None:
    """Stencil and matrix iteration on a GPU."""
    cupy = import_module("cupy")
    feeds = {"x": np.random.default_rng(0).normal(size=10**7), "still": np.zeros(10**7)}
    graph = repeated(stencil, (10**7,))
    host, there = (an_iteration(graph, feeds, d, few=2, many=n) for d, n in ((None, 12), (device, 202)))
    print(f"stencil of 1e7 points: {host / there:.1f} times as fast as on the host ({1e3 * there:.3f} ms)")
    matrix = np.random.default_rng(0).normal(size=(4096, 4096)).astype(np.float32) / 64
    graph = repeated(product, matrix.shape, "float32")
    there = an_iteration(graph, {"x": matrix, "still": matrix}, device, few=2, many=42)
    x = still = cupy.asarray(matrix)

    def plain() -> None:
        y = x
        for _ in range(40):
            y = cupy.matmul(y, still)
        cupy.cuda.Device().synchronize()

    print(f"matrix iteration of 4,096 x 4,096: {there / (least(plain) / 40):.2f} times the time of plain CuPy")


def main(names: list[str]) -> None:
    """Measure the named devices, NumPy's by default, and a GPU if one can be used."""
    try:
        gpu = wb.Device("cuda") if not names or "cuda" in names else None
        if gpu is not None:
            import_module("workbench.device").open_device(gpu)
    except wb.DeviceError as error:
        print(f"not measured on a GPU: {error.message}")
        gpu = None
    overhead(wb.Device("numpy"))
    if gpu is not None:
        overhead(gpu)
        on_a_gpu(gpu)


if __name__ == "__main__":
    main(sys.argv[1:])
