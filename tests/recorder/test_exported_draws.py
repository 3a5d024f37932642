"""Exported programs that draw random numbers: the distribution is PyTorch's, the numbers are the workbench's."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.frontends.pt2_files import saved

pytestmark = [pytest.mark.watch, pytest.mark.timeout(400)]
torch = pytest.importorskip("torch")
F = torch.nn.functional
N = 40_000


class Function(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def graph_of(function, x=None, **how):
    x = torch.full((N,), 0.3) if x is None else x
    return wb.load(saved(torch, Function(function), (x,), **how)), x


#: name -> function of N numbers 0.3
DRAWS = {
    "rand": lambda x: torch.rand(N) + 0 * x,
    "rand_like": torch.rand_like,
    "randn": lambda x: torch.randn(N, dtype=torch.float64),
    "randn_like": torch.randn_like,
    "randint": lambda x: torch.randint(7, (N,)),
    "randint from": lambda x: torch.randint(-3, 5, (N,)),
    "randint_like": lambda x: torch.randint_like(x, 9),
    "randint_like from": lambda x: torch.randint_like(x, 2, 9),
    "normal_": lambda x: torch.empty(N).normal_(2.0, 3.0),
    "normal": lambda x: torch.normal(x, 2.0),
    "normal of both": lambda x: torch.normal(x, x),
    "normal by sizes": lambda x: torch.normal(1.0, 0.5, (N,)),
    "uniform_": lambda x: torch.empty(N).uniform_(-1, 3),
    "exponential_": lambda x: torch.empty(N).exponential_(2.0),
    "log_normal_": lambda x: torch.empty(N).log_normal_(0.1, 0.3),
    "geometric_": lambda x: torch.empty(N).geometric_(0.3),
    "random_ to": lambda x: torch.empty(N, dtype=torch.int32).random_(10),
    "bernoulli": torch.bernoulli,
    "bernoulli by p": lambda x: torch.bernoulli(x, 0.8),
    "bernoulli_": lambda x: torch.empty(N).bernoulli_(0.2),
    "bernoulli_ of chances": lambda x: torch.empty(N).bernoulli_(x),
    "poisson": lambda x: torch.poisson(x * 4),
    "multinomial": lambda x: torch.multinomial(torch.tensor([0.1, 0.2, 0.7]), N, replacement=True),
    "dropout": lambda x: F.dropout(x, 0.25, training=True),
    "dropout_": lambda x: F.dropout(x.clone(), 0.25, training=True, inplace=True),
    "alpha_dropout": lambda x: F.alpha_dropout(x, 0.25, training=True),
    "rrelu": lambda x: F.rrelu(-x, 0.1, 0.3, training=True),
}


@pytest.mark.parametrize("name", DRAWS)
def test_a_draw_has_the_distribution_of_pytorch(name):
    graph, x = graph_of(DRAWS[name])
    feeds = {"x": x.numpy()} if graph.inputs else {}
    (found,) = graph.run(feeds).values()
    torch.manual_seed(1)
    wanted = DRAWS[name](x).numpy()
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    one, other = found.astype(float), wanted.astype(float)
    spread = max(other.std(), 1e-6)
    # six standard errors of the difference of two means, and a spread within 5 per cent
    assert abs(one.mean() - other.mean()) <= 6 * spread * (2 / one.size) ** 0.5
    assert abs(one.std() - spread) <= 0.05 * spread
    steps = np.unique(other) if len(np.unique(other)) < 100 else np.quantile(other, np.linspace(0.1, 0.9, 9))
    below = [np.mean(numbers[:, None] <= steps + 1e-6, axis=0) for numbers in (one, other)]
    assert np.max(np.abs(below[0] - below[1])) < 0.015
    (again,) = graph.run(feeds).values()
    assert np.array_equal(found, again)
    (note,) = [n for n in graph.notes if "Random numbers are drawn here, not by PyTorch" in n]
    assert "aten." in note and "test_exported_draws.py:" in note and "the same in every run" in note


def test_cauchy_numbers_have_the_quantiles_of_pytorch():
    graph, x = graph_of(lambda x: torch.empty(N).cauchy_(1.0, 2.0) + 0 * x)
    found = graph.run({"x": x.numpy()})["result"]
    assert np.allclose(np.quantile(found, (0.25, 0.5, 0.75)), (-1, 1, 3), atol=0.1)


def test_a_permutation_holds_each_number_once_and_a_draw_without_putting_back_each_class_once():
    graph, x = graph_of(lambda x: (torch.randperm(50), torch.multinomial(x, 12)), torch.rand(3, 12))
    order, classes = graph.run({"x": x.numpy()}).values()
    assert sorted(order) == list(range(50)) and list(order) != list(range(50))
    assert [sorted(row) for row in classes] == [list(range(12))] * 3 and classes.dtype == np.int64
    assert len({tuple(row) for row in classes}) == 3
    weights = torch.tensor([[8.0, 1.0, 1.0]]).repeat(N // 4, 1)
    graph, _ = graph_of(lambda x: torch.multinomial(x, 2), weights)
    first = graph.run({"x": weights.numpy()})["result"][:, 0]
    assert abs((first == 0).mean() - 0.8) < 0.02


def test_whole_channels_are_dropped():
    graph, x = graph_of(lambda x: F.dropout2d(x, 0.5, training=True), torch.ones(40, 30, 2, 3))
    found = graph.run({"x": x.numpy()})["result"].reshape(1200, 6)
    assert set(map(tuple, found)) == {(0.0,) * 6, (2.0,) * 6}
    assert abs((found[:, 0] == 0).mean() - 0.5) < 0.08


def test_iterations_of_a_loop_draw_other_numbers():
    from torch._higher_order_ops import while_loop

    def walk(x):
        return while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, x + torch.rand_like(x)), (torch.tensor(0), x))[1]

    graph, _ = graph_of(walk, torch.zeros(3))
    with wb.Session(graph, {"x": np.zeros(3, np.float32)}) as session:
        session.run()
        steps = np.diff(session.trace["x"].values, axis=0)
    assert len(np.unique(steps)) == 15 and (steps >= 0).all() and (steps < 1).all()


class Recurrent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(3, 4, 2, dropout=0.5)

    def forward(self, x):
        return self.lstm(x)[0]


def test_layers_in_training_draw():
    graph = wb.load(saved(torch, Recurrent().train(), (torch.randn(5, 2, 3),)))
    assert [n.op for n in graph.nodes.values()].count("random_uniform") == 1
    assert graph.run({"x": np.ones((5, 2, 3), np.float32)})["result"].shape == (5, 2, 4)
    graph, x = graph_of(lambda x: F.scaled_dot_product_attention(x, x, x, dropout_p=0.5), torch.randn(2, 1, 6, 4))
    found = graph.run({"x": x.numpy()})["result"]
    kept = F.scaled_dot_product_attention(x, x, x).numpy()
    assert found.shape == kept.shape and not np.allclose(found, kept)


def test_what_is_not_drawn_here_is_refused_by_name():
    with pytest.raises(wb.WorkbenchError) as caught:
        graph_of(lambda x: torch.binomial(x * 100, x))
    assert "aten.binomial.default at test_exported_draws.py:" in str(caught.value)
    assert "a distribution that is not drawn here" in str(caught.value) and "module.eval()" in str(caught.value)
