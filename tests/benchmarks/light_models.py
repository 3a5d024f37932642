"""ONNX's light models with statistics of every intermediate array, against onnxruntime's untraced run of the model.

    python -m tests.benchmarks.light_models                       all of them
    python -m tests.benchmarks.light_models resnet50 squeezenet   some

Both sides are warm and use as many threads as onnxruntime takes by default. The rounds are interleaved, the median of
each side is compared; a pause before each job lets threads that wait for more work of the other side fall asleep. The
models come with the onnx package; their weights are constants, so the work is that of the real ones. First the outputs
must agree, and every array that an op computes must have its statistics.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import workbench as wb

MODELS = (
    "bvlc_alexnet",
    "densenet121",
    "inception_v1",
    "inception_v2",
    "resnet50",
    "shufflenet",
    "squeezenet",
    "vgg19",
    "zfnet512",
)
#: wanted: not more than this many times onnxruntime's own time
WANTED = 2.0
PAUSE = 0.05


@dataclass(frozen=True)
class Result:
    """Median seconds of onnxruntime, of ``session.run()``, and of a session from its making to its end; of the first
    session of all, planning included."""

    name: str
    theirs: float
    running: float
    whole: float
    first: float
    recorded: int

    @property
    def ratio(self) -> float:
        return self.running / self.theirs

    def line(self) -> str:
        verdict = "reached" if self.ratio <= WANTED else "MISSED"
        return (
            f"{self.name:<14} {self.theirs * 1e3:9.2f} ms  {self.running * 1e3:9.2f} ms {self.ratio:6.2f}x"
            f"  {self.whole * 1e3:9.2f} ms {self.whole / self.theirs:6.2f}x  {self.first * 1e3:8.0f} ms"
            f"  {self.recorded:5d}  wanted {WANTED:.0f}x: {verdict}"
        )


TITLE = (
    f"{'model':<14} {'onnxruntime':>12}  {'session.run':>12} {'ratio':>7}  {'with session':>12} {'ratio':>7}"
    f"  {'first':>11}  arrays"
)


def path_of(name: str) -> Path:
    import onnx.backend.test.data

    return Path(list(onnx.backend.test.data.__path__)[0]) / "light" / f"light_{name}.onnx"


def feeds_of(graph: wb.Graph) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {name: rng.random(graph.type_of(ref).shape, np.float32) for name, ref in graph.inputs.items()}


def peer(path: Path) -> Any:
    """onnxruntime with default options, but for its warnings about the models."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def check(name: str, session: wb.Session, expected: Sequence[np.ndarray]) -> int:
    """The outputs agree, and every computed array has its statistics; returns how many arrays there are."""
    for found, wanted in zip(session.outputs.values(), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-5, err_msg=name)
    plan, count = session.plan, 0
    for node in plan.reasons:
        for index, type_ in enumerate(plan.types[node]):
            place = plan.layout.values[node, index].place
            if place is not None and place.base > 0 and type_.shape:  # base 0: a constant, or a view of one
                record = session.trace[f"{node}:{index}" if index else node].statistics
                assert len(record) == 1 and record["size"][0] == np.prod(type_.shape), f"{name}: {node}"
                count += 1
    return count


def measure(name: str, rounds: int) -> Result:
    path = path_of(name)
    theirs, graph = peer(path), wb.load(path)
    feeds = feeds_of(graph)
    began = time.perf_counter()
    with wb.Session(graph, feeds, trace="stats") as session:
        session.run()
        first = time.perf_counter() - began
        recorded = check(name, session, theirs.run(list(session.outputs), feeds))

    def untraced() -> float:
        start = time.perf_counter()
        theirs.run(None, feeds)
        return time.perf_counter() - start

    def running() -> tuple[float, float]:
        start = time.perf_counter()
        with wb.Session(graph, feeds, trace="stats") as opened:
            ready = time.perf_counter()
            opened.run()
            end = time.perf_counter()
        return end - ready, end - start

    jobs: dict[str, Callable[[], Any]] = {"theirs": untraced, "ours": running}
    times: dict[str, list[Any]] = {job: [] for job in jobs}
    for round_ in range(rounds + 1):
        for job, function in jobs.items():
            gc.collect()
            time.sleep(PAUSE)
            taken = function()
            if round_:  # the first one warms up
                times[job].append(taken)
    ran, whole = zip(*times["ours"], strict=True)
    return Result(
        name, statistics.median(times["theirs"]), statistics.median(ran), statistics.median(whole), first, recorded
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.light_models", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("model", nargs="*", help=f"one or more of {', '.join(MODELS)}; all by default")
    parser.add_argument("--rounds", type=int, default=9, help="interleaved rounds (9)")
    chosen = parser.parse_args(arguments)
    for name in chosen.model:
        if name not in MODELS:
            parser.error(f"there is no model {name!r}; there are {', '.join(MODELS)}")
    print(TITLE)
    for name in chosen.model or MODELS:
        print(measure(name, chosen.rounds).line(), flush=True)


if __name__ == "__main__":
    main()
