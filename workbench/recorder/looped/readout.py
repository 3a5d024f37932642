"""Readings of the states: the output of the head, the loss, and the values of a gate, loop by loop."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.errors import WatchError
from workbench.recorder.looped.calls import GATE, ForwardPass, ModuleCall, filled
from workbench.recorder.looped.carried import CarriedState, at, given
from workbench.recorder.looped.links import same, tensors

#: parts of the state that a head may read: name -> function
PARTS: dict[str, Callable[[Any], Any]] = {
    "the last token": lambda h: h[:, -1],
    "the last token, kept": lambda h: h[:, -1:],
    "the first token": lambda h: h[:, 0],
    "the mean over tokens": lambda h: h.mean(dim=1),
    "all numbers": lambda h: h.flatten(1),
}
#: ways in which a gate halts
HALTS = ("each", "sum", "product")
#: remainder of 1 at which an accumulated gate halts, after Graves, "Adaptive computation time", 2016
REST = 0.01


@dataclass(frozen=True, eq=False)
class Head:
    """``function`` computes the output for a state; ``name`` lists its modules."""

    name: str
    function: Callable[[Any], Any]


def find_head(torch: Any, run: ForwardPass, carried: CarriedState) -> Head | None:
    """The modules that are called after the last loop, each with the output of the one before it."""
    value = carried.states[-1]
    closed = carried.last_call.ended
    steps: list[Callable[[Any], Any]] = []
    names: list[str] = []
    for call in run.calls:
        if call.order < closed or call.ended < 0 or call.failed or GATE.search(call.name.rpartition(".")[2]):
            continue
        found = _reads(torch, call, value)
        out = next(iter(tensors(torch, call.output)), None) if found else None
        if found is None or out is None:
            continue
        part, path = found
        names.append(f"{part} through {call.name}" if part else call.name)
        steps.append(_function(call, PARTS.get(part), path, out[0]))
        value, closed = out[1], call.ended
    if not steps:
        return None

    def head(state: Any) -> Any:
        for function in steps:
            state = function(state)
        return state

    return Head(" and ".join(names), head)


def _function(call: ModuleCall, part: Any, path: Any, out: Any) -> Callable[[Any], Any]:
    def function(state: Any) -> Any:
        args, kwargs = filled(given(call), {path: part(state) if part else state}, (), 1.0)
        return at(call.module(*args, **kwargs), out)

    return function


def _reads(torch: Any, call: ModuleCall, value: Any) -> tuple[str, Any] | None:
    """(name of the part, path of the argument) if a call reads a value or a named part of it."""
    for path, leaf in tensors(torch, given(call)):
        if same(torch, leaf, value):
            return "", path
        for name, part in PARTS.items():
            if value.ndim == 3 and _is_part(torch, part, value, leaf):
                return name, path
    return None


def _is_part(torch: Any, part: Any, value: Any, leaf: Any) -> bool:
    made = part(value)
    return bool(made.shape == leaf.shape and made.dtype == leaf.dtype and same(torch, made, leaf))


@dataclass(frozen=True, eq=False)
class Gate:
    """``values`` are the gate's numbers after each loop, (loops, items), from 0 to 1; ``opened`` has for each item the
    loop after which it would have halted, 0 for never. ``name`` is the source of the numbers.
    """

    name: str
    values: np.ndarray
    opened: np.ndarray
    threshold: float
    halts: str

    @property
    def summed(self) -> np.ndarray:
        """The numbers that are compared with the threshold: the values, or their accumulation."""
        return accumulated(self.values, self.halts)


def accumulated(values: np.ndarray, halts: str) -> np.ndarray:
    """The values; their sum so far; or the probability that one of them has halted."""
    if halts == "sum":
        return np.cumsum(values, axis=0)
    return 1 - np.cumprod(1 - values, axis=0) if halts == "product" else values


def gate_of(name: str, values: np.ndarray, threshold: float | None, halts: str) -> Gate:
    """A gate made from its values."""
    limit = threshold if threshold is not None else 1 - REST if halts == "sum" else 0.5
    over = accumulated(values, halts) >= limit
    opened = np.where(over.any(axis=0), over.argmax(axis=0) + 1, 0)
    return Gate(name, values, opened, limit, halts)


def find_gate(
    torch: Any, run: ForwardPass, carried: CarriedState, given_names: set[str]
) -> tuple[str, list[Any]] | None:
    """(name, outputs) of a module with the name of a gate that returns one number for each token or item, once per
    loop.
    """
    shape, loops = carried.states[0].shape, carried.loops
    own = {call.name for call in carried.block.rounds[0]}
    named = dict.fromkeys(call.name for call in run.calls if GATE.search(call.name.rpartition(".")[2]))
    names = dict.fromkeys(given_names) or named
    for name in sorted(names, key=lambda n: n not in own):
        outputs: list[Any] = [next(iter(tensors(torch, c.output)), ((), None))[1] for c in run.calls if c.name == name]
        if not loops - 1 <= len(outputs) <= loops + 1 or any(o is None for o in outputs):
            continue
        items = math.prod(shape[:-1])
        if all(o.numel() in (items, shape[0], 1) and o.shape == outputs[0].shape for o in outputs):
            return name, outputs[: loops + 1]
    return None


def probabilities(name: str, values: np.ndarray) -> tuple[str, np.ndarray]:
    """Numbers from 0 to 1: unchanged, or their sigmoid if some are outside that range."""
    finite = values[np.isfinite(values)]
    if len(finite) and (finite.min() < 0 or finite.max() > 1):
        with np.errstate(over="ignore"):
            return f"the sigmoid of {name}", 1 / (1 + np.exp(-values))
    return name, values


def losses(torch: Any, outputs: list[Any], target: Any, loss: Any) -> np.ndarray:
    """The loss of the output after each loop."""
    function: Callable[..., Any] = loss or _default_loss(torch, target)
    found = []
    for output in outputs:
        try:
            with torch.no_grad():
                value = function(output) if target is None else function(output, target)
            found.append(float(value))
        except Exception as error:
            raise WatchError(
                f"watch_states: the loss of an output of shape {tuple(output.shape)} failed: "
                f"{type(error).__name__}: {str(error)[:300]}",
                slug="bad-loss",
                fix="give loss= as a function of the output and the target that returns one number.",
            ) from error
    return np.array(found)


def _default_loss(torch: Any, target: Any) -> Callable[[Any, Any], Any]:
    functional = torch.nn.functional
    if not target.is_floating_point():
        return lambda output, wanted: functional.cross_entropy(
            output.reshape(-1, output.shape[-1]).double(), wanted.reshape(-1)
        )
    return lambda output, wanted: functional.mse_loss(output.double(), wanted.double())
