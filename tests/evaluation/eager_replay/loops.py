"""Training loops of the kinds that PyTorch's examples and tutorials have, written anew and small.

Each function gives (modules, optimizers, step); ``python -m tests.evaluation.eager_replay.loops`` says of each whether
its iterations replay bit for bit, and whether a session on them ends with the very parameters.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import workbench as wb

LOOPS: list[Callable[[], tuple[Any, Any, Callable[[], Any]]]] = []


def loop(make: Any) -> Any:
    LOOPS.append(make)
    return make


def stepping(loss_of: Callable[[], Any], *optimizers: Any, clip: Any = None) -> Callable[[], Any]:
    def step() -> Any:
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        if clip is not None:
            nn.utils.clip_grad_norm_(clip, 0.5)
        for optimizer in optimizers:
            optimizer.step()
        return loss

    return step


@loop
def digits() -> Any:
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.25), nn.Flatten(), nn.Linear(100, 10)
    )
    opt = torch.optim.Adadelta(net.parameters())
    return net, opt, stepping(lambda: F.cross_entropy(net(torch.randn(4, 1, 12, 12)), torch.randint(10, (4,))), opt)


@loop
def variational_autoencoder() -> Any:
    net = nn.ModuleDict({"up": nn.Linear(8, 8), "down": nn.Linear(4, 8)})
    opt = torch.optim.Adam(net.parameters(), 1e-3)

    def loss_of() -> Any:
        x = torch.rand(5, 8)
        mean, log = net["up"](x).chunk(2, -1)
        z = mean + torch.randn_like(mean) * (0.5 * log).exp()
        rest = F.binary_cross_entropy(net["down"](z).sigmoid(), x, reduction="sum")
        return rest - 0.5 * (1 + log - mean.square() - log.exp()).sum()

    return net, opt, stepping(loss_of, opt)


@loop
def two_networks_against_each_other() -> Any:
    nets = nn.ModuleDict(
        {"g": nn.Linear(3, 4), "d": nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))}
    )
    g, d = torch.optim.Adam(nets["g"].parameters()), torch.optim.Adam(nets["d"].parameters())

    def step() -> Any:
        made = nets["g"](torch.randn(6, 3))
        d.zero_grad()
        (F.softplus(-nets["d"](torch.randn(6, 4))) + F.softplus(nets["d"](made.detach()))).mean().backward()
        d.step()
        g.zero_grad()
        loss = F.softplus(-nets["d"](made)).mean()
        loss.backward()
        g.step()
        return loss

    return nets, [g, d], step


@loop
def language_model() -> Any:
    net = nn.ModuleDict({"table": nn.Embedding(12, 8), "rnn": nn.LSTM(8, 8, dropout=0.0), "out": nn.Linear(8, 12)})
    opt = torch.optim.SGD(net.parameters(), 0.5)
    state = [torch.zeros(1, 3, 8), torch.zeros(1, 3, 8)]

    def loss_of() -> Any:
        x = torch.randint(12, (6, 3))
        y, (h, c) = net["rnn"](net["table"](x[:-1]), (state[0], state[1]))
        state[:] = [h.detach(), c.detach()]
        return F.cross_entropy(net["out"](y).flatten(0, 1), x[1:].flatten())

    return net, opt, stepping(loss_of, opt, clip=list(net.parameters()))


@loop
def translation_by_a_transformer() -> Any:
    net = nn.Transformer(8, 2, 1, 1, 16, dropout=0.1, batch_first=True)
    opt = torch.optim.Adam(net.parameters(), betas=(0.9, 0.98))
    mask = nn.Transformer.generate_square_subsequent_mask(4)
    return (
        net,
        opt,
        stepping(lambda: net(torch.randn(2, 5, 8), torch.randn(2, 4, 8), tgt_mask=mask).square().mean(), opt),
    )


@loop
def polynomial_by_hand() -> Any:
    w = nn.ParameterList([nn.Parameter(torch.randn(())) for _ in range(4)])
    x = torch.linspace(-3, 3, 50)

    def step() -> Any:
        loss = (w[0] + w[1] * x + w[2] * x**2 + w[3] * x**3 - x.sin()).pow(2).sum()
        loss.backward()
        with torch.no_grad():
            for p in w:
                p -= 1e-6 * p.grad
                p.grad = None
        return loss

    return w, None, step


@loop
def larger_pictures() -> Any:
    net = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 4, 3, padding=1), nn.PixelShuffle(2))
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    return net, opt, stepping(lambda: F.mse_loss(net(torch.rand(2, 1, 6, 6)), torch.rand(2, 1, 12, 12)), opt)


@loop
def sequence_of_cells() -> Any:
    net = nn.ModuleDict({"cell": nn.LSTMCell(1, 6), "out": nn.Linear(6, 1)})
    opt = torch.optim.RMSprop(net.parameters(), 1e-3)

    def loss_of() -> Any:
        x, h, c = torch.randn(5, 4), torch.zeros(4, 6), torch.zeros(4, 6)
        total: Any = 0
        for k in range(4):
            h, c = net["cell"](x[k][:, None], (h, c))
            total = total + F.mse_loss(net["out"](h)[:, 0], x[k + 1])
        return total

    return net, opt, stepping(loss_of, opt)


@loop
def twins() -> Any:
    net = nn.Sequential(nn.Linear(6, 8), nn.GroupNorm(2, 8), nn.GELU(), nn.Linear(8, 3))
    opt = torch.optim.AdamW(net.parameters())
    triplet = nn.TripletMarginLoss()
    return net, opt, stepping(lambda: triplet(*(net(torch.randn(5, 6)) for _ in range(3))), opt)


@loop
def graph_convolution() -> Any:
    net = nn.ModuleList([nn.Linear(5, 8), nn.Linear(8, 3)])
    opt = torch.optim.Adam(net.parameters(), weight_decay=5e-4)
    edges = torch.tensor([[0, 1, 2, 3, 1], [1, 2, 3, 0, 3]])

    def gather(x: Any) -> Any:
        return torch.zeros_like(x).index_add(0, edges[1], x[edges[0]]) + x

    x, y = torch.randn(4, 5), torch.tensor([0, 1, 2, 1])
    return net, opt, stepping(lambda: F.nll_loss(net[1](gather(net[0](gather(x)).relu())).log_softmax(-1), y), opt)


@loop
def words_in_bags() -> Any:
    net = nn.Sequential(nn.EmbeddingBag(20, 6), nn.Linear(6, 2))
    opt = torch.optim.SGD(net.parameters(), 1.0)
    return net, opt, stepping(lambda: F.cross_entropy(net(torch.randint(20, (4, 5))), torch.randint(2, (4,))), opt)


@loop
def moving_average_of_weights() -> Any:
    net = nn.Linear(4, 2)
    mean = copy.deepcopy(net).requires_grad_(False)
    opt = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9, nesterov=True)
    inner = stepping(lambda: net(torch.randn(5, 4)).square().mean(), opt)

    def step() -> Any:
        loss = inner()
        with torch.no_grad():
            for a, b in zip(mean.parameters(), net.parameters(), strict=True):
                a.lerp_(b, 0.1)
        return loss

    return nn.ModuleDict({"net": net, "mean": mean}), opt, step


@loop
def rate_on_a_schedule() -> Any:
    net = nn.Sequential(nn.Linear(4, 8), nn.SiLU(), nn.Linear(8, 1))
    opt = torch.optim.AdamW(net.parameters(), 0.1)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 10)
    inner = stepping(lambda: net(torch.randn(5, 4)).square().mean(), opt)

    def step() -> Any:
        loss = inner()
        schedule.step()
        return loss

    return net, opt, step


@loop
def teacher_and_student() -> Any:
    net = nn.ModuleDict({"teacher": nn.Linear(4, 3), "student": nn.Linear(4, 3)})
    net["teacher"].requires_grad_(False)
    opt = torch.optim.Adam(net["student"].parameters())

    def loss_of() -> Any:
        x = torch.randn(6, 4)
        with torch.no_grad():
            soft = (net["teacher"](x) / 2).softmax(-1)
        return F.kl_div((net["student"](x) / 2).log_softmax(-1), soft, reduction="batchmean") * 4

    return net, opt, stepping(loss_of, opt)


@loop
def noise_that_is_predicted() -> Any:
    net = nn.Sequential(nn.Linear(5, 16), nn.Mish(), nn.Linear(16, 4))
    opt = torch.optim.Adam(net.parameters())
    kept = torch.linspace(0.99, 0.1, 50)

    def loss_of() -> Any:
        t, noise = torch.randint(50, (8,)), torch.randn(8, 4)
        x = kept[t, None].sqrt() * torch.ones(8, 4) + (1 - kept[t, None]).sqrt() * noise
        return F.mse_loss(net(torch.cat([x, t[:, None] / 50], 1)), noise)

    return net, opt, stepping(loss_of, opt)


@loop
def picture_that_is_optimised() -> Any:
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Tanh()).requires_grad_(False)
    x = nn.Parameter(torch.rand(1, 3, 8, 8))
    target = net(torch.rand(1, 3, 8, 8)).flatten(2)
    opt = torch.optim.Adamax([x], 0.05)

    def loss_of() -> Any:
        y = net(x.clamp(0, 1)).flatten(2)
        return F.mse_loss(y @ y.mT, target @ target.mT)

    return {"net": net, "x": nn.ParameterList([x])}, opt, stepping(loss_of, opt)


@loop
def policy_gradient() -> Any:
    net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.6), nn.ReLU(), nn.Linear(8, 2))
    opt = torch.optim.Adam(net.parameters(), 1e-2)

    def loss_of() -> Any:
        policy = torch.distributions.Categorical(net(torch.randn(10, 4)).softmax(-1))
        action = policy.sample()
        reward = (action == 1).float()
        return -(policy.log_prob(action) * (reward - reward.mean()) / (reward.std() + 1e-6)).sum()

    return net, opt, stepping(loss_of, opt)


@loop
def q_learning() -> Any:
    net = nn.ModuleDict({"now": nn.Linear(4, 3), "old": nn.Linear(4, 3)})
    opt = torch.optim.AdamW(net["now"].parameters(), amsgrad=True)

    def loss_of() -> Any:
        x, action = torch.randn(6, 4), torch.randint(3, (6, 1))
        with torch.no_grad():
            best = net["old"](x + 1).max(1).values
        return F.smooth_l1_loss(net["now"](x).gather(1, action)[:, 0], best * 0.9 + 1)

    return net, opt, stepping(loss_of, opt)


@loop
def factors_of_a_matrix() -> Any:
    net = nn.ModuleList([nn.Embedding(6, 3), nn.Embedding(7, 3)])
    opt = torch.optim.Adagrad(net.parameters(), 0.1)
    i, j, r = torch.randint(6, (20,)), torch.randint(7, (20,)), torch.rand(20)
    return net, opt, stepping(lambda: ((net[0](i) * net[1](j)).sum(-1) - r).square().mean(), opt)


@loop
def residual_network() -> Any:
    class Residual(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Sequential(
                nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(True), nn.Conv2d(4, 4, 3, padding=1)
            )

        def forward(self, x: Any) -> Any:
            return (x + self.body(x)).relu()

    net = nn.Sequential(nn.Conv2d(3, 4, 1), Residual(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 5))
    opt = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9, weight_decay=1e-4)
    loss = nn.CrossEntropyLoss(label_smoothing=0.1)
    return net, opt, stepping(lambda: loss(net(torch.randn(3, 3, 6, 6)), torch.randint(5, (3,))), opt)


@loop
def mixed_precision() -> Any:
    net = nn.Sequential(nn.Linear(6, 16), nn.LayerNorm(16), nn.ReLU(), nn.Linear(16, 1))
    opt = torch.optim.NAdam(net.parameters())

    def loss_of() -> Any:
        with torch.autocast("cpu", torch.bfloat16):
            return net(torch.randn(8, 6)).float().square().mean()

    return net, opt, stepping(loss_of, opt)


@loop
def penalised_gradient() -> Any:
    net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
    opt = torch.optim.RAdam(net.parameters())

    def loss_of() -> Any:
        x = torch.randn(6, 3, requires_grad=True)
        y = net(x)
        (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        return y.mean() + 10 * (slope.norm(dim=-1) - 1).square().mean()

    return net, opt, stepping(loss_of, opt)


def answer(make: Any) -> str:
    """Why a loop does not replay; "" if it does, and its session ends with the same parameters."""
    torch.manual_seed(0)
    modules, optimizers, step = make()
    with wb.watch(make.__name__, ops="torch", modules=modules, optimizer=optimizers, show=False) as watch:
        for _ in range(5):
            watch(loss=step())
    if not watch.replays.exact:
        return str(watch.replays)
    session = watch.session()
    session.run()
    for name, tensor in watch.recorder.phases.state():
        if name in session.outputs:
            got = np.asarray(session.outputs[name]).reshape(-1)
            if not np.array_equal(got, tensor.detach().numpy().reshape(-1)):
                return f"the session ends with another {name}"
    return "" if watch.first_bad() is None else f"alarm: {watch.first_bad()}"


if __name__ == "__main__":
    found = {make.__name__: answer(make) for make in LOOPS}
    for name, why in found.items():
        print(f"{name}: {why[:300] or 'exact'}", flush=True)
    print(f"{sum(not why for why in found.values())} of {len(found)} loops replay exactly")
