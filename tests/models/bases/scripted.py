"""Modules with Python's own loops and branches, compiled by torch.jit.script."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn


class _While(nn.Module):
    def forward(self, x, limit: int):
        count = torch.zeros(1, dtype=torch.int64)
        while bool(x.abs().sum() < 100.0) and int(count) < limit:
            x = x * 1.5 + 0.1
            count = count + 1
        return x, count


class _Branch(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one, self.other = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        if bool(x.sum() > 0):
            y = self.one(x)
        elif bool(x.max() > 0.5):
            y = self.other(x) * 2
        else:
            y = -x
        return y, x.mean() if x.shape[0] > 2 else x.sum()


class _Nested(nn.Module):
    def forward(self, x, rows: int):
        total = torch.zeros(x.shape[1])
        for i in range(rows):
            row = x[i]
            for j in range(i + 1):
                row = torch.where(row > 0, row - 0.25, row + 0.5)
                if bool(row.sum() > 2.0):
                    total = total + row * float(j + 1)
            total = total + row
        return total


class _TensorList(nn.Module):
    def forward(self, x, steps: int):
        state = torch.zeros(x.shape[1])
        kept: list[torch.Tensor] = []
        for i in range(steps):
            state = torch.tanh(state * 0.5 + x[i])
            kept.append(state)
        return torch.stack(kept), torch.cat(kept)


class _Beam(nn.Module):
    """Takes the best word again and again, until the last word or a limit."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.step, self.last = nn.Embedding(12, 8), nn.Linear(16, 8), nn.Linear(8, 12)

    def forward(self, state, limit: int):
        words = torch.zeros(1, 1, dtype=torch.int64)
        word = words[:, 0]
        going = True
        count = 0
        while going and count < limit:
            state = torch.tanh(self.step(torch.cat([self.table(word), state], 1)))
            word = self.last(state).argmax(-1)
            words = torch.cat([words, word.unsqueeze(1)], 1)
            going = bool((word != 3).all())
            count += 1
        return words, state


_LIMIT: Any = torch.tensor(6)
SCRIPTED: dict[str, Callable[[], tuple[nn.Module, tuple[Any, ...]]]] = {
    "while_loop": lambda: (_While(), (torch.randn(3), torch.tensor(50))),
    "beam": lambda: (_Beam(), (torch.randn(1, 8), _LIMIT)),
    "branch": lambda: (_Branch(), (torch.randn(3, 4),)),
    "nested": lambda: (_Nested(), (torch.randn(6, 5), _LIMIT)),
    "tensor_list": lambda: (_TensorList(), (torch.randn(6, 5), _LIMIT)),
}


def scripted(name: str) -> tuple[Any, tuple[Any, ...]]:
    """A compiled module by name, and its inputs."""
    torch.manual_seed(sum(name.encode()))
    module, inputs = SCRIPTED[name]()
    return torch.jit.script(module.eval()), inputs
