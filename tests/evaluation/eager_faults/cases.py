"""Planted loops, and the training loop that most of them share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn


@dataclass(frozen=True)
class Case:
    """A loop and what is to be named; ``op`` is empty for a clean one. ``held`` kinds were left out of development."""

    run: Callable[[Any], Any]
    iteration: int = -1
    op: str = ""
    module: str = ""
    held: bool = False

    @property
    def name(self) -> str:
        return self.run.__name__

    @property
    def file(self) -> str:
        return inspect.getsourcefile(self.run) or ""

    @property
    def line(self) -> int:
        lines, start = inspect.getsourcelines(self.run)
        return start + next(k for k, text in enumerate(lines) if "# fault" in text)


CASES: list[Case] = []


def fault(iteration: int, op: str, module: str = "", held: bool = False) -> Callable[[Any], Any]:
    """Adds a loop whose fault is of ``op`` in ``iteration`` and ``module``."""

    def add(run: Any) -> Any:
        CASES.append(Case(run, iteration, op, module, held))
        return run

    return add


def clean(held: bool = False) -> Callable[[Any], Any]:
    """Adds a loop without a fault."""

    def add(run: Any) -> Any:
        CASES.append(Case(run, held=held))
        return run

    return add


def mlp(inputs: int = 4, hidden: int = 8, outputs: int = 1) -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(inputs, hidden), nn.Tanh(), nn.Linear(hidden, outputs))


def train(watched: Any, net: Any, loss_of: Callable[[int], Any], opt: Any = None, steps: int = 8) -> Any:
    """The loop: ``loss_of`` an iteration, backward, step."""
    opt = opt or torch.optim.SGD(net.parameters(), 0.01)
    with watched(modules=net, optimizer=opt) as watch:
        for k in range(steps):
            loss = loss_of(k)
            opt.zero_grad()
            loss.backward()
            opt.step()
            watch(loss=loss)
    return watch
