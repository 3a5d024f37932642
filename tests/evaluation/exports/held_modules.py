"""Small modules that were left out of development, each with the arguments that it is exported with."""

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
class Depthwise(nn.Module):
    args = (torch.randn(1, 6, 8, 8),)

    def __init__(self) -> None:
        super().__init__()
        self.deep, self.point = nn.Conv2d(6, 6, 3, padding=1, groups=6), nn.Conv2d(6, 4, 1)
        self.squeeze, self.excite = nn.Linear(4, 2), nn.Linear(2, 4)

    def forward(self, x: Any) -> Any:
        y = F.relu6(self.point(self.deep(x)) * 4.0)
        s = torch.sigmoid(self.excite(F.relu(self.squeeze(y.mean((2, 3))))))
        return y * s[:, :, None, None]


@module
class Gated(nn.Module):
    args = (torch.randn(3, 10),)

    def __init__(self) -> None:
        super().__init__()
        self.both, self.out = nn.Linear(10, 24), nn.Linear(12, 5)

    def forward(self, x: Any) -> Any:
        value, gate = self.both(x).chunk(2, -1)
        return self.out(value * F.silu(gate)).softmax(-1)


@module
class Rotary(nn.Module):
    args = (torch.randn(1, 5, 16),)

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(16, 16, bias=False) for _ in range(3))

    def turned(self, x: Any) -> Any:
        angles = torch.outer(torch.arange(5).float(), 1.0 / (10000 ** (torch.arange(0, 8).float() / 8)))
        first, second = x.chunk(2, -1)
        return torch.cat(
            (first * angles.cos() - second * angles.sin(), second * angles.cos() + first * angles.sin()), -1
        )

    def forward(self, x: Any) -> Any:
        q, k, v = self.turned(self.q(x)), self.turned(self.k(x)), self.v(x)
        return F.scaled_dot_product_attention(q[:, None], k[:, None], v[:, None])[:, 0]


@module
class Power(nn.Module):
    args = (torch.randn(4, 4), torch.ones(4))

    def forward(self, m: Any, v: Any) -> Any:
        m = m @ m.T

        def more(k: Any, v: Any) -> Any:
            return k < 7

        def step(k: Any, v: Any) -> Any:
            w = m @ v
            return k + 1, w / w.norm()

        k, v = torch.while_loop(more, step, (torch.tensor(0), v))
        return v, (v @ (m @ v)).reshape(1)


@module
class Sinkhorn(nn.Module):
    args = (torch.randn(4, 5),)

    def forward(self, cost: Any) -> Any:
        kernel = torch.exp(-cost / 0.5)
        turned = kernel.T.clone()

        def more(k: Any, u: Any, v: Any) -> Any:
            return k < 6

        def step(k: Any, u: Any, v: Any) -> Any:
            u = 0.25 / (kernel @ v)
            return k + 1, u, 0.2 / (turned @ u)

        _, u, v = torch.while_loop(more, step, (torch.tensor(0), torch.ones(4), torch.ones(5)))
        return u[:, None] * kernel * v


