"""Modules with torch's own control flow ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop


class _Cond(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one, self.other = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: self.one(x).relu(), lambda x: self.other(x).cos(), (x,))


class _While(nn.Module):
    def forward(self, x):
        def going(i, x):
            return (i < 40) & (x.sum() < 50)

        def body(i, x):
            return i + 1, x * 1.3 + 0.1

        return while_loop(going, body, (torch.tensor(0), x))


class _Scan(nn.Module):
    def forward(self, x):
        def step(state, row):
            new = torch.tanh(state * 0.5 + row)
            return new, new * 2.0

        return scan(step, torch.zeros(x.shape[1]), x, dim=0)


MODULES: dict[str, Callable[[], tuple[nn.Module, tuple[Any, ...]]]] = {
    "cond": lambda: (_Cond(), (torch.randn(3, 4),)),
    "while_loop_op": lambda: (_While(), (torch.rand(3),)),
    "scan": lambda: (_Scan(), (torch.randn(6, 5),)),
}


def higher_order(name: str) -> tuple[Any, tuple[Any, ...]]:
    """A module by name, and its inputs."""
    torch.manual_seed(sum(name.encode()))
    module, inputs = MODULES[name]()
    return module.eval(), inputs
