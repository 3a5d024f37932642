"""Protocol of the executor of a slice: the part of the graph that computes a loop's condition, run alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np


class SliceTimeout(Exception):
    """An iteration of the slice takes too long to run ahead; an inner loop may hang."""


class SliceFailed(RuntimeError):
    """A node failed in the slice, after ``done`` whole iterations of the call of ``advance`` that raises it."""

    def __init__(self, message: str, done: int = 0, node: str | None = None) -> None:
        super().__init__(message)
        self.done, self.node = done, node


@runtime_checkable
class SliceRunner(Protocol):
    """The part of a graph that computes a loop's condition (a backward slice), positioned at one evaluation of it.

    Attributes
    ----------
    pure : bool
        Whether it reads only its own state: no random draws, stacks or iteration indices.
    impure_nodes : list of str
        The nodes that are not pure.
    state_names : list of str
        Names of the loop variables in its state.
    trip_limit : int or None
        Maximum number of iterations, enforced outside the slice.
    clauses : list of tuple
        (left, comparison, right) of each comparison in the condition.
    logic : str
        How the clauses form the condition: "single", "and", "or" or "not".

    Notes
    -----
    ``state()`` is the exact bit pattern of all values carried from iteration to iteration. ``advance(n)`` runs up to
    n further iterations, stops when the condition is false, and returns how many were run.
    """

    pure: bool
    impure_nodes: list[str]
    state_names: list[str]
    trip_limit: int | None
    clauses: list[tuple[str, str, str]]
    logic: str

    def state(self) -> bytes: ...
    def values(self) -> Mapping[str, Any]: ...
    def clause_values(self) -> list[tuple[Any, str, Any]]: ...
    def cond(self) -> bool: ...
    def advance(self, n: int) -> int: ...
    def fork(self) -> SliceRunner: ...


class InnerRunner(SliceRunner, Protocol):
    """The slice of a loop with a path."""

    frame: tuple[str, ...]


@runtime_checkable
class HasInner(Protocol):
    """A runner that can return the slice of the inner loop in which it is.

    ``unseen`` names conditions of inner loops whose later iterations cannot be inferred from a few observed ones.
    """

    unseen: list[str]

    def inner(self) -> InnerRunner | None: ...


@runtime_checkable
class CanMove(Protocol):
    """A runner that can be moved to the next iteration with a given state; None if it cannot."""

    def moved_to(self, values: Mapping[str, Any]) -> SliceRunner | None: ...


@runtime_checkable
class HasColumns(Protocol):
    """A runner that can read the states of many iterations at once, as rows of bytes; None if it cannot."""

    def stretch(self, n: int) -> np.ndarray | None: ...
