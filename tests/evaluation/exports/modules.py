"""Small modules, each with the arguments that it is exported with: those that the comparison was developed on."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch._higher_order_ops.scan import scan

MODULES: dict[str, Any] = {}


def module(make: Any) -> Any:
    """Adds a module by the name of its class in lower case."""
    MODULES[make.__name__.lower()] = make
    return make


@module
class Mlp(nn.Module):
    args = (torch.randn(4, 6),)

    def __init__(self) -> None:
        super().__init__()
        self.up, self.norm, self.down = nn.Linear(6, 16), nn.LayerNorm(16), nn.Linear(16, 3)

    def forward(self, x: Any) -> Any:
        h = F.gelu(self.up(x))
        return self.down(self.norm(h)).log_softmax(-1)


@module
class Convolutions(nn.Module):
    args = (torch.randn(2, 3, 9, 9),)

    def __init__(self) -> None:
        super().__init__()
        self.first, self.bn = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.second, self.head = nn.Conv2d(8, 8, 3, stride=2, padding=1, groups=2), nn.Linear(8, 4)

    def forward(self, x: Any) -> Any:
        x = F.relu(self.bn(self.first(x)))
        x = F.max_pool2d(self.second(x), 2)
        return self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))


@module
class Attention(nn.Module):
    args = (torch.randint(0, 30, (2, 7)),)

    def __init__(self) -> None:
        super().__init__()
        self.token, self.place = nn.Embedding(30, 16), nn.Embedding(7, 16)
        self.qkv, self.out, self.norm = nn.Linear(16, 48), nn.Linear(16, 16), nn.LayerNorm(16)
        self.up, self.down = nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, ids: Any) -> Any:
        x = self.token(ids) + self.place(torch.arange(7))
        q, k, v = self.qkv(x).view(2, 7, 3, 4, 4).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / math.sqrt(4)
        mask = torch.ones(7, 7, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(mask, float("-inf")).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(2, 7, 16))
        return x + self.down(F.silu(self.up(self.norm(x))))


@module
class Newton(nn.Module):
    args = (torch.tensor([2.0, 3.0]), torch.tensor([1.0, 1.0]))

    def forward(self, a: Any, x: Any) -> Any:
        def more(k: Any, x: Any) -> Any:
            return ((x * x - a).abs().max() > 1e-3) & (k < 20)

        def step(k: Any, x: Any) -> Any:
            quotient = a / x
            return k + 1, (x + quotient) * 0.5

        k, x = torch.while_loop(more, step, (torch.tensor(0), x))
        return x * 3.0, k


@module
class Recurrent(nn.Module):
    args = (torch.randn(6, 2, 5),)

    def __init__(self) -> None:
        super().__init__()
        self.into, self.again, self.head = nn.Linear(5, 8), nn.Linear(8, 8), nn.Linear(8, 2)

    def forward(self, x: Any) -> Any:
        def cell(h: Any, row: Any) -> Any:
            gate = torch.sigmoid(self.into(row))
            h = torch.tanh(self.again(h) + self.into(row)) * gate + h * (1 - gate)
            return h, h.sum(-1)

        h, sums = scan(cell, torch.zeros(2, 8), x)
        return self.head(h), sums


@module
class Branches(nn.Module):
    args = (torch.randn(3, 4),)

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        y = torch.cond(x.mean() < 5.0, lambda v: self.a(v).exp() - 1.0, lambda v: self.b(v).cos(), (x,))
        return y.cumsum(0).clamp(-2.0, 2.0)


@module
class Normed(nn.Module):
    args = (torch.randn(2, 8, 5),)

    def __init__(self) -> None:
        super().__init__()
        self.group, self.weight = nn.GroupNorm(4, 8), nn.Parameter(torch.randn(5))
        self.mix = nn.Conv1d(8, 6, 3, dilation=2, padding=2)

    def forward(self, x: Any) -> Any:
        x = self.group(x)
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight
        return F.hardswish(self.mix(x)).amax(-1)


@module
class Halves(nn.Module):
    args = (torch.randn(3, 8),)

    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(8, 8)

    def forward(self, x: Any) -> Any:
        coarse = self.lin(x).half().float()
        whole = (coarse * 4).to(torch.int32).to(torch.float32)
        return (coarse - whole / 4).sigmoid(), whole.sum(-1)
