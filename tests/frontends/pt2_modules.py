"""Small PyTorch modules of every common kind, each with its arguments, for the tests of exported programs.

``tests/frontends/data/make_pt2.py`` wrote the files in ``tests/frontends/data/pt2`` from them, with what PyTorch
computed; ``tests/recorder/test_exported_programs.py`` exports them again.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch._higher_order_ops import map as map_rows
from torch._higher_order_ops import scan, while_loop
from torch._higher_order_ops.associative_scan import associative_scan_op
from torch._higher_order_ops.while_loop import while_loop_stack_output_op
from torch.export import Dim


class Newton(nn.Module):
    def forward(self, a, x):
        def again(a, x):
            return (x * x - a).abs() > 1e-5

        def step(a, x):
            return a.clone(), (x + a / x) * 0.5

        return while_loop(again, step, (a, x))[1]


class BranchInLoop(nn.Module):
    def forward(self, x):
        def step(i, x):
            return i + 1, torch.cond(x.sum() > 3, lambda x: x * 0.5, lambda x: x + 1.0, (x,))

        return while_loop(lambda i, x: i < 5, step, (torch.tensor(0), x))


class LoopInScan(nn.Module):
    """Halves each row until it is small, and adds the rest to the state."""

    def forward(self, rows):
        def step(state, row):
            small = while_loop(lambda r: r.abs().max() > 0.5, lambda r: (r * 0.5,), (row,))[0]
            return state + small, small * 2.0

        return scan(step, torch.zeros(3), rows, dim=0)


class Branch(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: self.linear(x).relu(), lambda x: -x, (x,))


class Rows(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3))

    def forward(self, x):
        return map_rows(lambda row, weight: (row * weight).cumsum(0), x, self.weight)


class Recurrence(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, rows):
        def step(state, row):
            new = torch.tanh(self.linear(state) + row)
            return new, new * 2.0

        return scan(step, torch.zeros(3), rows, dim=0)


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Dropout(0.3), nn.Linear(8, 3))

    def forward(self, x):
        return self.layers(x).softmax(-1), F.gelu(x, approximate="tanh")


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(2, 4, 3, 2, 1), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)
        )
        self.wide = nn.Conv2d(4, 4, 3, padding=1, groups=4)
        self.up = nn.ConvTranspose2d(4, 2, 4, 2, 1)
        self.norm, self.head = nn.GroupNorm(2, 4), nn.Linear(4, 3)
        with torch.no_grad():
            self.stem[1].running_mean.uniform_(-0.5, 0.5)
            self.stem[1].running_var.uniform_(0.5, 2.0)

    def forward(self, x):
        x = self.stem(x)
        gate = F.hardsigmoid(F.adaptive_avg_pool2d(x, 1))
        x = F.hardswish(self.norm(self.wide(x))) * gate
        large = F.interpolate(self.up(F.elu(x)), scale_factor=2.0, mode="nearest")
        return self.head(torch.flatten(F.adaptive_avg_pool2d(F.avg_pool2d(x, 2), 1), 1)), large


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x, hidden):
        return self.attention(x, x, x, key_padding_mask=hidden, need_weights=False)[0]


class Block(nn.Module):
    """A layer of a GPT: causal attention, a gated part, embeddings."""

    def __init__(self, d=8, heads=2):
        super().__init__()
        self.heads = heads
        self.token, self.place = nn.Embedding(20, d), nn.Embedding(16, d)
        self.norm, self.qkv, self.out = nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.gate, self.up, self.down = nn.Linear(d, 2 * d), nn.Linear(d, 2 * d), nn.Linear(2 * d, d)

    def forward(self, ids):
        x = self.token(ids) + self.place(torch.arange(ids.shape[1]))
        b, t, d = x.shape
        q, k, v = (
            z.view(b, t, self.heads, d // self.heads).transpose(1, 2) for z in self.qkv(self.norm(x)).split(d, 2)
        )
        scores = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
        hidden = torch.tril(torch.ones(t, t, dtype=torch.bool)).logical_not()
        seen = scores.masked_fill(hidden, float("-inf")).softmax(-1)
        x = x + self.out((seen @ v).transpose(1, 2).contiguous().view(b, t, d))
        x = x + F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, d)
        return x + self.down(F.silu(self.gate(x)) * self.up(x))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True)

    def forward(self, x):
        return self.layer(x)


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True)

    def forward(self, x):
        y, (h, c) = self.lstm(x)
        return y.max(1).values, h, c


class Gru(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru, self.cell = nn.GRU(3, 4), nn.GRUCell(4, 4)

    def forward(self, x):
        y, h = self.gru(x)
        return self.cell(y[-1], h[0])


class Cache(nn.Module):
    """One step of a decoder: writes a row into a buffer, then reads all of it."""

    def __init__(self):
        super().__init__()
        self.register_buffer("rows", torch.zeros(1, 6, 4))
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x, place):
        self.rows[:, place] = x
        self.calls.view(1).add_(1)
        seen = torch.arange(6)[None] <= place[:, None]
        return torch.where(seen[..., None], self.rows, torch.zeros(())).sum(1)


class InPlace(nn.Module):
    """Writes through views; ``flat`` is a copy, because the transposed elements are not contiguous."""

    def forward(self, x):
        y = x.clone()
        y[1:3] = 7.0
        y[:, 0].mul_(2)
        z = y.t()
        z.add_(1)
        flat = z.reshape(-1)
        y.view(-1)[3:5].zero_()
        y[0].copy_(y[1])
        x.clamp_(-1, 1)
        return y, z * 1, flat


class Sizes(nn.Module):
    """Sizes known only at run time, and arithmetic on them."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, x):
        y = self.linear(x)
        n = x.shape[0]
        twice = torch.cat([x, x]).reshape(-1, 3) + torch.arange(n * 2)[:, None]
        return {"sum": y.view(n * 2, 2).sum(0), "parts": (twice, x.mean() * n, x.new_zeros(n, 2).expand(3, n, 2))}


