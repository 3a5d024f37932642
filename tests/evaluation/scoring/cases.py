"""A test case of the loop analysis: a query and its true answer, for all four kinds of query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

C, D, O, S, X = "CONVERGING", "DIVERGING", "OSCILLATING", "STABLE", "CHAOTIC"  # noqa: E741
LABELS = (C, D, O, S, X)


@dataclass
class Case:
    """One history: its label and the numbers that are known (rate, limit, period, exponent, order).

    ``quarter`` says that the first quarter of the record has the same label (False where the event comes later).
    """

    family: str
    values: np.ndarray
    label: str
    hard: bool = False
    facts: dict[str, float] = field(default_factory=dict)
    quarter: bool = True


@dataclass
class Tolerance:
    """From ``iteration`` on, |values - limit| <= ``tol``; asked at shares of ``iteration``."""

    family: str
    values: np.ndarray
    tol: float
    iteration: int


@dataclass
class Watched:
    """A loop seen from outside: its clauses at every evaluation of the condition.

    ``clauses`` is a list of (name, left values, op, right values or one number); ``n`` evaluations are true, None: all,
    for ever. ``exact`` says that the end follows from a law without noise or mixture; the others are asymptotic.
    """

    family: str
    clauses: list[tuple[str, Any, str, Any]]
    n: int | None
    logic: str = "single"
    exact: bool = True
    trip_limit: int | None = None


@dataclass
class GraphLoop:
    """A loop in a graph, asked before its first iteration, or after ``done`` of them.

    ``n`` is the number of iterations that remain, None: never ends. ``roots`` are the variables of which one must be
    named first; ``reason`` is a regular expression of which a part of the answer's sentences must match; ``impure``
    says that nothing may be proved but what a trip limit gives. ``frame`` is the loop that is asked for.
    """

    family: str
    build: Callable[[], tuple[Any, dict[str, Any]]]
    n: int | None
    roots: tuple[str, ...] = ()
    reason: str = ""
    impure: bool = False
    frame: Any = None
    done: int = 0
