"""The proposal's own experiment: a training loop that leaks handles, without and with the collection of unused arrays.

    python -m tests.benchmarks.collection                100 epochs each
    python -m tests.benchmarks.collection --epochs 30

A small network is trained in the style of the Deep Java Library. Its weights belong to a base manager; the batch of
each step to a submanager, which is closed after the step. But the result of an operation belongs to the manager of its
first operand, so ``b1 + x @ w1`` escapes to the base manager, and so does all that is made of it. The loop drops the
handles; the arrays stay. Before each step the gradient collector clears the gradients of all arrays of the base
manager, for which it looks at each of them: so not only the memory grows from epoch to epoch, but the time too. The
loop is the same both times; one switch is changed.

Source: the proposal "NDArray garbage collection" for DJL 0.20 (the loop, the two causes, the two pictures).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

import workbench as wb

ROWS, BATCH, FEATURES, HIDDEN, RATE = 128, 32, 8, 16, 0.05


class Epoch(NamedTuple):
    """Processor seconds of one epoch (what else the machine does is not in them); live arrays and bytes of the base
    manager at its end; mean loss."""

    seconds: float
    live: int
    bytes: int
    loss: float


class GradientCollector:
    """Keeps the gradients of some arrays, and clears them as DJL 0.20 did: it asks every array of the manager."""

    def __init__(self, manager: wb.ArrayManager, arrays: Sequence[wb.Array]) -> None:
        self.manager = manager
        self.gradients: dict[int, np.ndarray | None] = {a.uid: None for a in arrays}
        self.looked_at = 0

    def clear(self) -> None:
        for info in self.manager.arrays():
            self.looked_at += 1
            if info.uid in self.gradients:
                self.gradients[info.uid] = None

    def update(self, array: wb.Array, gradient: wb.Array) -> None:
        self.gradients[array.uid] = np.asarray(gradient)
        array -= RATE * gradient


def train(epochs: int, *, collect: bool) -> list[Epoch]:
    """The loop; what it trains on and starts from is the same each time."""
    rng = np.random.default_rng(7)
    rows = rng.normal(size=(ROWS, FEATURES))
    wanted = np.sin(rows[:, :1]) + 0.5 * rows[:, 1:2]
    done: list[Epoch] = []
    with wb.collect_unused(collect), wb.ArrayManager("base") as base:
        w1, b1 = base.array(rng.normal(size=(FEATURES, HIDDEN)) * 0.3), base.zeros((HIDDEN,))
        w2, b2 = base.array(rng.normal(size=(HIDDEN, 1)) * 0.3), base.zeros((1,))
        collector = GradientCollector(base, (w1, b1, w2, b2))
        for _ in range(epochs):
            started, loss = time.process_time(), 0.0
            for start in range(0, ROWS, BATCH):
                with base.new_submanager("batch") as batch:
                    x, y = batch.array(rows[start : start + BATCH]), batch.array(wanted[start : start + BATCH])
                    collector.clear()
                    hidden = b1 + x @ w1  # escapes to base, and all that follows from it
                    active = np.maximum(hidden, 0.0)
                    error = (b2 + active @ w2 - y) / BATCH
                    loss += float((error * error).sum()) * BATCH
                    back = (error @ w2.T) * (hidden > 0.0)
                    collector.update(w2, active.T @ error)
                    collector.update(b2, error.sum(axis=0))
                    collector.update(w1, x.T @ back)
                    collector.update(b1, back.sum(axis=0))
                    del x, y, hidden, active, error, back  # and the loop lets go of them
            taken = time.process_time() - started
            now = next(m for m in wb.memory().managers if m.name == "base")
            done.append(Epoch(taken, now.live, now.bytes, loss * BATCH / ROWS))
    return done


def slope(values: Sequence[float]) -> float:
    """Growth an epoch, by least squares."""
    return float(np.polyfit(np.arange(len(values)), np.asarray(values, np.float64), 1)[0])


def ratio(values: Sequence[float]) -> float:
    """The last ten against the first ten, medians (the first of all warms up)."""
    return float(np.median(values[-10:]) / np.median(values[1:11]))


def report(name: str, epochs: Sequence[Epoch]) -> str:
    ms = [1e3 * e.seconds for e in epochs]
    size = [e.bytes / 1e3 for e in epochs]
    return (
        f"{name:<5}{epochs[0].live:>8,}{epochs[-1].live:>8,}{size[0]:>10,.1f}{size[-1]:>10,.1f}{slope(size):>12,.2f}"
        f"{ratio(size):>7.2f}x{ms[1]:>9.2f}{ms[-1]:>9.2f}{slope(ms[1:]):>12.4f}{ratio(ms):>7.2f}x{epochs[-1].loss:>10.5f}"
    )


TITLE = (
    "     arrays after        KB after                growth  last/    CPU ms, epoch        growth  last/      loss\n"
    "      epoch 1    last   epoch 1      last KB an epoch  first        2     last ms an epoch  first    at end"
)


def main(arguments: Sequence[str] | None = None) -> None:
    about = __doc__.partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.collection", description=about)
    parser.add_argument("--epochs", type=int, default=100, help="epochs of each loop (100, at least 21)")
    epochs = max(21, parser.parse_args(arguments).epochs)
    print(f"{epochs} epochs of {ROWS // BATCH} steps; last/first: medians of ten epochs\n{TITLE}")
    off = train(epochs, collect=False)
    print(report("off", off), flush=True)
    on = train(epochs, collect=True)
    print(report("on", on))
    same = [e.loss for e in off] == [e.loss for e in on]
    print(f"losses of all epochs are {'the same bit for bit' if same else 'NOT the same'}")


if __name__ == "__main__":
    main()
