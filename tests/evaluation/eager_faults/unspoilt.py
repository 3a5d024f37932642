"""Clean loops that look suspicious."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from tests.evaluation.eager_faults.cases import clean, mlp, train


@clean()
def memory_that_was_never_written(watched: Any) -> Any:
    net = mlp()

    def loss_of(k: int) -> Any:
        room = torch.empty(6, 4)
        room.view(torch.int32).fill_(0x7FC00000)
        room.normal_()
        return net(room).square().mean()

    return train(watched, net, loss_of)


@clean()
def causal_masks_and_dropout(watched: Any) -> Any:
    torch.manual_seed(0)
    net = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.3, batch_first=True)
    mask = nn.Transformer.generate_square_subsequent_mask(5)
    return train(watched, net, lambda k: net(torch.randn(2, 5, 8), src_mask=mask).square().mean())


@clean()
def gradients_zeroed_at_the_end(watched: Any) -> Any:
    net = mlp()
    opt = torch.optim.Adam(net.parameters(), 0.01)
    with watched(modules=net, optimizer=opt) as watch:
        for _ in range(8):
            loss = net(torch.randn(5, 4)).square().mean()
            loss.backward()
            opt.step()
            opt.zero_grad()
            watch(loss=loss)
    return watch


@clean()
def steps_that_a_scaler_skips(watched: Any) -> Any:
    net = mlp()
    opt = torch.optim.SGD(net.parameters(), 0.01)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127)
    with watched(modules=net, optimizer=opt) as watch:
        for _ in range(10):
            loss = net(torch.randn(8, 4)).square().mean() * 10
            opt.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(opt)
            scaler.update()
            watch(loss=loss.item())
    return watch


@clean()
def warm_up_from_a_rate_of_zero(watched: Any) -> Any:
    net = mlp()
    opt = torch.optim.AdamW(net.parameters(), 0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(opt, lambda k: max(0, k - 4) / 10)
    with watched(modules=net, optimizer=opt) as watch:
        for _ in range(10):
            loss = net(torch.randn(8, 4)).square().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            schedule.step()
            watch(loss=loss)
    return watch


@clean()
def numbers_that_are_replaced(watched: Any) -> Any:
    net = mlp()

    def loss_of(k: int) -> Any:
        x = torch.randn(6, 4)
        x[2, 1] = float("nan")
        x[3, 0] = float("inf")
        return net(x.nan_to_num(0.0, 1.0, -1.0)).square().mean()

    return train(watched, net, loss_of)


@clean()
def logarithm_with_a_safe_argument(watched: Any) -> Any:
    net = mlp()

    def loss_of(k: int) -> Any:
        y = net(torch.randn(6, 4)).relu()
        safe = torch.where(y > 0, y, torch.ones(()))
        return torch.where(y > 0, safe.log(), torch.zeros(())).square().mean()

    return train(watched, net, loss_of)


@clean()
def norm_of_a_zero_vector(watched: Any) -> Any:
    net = nn.Linear(4, 3, bias=False)
    return train(watched, net, lambda k: net(torch.zeros(5, 4) if k == 3 else torch.randn(5, 4)).norm(dim=-1).mean())


@clean()
def frozen_trunk_outside_of_the_optimizer(watched: Any) -> Any:
    net = nn.ModuleDict({"trunk": nn.Linear(4, 8), "norm": nn.BatchNorm1d(8), "head": nn.Linear(8, 1)})
    net["trunk"].requires_grad_(False)
    net["norm"].running_mean.normal_()
    net["norm"].eval().requires_grad_(False)
    opt = torch.optim.SGD(net["head"].parameters(), 0.1)
    return train(watched, net, lambda k: net["head"](net["norm"](net["trunk"](torch.randn(5, 4)))).square().mean(), opt)


@clean()
def positions_in_a_buffer(watched: Any) -> Any:
    class Positions(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            at = torch.arange(5.0)[:, None] / torch.tensor([1.0, 10.0, 100.0, 1000.0])
            self.register_buffer("table", at.sin())
            self.register_buffer("mask", torch.ones(5, 5).triu(1).bool())
            self.last = nn.Linear(4, 4)

        def forward(self, x: Any) -> Any:
            s = self.last(x + self.table) @ x.transpose(-1, -2)
            return s.masked_fill(self.mask, float("-inf")).softmax(-1) @ x

    net = Positions()
    return train(watched, net, lambda k: net(torch.randn(2, 5, 4)).square().mean())


@clean()
def best_loss_from_infinity(watched: Any) -> Any:
    net = mlp()
    best = torch.full((), float("inf"))

    def loss_of(k: int) -> Any:
        nonlocal best
        loss = net(torch.randn(6, 4)).square().mean()
        best = torch.minimum(best, loss.detach())
        return loss + 0 * best

    return train(watched, net, loss_of)


@clean()
def accumulated_gradients(watched: Any) -> Any:
    net = mlp()
    opt = torch.optim.SGD(net.parameters(), 0.1)
    with watched(modules=net, optimizer=opt) as watch:
        for k in range(12):
            loss = net(torch.randn(5, 4)).square().mean() / 4
            loss.backward()
            if k % 4 == 3:
                opt.step()
                opt.zero_grad()
            watch(loss=loss)
    return watch


@clean()
def hashes_that_are_meant_to_wrap(watched: Any) -> Any:
    net = nn.Embedding(16, 2)

    def loss_of(k: int) -> Any:
        state = torch.arange(1, 6) + k
        return net(state.bitwise_and(15) ^ (state.bitwise_left_shift(2) & 15)).square().mean()

    return train(watched, net, loss_of)


@clean(held=True)
def two_optimizers_in_turn(watched: Any) -> Any:
    maker, judge = mlp(4, 8, 4), mlp(4, 8, 1)
    one, two = torch.optim.Adam(maker.parameters(), 0.01), torch.optim.Adam(judge.parameters(), 0.01)
    with watched(modules={"maker": maker, "judge": judge}, optimizer=[one, two]) as watch:
        for k in range(12):
            made = maker(torch.randn(6, 4))
            if k % 2:
                loss = F.softplus(-judge(made)).mean()
                one.zero_grad()
                loss.backward()
                one.step()
            else:
                loss = F.softplus(judge(made.detach())).mean() + F.softplus(-judge(torch.randn(6, 4))).mean()
                two.zero_grad()
                loss.backward()
                two.step()
            watch(loss=loss)
    return watch


@clean(held=True)
def margin_that_is_reached(watched: Any) -> Any:
    torch.manual_seed(0)
    net = nn.Linear(2, 1)
    x = torch.tensor([[2.0, 2.0], [-2.0, -2.0], [3.0, 1.0], [-1.0, -3.0]])
    y = torch.tensor([1.0, -1.0, 1.0, -1.0])
    opt = torch.optim.SGD(net.parameters(), 0.5)
    return train(watched, net, lambda k: (1 - y * net(x)[:, 0]).clamp(min=0).mean(), opt, steps=14)


@clean(held=True)
def target_network_that_waits(watched: Any) -> Any:
    net, target = mlp(), mlp()
    target.requires_grad_(False)
    opt = torch.optim.Adam(net.parameters(), 0.01)
    with watched(modules={"net": net, "target": target}, optimizer=opt) as watch:
        for k in range(9):
            x = torch.randn(6, 4)
            loss = F.smooth_l1_loss(net(x), 1 + 0.9 * target(x + 1))
            opt.zero_grad()
            loss.backward()
            opt.step()
            if k % 8 == 7:
                target.load_state_dict(net.state_dict())
            watch(loss=loss)
    return watch


@clean(held=True)
def zero_weights_at_the_start_of_a_branch(watched: Any) -> Any:
    torch.manual_seed(0)
    net = nn.ModuleDict({"a": nn.Linear(4, 4), "b": nn.Linear(4, 4), "last": nn.Linear(4, 1)})
    nn.init.zeros_(net["b"].weight)
    nn.init.zeros_(net["b"].bias)

    def loss_of(k: int) -> Any:
        x = torch.randn(6, 4)
        return net["last"](x + net["b"](net["a"](x).tanh())).sub(1).square().mean()

    return train(watched, net, loss_of, torch.optim.SGD(net.parameters(), 0.1))


@clean(held=True)
def probabilities_of_impossible_actions(watched: Any) -> Any:
    net = mlp(outputs=4)

    def loss_of(k: int) -> Any:
        legal = torch.tensor([True, True, k % 2 == 0, False])
        logits = net(torch.randn(6, 4)).masked_fill(~legal, float("-inf"))
        policy = torch.distributions.Categorical(logits=logits)
        action = policy.sample()
        return -(policy.log_prob(action) * torch.randn(6)).mean()

    return train(watched, net, loss_of)


@clean(held=True)
def straight_through_estimator(watched: Any) -> Any:
    net = mlp(outputs=4)

    def loss_of(k: int) -> Any:
        y = net(torch.randn(6, 4))
        hard = y + (y.round() - y).detach()
        return (hard - 1).square().mean()

    return train(watched, net, loss_of)


@clean(held=True)
def smallest_distance_from_infinity(watched: Any) -> Any:
    net = mlp(outputs=2)

    def loss_of(k: int) -> Any:
        y = net(torch.randn(6, 4))
        d = torch.cdist(y, y) + torch.diag(torch.full((6,), float("inf")))
        return (-d.min(-1).values).exp().mean()

    return train(watched, net, loss_of)


@clean()
def infinities_that_are_clamped(watched: Any) -> Any:
    net = mlp(outputs=3)

    def loss_of(k: int) -> Any:
        p = torch.tensor([0.0, 0.5, float(k)])
        return (net(torch.randn(4, 4)) * p.log().clamp(min=-1)).square().mean() + torch.special.entr(p).clamp(
            min=-9
        ).sum()

    return train(watched, net, loss_of)


@clean()
def missing_numbers_that_a_mean_leaves_out(watched: Any) -> Any:
    net = mlp()

    def loss_of(k: int) -> Any:
        weight = torch.randn(6)
        weight[3] = float("nan")
        return net(torch.randn(6, 4)).square().mean() * (1 + torch.nanmean(weight) ** 2)

    return train(watched, net, loss_of)


@clean()
def bias_in_front_of_a_batch_norm(watched: Any) -> Any:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
    nn.init.ones_(net[0].bias)
    return train(watched, net, lambda k: net(torch.randn(16, 4)).sub(1).square().mean())
