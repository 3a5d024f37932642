"""The loop of a block as a graph: a while loop whose body is the update, computed by PyTorch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.errors import ExecutionError, SweepError, UnknownOpError, WatchError
from workbench.ir import Graph, GraphBuilder
from workbench.ir.opspec import OpSpec
from workbench.ir.types import TensorType
from workbench.ops import foreign
from workbench.recorder.looped.courses import resting
from workbench.recorder.looped.update import Update

PREFIX = "looped"
#: the parameters that a sweep can vary
PARAMETERS = ("scale", "loops")
#: with slow convergence, roundings keep a float64 state in motion: it counts as resting within so many times the share
#: of a report, up to a maximum
SLOW, MOST_SLOW = 1e3, 1e-6
#: key of a node -> the step that it computes
_STEPS: dict[int, LoopedStep] = {}


class LoopedStep:
    """One loop on NumPy arrays, a pure function of the state and the scale: any thread can run it."""

    def __init__(self, torch: Any, update: Update, start: Any) -> None:
        self.torch, self.update, self.start = torch, update, start.detach().clone()

    def __call__(self, state: Any, scale: Any) -> tuple[np.ndarray, ...]:
        """(next state, distance to it, that distance relative to the larger norm of the two)."""
        with self.torch.no_grad():
            now = self.torch.from_numpy(np.array(state)).to(self.start.dtype)
            made = self.as_array(self.update(now, float(scale)))
        moved, size = distance(np.asarray(state, np.float64), made.astype(np.float64))
        return made, np.array(moved), np.array(moved / size if size else 0.0 * moved)

    def as_array(self, tensor: Any) -> np.ndarray:
        """A state as an array; half precision as float32, which holds it exactly."""
        tensor = tensor.detach().cpu()
        return np.ascontiguousarray((tensor.float() if tensor.element_size() < 4 else tensor).numpy())


def distance(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """(distance between two states, norm of the larger one); NaN where one is not finite."""
    size = max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0))
    if not np.isfinite(size):
        return float("nan"), float("nan")
    unit = size or 1.0  # squares of large numbers overflow
    a, b = a / unit, b / unit
    return float(unit * np.linalg.norm(a - b)), float(unit * max(np.linalg.norm(a), np.linalg.norm(b)))


def loop_graph(update: Update | None, start: Any, eps: float, tolerance: float | None, parameters: Any) -> Graph:
    """The graph for these parameters; see :meth:`StatesReport.graph_for`."""
    if update is None:
        raise WatchError(
            "A loop of this block cannot be computed again, so that there is nothing to sweep.",
            slug="no-update",
            fix="report.notes says why. A block that is called with plain tensors, the last output among them, can be.",
        )
    unknown = sorted(set(parameters) - set(PARAMETERS))
    if unknown:
        raise SweepError(
            f"sweep: {unknown[0]!r} cannot be varied in a looped model.",
            slug="bad-parameter",
            fix='vary "scale", which multiplies what each loop injects, or "loops", their number.',
        )
    if update.changing:
        raise WatchError(
            f"{update.changing[0]} is another in each loop, so that nothing is known of further loops.",
            slug="no-update",
            fix="sweep over a block that gets the same arguments in each loop, but for its state.",
        )
    if "scale" in parameters and not update.injected:
        raise WatchError(
            "Nothing is injected in the loops of this block that a scale could multiply.",
            slug="no-injection",
            fix='vary "loops", or give the block a constant argument of the shape of its state.',
        )
    key = len(_STEPS)
    made = _STEPS[key] = LoopedStep(update.torch, update, start)
    b = GraphBuilder("looped")
    given = {n: b.placeholder(n, "float64" if n == "scale" else "int64") for n in PARAMETERS if n in parameters}
    first = made.as_array(start)
    scale: Any = given.get("scale", b.constant(np.array(1.0)))
    kinds = ((str(first.dtype), first.shape), ("float64", ()), ("float64", ()))
    types = tuple(TensorType(dtype, shape) for dtype, shape in kinds)
    share = resting(eps, tolerance)
    rests = b.constant(np.array(share if tolerance is not None else max(share, min(SLOW * share, MOST_SLOW))))

    def body(way: Any, step: Any, loop: Any, state: Any) -> Any:
        after, moved, step = b.op(f"{PREFIX}:loop", state, scale, key=key, types=types)
        return way + moved, step, loop + 1, after

    def goes_on(way: Any, step: Any, loop: Any, state: Any) -> Any:
        return loop < given["loops"] if "loops" in given else step > rests

    # the state is first: from its steps wb.boundary sees whether it converges
    start_values = {"way": np.array(0.0), "step": np.array(1.0), "loop": np.array(0), "state": first}
    found = b.while_loop(goes_on, body, start_values, name="loops")
    return b.build({name: found[name] for name in ("state", "way", "step", "loop")})


def _resolve(op: str, attrs: Mapping[str, Any]) -> OpSpec:
    types = attrs.get("types", ())
    if op != f"{PREFIX}:loop" or not isinstance(types, tuple) or not all(isinstance(t, TensorType) for t in types):
        raise UnknownOpError(f"There is no op {op!r} with the types {types!r}.", fix=f"use {PREFIX}:loop.")
    names = ("state", "moved", "step")
    return OpSpec(
        op, ("state", "scale"), names, _infer, _evaluate, "One loop of a looped model, by PyTorch.",
        "foreign", attrs={"types": (), "key": 0},
    )  # fmt: skip


def _infer(types: Sequence[TensorType], attrs: Mapping[str, Any], values: Sequence[Any]) -> tuple[TensorType, ...]:
    return tuple(attrs["types"])


def _evaluate(arrays: Sequence[Any], attrs: Mapping[str, Any]) -> tuple[Any, ...]:
    step = _STEPS.get(attrs["key"])
    if step is None:
        raise ExecutionError(
            "The model of this loop is not in this process.",
            slug="not-seen",
            fix="record it here: with wb.watch_states(model) as states: model(x); states.report().graph_for().",
        )
    return step(*arrays)


foreign.register(PREFIX, _resolve)
