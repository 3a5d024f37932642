"""Models run by regions against onnxruntime's untraced run of the model, in one process.

    python -m tests.benchmarks.regions                    ONNX's light models
    python -m tests.benchmarks.regions one.onnx x=1x3x48x192 other.onnx    some files, with the shapes of inputs

Ratios of the smallest of interleaved rounds: ``graph.run``, and sessions with trace="stats" and trace="all". Whether
all values are equal to those node by node is for tests (tests/frontends/test_onnx_regions.py) to say.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import workbench as wb
from tests.benchmarks.light_models import MODELS, feeds_of, path_of, peer
from tests.benchmarks.timing import Timed, interleaved

ROUNDS, PAUSE = 9, 0.02
WANTED = {"run": 2.0, "stats": 4.0}


def session(graph: wb.Graph, feeds: dict[str, np.ndarray], trace: str) -> Callable[[], object]:
    def job() -> Timed:
        time.sleep(PAUSE)  # threads of the other side that wait for more work fall asleep
        with wb.Session(graph, feeds, trace=trace) as opened:
            began = time.perf_counter()
            opened.run()
            return Timed(time.perf_counter() - began)

    return job


def timed(function: Callable[[], object]) -> Callable[[], object]:
    def job() -> Timed:
        time.sleep(PAUSE)
        began = time.perf_counter()
        function()
        return Timed(time.perf_counter() - began)

    return job


def measure(path: Path, shapes: dict[str, tuple[int, ...]]) -> dict[str, float]:
    """Times as long as onnxruntime takes."""
    graph, theirs = wb.load(path), peer(path)
    rng = np.random.default_rng(0)
    drawn = {n: rng.standard_normal(s).astype(np.float32) for n, s in shapes.items()}
    feeds = drawn or (feeds_of(graph) if "light" in path.name else wb.example_inputs(graph))
    jobs = {
        "onnxruntime": timed(lambda: theirs.run(None, feeds)),
        "run": timed(lambda: graph.run(feeds)),
        "stats": session(graph, feeds, "stats"),
        "all": session(graph, feeds, "all"),
    }
    best = interleaved(jobs, ROUNDS)
    ratios = {k: v / best["onnxruntime"] for k, v in best.items()}
    line = "  ".join(f"{k} {ratios[k]:6.2f}" for k in ("run", "stats", "all"))
    print(f"{path.stem:<36} {best['onnxruntime'] * 1e3:9.2f} ms  {line}", flush=True)
    return ratios


def main(arguments: list[str]) -> None:
    files: list[tuple[Path, dict[str, tuple[int, ...]]]] = []
    for word in arguments:
        name, equals, shape = word.partition("=")
        if equals:
            files[-1][1][name] = tuple(map(int, shape.split("x")))
        else:
            files.append((Path(word), {}))
    found = [measure(*f) for f in files or [(path_of(m), {}) for m in MODELS]]
    for kind, wanted in WANTED.items():
        median = statistics.median(r[kind] for r in found)
        print(f"median of {kind}: {median:.2f} (wanted {wanted}: {'reached' if median <= wanted else 'MISSED'})")


if __name__ == "__main__":
    main(sys.argv[1:])
