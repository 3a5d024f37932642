"""Training loops and loops of tensors with one planted fault each, and clean ones that look suspicious.

Each function takes the watch maker and returns the watch; a comment ``# fault`` marks the line to be named.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn


@dataclass(frozen=True)
class Planted:
    run: Callable[[Any], Any]
    iteration: int
    op: str
    module: str = ""

    @property
    def line(self) -> int:
        lines, start = inspect.getsourcelines(self.run)
        return start + next(k for k, text in enumerate(lines) if "# fault" in text)


def _mlp(seed: int = 0) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))


def log_of_zero(watched: Any) -> Any:
    net = _mlp()
    opt = torch.optim.SGD(net.parameters(), 0.01)
    with watched(modules=net, optimizer=opt) as watch:
        for k in range(8):
            x = torch.randn(16, 4)
            p = net(x).sigmoid() * (0.0 if k == 4 else 1.0)
            loss = -p.log().mean()  # fault
            opt.zero_grad()
            loss.backward()
            opt.step()
            watch(loss=loss)
    return watch


def root_of_zero_backward(watched: Any) -> Any:
    net = _mlp()
    opt = torch.optim.Adam(net.parameters(), 0.01)
    with watched(modules=net, optimizer=opt) as watch:
        for k in range(7):
            x = torch.zeros(3, 4) if k == 5 else torch.randn(3, 4)
            y = net[0](x) - net[0].bias
            norm = y.pow(2).sum(1).sqrt()  # fault
            loss = (norm - 1).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            watch(loss=loss.item())
    return watch


def overflow_in_half(watched: Any) -> Any:
    net = _mlp()
    opt = torch.optim.SGD(net.parameters(), 0.01)
    with watched(modules=net, optimizer=opt) as watch:
        for k in range(6):
            y = net(torch.randn(5, 4)).half() * (1e5 if k == 3 else 1.0)  # fault
            loss = (y.float() - 1).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            watch(loss=loss)
    return watch


def bad_batch(watched: Any) -> Any:
    net = _mlp()
    opt = torch.optim.SGD(net.parameters(), 0.01)
    data = torch.randn(6, 8, 4)
    data[2, 3, 1] = float("nan")
    with watched(modules={"net": net}, optimizer=opt) as watch:
        for k in range(6):
            loss = (data[k] * 2.0).sum() * 0.0 + net(data[k]).pow(2).mean()  # fault
            opt.zero_grad()
            loss.backward()
            opt.step()
            watch(loss=loss)
    return watch


def exploding_rate(watched: Any) -> Any:
    w = torch.ones(3, requires_grad=True)
    opt = torch.optim.SGD([w], 1e3)
    with watched(optimizer=opt) as watch:
        for _ in range(40):
            loss = w.pow(4).sum()  # fault
            opt.zero_grad()
            loss.backward()
            opt.step()
            watch(loss=loss)
    return watch


class Masked(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q = nn.Linear(4, 4)

    def forward(self, x: Any, mask: Any) -> Any:
        scores = (self.q(x) @ x.transpose(-1, -2)).masked_fill(mask, float("-inf"))
        return scores.softmax(-1) @ x  # fault


def wrong_mask(watched: Any) -> Any:
    torch.manual_seed(0)
    net = Masked()
    opt = torch.optim.SGD(net.parameters(), 0.1)
    with watched(modules={"model": net}, optimizer=opt) as watch:
        for k in range(5):
            mask = torch.ones(6, 6).triu(1).bool()
            mask[0, 0] = k == 2
            loss = net(torch.randn(2, 6, 4), mask).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            watch(loss=loss)
    return watch


def absorbed_overflow(watched: Any) -> Any:
    with watched() as watch:
        for k in range(6):
            x = torch.tensor([0.5, 1.0]) * (900.0 if k == 3 else 1.0)
            e = x.exp()  # fault
            p = 1.0 / e
            watch(loss=p.log().sum())
    return watch


def never_read_gradient(watched: Any) -> Any:
    net = _mlp()
    opt = torch.optim.SGD(net.parameters(), 0.1)
    with watched(modules=net, optimizer=opt) as watch:
        for _ in range(8):
            h = net[1](net[0](torch.randn(4, 4)))
            h = (h > 0).float()  # fault
            loss = net[2](h).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            watch(loss=loss)
    return watch


def wrapped_counter(watched: Any) -> Any:
    with watched() as watch:
        n = torch.tensor([100, 3], dtype=torch.int8)
        for _ in range(6):
            n = n + torch.tensor(10, dtype=torch.int8)  # fault
            watch(n=n.float().sum())
    return watch


PLANTED = [
    Planted(log_of_zero, 4, "log"),
    Planted(root_of_zero_backward, 5, "div"),
    Planted(overflow_in_half, 3, "mul"),
    Planted(bad_batch, 2, "mul"),
    Planted(exploding_rate, 2, "pow"),
    Planted(absorbed_overflow, 3, "exp"),
    Planted(never_read_gradient, 0, "gt"),
    Planted(wrapped_counter, 2, "add"),
]


def dropout_and_masks(watched: Any) -> Any:
    torch.manual_seed(0)
    net = nn.ModuleDict({"att": Masked(), "drop": nn.Dropout(0.5), "norm": nn.BatchNorm1d(4)})
    opt = torch.optim.AdamW(net.parameters(), 0.01)
    mask = torch.ones(6, 6).triu(1).bool()
    with watched(modules=net, optimizer=opt) as watch:
        for _ in range(8):
            y = net["att"](torch.randn(2, 6, 4), mask)
            loss = net["norm"](net["drop"](y).flatten(0, 1)).sub(1).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            watch(loss=loss)
    return watch


def uninitialised(watched: Any) -> Any:
    with watched() as watch:
        for k in range(5):
            junk = torch.empty(4)
            junk.view(torch.int32).fill_(0x7FC00000)
            out = torch.empty(4)
            out.copy_(torch.full((4,), float(k)))
            watch(loss=out.sum())
    return watch


def nan_in_data_left_out(watched: Any) -> Any:
    data = torch.randn(5, 8)
    data[:, 3] = float("nan")
    with watched() as watch:
        for k in range(5):
            watch(loss=torch.nanmean(data[k]))
    return watch


def running_minimum(watched: Any) -> Any:
    best = torch.tensor(float("inf"))
    with watched() as watch:
        for k in range(5):
            best = torch.minimum(best, torch.tensor(5.0 - k))
            watch(best=best)
    return watch


def skipped_scaled_step(watched: Any) -> Any:
    net = _mlp()
    opt = torch.optim.SGD(net.parameters(), 0.01)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**16)
    with watched(modules=net, optimizer=opt) as watch:
        for k in range(6):
            loss = net(torch.randn(8, 4)).pow(2).mean()
            scaled = scaler.scale(loss) * (float("1e38") if k == 2 else 1.0)
            opt.zero_grad()
            scaled.backward()
            scaler.step(opt)
            scaler.update()
            watch(loss=loss)
    return watch


def low_rank_start(watched: Any) -> Any:
    torch.manual_seed(0)
    a, b = torch.randn(4, 2, requires_grad=True), torch.zeros(2, 4, requires_grad=True)
    opt = torch.optim.SGD([a, b], 0.1)
    with watched(optimizer=opt) as watch:
        for _ in range(8):
            x = torch.randn(5, 4)
            loss = (x @ a @ b - x).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            watch(loss=loss)
    return watch


def clamped_log(watched: Any) -> Any:
    with watched() as watch:
        for k in range(5):
            p = torch.tensor([0.0, 0.5, float(k)])
            watch(entropy=torch.special.entr(p).clamp(min=-10).sum() + p.log().clamp(min=-100).sum())
    return watch


CLEAN = [
    dropout_and_masks, uninitialised, nan_in_data_left_out, running_minimum, skipped_scaled_step, low_rank_start,
    clamped_log,
]  # fmt: skip
