"""Optimisers of PyTorch that other records lack, on small networks: the loss of each step."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from sklearn import datasets
from sklearn.preprocessing import scale

from tests.evaluation.solver_records.record import SolverRecord, maker, record

OPTIMISERS = {
    "RMSprop": lambda p: torch.optim.RMSprop(p, 0.003),
    "Rprop": lambda p: torch.optim.Rprop(p, 0.01),
    "Adadelta": lambda p: torch.optim.Adadelta(p, 1.0),
    "NAdam": lambda p: torch.optim.NAdam(p, 0.01),
    "RAdam": lambda p: torch.optim.RAdam(p, 0.02),
    "ASGD": lambda p: torch.optim.ASGD(p, 0.1),
    "SGD with Nesterov's momentum": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, nesterov=True),
}
SETS = {"iris": datasets.load_iris, "wine": datasets.load_wine}


@maker
def losses() -> Iterator[SolverRecord]:
    """The loss of a network of one hidden layer, in 400 steps of all data at once."""
    torch.set_num_threads(1)
    for name, load in SETS.items():
        x, y = load(return_X_y=True)
        inputs, targets = torch.tensor(scale(x), dtype=torch.float32), torch.tensor(y)
        for kind, make in OPTIMISERS.items():
            torch.manual_seed(7)
            model = torch.nn.Sequential(torch.nn.Linear(x.shape[1], 12), torch.nn.Tanh(), torch.nn.Linear(12, 3))
            optimiser, told = make(model.parameters()), []
            for _ in range(400):
                optimiser.zero_grad()
                loss = torch.nn.functional.cross_entropy(model(inputs), targets) + 1e-4 * sum(
                    (p * p).sum() for p in model.parameters()
                )
                loss.backward()
                told.append(loss.item())
                optimiser.step()
            yield record(f"torch {kind}", name, told, 0.03)
