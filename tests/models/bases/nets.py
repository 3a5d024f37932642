"""Nets of torch with seeded random weights, each with inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

#: a net that is ready to be exported, and its inputs in order
Net = tuple[nn.Module, tuple[Any, ...]]


def net(name: str) -> Net:
    """A net by name, the same each time."""
    # One op for a whole layer, which no exporter knows.
    torch.backends.mha.set_fastpath_enabled(False)
    torch.manual_seed(sum(name.encode()))
    module, inputs = NETS[name]()
    return module.eval(), inputs


def mlp() -> Net:
    layers = nn.Sequential(
        nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32), nn.GELU(), nn.Linear(32, 10), nn.Softmax(-1)
    )
    return layers, (torch.randn(4, 16),)


def convnet() -> Net:
    layers = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1, groups=4),
        nn.BatchNorm2d(32),
        nn.SiLU(),
        nn.AvgPool2d(2),
        nn.Conv2d(32, 32, 1),
        nn.Hardswish(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(32, 10),
    )
    return layers, (torch.randn(2, 3, 32, 32),)


class _Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.wide = nn.Conv2d(8, 32, 1)
        self.deep = nn.Conv2d(32, 32, 3, padding=1, groups=32)
        self.thin = nn.Conv2d(32, 8, 1)
        self.squeeze = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(32, 8, 1), nn.ReLU(), nn.Conv2d(8, 32, 1), nn.Hardsigmoid()
        )

    def forward(self, x):
        y = nn.functional.relu6(self.deep(torch.relu(self.wide(x))))
        return x + self.thin(y * self.squeeze(y))


def residual() -> Net:
    ends = (nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.Linear(8 * 12 * 12, 5))
    layers = nn.Sequential(ends[0], _Residual(), nn.InstanceNorm2d(8), _Residual(), nn.Flatten(), ends[1])
    return layers, (torch.randn(1, 3, 24, 24),)


class _UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(1, 8, 3, stride=2, padding=1)
        self.middle = nn.Conv2d(8, 8, 3, padding=2, dilation=2)
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.last = nn.Conv2d(9, 1, 3, padding=1)

    def forward(self, x):
        low = nn.functional.leaky_relu(self.down(x))
        low = low + nn.functional.elu(self.middle(low))
        big = nn.functional.interpolate(self.up(low), scale_factor=2.0, mode="bilinear", align_corners=False)
        big = nn.functional.interpolate(big, size=x.shape[-2:], mode="nearest")
        mask = torch.sigmoid(self.last(torch.cat([big, x, nn.functional.pad(big, (1, 0, 0, 1))[..., 1:, :-1]], 1)))
        return mask, (mask > 0.5).sum((1, 2, 3))


def unet() -> Net:
    return _UNet(), (torch.randn(1, 1, 20, 28),)


class _Recurrent(nn.Module):
    def __init__(self, kind: Callable[..., nn.Module]) -> None:
        super().__init__()
        self.table = nn.Embedding(50, 12)
        self.cell = kind(12, 16, num_layers=2, bidirectional=True, batch_first=True)
        self.last = nn.Linear(32, 7)

    def forward(self, words):
        all_steps, state = self.cell(self.table(words))
        return torch.log_softmax(self.last(all_steps), -1), state[0] if isinstance(state, tuple) else state


def lstm() -> Net:
    return _Recurrent(nn.LSTM), (torch.randint(0, 50, (3, 9)),)


def gru() -> Net:
    return _Recurrent(nn.GRU), (torch.randint(0, 50, (2, 11)),)


class _TextEncoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(64, 32)
        self.places = nn.Embedding(16, 32)
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, activation="gelu", batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.last = nn.Linear(32, 6)

    def forward(self, words):
        places = torch.arange(words.shape[1], device=words.device)
        return self.last(self.layers(self.words(words) + self.places(places))[:, 0])


def text_encoder() -> Net:
    return _TextEncoder(), (torch.randint(0, 64, (2, 10)),)


class _Seq2Seq(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Transformer(16, 2, 1, 1, 32, dropout=0.0, batch_first=True)

    def forward(self, source, target):
        size = target.shape[1]
        mask = torch.triu(torch.full((size, size), float("-inf")), 1)
        return self.body(source, target, tgt_mask=mask, tgt_is_causal=True)


def seq2seq() -> Net:
    return _Seq2Seq(), (torch.randn(2, 7, 16), torch.randn(2, 5, 16))


class _Norms(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.ModuleList(
            [
                nn.GroupNorm(2, 8),
                nn.PReLU(8),
                nn.BatchNorm1d(8),
                nn.Mish(),
                nn.Softplus(),
                nn.LocalResponseNorm(2),
                nn.LayerNorm(12),
                nn.Softsign(),
                nn.Tanhshrink(),
                nn.CELU(),
                nn.LogSigmoid(),
            ]
        )

    def forward(self, x):
        for part in self.parts:
            x = part(x) + 0.1 * x
        return x, x.std(-1), torch.linalg.vector_norm(x, dim=1), torch.cumsum(x, -1), torch.einsum("bcl,bdl->bcd", x, x)


def norms() -> Net:
    return _Norms(), (torch.randn(2, 8, 12),)


class _Indexing(nn.Module):
    def forward(self, x, at):
        best, where = torch.topk(x, 3, dim=-1)
        ordered = torch.sort(x, dim=0, descending=True)
        written = torch.zeros_like(x).scatter_add(1, at, x)
        picked = torch.gather(x, 1, at)[:, ::2]
        masked = torch.where(x > 0, x, torch.tensor(-1.0)).masked_fill(x > 1, 1.0)
        hot = nn.functional.one_hot(at, 6).sum(1)
        low = torch.tril(x @ x.T)
        return best, where, ordered.values, written, picked, masked.argmax(-1), hot, low, x[at[:, 0] % 4]


def indexing() -> Net:
    return _Indexing(), (torch.randn(4, 6), torch.randint(0, 6, (4, 6)))


NETS: dict[str, Callable[[], Net]] = {
    f.__name__: f for f in (mlp, convnet, residual, unet, lstm, gru, text_encoder, seq2seq, norms, indexing)
}
