"""Exercises of notebook 17: loops of PyTorch; and the runs that they ask about."""

from __future__ import annotations

import importlib
import math
from typing import Any

import workbench as wb
from course.desk import Hint, exercise, given, whole, word

#: what is wrong with the run of the night: the iteration and the op, its phase, and the zeros that it read
ITERATION, OP, PHASE, ZEROS = 5, "div", "forward", 8
#: the parameter that learns nothing in the other run
UNTRAINED = "1.weight"


def night_run() -> Any:
    """The watch of a training in which one batch has a feature that is the same in all of its rows."""
    torch = importlib.import_module("torch")
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    data = torch.randn(80, 3)
    data[8 * ITERATION : 8 * (ITERATION + 1), 1] = 2.0
    with wb.watch("night", ops="torch", modules=model, optimizer=optimizer, show=False) as watch:
        for k in range(10):
            x = data[8 * k : 8 * (k + 1)]
            x = (x - x.mean(dim=0)) / x.std(dim=0)
            loss = (model(x) - 1.0).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch(loss=loss)
    return watch


def quiet_run() -> Any:
    """The watch of a training whose middle layer is cut off from its gradient."""
    torch = importlib.import_module("torch")
    torch.manual_seed(0)
    first, middle, last = (torch.nn.Linear(*sizes, bias=False) for sizes in ((3, 8), (8, 8), (8, 1)))
    model = torch.nn.ModuleList([first, middle, last])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    with wb.watch("quiet", ops="torch", modules=model, optimizer=optimizer, show=False) as watch:
        for _ in range(8):
            x = torch.randn(16, 3)
            hidden = first(x).tanh()
            hidden = hidden + middle(hidden).detach()
            loss = (last(hidden) - 1.0).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch(loss=loss)
    return watch


@exercise(
    "17.1",
    "the watch knows: watch.first_bad().",
    "watch.first_bad().iteration and watch.first_bad().op.",
)
def first_bad(iteration: Any, op: Any) -> str:
    found = whole(iteration)
    if found != ITERATION:
        raise Hint(f"not in iteration {found}. The loss shows it where the op gave it; ask watch.first_bad().")
    if word(op).rstrip("_") != OP.upper():
        raise Hint("the iteration is right. The op is the first that gave a bad number, not the one that you see last.")
    return "a feature that is the same in all rows of a batch has the standard deviation 0."


@exercise(
    "17.2",
    "print(watch.first_bad()) tells both: the phase, and what the op read.",
    "watch.first_bad().operands is a list; each operand has a count of zeros. The quotient 0/0 has two.",
)
def what_it_read(phase: Any, zeros: Any) -> str:
    if word(phase) not in ("FORWARD", "BACKWARD", "OPTIMIZER"):
        raise Hint('choose among "forward", "backward" and "optimizer".')
    if word(phase) != PHASE.upper():
        raise Hint("the op stands in the line that prepares the batch: in which phase is that?")
    if whole(zeros) != ZEROS:
        raise Hint("print(watch.first_bad()) has a line for each operand, with the numbers that are zero.")
    return "eight zeros were divided by one: 0/0 is NaN."


@exercise(
    "17.3",
    "the slope of the root is infinite at 0 only: keep the number under the root away from 0.",
    "add a tiny number under the root, such as 1e-9, whose root is below 0.001.",
)
def slope(function: Any) -> str:
    if not callable(function):
        raise Hint("expected a function of two tensors.")
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        raise Hint("this exercise needs PyTorch.") from None
    a = torch.tensor([[1.0, 2.0], [0.0, 3.0], [-1.0, 0.5]], requires_grad=True)
    b = torch.tensor([[1.0, 2.0], [4.0, 0.0], [-1.0, 0.5]])
    made = given(function(a, b))
    if not isinstance(made, torch.Tensor) or made.shape != (3,):
        raise Hint("return a tensor with one distance for each row.")
    for row, wanted in enumerate((0.0, 5.0, 0.0)):
        value = made[row].item()
        if not abs(value - wanted) <= 1e-3:
            raise Hint(f"the distance of row {row} is {wanted:g}, and yours is {value:.6g}.")
    if not made.requires_grad:
        raise Hint("the distance has no slope any more: do not leave autograd.")
    (found,) = torch.autograd.grad(made.sum(), a)
    if not bool(found.isfinite().all()):
        raise Hint("the slope of a town and itself is still not finite: where() after the root comes too late.")
    if not math.isclose(float(found[1].norm()), 1.0, rel_tol=1e-2):
        raise Hint("the slope between two different towns is not right any more: its length is to be 1.")
    return "now 0 is multiplied by a large number in place of infinity."


@exercise(
    "17.4",
    "print(quiet.first_bad()): it names silent faults where there is no NaN.",
    "a parameter has the name of its module and its own: quiet.first_bad().reason.",
)
def untrained(name: Any) -> str:
    found = word(name)
    if "0.WEIGHT" in found or "2.WEIGHT" in found:
        raise Hint("that one is trained: its gradient is there.")
    if found != UNTRAINED.upper():
        raise Hint("the names of the parameters are `0.weight`, `1.weight` and `2.weight`.")
    return "`detach()` cut the middle layer off from the loss; first_bad() has the line."
