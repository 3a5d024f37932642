"""Megabytes a second of ``trace.save``, against writing the same bytes to a file, in one process.

python -m tests.benchmarks.saving [megabytes]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import workbench as wb
from tests.benchmarks.timing import Timed, interleaved

WANTED = 500.0


def smoothed(steps: int, points: int) -> wb.Graph:
    """A loop whose every value is an array of noise that is smoothed."""
    b = wb.GraphBuilder("smooth")
    x = b.placeholder("x", "float64", (points,))

    def body(x: wb.Value, i: wb.Value) -> dict[str, wb.Value]:
        return {"x": x * 0.5 + b.op("sin", x) * 0.25, "i": i + 1}

    out = b.while_loop(lambda x, i: i < steps, body, {"x": x, "i": b.constant(0, "int64")})
    return b.build({"x": out["x"]})


def main(arguments: list[str]) -> None:
    megabytes, points = int(arguments[0]) if arguments else 256, 4096
    rng = np.random.default_rng(0)
    graph = smoothed(max(1, megabytes * (1 << 20) // (points * 8 * 4)), points)
    with (
        wb.Session(graph, {"x": rng.standard_normal(points)}, trace="all") as session,
        tempfile.TemporaryDirectory() as at,
    ):
        session.run()
        path = Path(at) / "run.trace"
        session.trace.save(path)
        size = path.stat().st_size
        block = rng.bytes(8 << 20)

        def plain() -> Timed:
            began = time.perf_counter()
            with Path(at, "plain").open("wb") as file:
                for _ in range(size // len(block)):
                    file.write(block)
            return Timed(time.perf_counter() - began)

        def save() -> Timed:
            path.unlink()  # to replace a file makes some file systems write it to the disk at once
            began = time.perf_counter()
            session.trace.save(path)
            return Timed(time.perf_counter() - began)

        best = interleaved({"save": save, "plain": plain}, 5)
    rate = size / best["save"] / 1e6
    print(f"{size / 1e6:.0f} MB: {rate:.0f} MB/s, {best['save'] / best['plain']:.1f} times a plain file")
    print(f"wanted {WANTED:.0f} MB/s: {'reached' if rate >= WANTED else 'MISSED'}")


if __name__ == "__main__":
    main(sys.argv[1:])
