"""The loop of a question set: written once with operators, run in NumPy for the truth, asked as a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.evaluation.heldout.machines import State, brute, graph

f16, f32, f64 = np.float16, np.float32, np.float64
i8, u8, i16, i32, i64 = np.int8, np.uint8, np.int16, np.int32, np.int64

#: values that are recorded for the label, at most
RECORDED = 600
#: beginnings of reasons why a loop comes to rest, or turns in a circle
REST = "limit|floor|fixed|chang|recur|tends|converg|rest|stall|lost|absorb|settle|return"
TURNS = "recur|cycle|period|return|repeat"


@dataclass(frozen=True)
class Loop:
    """``while cond(**state): state = body(**state)``.

    ``variable`` is what decides, by any of the names; ``label`` is how its first name evolves ("": not asked).
    ``endless`` says what mathematics knows where neither the end nor a recurrence is near; ``proved`` says that a proof
    is wanted.  ``reason`` is a part of the reason of a loop that never ends.
    """

    name: str
    init: State
    cond: Callable[..., Any]
    body: Callable[..., State]
    variable: str
    label: str = ""
    reason: str = ""
    endless: bool = False
    proved: bool = True

    def length(self) -> int | None:
        """Iterations until the condition is false, None for ever; found by running it."""
        return None if self.endless else brute(self.init, self.cond, self.body)

    def record(self, most: int = RECORDED) -> np.ndarray:
        """The first values of the first variable."""
        state, out = dict(self.init), []
        kinds = {name: np.asarray(v).dtype for name, v in state.items()}
        with np.errstate(all="ignore"):
            while len(out) < most:
                out.append(state[self.variable.split()[0]])
                if not bool(self.cond(**state)):
                    break
                state = {name: np.asarray(v, kinds[name])[()] for name, v in self.body(**state).items()}
        return np.array(out)

    def build(self) -> tuple[Any, State]:
        """The graph and its inputs."""
        built: tuple[Any, State] = graph(self.init, self.cond, self.body)()
        return built