class Graphs(nn.Module):
    """Sums over the edges of a graph."""

    def forward(self, h, source, target):
        e = F.leaky_relu(h[source].sum(-1) - h[target].sum(-1), 0.2)
        m = torch.full((h.shape[0],), -1e9).scatter_reduce(0, target, e, "amax")
        w = (e - m[target]).exp()
        z = torch.zeros(h.shape[0]).index_add(0, target, w)
        return torch.zeros_like(h).index_add(0, target, h[source] * (w / z[target].clamp_min(1e-9))[:, None])


class Choices(nn.Module):
    """Sorting, positions and types of numbers."""

    def forward(self, x, k):
        values, places = torch.topk(x.softmax(-1), 2, dim=-1)
        ordered, order = x.sort(descending=True, stable=True)
        picked = torch.gather(x, 1, places)
        whole = (k + 2.5, k / 2, k // 2, k % 3, k.float() ** 2, k > 1.5, -k, k.sum(), k.float().mean())
        return values, ordered, order, picked, x.argmax(-1), x.var(0), x.std(1, unbiased=False), *whole


class Narrow(nn.Module):
    """Floats of 16 bits."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4).to(torch.bfloat16)

    def forward(self, x):
        return self.linear(x.to(torch.bfloat16)).float(), (x.half() * 0.1).sum(-1), x.double() + 1


class Losses(nn.Module):
    def forward(self, x, y, label):
        p = x.sigmoid()
        return (
            F.binary_cross_entropy(p, y),
            F.mse_loss(x, y),
            F.cross_entropy(x, label),
            F.smooth_l1_loss(x, y),
            F.binary_cross_entropy_with_logits(x, y),
            F.softplus(x),
            x.logsumexp(1),
            torch.linalg.vector_norm(x, dim=1),
        )


class Products(nn.Module):
    """A scan of an associative function: running products of lines."""

    def forward(self, x, y):
        return tuple(associative_scan_op(lambda a, c, b, d: (a * b, c * b + d), [x, y], ()))


class Stacked(nn.Module):
    """The variables of a loop after each iteration."""

    def forward(self, x, limit):
        def test(i, x, limit):
            return x.sum() < limit

        return while_loop_stack_output_op(test, lambda i, x, limit: (i + 1, x * 1.5), (torch.tensor(0), x), (limit,))


class Pieces(nn.Module):
    """Pieces with ends known only at run time, of a tensor with such a size."""

    def forward(self, x, at):
        return (*torch.tensor_split(x, at), *x.chunk(2, 1), *x.split([1, 3], 1))


class Turned(nn.Module):
    """Calls that change the view of a tensor in place."""

    def forward(self, x):
        y = x.clone()
        whole = y.view(-1)
        y.t_()
        y.unsqueeze_(0).mul_(2)
        return y, whole, x.mT, x.adjoint().sum(0)


class Learning(nn.Module):
    """In training: statistics of the batch, and running ones that move."""

    def __init__(self):
        super().__init__()
        self.norm, self.linear = nn.BatchNorm1d(4, momentum=0.3), nn.Linear(4, 2)

    def forward(self, x, y):
        with torch.no_grad():
            scale = x.abs().amax()
        return F.mse_loss(self.linear(self.norm(x / scale)), y)


class Twice(nn.Module):
    """A module that is called twice, a repeated part, and results in a dict."""

    def __init__(self):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(4, 4), nn.SiLU(), nn.RMSNorm(4))
        self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4)) for _ in range(2)])

    def forward(self, x, *, scale=2.0):
        x = self.shared(self.shared(x))
        for block in self.blocks:
            x = x + block(x)
        return {"last": x, "all": [x.sum(), x * scale]}


class Sinkhorn(nn.Module):
    """Rows and columns of a matrix are scaled in turn, until both sum to 1."""

    def forward(self, x):
        def again(k, x, gap):
            return (gap > 1e-4) & (k < 50)

        def step(k, x, gap):
            x = x / x.sum(1, keepdim=True)
            x = x / x.sum(0, keepdim=True)
            return k + 1, x, (x.sum(1) - 1).abs().max()

        return while_loop(again, step, (torch.tensor(0), x.exp(), torch.tensor(1.0)))[:2]


def modules() -> dict[str, tuple[nn.Module, tuple[Any, ...], dict[str, Any]]]:
    """Name -> module in evaluation, arguments, options of the export."""
    torch.manual_seed(0)
    rows = {"dynamic_shapes": ({0: Dim("rows", min=2)},)}
    g, ids = torch.randn, torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])
    edges = torch.tensor([0, 1, 2, 3, 4, 0, 2]), torch.tensor([1, 2, 3, 4, 0, 2, 1])
    found = {
        "newton": (Newton(), (torch.tensor(2.0), torch.tensor(1.0)), {}),
        "branch_in_loop": (BranchInLoop(), (torch.ones(3),), {}),
        "loop_in_scan": (LoopInScan(), (g(4, 3) * 3,), {}),
        "branch": (Branch(), (g(2, 3),), {}),
        "rows": (Rows(), (g(4, 3),), {}),
        "recurrence": (Recurrence(), (g(4, 3),), rows),
        "perceptron": (Perceptron(), (g(5, 4),), {}),
        "conv_net": (ConvNet(), (g(2, 2, 16, 16),), {}),
        "attention": (Attention(), (g(2, 5, 8), torch.tensor([[False] * 5, [False] * 3 + [True] * 2])), {}),
        "block": (Block(), (ids,), {}),
        "encoder": (Encoder(), (g(2, 4, 8),), {}),
        "lstm": (Lstm(), (g(2, 5, 3),), {}),
        "gru": (Gru(), (g(5, 2, 3),), {}),
        "cache": (Cache(), (g(1, 1, 4), torch.tensor([2])), {}),
        "in_place": (InPlace(), (g(4, 5),), {}),
        "sizes": (Sizes(), (g(4, 3),), rows),
        "graphs": (Graphs(), (g(5, 4), *edges), {}),
        "choices": (Choices(), (g(3, 6), torch.tensor([-3, 0, 2, 7])), {}),
        "narrow": (Narrow(), (g(3, 4),), {}),
        "losses": (Losses(), (g(4, 3), torch.rand(4, 3), torch.tensor([0, 2, 1, 1])), {}),
    }
    found |= {
        "products": (Products(), (torch.rand(5, 3) + 0.5, g(5, 3)), {}),
        "stacked": (Stacked(), (torch.tensor([1.0, 2.0]), torch.tensor(20.0)), {}),
        "pieces": (Pieces(), (g(7, 4), torch.tensor([1, 5])), {"dynamic_shapes": ({0: Dim("n", min=2)}, None)}),
        "turned": (Turned(), (g(2, 3),), {}),
        "twice": (Twice(), (g(3, 4),), {}),
        "sinkhorn": (Sinkhorn(), (g(4, 4),), {}),
    }
    made = {name: (module.eval(), args, options) for name, (module, args, options) in found.items()}
    return made | {"learning": (Learning().train(), (g(6, 4), g(6, 2)), {})}


def results_of(module: nn.Module, args: tuple[Any, ...]) -> list[torch.Tensor]:
    """Values that PyTorch computes, in the order of the graph's outputs: results, then what the module wrote to."""
    given = [a.clone() for a in args]
    before = {n: b.clone() for n, b in module.named_buffers()}
    with torch.no_grad():
        found = [t.clone() for t in torch.utils._pytree.tree_leaves(module(*given))]
        written = [b.clone() for n, b in module.named_buffers() if not torch.equal(b, before[n])]
        for n, b in module.named_buffers():
            b.copy_(before[n])
    return [*found, *written, *(a for a, old in zip(given, args, strict=True) if not torch.equal(a, old))]
