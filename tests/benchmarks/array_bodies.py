"""Loops over arrays against other engines, in one process: processor time of an iteration.

    python -m tests.benchmarks.array_bodies                  all of them
    python -m tests.benchmarks.array_bodies plate adam       some
    python -m tests.benchmarks.array_bodies --fresh          the first run of fresh processes beside warm runs

===============  ===============================================================================================
name             one iteration
===============  ===============================================================================================
stencil-1e3      heat on 1,000 points: u[k] = 0.5 * u[k] + 0.25 * (u[k-1] + u[k+1]), both ends kept at 0
stencil-1e6      the same on 1,000,000 points
plate            heat on 512 x 512 points, five-point stencil, the border kept at 0
map-reduce       y = sqrt(x * x + 1); s = s + sum(y); x = 0.99 * y, on 100,000 numbers
adam             a step of Adam on 1,000,000 parameters of a quadratic loss
logistic         x = r * x * (1 - x) for 100,000 values of r
gd               x = x - 0.05 * (A @ x - b), 32 unknowns
===============  ===============================================================================================

"rows alone" is the least that a trace of every value costs beside the computation: memcpy of what the loop carries into
memory that is there already, 64 MB in turn (a larger buffer would take the warm pages from the runs beside it).

Rounds are interleaved and the smallest time of each engine is kept; times are of the processor (all threads of the
process), since the machine may be shared: ratios of one run hold. Every engine must first agree on the result.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import workbench as wb
from tests.benchmarks.peers import Missing, need, numba_bodies, numexpr_bodies, onnx_bodies
from tests.benchmarks.timing import Timed, interleaved
from tests.benchmarks.workloads import WORKLOADS

State = tuple[Any, ...]
SOURCE = Path(__file__).parent / "peers" / "array_bodies.c"
TRACES = {"workbench, untraced": "off", "workbench, every value traced": "all", "workbench, statistics": "stats"}
ROWS = "rows alone"
SIDE, RATE, CHECKED = 512, 0.001, 5


@dataclass(frozen=True)
class Body:
    """``step`` gives the state of the next iteration with the functions of an array library: ``sqrt``, ``total`` and
    ``pad`` (by one zero at each side); the first of the state is what engines must agree on."""

    name: str
    step: Callable[..., State]
    start: tuple[np.ndarray, ...]
    trips: int


def stencil(xp: Any, u: Any) -> State:
    return (xp.pad(0.5 * u[1:-1] + 0.25 * (u[:-2] + u[2:])),)


def plate(xp: Any, u: Any) -> State:
    around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    return (xp.pad(0.5 * u[1:-1, 1:-1] + 0.125 * around),)


def map_reduce(xp: Any, x: Any, s: Any) -> State:
    y = xp.sqrt(x * x + 1.0)
    return y * 0.99, s + xp.total(y)


def adam(xp: Any, p: Any, m: Any, v: Any, target: Any) -> State:
    g = p - target
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * (g * g)
    return p - RATE * m / (xp.sqrt(v) + 1e-8), m, v, target


def logistic(xp: Any, x: Any, r: Any) -> State:
    return r * x * (1.0 - x), r


def gd(xp: Any, x: Any, A: Any, b: Any) -> State:
    return x - 0.05 * (A @ x - b), A, b


def _draw(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(0.1, 0.9, shape)


def _edged(*shape: int) -> np.ndarray:
    return np.pad(_draw(*(n - 2 for n in shape)), 1)


BODIES = {
    b.name: b
    for b in (
        Body("stencil-1e3", stencil, (_edged(1_000),), 10_000),
        Body("stencil-1e6", stencil, (_edged(1_000_000),), 30),
        Body("plate", plate, (_edged(SIDE, SIDE),), 100),
        Body("map-reduce", map_reduce, (_draw(100_000), np.zeros(())), 200),
        Body(
            "adam",
            adam,
            (_draw(1_000_000), np.zeros(1_000_000), np.zeros(1_000_000), _draw(1_000_000)[::-1].copy()),
            15,
        ),
        Body("logistic", logistic, (_draw(100_000), 3.0 + _draw(100_000)), 300),
        Body("gd", gd, tuple(WORKLOADS["gd"].inputs[k] for k in ("x0", "A", "b")), 30_000),
    )
}


class NumPy:
    sqrt = staticmethod(np.sqrt)
    total = staticmethod(np.sum)
    pad = staticmethod(lambda x: np.pad(x, 1))


def plain(body: Body) -> Callable[[int], Any]:
    def run(n: int) -> Any:
        state: State = body.start
        for _ in range(n):
            state = body.step(NumPy, *state)
        return state[0]

    return run


def compiled_c(body: Body) -> Callable[[int], Any]:
    function = getattr(_library(), body.name.partition("-")[0])

    def run(n: int) -> Any:
        arrays = [np.array(a) for a in body.start]
        if body.name == "gd":
            arrays = [arrays[1], arrays[2], arrays[0]]
        pointers = [a.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for a in arrays]
        size = [ctypes.c_int64(len(arrays[0]))] * (body.name != "gd")
        function(*pointers, *size, ctypes.c_int64(n))
        return arrays[2 if body.name == "gd" else 0]

    return run


@functools.cache
def _library() -> ctypes.CDLL:
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "bodies.so"
        try:
            subprocess.run(["cc", "-O3", "-fno-math-errno", "-shared", "-fPIC", "-o", built, SOURCE, "-lm"], check=True)
        except FileNotFoundError:
            raise Missing("there is no C compiler called cc") from None
        return ctypes.CDLL(str(built))


def jax_jit(body: Body) -> Callable[[int], Any]:
    jax = need("jax")
    jax.config.update("jax_enable_x64", True)

    class Functions:
        sqrt, total = staticmethod(jax.numpy.sqrt), staticmethod(jax.numpy.sum)
        pad = staticmethod(lambda x: jax.numpy.pad(x, 1))

    compiled = jax.jit(lambda n, state: jax.lax.fori_loop(0, n, lambda _, s: body.step(Functions, *s), state))
    start = tuple(jax.numpy.asarray(a) for a in body.start)
    return lambda n: compiled(np.int64(n), start)[0].block_until_ready()


def torch_compiled(body: Body) -> Callable[[int], Any]:
    torch = need("torch")
    torch.set_num_threads(1)

    class Functions:
        sqrt, total = staticmethod(torch.sqrt), staticmethod(torch.sum)
        pad = staticmethod(lambda x: torch.nn.functional.pad(x, (1, 1) * x.ndim))

    step = torch.compile(lambda *state: body.step(Functions, *state))
    start = tuple(torch.as_tensor(a) for a in body.start)

    def run(n: int) -> Any:
        state = start
        for _ in range(n):
            state = step(*state)
        return state[0].numpy()

    return run


def rows_alone(body: Body) -> Callable[[int], Any]:
    kept = [a for a, b in zip(body.start, body.step(NumPy, *body.start), strict=True) if b is not a]
    row = np.concatenate([np.ravel(a) for a in kept])
    room = np.zeros((max(2, min(body.trips, 64_000_000 // row.nbytes)), len(row)))

    def run(n: int) -> None:
        for k in range(0, n, len(room)):
            room[: n - k] = row  # NumPy copies each row whole

    return run


def graph_of(body: Body) -> wb.Graph:
    b = wb.GraphBuilder(body.name)

    class Functions:
        sqrt = staticmethod(lambda x: b.op("sqrt", x))
        total = staticmethod(lambda x: b.op("sum", x))
        pad = staticmethod(lambda x: b.op("pad", x, pad_width=((1, 1),) * len(x.shape)))

    start = [b.placeholder(f"x{k}", "float64", a.shape) for k, a in enumerate(body.start)]
    n = b.placeholder("n", "int64")

    def step(*state: wb.Value) -> tuple[Any, ...]:
        return (*body.step(Functions, *state[:-1]), state[-1] + 1)

    final = b.while_loop(lambda *state: state[-1] < n, step, [*start, b.constant(0, "int64")])
    return b.build({"x": final[0]})


def ours(body: Body, trace: str) -> Callable[[int], Any]:
    graph = graph_of(body)

    def run(n: int) -> Any:
        feeds = {f"x{k}": a for k, a in enumerate(body.start)} | {"n": np.int64(n)}
        with wb.Session(graph, feeds, trace=trace) as session:
            session.step()  # starts the worker
            began = time.process_time()
            session.run()
            spent = time.process_time() - began
            return session.outputs["x"], spent

    return run


def measure(body: Body, rounds: int, only: Sequence[str] = ()) -> tuple[dict[str, float], dict[str, str]]:
    """Seconds of the processor an iteration, and why an engine is not there."""
    engines: dict[str, Callable[[int], Any]] = {}
    missing: dict[str, str] = {}
    expected = plain(body)(CHECKED)
    makers: dict[str, Callable[[Body], Callable[[int], Any]]] = {
        "C -O3": compiled_c,
        "NumPy": plain,
        "numexpr": lambda body: numexpr_bodies.prepare(body.name, body.start),
        "Numba": lambda body: numba_bodies.prepare(body.name, body.start),
        "JAX jit": jax_jit,
        "torch compiled": torch_compiled,
        "onnxruntime": lambda body: onnx_bodies.prepare(body.step, body.start),
    }
    makers |= {name: functools.partial(ours, trace=trace) for name, trace in TRACES.items()}
    for name, make in makers.items():
        if only and name not in only:
            continue
        try:
            run = make(body)
            found = run(CHECKED)
        except Missing as reason:
            missing[name] = str(reason)
            continue
        found = found[0] if name in TRACES else found
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-9, atol=1e-12, err_msg=f"{body.name}: {name}")
        engines[name] = run
    engines[ROWS] = rows_alone(body)
    jobs = {name: _job(run, body.trips, name in TRACES) for name, run in engines.items()}
    seconds = interleaved(jobs, rounds, time.process_time)
    return {name: s / body.trips for name, s in seconds.items()}, missing


def _job(run: Callable[[int], Any], trips: int, times_itself: bool) -> Callable[[], Any]:
    return (lambda: Timed(run(trips)[1])) if times_itself else (lambda: run(trips))


def first_and_warm(body: Body, trace: str, rounds: int) -> tuple[float, float]:
    """Seconds of the processor of the first run in this process, and of the fastest of those behind it."""
    run = ours(body, trace)
    seconds = [run(body.trips)[1] for _ in range(rounds + 1)]
    return seconds[0], min(seconds[1:])


def fresh(body: Body, rounds: int) -> str:
    """How many times as long the first run of a fresh process takes as a warm one; the smallest of some processes."""
    parts = []
    for trace in ("off", "all"):
        command = [sys.executable, "-m", "tests.benchmarks.array_bodies", "--first", trace, body.name]
        done = [
            subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() for _ in range(rounds)
        ]
        first, warm = (min(float(d[k]) for d in done) for k in (0, 1))
        parts.append(f"{trace}: first {first * 1e3:.2f} ms, warm {warm * 1e3:.2f} ms, {first / warm:.2f} times")
    return f"{body.name:<12} " + "; ".join(parts)


def report(body: Body, seconds: dict[str, float], missing: dict[str, str]) -> str:
    base = seconds.get("C -O3", float("nan"))
    lines = [f"{body.name}: us an iteration, and times as long as C"]
    lines += [f"  {name:<30} {s * 1e6:10.3f} us {s / base:8.2f}" for name, s in seconds.items()]
    lines += [f"  {name:<30}  -  {why}" for name, why in missing.items()]
    untraced, traced, statistics = (seconds[name] for name in TRACES)
    lines.append(f"  traced / untraced {traced / untraced:.2f}, statistics / untraced {statistics / untraced:.2f}")
    lines.append(f"  traced / (untraced + rows alone) {traced / (untraced + seconds[ROWS]):.2f}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("body", nargs="*", help=f"one or more of {', '.join(BODIES)}; all by default")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds (5)")
    parser.add_argument("--fresh", action="store_true", help="the first run of fresh processes beside warm runs")
    parser.add_argument("--first", choices=["off", "all"], help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    for name in given.body or BODIES:
        if name not in BODIES:
            parser.error(f"there is no body {name!r}; there are {', '.join(BODIES)}")
        if given.first:
            print(*first_and_warm(BODIES[name], given.first, 3))
            continue
        if given.fresh:
            print(fresh(BODIES[name], given.rounds), flush=True)
            continue
        print(report(BODIES[name], *measure(BODIES[name], given.rounds)), flush=True)


if __name__ == "__main__":
    main()
