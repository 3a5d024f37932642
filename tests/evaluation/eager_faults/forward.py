"""Faults of the forward pass."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from tests.evaluation.eager_faults.cases import fault, mlp, train


@fault(3, "log")
def probability_that_underflows(watched: Any) -> Any:
    net = mlp(outputs=3)

    def loss_of(k: int) -> Any:
        p = (net(torch.randn(6, 4)) * (1e4 if k == 3 else 1.0)).softmax(-1)
        return -p.log()[:, 0].mean()  # fault

    return train(watched, net, loss_of)


@fault(2, "exp")
def softmax_without_maximum(watched: Any) -> Any:
    net = mlp(outputs=3)

    def loss_of(k: int) -> Any:
        z = net(torch.randn(6, 4)) + (90.0 if k == 2 else 0.0)
        e = z.exp()  # fault
        return (e / e.sum(-1, keepdim=True))[:, 0].mean()

    return train(watched, net, loss_of)


@fault(4, "exp")
def overflow_that_became_zero(watched: Any) -> Any:
    net = mlp()

    def loss_of(k: int) -> Any:
        z = net(torch.randn(6, 4)) - (95.0 if k == 4 else 0.0)
        p = 1 / (1 + torch.exp(-z))  # fault
        return -p.log().mean()

    return train(watched, net, loss_of)


@fault(5, "div", "norm")
def division_by_the_spread_of_one_value(watched: Any) -> Any:
    class Standard(nn.Module):
        def forward(self, x: Any) -> Any:
            return (x - x.mean(0)) / x.std(0)  # fault

    net = nn.Sequential()
    net.add_module("norm", Standard())
    net.add_module("last", nn.Linear(4, 1))

    def loss_of(k: int) -> Any:
        x = torch.randn(6, 4)
        if k == 5:
            x[:, 2] = 1.5
        return net(x).square().mean()

    return train(watched, net, loss_of)


@fault(3, "mul", "att")
def zero_times_infinity_in_a_mask(watched: Any) -> Any:
    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.q = nn.Linear(4, 4)

        def forward(self, x: Any, keep: Any) -> Any:
            s = self.q(x) @ x.transpose(-1, -2)
            s = s.masked_fill(torch.ones(5, 5).triu(1).bool(), float("-inf"))
            return s.mul(keep).softmax(-1) @ x  # fault

    net = nn.ModuleDict({"att": Attention()})

    def loss_of(k: int) -> Any:
        keep = torch.ones(5, 5)
        keep[1, 3] = 0.0 if k == 3 else 1.0
        return net["att"](torch.randn(2, 5, 4), keep).square().mean()

    return train(watched, net, loss_of)


@fault(2, "_softmax", "1")
def row_without_a_token(watched: Any) -> Any:
    class Pool(nn.Module):
        def forward(self, x: Any, lengths: Any) -> Any:
            masked = torch.arange(5)[None] >= lengths[:, None]
            w = x.mean(-1).masked_fill(masked, float("-inf")).softmax(-1)  # fault
            return (w[..., None] * x).sum(1)

    net = nn.ModuleList([nn.Linear(4, 4), Pool()])

    def loss_of(k: int) -> Any:
        lengths = torch.tensor([5, 3, 0 if k == 2 else 1])
        return net[1](net[0](torch.randn(3, 5, 4)), lengths).square().mean()

    return train(watched, net, loss_of)


@fault(3, "addmm", "last")
def half_precision_product(watched: Any) -> Any:
    class Small(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.last = nn.Linear(4, 8), nn.Linear(8, 1)

        def forward(self, x: Any, scale: float) -> Any:
            with torch.autocast("cpu", torch.float16):
                return self.last(self.first(x).abs().add(1) * scale)  # fault

    torch.manual_seed(0)
    net = Small()
    nn.init.ones_(net.last.weight)
    return train(watched, net, lambda k: net(torch.ones(2, 4), 2e4 if k == 3 else 1.0).float().sum())


@fault(4, "_to_copy")
def cast_to_half(watched: Any) -> Any:
    net = mlp()

    def loss_of(k: int) -> Any:
        y = net(torch.randn(4, 4)).add(2).square() * (1e6 if k == 4 else 1.0)
        return y.to(torch.float16).float().mean()  # fault

    return train(watched, net, loss_of)


@fault(2, "sqrt")
def variance_below_zero(watched: Any) -> Any:
    net = mlp()

    def loss_of(k: int) -> Any:
        y = net(torch.randn(16, 4)) + 5.0
        variance = y.square().mean() - (2.0 if k == 2 else 0.5) * y.mean().square()
        return variance.sqrt()  # fault

    return train(watched, net, loss_of)


@fault(6, "acos")
def angle_of_more_than_one(watched: Any) -> Any:
    net = mlp(outputs=3)

    def loss_of(k: int) -> Any:
        u = F.normalize(net(torch.randn(5, 4)), dim=-1)
        cosine = (u * u.detach().roll(1, 0)).sum(-1) if k != 6 else (u * u.detach()).sum(-1) * 1.0001
        return cosine.acos().mean()  # fault

    return train(watched, net, loss_of)


@fault(3, "div")
def relative_entropy_of_an_empty_class(watched: Any) -> Any:
    net = mlp(outputs=3)

    def loss_of(k: int) -> Any:
        p = net(torch.randn(5, 4)).softmax(-1)
        q = torch.tensor([0.5, 0.5, 0.0]) if k == 3 else torch.full((3,), 1 / 3)
        return (p * (p / q).log()).sum(-1).mean()  # fault

    return train(watched, net, loss_of)


@fault(4, "mean")
def mean_of_nothing(watched: Any) -> Any:
    net = mlp()

    def loss_of(k: int) -> Any:
        y = net(torch.randn(6, 4)).square()
        return y[torch.arange(6) < (0 if k == 4 else 3)].mean()  # fault

    return train(watched, net, loss_of)


@fault(2, "log")
def gumbel_noise_of_a_one(watched: Any) -> Any:
    net = mlp(outputs=3)

    def loss_of(k: int) -> Any:
        u = torch.rand(5, 3).clamp(0.01, 0.99)
        u[4, 1] = 1.0 if k == 2 else u[4, 1]
        inner = -u.log()
        noise = -inner.log()  # fault
        return (net(torch.randn(5, 4)) + noise).softmax(-1)[:, 0].mean()

    return train(watched, net, loss_of)


@fault(5, "sub")
def target_that_is_not_a_number(watched: Any) -> Any:
    net = mlp()
    targets = torch.randn(8, 6, 1)
    targets[5, 2] = float("nan")

    def loss_of(k: int) -> Any:
        return (net(torch.randn(6, 4)) - targets[k]).abs().mean()  # fault

    return train(watched, net, loss_of)


@fault(3, "exp")
def masked_softmax_without_maximum(watched: Any) -> Any:
    net = mlp(outputs=4)

    def loss_of(k: int) -> Any:
        z = net(torch.randn(6, 4)) + (95.0 if k == 3 else 0.0)
        e = z.masked_fill(torch.arange(4) > 2, float("-inf")).exp()  # fault
        return (e / e.sum(-1, keepdim=True))[:, 0].mean()

    return train(watched, net, loss_of)


@fault(2, "mul")
def batch_with_a_missing_number(watched: Any) -> Any:
    net = mlp()
    data = torch.randn(6, 8, 4)
    data[2, 3, 1] = float("nan")

    def loss_of(k: int) -> Any:
        return (data[k] * 2.0).sum() * 0.0 + net(data[k]).pow(2).mean()  # fault

    return train(watched, net, loss_of, steps=6)
