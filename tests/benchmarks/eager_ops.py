"""``python -m tests.benchmarks.eager_ops [64 | 256]``: the cost of recording a training step of a small GPT, op by op.

Prints, in processor time of one thread, each way's ratio to the plain step and the microseconds that it adds to an ATen
call: the bare dispatch mode, detect_anomaly, DebugMode with hashes, TorchLens where it is installed, and ours. The ways
take turns, and the least of all turns counts, so that other work on the machine matters little.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.utils._debug_mode import DebugMode
from torch.utils._python_dispatch import TorchDispatchMode

import workbench as wb

#: width -> layers, sequences, length, turns
SIZES = {64: (2, 8, 32, 24), 256: (4, 8, 64, 8)}


class Block(nn.Module):
    def __init__(self, d: int) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x: Any) -> Any:
        b, t, d = x.shape
        q, k, v = (part.view(b, t, 4, -1).transpose(1, 2) for part in self.qkv(self.first(x)).split(d, -1))
        future = torch.ones(t, t).triu(1).bool()
        weights = (q @ k.transpose(-1, -2) / 8).masked_fill(future, float("-inf")).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(b, t, d))
        return x + self.down(nn.functional.gelu(self.up(self.second(x))))


class Counted(TorchDispatchMode):
    """A mode that does nothing but count."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls += 1
        return func(*args, **(kwargs or {}))


class Loop:
    """A model with its optimizer, and its step."""

    def __init__(self, d: int) -> None:
        layers, self.b, self.t, _ = SIZES[d]
        torch.manual_seed(0)
        self.net = nn.Sequential(nn.Embedding(64, d), *(Block(d) for _ in range(layers)), nn.Linear(d, 64))
        self.optimizer = torch.optim.AdamW(self.net.parameters(), 1e-3)

    def step(self) -> Any:
        x = torch.randint(0, 64, (self.b, self.t + 1))
        loss = nn.functional.cross_entropy(self.net(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss


@contextlib.contextmanager
def _hashes() -> Any:
    with DebugMode(), DebugMode.log_tensor_hashes():
        yield


def ways(d: int, stack: contextlib.ExitStack) -> dict[str, Callable[[], Any]]:
    """A step of each way; recorders of ours stay open on ``stack``."""

    def around(make: Callable[[], Any]) -> Callable[[], Any]:
        loop = Loop(d)

        def step() -> None:
            with make():
                loop.step()

        return step

    def ours(**options: Any) -> Callable[[], Any]:
        loop = Loop(d)
        watch = wb.watch("gpt", ops="torch", modules=loop.net, optimizer=loop.optimizer, show=False, **options)

        def step() -> None:
            with watch._mode:
                watch(loss=loop.step())

        watch.recorder.phases.open()
        stack.callback(watch.recorder.phases.close)
        return step

    found = {
        "eager": around(contextlib.nullcontext),
        "dispatch mode": around(Counted),
        "detect_anomaly": around(torch.autograd.detect_anomaly),
        "DebugMode with hashes": around(_hashes),
        "ours": ours(),
        "ours, steps=False": ours(steps=False),
        "ours, every=10": ours(every=10),
    }
    if importlib.util.find_spec("torchlens") is not None:
        torchlens, loop = importlib.import_module("torchlens"), Loop(d)
        found["TorchLens, forward only"] = lambda: torchlens.trace(loop.net, torch.randint(0, 64, (loop.b, loop.t)))
    return found


def main(d: int) -> None:
    torch.set_num_threads(1)
    turns = SIZES[d][-1]
    with contextlib.ExitStack() as stack:
        steps = ways(d, stack)
        best = dict.fromkeys(steps, float("inf"))
        for turn in range(turns + 3):
            for name, step in steps.items():
                repeats = 10 if "every" in name else 1
                began = time.process_time()
                for _ in range(repeats):
                    step()
                if turn > 2:
                    best[name] = min(best[name], (time.process_time() - began) / repeats)
        with Counted() as mode:
            Loop(d).step()
    plain = best["eager"]
    print(f"d = {d}: {mode.calls} ATen calls a step, {plain * 1e3:.2f} ms")
    for name, seconds in best.items():
        print(f"{name:26} {seconds / plain:6.2f} x  {(seconds - plain) / mode.calls * 1e6:7.1f} us a call")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 64)
