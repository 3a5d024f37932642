"""Exercises of notebook 19: looped models; and the models that they ask about."""

from __future__ import annotations

import importlib
import math
from typing import Any

import workbench as wb
from course.desk import Hint, exercise, whole, word

#: answers: period of the first, token and course of the second, loop of the third
PERIOD, TOKEN, COURSE, OPENS = 3, 2, "EXPLODING", 5


def looped(which: str) -> Any:
    """The report of a small looped model: "first", "second" or "third"."""
    torch = importlib.import_module("torch")
    nn = torch.nn
    h = torch.ones(1, 4, 2, dtype=torch.float64)
    e = torch.zeros_like(h)
    if which == "first":
        c, s = math.cos(2 * math.pi / PERIOD), math.sin(2 * math.pi / PERIOD)
        weight = torch.tensor([[c, -s], [s, c]], dtype=torch.float64)
        step = lambda h, e: h @ weight.T + e  # noqa: E731
    elif which == "second":
        factors = torch.tensor([0.5, 0.3, 1.4, -0.6], dtype=torch.float64)[:, None]
        step = lambda h, e: factors * h + e  # noqa: E731
    elif which == "third":
        e = e + 0.1
        step = lambda h, e: 0.8 * h + e  # noqa: E731
        h = 0 * h
    else:
        raise ValueError('choose "first", "second" or "third"')

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones((), dtype=torch.float64))

        def forward(self, h: Any, e: Any) -> Any:
            return self.weight * step(h, e)

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.block, self.exit_gate = Block(), nn.Sequential(nn.Linear(2, 1, dtype=torch.float64), nn.Sigmoid())
            with torch.no_grad():
                self.exit_gate[0].weight[:], self.exit_gate[0].bias[:] = 10.0, -6.5

        def forward(self, h: Any, e: Any) -> Any:
            for _ in range(48):
                h = self.block(h, e)
                if which == "third":
                    self.exit_gate(h)
            return h

    model = Model()
    with wb.watch_states(model) as states:
        model(h, e)
    return states.report()


@exercise("19.1", "print(report) says it in its second line.", "report.label.name and report.period.")
def repeats(label: Any, period: Any) -> str:
    if word(label) != "CYCLE":
        raise Hint(f"not {word(label)}: look at report.label.")
    if whole(period) != PERIOD:
        raise Hint("the label is right. How many loops later does the state come back?")
    return "the block turns the state by a third of a circle."


@exercise("19.2", "report.courses has an entry for each token.", "[c.course.name for c in report.courses].")
def one_of_four(token: Any, course: Any) -> str:
    if whole(token) != TOKEN:
        raise Hint("that one comes to rest. Tokens count from 0.")
    if word(course) != COURSE:
        raise Hint("the token is right. Look at its norm: report.norms[:, 2].")
    return "its state grows by 1.4 in each loop, and the other three rest."


@exercise("19.3", "report.gate has the values, and when it opened.", "report.gate.opened has a loop for each token.")
def opens(loop: Any) -> str:
    if whole(loop) != OPENS:
        raise Hint("the gate is open where its value is 0.5 or more for the first time; loops count from 1.")
    return "the other loops change the state, but a model that obeys its gate would not run them."