@module
class Lstm(nn.Module):
    args = (torch.randn(7, 2, 4),)

    def __init__(self) -> None:
        super().__init__()
        self.x, self.h, self.head = nn.Linear(4, 24), nn.Linear(6, 24, bias=False), nn.Linear(6, 3)

    def forward(self, xs: Any) -> Any:
        def cell(state: Any, x: Any) -> Any:
            h, c = state
            i, f, g, o = (self.x(x) + self.h(h)).chunk(4, -1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            return [h, c], h * 1.0

        (h, _), hs = scan(cell, [torch.zeros(2, 6), torch.zeros(2, 6)], xs)
        return self.head(h), hs


@module
class Upsampled(nn.Module):
    args = (torch.randn(1, 3, 4, 4),)

    def __init__(self) -> None:
        super().__init__()
        self.up, self.norm, self.last = nn.ConvTranspose2d(3, 4, 2, stride=2), nn.InstanceNorm2d(4), nn.Conv2d(4, 2, 3)

    def forward(self, x: Any) -> Any:
        x = F.leaky_relu(self.norm(self.up(x)), 0.2)
        return torch.tanh(self.last(F.pad(x, (1, 1, 1, 1), mode="reflect")))


@module
class Moments(nn.Module):
    args = (torch.randn(6, 9) * 3 + 1,)

    def forward(self, x: Any) -> Any:
        mean, var = x.mean(0), x.var(0)
        z = (x - mean) / torch.sqrt(var + 1e-5)
        return z.pow(3).mean(0), z.abs().logsumexp(1)


@module
class Bag(nn.Module):
    args = (torch.randint(0, 20, (3, 6)), torch.tensor([[1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 1], [1, 0, 0, 0, 0, 0]]))

    def __init__(self) -> None:
        super().__init__()
        self.table, self.score = nn.Embedding(20, 8), nn.Linear(8, 4)

    def forward(self, ids: Any, mask: Any) -> Any:
        rows = self.table(ids) * mask[..., None].float()
        mean = rows.sum(1) / mask.sum(1, keepdim=True).clamp(min=1).float()
        return self.score(F.normalize(mean, dim=-1)).argmax(-1), mean


@module
class Experts(nn.Module):
    args = (torch.randn(5, 6),)

    def __init__(self) -> None:
        super().__init__()
        self.router, self.one, self.two = nn.Linear(6, 2), nn.Linear(6, 6), nn.Linear(6, 6)

    def forward(self, x: Any) -> Any:
        w = (self.router(x) / 0.7).softmax(-1)
        return x + w[:, :1] * F.elu(self.one(x)) + w[:, 1:] * F.softplus(self.two(x))


@module
class Horner(nn.Module):
    args = (torch.randn(5), torch.linspace(-1, 1, 6))

    def forward(self, coefficients: Any, x: Any) -> Any:
        def step(total: Any, c: Any) -> Any:
            total = total * x + c
            return total, total.abs().max()

        return scan(step, torch.zeros(6), coefficients[:, None])


@module
class Cross(nn.Module):
    args = (torch.randn(1, 3, 8), torch.randn(1, 6, 8))

    def __init__(self) -> None:
        super().__init__()
        self.attention, self.norm = nn.MultiheadAttention(8, 2, batch_first=True), nn.LayerNorm(8, eps=1e-3)

    def forward(self, x: Any, memory: Any) -> Any:
        return self.norm(x + self.attention(x, memory, memory, need_weights=False)[0])


@module
class Choice(nn.Module):
    args = (torch.randn(4, 4), torch.tensor(0.3))

    def forward(self, x: Any, t: Any) -> Any:
        y = torch.cond(t > 0.5, lambda x: x @ x, lambda x: (x + x.mean(1, keepdim=True)) / 2, (x,))
        return torch.linalg.vector_norm(y, dim=1), y.tril().sum(1)


@module
class Spectral(nn.Module):
    args = (torch.rand(2, 16) + 0.5,)

    def __init__(self) -> None:
        super().__init__()
        self.mel = nn.Parameter(torch.rand(16, 6))

    def forward(self, power: Any) -> Any:
        return 10.0 * torch.log10((power @ self.mel).clamp(min=1e-3)) + math.sqrt(2.0) * power[:, :6].erf()


@module
class Boxes(nn.Module):
    args = (torch.rand(7, 4), torch.rand(7))

    def forward(self, boxes: Any, scores: Any) -> Any:
        low, high = boxes[:, :2], boxes[:, :2] + boxes[:, 2:]
        size = (high - low).clamp(min=0).prod(1)
        best, order = scores.topk(3)
        return torch.cat((low, high), 1)[order], size[order] * best


@module
class Whole(nn.Module):
    args = (torch.randn(3, 6) * 5,)

    def forward(self, x: Any) -> Any:
        q = torch.round(x / 0.25).clamp(-8, 7).to(torch.int64)
        return (q * 3 // 2) % 5, torch.floor(x).to(torch.float16).sum(-1)


@module
class Euler(nn.Module):
    args = (torch.tensor([1.0, 0.0]),)

    def forward(self, y: Any) -> Any:
        def more(t: Any, y: Any) -> Any:
            return t < 1.0

        def step(t: Any, y: Any) -> Any:
            slope = torch.stack((y[1], -y[0] - 0.1 * y[1]))
            return t + 0.125, y + 0.125 * slope

        t, y = torch.while_loop(more, step, (torch.tensor(0.0), y))
        return t.reshape(1), y


@module
class Recur(nn.Module):
    args = (torch.randn(3, 5),)

    def __init__(self) -> None:
        super().__init__()
        self.cell, self.out = nn.GRUCell(5, 5), nn.Linear(5, 2)

    def forward(self, x: Any) -> Any:
        h = torch.zeros(3, 5)
        for _ in range(3):
            h = self.cell(x, h)
        return self.out(h)


@module
class Pooled(nn.Module):
    args = (torch.randn(1, 4, 12),)

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv1d(4, 8, 4, stride=2), nn.BatchNorm1d(8, eps=1e-3)

    def forward(self, x: Any) -> Any:
        x = F.mish(self.norm(self.conv(x)))
        return F.avg_pool1d(x, 2, stride=1, padding=1).flip(-1), x.cumsum(-1)


@module
class Perceiver(nn.Module):
    args = (torch.randn(2, 5, 8),)

    def __init__(self) -> None:
        super().__init__()
        self.latent = nn.Parameter(torch.randn(3, 8))
        self.block = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, activation="gelu", norm_first=True)

    def forward(self, x: Any) -> Any:
        scores = torch.einsum("ld,btd->blt", self.latent, x) * 8**-0.5
        return self.block(torch.einsum("blt,btd->bld", scores.softmax(-1), x))
