"""Kinds that were left out of development, and scored once: faults."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from tests.evaluation.eager_faults.cases import fault, mlp, train


@fault(3, "log1p", held=True)
def complement_of_a_certainty(watched: Any) -> Any:
    net = mlp()

    def loss_of(k: int) -> Any:
        p = torch.sigmoid(net(torch.randn(5, 4)) * (1.0 if k != 3 else 0.0) + (60.0 if k == 3 else 0.0))
        return -torch.log1p(-p).mean()  # fault

    return train(watched, net, loss_of)


@fault(4, "nll_loss_forward", held=True)
def batch_whose_labels_are_all_ignored(watched: Any) -> Any:
    net = mlp(outputs=3)

    def loss_of(k: int) -> Any:
        labels = torch.full((6,), -100) if k == 4 else torch.randint(0, 3, (6,))
        return F.cross_entropy(net(torch.randn(6, 4)), labels)  # fault

    return train(watched, net, loss_of)


@fault(2, "sub", held=True)
def log_sum_exp_of_an_empty_row(watched: Any) -> Any:
    net = mlp(outputs=3)

    def loss_of(k: int) -> Any:
        z = net(torch.randn(5, 4))
        z = z.masked_fill(torch.full((5, 3), k == 2), float("-inf"))
        top = z.max(-1, keepdim=True).values
        return ((z - top).exp().sum(-1).log() + top[:, 0]).mean()  # fault

    return train(watched, net, loss_of)


@fault(5, "cumprod", held=True)
def product_along_a_path(watched: Any) -> Any:
    net = mlp(outputs=6)

    def loss_of(k: int) -> Any:
        growth = net(torch.randn(3, 4)).exp() * (1e8 if k == 5 else 1.0)
        return growth.cumprod(-1)[:, -1].mean()  # fault

    return train(watched, net, loss_of)


@fault(3, "std", held=True)
def spread_of_a_batch_of_one(watched: Any) -> Any:
    net = mlp()

    def loss_of(k: int) -> Any:
        y = net(torch.randn(1 if k == 3 else 8, 4))
        return (y.std() - 1).square()  # fault

    return train(watched, net, loss_of)


@fault(2, "div", "unit", held=True)
def direction_of_a_zero_vector(watched: Any) -> Any:
    class Unit(nn.Module):
        def forward(self, x: Any) -> Any:
            return x / x.norm(dim=-1, keepdim=True)  # fault

    net = nn.ModuleDict({"unit": Unit(), "last": nn.Linear(4, 1)})

    def loss_of(k: int) -> Any:
        x = torch.randn(5, 4)
        x[3] = 0.0 if k == 2 else x[3]
        return net["last"](net["unit"](x)).square().mean()

    return train(watched, net, loss_of)


@fault(3, "exp", "flow", held=True)
def scale_of_a_gaussian(watched: Any) -> Any:
    class Flow(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.log_scale = nn.Parameter(torch.zeros(4))

        def forward(self, x: Any) -> Any:
            return x * self.log_scale.exp()  # fault

    net = nn.ModuleDict({"flow": Flow()})

    def loss_of(k: int) -> Any:
        if k == 3:
            with torch.no_grad():
                net["flow"].log_scale.fill_(89.5)
        return net["flow"](torch.randn(5, 4)).abs().mean()

    return train(watched, net, loss_of)


@fault(2, "pow", held=True)
def root_of_a_masked_value(watched: Any) -> Any:
    net = mlp()

    def loss_of(k: int) -> Any:
        y = net(torch.randn(6, 4)).square()
        y = y * (torch.arange(6)[:, None] > 2) if k == 2 else y
        return torch.where(y > 0, y**0.4, torch.zeros(())).mean()  # fault

    return train(watched, net, loss_of)


@fault(0, "addcdiv_", held=True)
def adagrad_without_epsilon(watched: Any) -> Any:
    table = nn.Embedding(4, 2)
    opt = torch.optim.Adagrad(table.parameters(), 0.1, eps=0.0, foreach=False)
    with watched(modules=table, optimizer=opt) as watch:
        for _ in range(6):
            loss = table(torch.tensor([0, 1, 1])).square().sum()
            opt.zero_grad()
            loss.backward()
            opt.step()  # fault
            watch(loss=loss)
    return watch


@fault(4, "mul_", held=True)
def decay_that_is_infinite(watched: Any) -> Any:
    net = mlp()
    opt = torch.optim.AdamW(net.parameters(), 0.1, foreach=False)
    with watched(modules=net, optimizer=opt) as watch:
        for k in range(7):
            opt.param_groups[0]["weight_decay"] = math.inf if k == 4 else 0.01
            loss = net(torch.randn(4, 4)).square().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()  # fault
            watch(loss=loss)
    return watch


@fault(0, "addmm", "encoder", held=True)
def encoder_without_gradients(watched: Any) -> Any:
    net = nn.ModuleDict({"encoder": nn.Linear(4, 8), "head": nn.Linear(8, 1)})

    def loss_of(k: int) -> Any:
        with torch.no_grad():
            h = net["encoder"](torch.randn(5, 4)).tanh()  # fault
        return net["head"](h).square().mean()

    return train(watched, net, loss_of)


@fault(3, "hardtanh", "clip", held=True)
def clip_that_is_saturated(watched: Any) -> Any:
    net = nn.ModuleDict({"first": nn.Linear(4, 4), "clip": nn.Hardtanh(), "last": nn.Linear(4, 1)})

    def loss_of(k: int) -> Any:
        x = net["first"](torch.randn(6, 4)) + (50.0 if k >= 3 else 0.0)
        return net["last"](net["clip"](x)).sub(1).square().mean()  # fault

    return train(watched, net, loss_of)


@fault(2, "mul", held=True)
def hash_of_tokens(watched: Any) -> Any:
    net = nn.Embedding(16, 2)

    def loss_of(k: int) -> Any:
        tokens = torch.tensor([3, 5], dtype=torch.int32) * (10 if k < 2 else 70_000)
        mixed = tokens * 65_537  # fault
        return net(mixed.long() % 16).square().mean()

    return train(watched, net, loss_of)
