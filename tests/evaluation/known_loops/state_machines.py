"""Small loops as pure-Python slice runners, with known truth."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.analysis.comparisons import OPS


class Machine:
    """``while logic(clauses): state = step(state)``; implements the SliceRunner protocol."""

    def __init__(
        self,
        state: dict[str, Any],
        step: Callable[[dict[str, Any]], dict[str, Any]],
        clauses: list[tuple[str, str, str]],
        *,
        logic: str = "single",
        constants: dict[str, Any] | None = None,
        trip_limit: int | None = None,
        impure: tuple[str, ...] = (),
    ) -> None:
        self.vars, self.step, self.clauses, self.logic = dict(state), step, clauses, logic
        self.constants = constants or {}
        self.trip_limit, self.impure_nodes, self.pure = trip_limit, list(impure), not impure
        self.state_names = list(state)

    def state(self) -> bytes:
        return b"".join(np.asarray(v).tobytes() for v in self.vars.values())

    def values(self) -> dict[str, Any]:
        return dict(self.vars)

    def clause_values(self) -> list[tuple[Any, str, Any]]:
        both = {**self.constants, **self.vars}
        return [(both[lhs], op, both[rhs]) for lhs, op, rhs in self.clauses]

    def cond(self) -> bool:
        truths = [bool(OPS[op](lhs, rhs)) for lhs, op, rhs in self.clause_values()]
        return {"and": all(truths), "or": any(truths), "single": truths[0], "not": not truths[0]}[self.logic]

    def advance(self, n: int) -> int:
        done = 0
        with np.errstate(all="ignore"):
            while done < n and self.cond():
                self.vars = self.step(self.vars)
                done += 1
        return done

    def fork(self) -> Machine:
        return copy.copy(self)


def counter(start: Any, step: Any, op: str, limit: Any, **more: Any) -> Machine:
    """i = i + step while i op limit, in the arithmetic of ``start``'s dtype."""
    dtype = np.asarray(start).dtype.type
    return Machine(
        {"i": dtype(start)},
        lambda s: {"i": dtype(s["i"] + dtype(step))},
        [("i", op, "limit")],
        constants={"limit": limit},
        **more,
    )


def newton(a: float, tol: float, dtype: type = np.float64, x0: float = 1.0, **more: Any) -> Machine:
    """Newton's square root until |x*x - a| <= tol."""

    def step(s: dict[str, Any]) -> dict[str, Any]:
        x = dtype(dtype(0.5) * (s["x"] + dtype(a) / s["x"]))
        return {"x": x, "residual": abs(dtype(x * x - dtype(a)))}

    x = dtype(x0)
    return Machine(
        {"x": x, "residual": abs(dtype(x * x - dtype(a)))},
        step,
        [("residual", ">", "tol")],
        constants={"tol": tol},
        **more,
    )
