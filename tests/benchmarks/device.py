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


def ten(b: Any, arrays: Any) -> Any:
    x, still = arrays
    for k in range(5):
        x = 0.5 * x + still if k % 2 else b.op("maximum", x, still) - x
    return x


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
    traces = {t: least(lambda t=t: run_traced(graph, feeds, device, t, 20)) / 20 for t in ("off", "all", "stats")}
    print("the same stencil traced: " + ", ".join(f"{t} {1e3 * s:.2f} ms" for t, s in traces.items()))
    many_small_ops(device, cupy)
    solver(device)
    looked_at(device)
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


def many_small_ops(device: wb.Device, cupy: Any) -> None:
    """Ten ops on arrays of some sizes, which a graph launches together: beside plain CuPy and our own host code."""
    there_always = wb.Device(device.name, least_bytes=1)
    for size in (1000, 10_000, 30_000, 100_000, 1_000_000):
        feeds = {"x": np.random.default_rng(0).normal(size=size), "still": np.ones(size)}
        graph = repeated(ten, (size,))
        trips = max(100, 3_000_000 // max(size, 1000))
        host, there = (an_iteration(graph, feeds, d, few=20, many=20 + trips) for d in (None, there_always))
        x, still = cupy.asarray(feeds["x"]), cupy.asarray(feeds["still"])

        def calls(x: Any = x, still: Any = still) -> None:
            y = x
            for _ in range(100):
                for k in range(5):
                    y = 0.5 * y + still if k % 2 else cupy.maximum(y, still) - y
            cupy.cuda.Device().synchronize()

        plain = least(calls) / 100
        traced = least(lambda g=graph, f=feeds: run_traced(g, f, there_always, "all", 300)) / 300
        print(
            f"ten ops on {size:,} numbers: {1e6 * there:.1f} us an iteration (traced {1e6 * traced:.1f}), "
            f"plain CuPy {plain / there:.1f} times that, our host {host / there:.2f} times"
        )


def run_traced(graph: Any, feeds: dict[str, Any], device: wb.Device, trace: str, trips: int) -> None:
    """A session to its end, with whatever it keeps."""
    with wb.Session(graph, {**feeds, "trips": trips}, device=device, trace=trace, memory_budget=16 << 30) as session:
        session.run()


def solver(device: wb.Device) -> None:
    """Conjugate gradients on the five-point Laplacian: two products to the host in each iteration."""
    for n in (256, 1024, 2048):
        b = wb.GraphBuilder("cg")
        right, trips = b.placeholder("right", "float64", (n, n)), b.placeholder("trips", "int64")

        def applied(p: Any) -> Any:
            q = b.op("pad", p, pad_width=((1, 1), (1, 1)))  # noqa: B023
            return 4.0 * p - q[:-2, 1:-1] - q[2:, 1:-1] - q[1:-1, :-2] - q[1:-1, 2:]

        def body(x: Any, r: Any, p: Any, rr: Any, i: Any) -> Any:
            ap = applied(p)  # noqa: B023
            alpha = rr / b.op("sum", p * ap)  # noqa: B023
            x, r = x + alpha * p, r - alpha * ap
            new = b.op("sum", r * r)  # noqa: B023
            return x, r, r + (new / rr) * p, new, i + 1

        start = [0.0 * right, right, right, b.op("sum", right * right), 0]
        x, *_ = b.while_loop(lambda x, r, p, rr, i: i < trips, body, start, name="cg")  # noqa: B023
        graph = b.build({"x": x})
        feeds = {"right": np.random.default_rng(0).normal(size=(n, n))}
        home = wb.Device(device.name, least_bytes=1)
        host, there = (an_iteration(graph, feeds, d, few=12, many=m) for d, m in ((None, 22), (home, 112)))
        print(f"conjugate gradients, {n} x {n}: {host / there:.2f} times as fast as on the host ({1e6 * there:.0f} us)")


def looked_at(device: wb.Device) -> None:
    """The curve of an array's iterations, read by a view."""
    home = wb.Device(device.name, least_bytes=1)
    graph = repeated(one, (1000,))
    with wb.Session(graph, {"x": np.zeros(1000), "still": np.ones(1000), "trips": 2000}, device=home) as session:
        session.run()
        took = least(lambda: list(session.trace["x"].firings()))
    print(f"2,000 arrays of 1,000 numbers come to the host: {1e6 * took / 2000:.1f} us each")


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
