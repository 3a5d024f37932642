"""``python -m tests.benchmarks.looped_states [256]``: the cost of watching a looped transformer, by its forward pass.

Prints the ratio of processor time with and without ``wb.watch_states``, at this width and without gradients. Both take
turns, each with all of its forward passes, and the least of all turns counts, so that other work on the machine matters
little. The report is not part of it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

import workbench as wb
from tests.benchmarks.eager_ops import Block

#: sequences, their length, loops, forward passes of a turn, turns
BATCH, LENGTH, LOOPS, PASSES, TURNS = 8, 64, 8, 3, 10


class LoopedTransformer(nn.Module):
    """Embedding, two blocks that are called again and again with the embedding added, and a head."""

    def __init__(self, d: int) -> None:
        super().__init__()
        self.embedding, self.norm, self.head = nn.Embedding(64, d), nn.LayerNorm(d), nn.Linear(d, 64)
        self.blocks, self.exit_gate = nn.ModuleList([Block(d), Block(d)]), nn.Linear(d, 1)

    def forward(self, tokens: Any) -> Any:
        e = self.embedding(tokens)
        h = torch.zeros_like(e)
        for _ in range(LOOPS):
            h = h + e
            for block in self.blocks:
                h = block(h)
            self.exit_gate(h)
        return self.head(self.norm(h))


def ratio(d: int) -> tuple[float, float]:
    """(time with watching by time without, milliseconds of a forward pass)."""
    torch.manual_seed(0)
    model, tokens = LoopedTransformer(d).eval(), torch.randint(0, 64, (BATCH, LENGTH))

    def plain() -> None:
        for _ in range(PASSES):
            model(tokens)

    def watched() -> None:
        for _ in range(PASSES):
            with wb.watch_states(model):
                model(tokens)

    def took(run: Callable[[], None]) -> float:
        begun = time.thread_time()
        run()
        return time.thread_time() - begun

    with torch.no_grad():
        ways = (plain, watched)
        for run in ways:
            run()
        least = [min(times) for times in zip(*([took(run) for run in ways] for _ in range(TURNS)), strict=True)]
    return least[1] / least[0], 1e3 * least[0] / PASSES


if __name__ == "__main__":
    torch.set_num_threads(1)
    for width in [int(word) for word in sys.argv[1:]] or [256]:
        cost, took = ratio(width)
        print(f"d = {width}: {cost:.3f} times the forward pass ({took:.1f} ms)")
