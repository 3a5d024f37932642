"""Faults that give no NaN: what is not trained, not written, or wraps."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from tests.evaluation.eager_faults.cases import fault, mlp, train


@fault(0, "detach")
def encoder_that_was_detached(watched: Any) -> Any:
    net = nn.ModuleDict({"encoder": nn.Linear(4, 8), "head": nn.Linear(8, 1)})

    def loss_of(k: int) -> Any:
        h = net["encoder"](torch.randn(5, 4)).tanh()
        h = h.detach()  # fault
        return net["head"](h).square().mean()

    return train(watched, net, loss_of)


@fault(0, "detach")
def branch_that_was_detached(watched: Any) -> Any:
    net = nn.ModuleDict({"encoder": nn.Linear(4, 8), "branch": nn.Linear(8, 8), "head": nn.Linear(8, 1)})

    def loss_of(k: int) -> Any:
        h = net["encoder"](torch.randn(5, 4)).tanh()
        h = h + net["branch"](h).detach()  # fault
        return net["head"](h).square().mean()

    return train(watched, net, loss_of)


@fault(0, "argmax")
def choice_of_the_largest(watched: Any) -> Any:
    net = nn.ModuleDict({"scores": nn.Linear(4, 3), "table": nn.Embedding(3, 2)})

    def loss_of(k: int) -> Any:
        best = net["scores"](torch.randn(5, 4)).argmax(-1)  # fault
        return net["table"](best).square().mean()

    return train(watched, net, loss_of)


@fault(0, "round", "quantise")
def rounding_without_a_straight_gradient(watched: Any) -> Any:
    class Quantise(nn.Module):
        def forward(self, x: Any) -> Any:
            return x.round()  # fault

    net = nn.ModuleDict({"first": nn.Linear(4, 4), "quantise": Quantise(), "last": nn.Linear(4, 1)})
    return train(
        watched, net, lambda k: net["last"](net["quantise"](net["first"](torch.randn(6, 4)) * 3)).square().mean()
    )


@fault(3, "relu", "act")
def relu_that_died(watched: Any) -> Any:
    net = nn.ModuleDict({"first": nn.Linear(4, 8), "act": nn.ReLU(), "last": nn.Linear(8, 1)})

    def loss_of(k: int) -> Any:
        if k == 3:
            with torch.no_grad():
                net["first"].bias.sub_(100)
        return net["last"](net["act"](net["first"](torch.randn(6, 4)))).sub(1).square().mean()  # fault

    return train(watched, net, loss_of)


@fault(0, "mm", "trunk")
def frozen_parameter_of_the_optimizer(watched: Any) -> Any:
    net = nn.ModuleDict({"trunk": nn.Linear(4, 4, bias=False), "head": nn.Linear(4, 1)})
    net["trunk"].requires_grad_(False)

    def loss_of(k: int) -> Any:
        return net["head"](net["trunk"](torch.randn(6, 4))).square().mean()  # fault

    return train(watched, net, loss_of)


@fault(0, "add_")
def rate_of_zero_for_a_group(watched: Any) -> Any:
    net = mlp()
    opt = torch.optim.SGD(
        [{"params": net[0].parameters(), "lr": 0.0}, {"params": net[2].parameters()}], 0.1, foreach=False
    )
    with watched(modules=net, optimizer=opt) as watch:
        for _ in range(8):
            loss = net(torch.randn(5, 4)).square().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()  # fault
            watch(loss=loss)
    return watch


@fault(0, "add_")
def step_that_bfloat16_rounds_away(watched: Any) -> Any:
    w = nn.Parameter(torch.ones(4, dtype=torch.bfloat16))
    b = nn.Parameter(torch.zeros(4))
    opt = torch.optim.SGD([w, b], 1e-4, foreach=False)
    with watched(modules=nn.ParameterDict({"w": w, "b": b}), optimizer=opt) as watch:
        for _ in range(8):
            loss = (w.float() + b - 2).square().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()  # fault
            watch(loss=loss)
    return watch


@fault(0, "add", "centre")
def running_mean_that_is_kept_in_a_local(watched: Any) -> Any:
    class Centre(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("mean", torch.full((4,), 0.5))

        def forward(self, x: Any) -> Any:
            mean = self.mean * 0.9 + x.detach().mean(0) * 0.1  # fault
            del mean
            return x - self.mean

    net = nn.Sequential()
    net.add_module("centre", Centre())
    net.add_module("last", nn.Linear(4, 1))
    return train(watched, net, lambda k: net(torch.randn(6, 4)).square().mean())


@fault(0, "sub", "centre")
def running_mean_that_stays_zero(watched: Any) -> Any:
    class Centre(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("mean", torch.zeros(4))

        def forward(self, x: Any) -> Any:
            return x - self.mean  # fault

    net = nn.Sequential()
    net.add_module("centre", Centre())
    net.add_module("last", nn.Linear(4, 1))
    return train(watched, net, lambda k: net(torch.randn(6, 4)).square().mean())


@fault(2, "sub")
def bytes_of_a_picture_below_zero(watched: Any) -> Any:
    net = mlp()

    def loss_of(k: int) -> Any:
        pixels = torch.full((5, 4), 200 if k != 2 else 100, dtype=torch.uint8)
        centred = pixels - 128  # fault
        return net(centred.float() / 128).square().mean()

    return train(watched, net, loss_of)


@fault(0, "_to_copy")
def encoder_through_integers(watched: Any) -> Any:
    net = nn.ModuleDict({"encoder": nn.Linear(4, 8), "head": nn.Linear(8, 1)})

    def loss_of(k: int) -> Any:
        h = net["encoder"](torch.randn(5, 4) * 9)
        level = h.int()  # fault
        return net["head"](level.float()).square().mean()

    return train(watched, net, loss_of)


@fault(0, "gt")
def threshold_in_place_of_an_activation(watched: Any) -> Any:
    net = mlp()

    def loss_of(k: int) -> Any:
        h = net[1](net[0](torch.randn(4, 4)))
        h = (h > 0).float()  # fault
        return net[2](h).square().mean()

    return train(watched, net, loss_of)


@fault(3, "add_")
def counter_of_a_byte(watched: Any) -> Any:
    net, seen = mlp(), torch.tensor([97, 3], dtype=torch.int8)

    def loss_of(k: int) -> Any:
        seen.add_(10)  # fault
        return net(torch.randn(4, 4)).square().mean() / seen[1]

    return train(watched, net, loss_of)


@fault(2, "_to_copy")
def index_in_sixteen_bits(watched: Any) -> Any:
    net = nn.Embedding(16, 2)

    def loss_of(k: int) -> Any:
        at = torch.tensor([5, 30_000]) * (2 if k == 2 else 1)
        at = at.to(torch.int16)  # fault
        return net(at.long() % 16).square().mean()

    return train(watched, net, loss_of)
