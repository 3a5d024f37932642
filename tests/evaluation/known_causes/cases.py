"""Loops whose cause is known: the variable to blame, the clause, the reason, the first bad iteration, the fix.

Each is a graph, of the builder or of a Python function; the truth is written down beside it, and the first bad
iteration is found by running the same arithmetic in NumPy until its state returns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import workbench as wb

Step = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass
class Caused:
    """``root`` must be named first; ``clause`` are words of the blocking clause; ``fix`` the kind of a fix that works;
    ``ends`` the number of iterations of a loop that ends."""

    family: str
    graph: wb.Graph
    root: tuple[str, ...]
    clause: tuple[str, ...]
    slug: str
    fix: str = ""
    first_bad: int | None = None
    feeds: dict[str, Any] = field(default_factory=dict)
    ends: int | None = None
    frame: str | None = None
    #: iterations after which an integer wraps round and ends the loop after all; then both answers are right
    wraps_after: int | None = None


def trail(state: dict[str, Any], step: Step, most: int = 200_000) -> tuple[list[dict[str, Any]], int, int]:
    """(states, start, period) of the exact recurrence of a rule."""
    seen: dict[bytes, int] = {}
    states = []
    with np.errstate(all="ignore"):
        for k in range(most):
            key = b"|".join(np.asarray(v).tobytes() for v in state.values())
            if key in seen:
                return states, seen[key], k - seen[key]
            seen[key] = k
            states.append(state)
            state = step(state)
    raise ValueError("the rule does not recur")


def settles(state: dict[str, Any], step: Step, name: str) -> int:
    """The first iteration from which on a variable has the values of the recurrence."""
    states, start, period = trail(state, step)
    pattern = {np.asarray(s[name]).tobytes() for s in states[start : start + period]}
    k = len(states)
    while k > 0 and np.asarray(states[k - 1][name]).tobytes() in pattern:
        k -= 1
    return k


def loop(
    cond: Callable[..., Any], body: Callable[..., Any], init: dict[str, Any], feeds: dict[str, Any] | None = None
) -> wb.Graph:
    """``while cond(b, inputs, **variables): variables = body(...)``."""
    b = wb.GraphBuilder("caused")
    given = {k: b.placeholder(k, np.asarray(v).dtype.name, np.shape(v)) for k, v in (feeds or {}).items()}
    names = list(init)

    def call(fn: Callable[..., Any]) -> Callable[..., Any]:
        return _Caller({"fn": fn, "b": b, "given": given}, names)

    out = b.while_loop(call(cond), call(body), init)
    return b.build(out)


class _Caller:
    """Calls ``fn(b, **inputs, **variables)`` for the builder, which gives the variables by name."""

    def __init__(self, scope: dict[str, Any], names: list[str]) -> None:
        self.scope, self.names = scope, names

    def __call__(self, **variables: Any) -> Any:
        return self.scope["fn"](self.scope["b"], **self.scope["given"], **variables)
