"""Updates of a session's inputs against full runs with the new inputs, side by side in one process.

    python -m tests.benchmarks.updates

Each side has its own session; the rounds are interleaved and the medians are compared. The results of both sides must
be the same, bit for bit.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator

import numpy as np

import workbench as wb
from tests.benchmarks.light_models import feeds_of, path_of

Feeds = dict[str, np.ndarray]
Case = tuple[str, wb.Graph, Feeds, Iterator[Feeds]]


def reading_loop(n: int) -> Case:
    """A loop of ``n`` iterations that reads one element in each; the one in the middle changes."""
    b = wb.GraphBuilder("reading loop")
    x, s0 = b.placeholder("x", "float64", (n,)), b.placeholder("s", "float64", ())
    i, s = b.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s * 0.5 + x[i]), [b.constant(np.int64(0)), s0])
    values = np.random.default_rng(0).random(n)

    def changes() -> Iterator[Feeds]:
        while True:
            values[n // 2] += 1.0
            yield {"x": values.copy()}

    return f"loop of {n:,}, element {n // 2:,}", b.build({"s": s}), {"x": values.copy(), "s": np.array(1.0)}, changes()


def limited_loop(n: int) -> Case:
    """A loop of compiled numbers whose limit moves from ``n`` to a little more: hot, so that little can be saved."""
    b = wb.GraphBuilder("limited loop")
    limit, s0 = b.placeholder("n", "int64", ()), b.placeholder("s", "float64", ())
    i, s = b.while_loop(lambda i, s: i < limit, lambda i, s: (i + 1, s * 0.5 + 1.0), [b.constant(np.int64(0)), s0])

    def changes() -> Iterator[Feeds]:
        more = n
        while True:
            more += 100
            yield {"n": np.array(more)}

    return f"loop of {n:,}, limit", b.build({"s": s}), {"n": np.array(n), "s": np.array(1.0)}, changes()


def two_branches(n: int) -> Case:
    """Two chains of products of matrices that meet at the end; the input of one of them changes."""
    b = wb.GraphBuilder("two branches")
    ends, feeds = [], {}
    for name in ("left", "right"):
        value = b.placeholder(name, "float64", (n, n))
        feeds[name] = np.random.default_rng(len(name)).random((n, n)) / n
        for _ in range(8):
            value = b.op("tanh", b.op("matmul", value, value))
        ends.append(b.op("sum", value))

    def changes() -> Iterator[Feeds]:
        left = feeds["left"].copy()
        while True:
            left[0, 0] += 0.25
            yield {"left": left.copy()}

    return f"two branches of {n} x {n}", b.build({"out": ends[0] + ends[1]}), feeds, changes()


def long_chain(n: int, side: int) -> Case:
    """A chain of ``n`` products and sums of large arrays, all of which change."""
    b = wb.GraphBuilder("long chain")
    value = b.placeholder("x", "float64", (side, side))
    for _ in range(n):
        value = value * 0.999 + 0.01

    def changes() -> Iterator[Feeds]:
        k = 0.3
        while True:
            k += 0.01
            yield {"x": np.full((side, side), k)}

    return f"chain of {2 * n}, {side} x {side}", b.build({"out": value}), {"x": np.ones((side, side))}, changes()


def shared_factor(n: int) -> Case:
    """A hot loop that reads one number three times in each iteration; it changes."""
    b = wb.GraphBuilder("shared factor")
    p, s0 = b.placeholder("p", "float64", ()), b.placeholder("s", "float64", ())
    _, s = b.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s * p + p * 0.5 - p), [b.constant(np.int64(0)), s0])

    def changes() -> Iterator[Feeds]:
        k = 0.3
        while True:
            k += 0.01
            yield {"p": np.array(k)}

    return f"loop of {n:,}, all differ", b.build({"out": s}), {"p": np.array(0.3), "s": np.array(1.0)}, changes()


def light_model(name: str) -> Case:
    """One of ONNX's light models: the input that is the image changes."""
    graph = wb.load(path_of(name))
    feeds = feeds_of(graph)
    image = next(iter(feeds))

    def changes() -> Iterator[Feeds]:
        array = feeds[image].copy()
        while True:
            array.reshape(-1)[0] += 0.5
            yield {image: array.copy()}

    return f"{name}, its image", graph, feeds, changes()


def measure(case: Case, rounds: int = 5) -> str:
    title, graph, feeds, changes = case
    full, updated = [], []
    with wb.Session(graph, feeds) as session:
        session.run()
        for _ in range(rounds):
            feeds = {**feeds, **(change := next(changes))}
            with wb.Session(graph, feeds) as fresh:
                began = time.perf_counter()
                fresh.run()
                full.append(time.perf_counter() - began)
                began = time.perf_counter()
                update = session.update(change)
                updated.append(time.perf_counter() - began)
                for name, value in fresh.outputs.items():
                    assert session.outputs[name].tobytes() == value.tobytes(), name
    a, b = statistics.median(full), statistics.median(updated)
    counts = f"{update.recomputed:,} of {update.firings:,} firings computed, {update.compared:,} compared"
    return f"{title:<34} full {a * 1e3:9.2f} ms  update {b * 1e3:9.2f} ms  ratio {b / a:7.4f}  {counts}"


def cases() -> Iterator[Case]:
    yield reading_loop(1_000_000)
    yield limited_loop(1_000_000)
    yield shared_factor(1_000_000)
    yield two_branches(256)
    yield long_chain(60, 512)
    for name in ("squeezenet", "resnet50"):
        yield light_model(name)


if __name__ == "__main__":
    for each in cases():
        print(measure(each), flush=True)
