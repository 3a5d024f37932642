"""Faults of the backward pass and of optimizers."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from tests.evaluation.eager_faults.cases import fault, mlp, train


@fault(4, "div")
def root_of_zero(watched: Any) -> Any:
    net = mlp(outputs=2)

    def loss_of(k: int) -> Any:
        y = net(torch.randn(5, 4))
        y = y * 0 if k == 4 else y
        return y.square().sum(-1).sqrt().mean()  # fault

    return train(watched, net, loss_of)


@fault(3, "div")
def logarithm_behind_where(watched: Any) -> Any:
    net = mlp()

    def loss_of(k: int) -> Any:
        y = net(torch.randn(6, 4)).square()
        y = y * (torch.arange(6)[:, None] > 2) if k == 3 else y
        return torch.where(y > 0, y.log(), torch.zeros(())).mean()  # fault

    return train(watched, net, loss_of)


@fault(2, "pow")
def fractional_power_of_zero(watched: Any) -> Any:
    net = nn.Sequential(nn.Linear(4, 3, bias=False))

    def loss_of(k: int) -> Any:
        y = net(torch.zeros(5, 4) if k == 2 else torch.randn(5, 4)).abs()
        return y.pow(0.75).mean()  # fault

    return train(watched, net, loss_of)


@fault(3, "rsqrt")
def angle_of_one(watched: Any) -> Any:
    w = nn.Parameter(torch.tensor([0.3, 0.4]))
    net = nn.ParameterList([w])

    def loss_of(k: int) -> Any:
        c = w.sigmoid() if k != 3 else w / w.detach()
        return c.acos().sum() + 0.1 * c.sum()  # fault

    return train(watched, net, loss_of)


@fault(2, "mul")
def square_of_a_reciprocal(watched: Any) -> Any:
    net = mlp()

    def loss_of(k: int) -> Any:
        y = net(torch.randn(4, 4)).sigmoid() + 0.5
        y = y * 1e-25 if k == 2 else y
        return y.reciprocal().mean()  # fault

    return train(watched, net, loss_of)


@fault(3, "div")
def backward_written_by_hand(watched: Any) -> Any:
    class Root(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x.clamp(min=0).sqrt()

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:  # type: ignore[override]
            (x,) = ctx.saved_tensors
            return gradient / (2 * x.clamp(min=0).sqrt())  # fault

    net = mlp()

    def loss_of(k: int) -> Any:
        y = net(torch.randn(5, 4)).abs() + 0.1
        return Root.apply(y - 3 if k == 3 else y).sum()

    return train(watched, net, loss_of)


@fault(3, "mul")
def clipped_infinite_gradient(watched: Any) -> Any:
    net = mlp()
    opt = torch.optim.SGD(net.parameters(), 0.01)
    with watched(modules=net, optimizer=opt) as watch:
        for k in range(6):
            y = net(torch.randn(4, 4)).tanh()
            loss = (y * 3e25).sin().mul(1e20).mean() if k == 3 else y.mean()  # fault
            opt.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
            watch(loss=loss)
    return watch


@fault(2, "pow")
def rate_too_large(watched: Any) -> Any:
    w = nn.Parameter(torch.full((3,), 2.0))
    # w: 2, then 2 - 1e5 * 4 * 8 = -3.2e6, then 1e5 * 4 * 3.3e19 = 1.3e25
    opt = torch.optim.SGD([w], 1e5)
    return train(watched, nn.ParameterList([w]), lambda k: w.pow(4).sum(), opt, steps=5)  # fault


@fault(4, "_foreach_addcdiv_")
def adam_without_epsilon(watched: Any) -> Any:
    a, b = nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(3))
    opt = torch.optim.Adam([{"params": [a]}, {"params": [b], "eps": 0.0}], 0.01, foreach=True)
    with watched(modules=nn.ParameterList([a, b]), optimizer=opt) as watch:
        for k in range(7):
            loss = a.square().sum() + (b.square().sum() if k > 4 else b.sum() * 0)
            opt.zero_grad()
            loss.backward()
            if k < 4:
                b.grad = None
            opt.step()  # fault
            watch(loss=loss)
    return watch


@fault(1, "addcdiv_")
def epsilon_below_half_precision(watched: Any) -> Any:
    w = nn.Parameter(torch.ones(4, dtype=torch.float16))
    x = torch.tensor([1.0, 2.0, 1.0, 1.0], dtype=torch.float16)
    opt = torch.optim.Adam([w], 0.01, eps=1e-8, foreach=False)
    with watched(optimizer=opt) as watch:
        for k in range(6):
            loss = (w * x).sum() * (1e-4 if k else 1.0)
            if k == 1:
                for state in opt.state.values():
                    state["exp_avg_sq"].zero_()
            opt.zero_grad()
            loss.backward()
            opt.step()  # fault
            watch(loss=loss)
    return watch


@fault(3, "add_")
def rate_that_is_not_a_number(watched: Any) -> Any:
    net = mlp()
    opt = torch.optim.SGD(net.parameters(), 0.01, foreach=False)
    with watched(modules=net, optimizer=opt) as watch:
        for k in range(6):
            for group in opt.param_groups:
                group["lr"] = float("nan") if k == 3 else 0.01
            loss = net(torch.randn(4, 4)).square().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()  # fault
            watch(loss=loss)
    return watch


@fault(3, "div_")
def weights_scaled_by_a_norm_of_zero(watched: Any) -> Any:
    w = nn.Parameter(torch.tensor([3.0, 4.0]))
    opt = torch.optim.SGD([w], 1.0)
    with watched(modules=nn.ParameterList([w]), optimizer=opt) as watch:
        for k in range(6):
            loss = (w * (w.detach() if k == 3 else torch.tensor([0.1, 0.2]))).sum()
            opt.zero_grad()
            loss.backward()
            opt.step()
            with torch.no_grad():
                w.div_(w.norm())  # fault
            watch(loss=loss)
    return watch


@fault(4, "copy_")
def broken_checkpoint(watched: Any) -> Any:
    net = mlp()
    saved = {k: v.clone() for k, v in net.state_dict().items()}
    saved["2.bias"][0] = float("nan")
    opt = torch.optim.SGD(net.parameters(), 0.01)
    with watched(modules=net, optimizer=opt) as watch:
        for k in range(6):
            if k == 4:
                net.load_state_dict(saved)  # fault
            loss = net(torch.randn(4, 4)).square().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            watch(loss=loss)
    return watch
