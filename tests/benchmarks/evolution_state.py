"""Cost of following loop variables: values into streaming states, states fed from a live loop, and answers.

    python -m tests.benchmarks.evolution_state [iterations]

Peers run in the same process, in turns with ours; the smallest times of all rounds are compared.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import workbench as wb
from tests.benchmarks.timing import Timed, interleaved
from tests.benchmarks.wanted import met
from workbench.analysis import classify
from workbench.analysis.live.follower import Follower
from workbench.kernels.streaming import ScalarState, VectorState, instruction_set

DTYPES = (
    "float64",
    "float32",
    "float16",
    "bfloat16",
    "int64",
    "int32",
    "int16",
    "int8",
    "uint64",
    "uint32",
    "uint16",
    "uint8",
    "bool",
)
#: wanted: nanoseconds an iteration of a scalar, bytes of its state, seconds a query
NS, BYTES, QUERY = 10.0, 8192, 200e-6


def dtype_of(name: str) -> np.dtype:
    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


def noise(name: str, n: int) -> np.ndarray:
    x = np.random.default_rng(0).normal(size=n) * 50
    return x > 0 if name == "bool" else (np.abs(x) if name[0] == "u" else x).astype(dtype_of(name))


def filled(values: np.ndarray) -> ScalarState:
    state = ScalarState()
    state.update(values)
    return state


def scalars(n: int = 1_000_000, rounds: int = 7) -> Iterator[str]:
    """Noise, the dearest kind of values, in bulk."""
    yield f"scalars in bulk ({instruction_set()}): ns an iteration, as a ratio to np.add.reduce and np.diff of the same"
    for name in DTYPES:
        x = noise(name, n)
        jobs = {"ours": lambda x=x: filled(x), "sum": lambda x=x: x.sum(), "diff": lambda x=x: np.diff(x)}
        with np.errstate(over="ignore"):
            s = interleaved(jobs, rounds)
        ns = s["ours"] / n * 1e9
        yield (
            f"  {met(ns <= NS)} {name:<9} {ns:6.2f} ns, at most {NS:g}; {s['ours'] / s['sum']:6.1f}x a sum, "
            f"{s['ours'] / s['diff']:6.1f}x a difference"
        )
    size = filled(noise("float64", n)).nbytes
    yield f"  {met(size <= BYTES)} {size} bytes a scalar variable after {n:,} values, at most {BYTES}"


def tensors(rounds: int = 9) -> Iterator[str]:
    yield "tensors: ns an element of one pass, as a ratio to reading and to copying the same bytes"
    for n in (65_536, 4_000_000):
        for name in ("float64", "float32", "float16", "bfloat16", "int64", "int32", "uint8", "bool"):
            one, two = noise(name, n), noise(name, n)[::-1].copy()
            state, target, words = VectorState(), np.empty_like(one), one.view(np.uint8).view(np.uint64)
            state.update_many(np.stack([one, two]))
            many = max(1, 1_000_000 // n)

            def ours(state: VectorState = state, one: np.ndarray = one, many: int = many) -> Timed:
                # a power of two looks for the most active components too, which is rare and counted apart
                while bin(state.count + many).count("1") == 1 or bin(state.count).count("1") == 1:
                    state.update(one)
                began = time.perf_counter()
                for _ in range(many):
                    state.update(one)
                return Timed((time.perf_counter() - began) / many)

            s = interleaved(
                {
                    "ours": ours,
                    "read": lambda words=words, many=many: [np.bitwise_or.reduce(words) for _ in range(many)],
                    "copy": lambda a=target, b=one, many=many: [np.copyto(a, b) for _ in range(many)],
                },
                rounds,
            )
            read, copy = s["read"] / many, s["copy"] / many
            yield (
                f"  {name:<9} {n:>9,} elements: {s['ours'] / n * 1e9:6.3f} ns, "
                f"{one.nbytes / s['ours'] / 1e9:5.1f} GB/s; "
                f"{s['ours'] / read:5.2f}x a read, {s['ours'] / copy:5.2f}x a copy; "
                f"{(state.nbytes - one.nbytes) / 1024:.0f} KB beside the tensor"
            )


def loop(n: int, work: int = 0) -> wb.Graph:
    """A loop of ``n`` iterations, with as many sines in its body as ``work``."""
    b = wb.GraphBuilder("relaxation")
    x0 = b.placeholder("x0")

    def body(i: Any, x: Any) -> tuple[Any, Any]:
        y = x
        for _ in range(work):
            y = b.op("sin", y)
        return i + 1, x * 0.999999 + (y * 1e-9 + 0.125)

    out = b.while_loop(lambda i, x: i < n, body, {"i": b.constant(np.int64(0)), "x": x0})
    return b.build({"x": out["x"]})


def ran(n: int, asked_hz: float) -> tuple[float, int]:
    """(seconds of the loop, questions asked meanwhile) with a follower that is asked so often a second, 0 for none."""
    with wb.Session(loop(n, 4), {"x0": 3.0}) as session:
        follower, asked, ended = Follower(session), 0, [0.0]
        session.subscribe(lambda _: ended.append(time.perf_counter()))
        began = time.perf_counter()
        session.run(wait=False)
        while session.wait(1 / asked_hz if asked_hz else None) is None:
            follower.evolution("x")
            follower.evolution("i")
            asked += 1
        return ended[-1] - began, asked


def live(n: int, rounds: int = 5) -> Iterator[str]:
    asked = 0

    def with_follower() -> Timed:
        nonlocal asked
        seconds, asked = ran(n, 20)
        return Timed(seconds)

    s = interleaved({"alone": lambda: Timed(ran(n, 0)[0]), "followed": with_follower}, rounds)
    yield (
        f"a running loop of {n:,} iterations, two variables classified 20 times a second ({asked} times): "
        f"{s['followed'] / s['alone']:.3f}x its time alone ({s['alone'] / n * 1e9:.1f} ns an iteration)"
    )


def reading(n: int, rounds: int = 5) -> Iterator[str]:
    with wb.Session(loop(n), {"x0": 3.0}) as session:
        session.run()
        s = interleaved(
            {"ours": lambda: Follower(session).state("x"), "values": lambda: session.trace["x"].values}, rounds
        )
        yield (
            f"catching up with {n:,} rows at once: {s['ours'] / n * 1e9:.1f} ns a row, "
            f"{s['ours'] / s['values']:.2f}x reading trace['x'].values"
        )
        follower = Follower(session)
        follower.evolution("x")
        again = interleaved({"again": lambda: follower.evolution("x")}, 50)["again"]
        yield f"  the same question again: {again * 1e6:.0f} microseconds"


def queries(rounds: int = 50) -> Iterator[str]:
    k, rng = np.arange(10_000.0), np.random.default_rng(0)
    kinds = {
        "geometric": 3 + 0.999**k,
        "power": 1 + (k + 1) ** -0.5,
        "noise": rng.normal(size=len(k)),
        "counter": k,
        "spiral": 0.9995**k * np.cos(k),
        "settled": 1 + 0.9**k,
    }
    for name, values in kinds.items():
        s = interleaved({"newest": lambda v=values[-512:]: classify(v), "all": lambda v=values: classify(v)}, rounds)
        yield (
            f"  {met(s['newest'] <= QUERY)} {name:<10} {s['newest'] * 1e6:6.0f} microseconds of 512 values, at most "
            f"{QUERY * 1e6:.0f}; {s['all'] / s['newest']:.1f} times as long of all {len(k):,} values"
        )


def main(n: int = 10_000_000) -> None:
    for part in (scalars(), tensors(), live(n), reading(n)):
        for line in part:
            print(line, flush=True)
    print("labels")
    for line in queries():
        print(line, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
