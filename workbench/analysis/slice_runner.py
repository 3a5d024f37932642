"""What the white box asks of an executor: the slice of a loop's predicate, run alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np


class SliceTimeout(Exception):
    """An iteration of the slice takes too long to be run ahead; an inner loop may hang."""


@runtime_checkable
class SliceRunner(Protocol):
    """The backward slice of a loop's predicate, standing at one evaluation of it.

    ``trip_limit`` is the loop's largest total number of body executions, enforced outside the slice, or None.
    ``state`` is the exact bit pattern of *all* that the slice carries from iteration to iteration; ``advance(n)`` runs
    up to n further iterations of the slice, stops where the predicate is false and returns how many were run.
    A slice that reads anything else (a random draw, a stack, the iteration's number) is not ``pure``.
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
    """A runner that can be asked for the loop inside in which it stands.

    ``unseen`` names conditions of loops inside of which a look at some iterations says nothing about later ones.
    """

    unseen: list[str]

    def inner(self) -> InnerRunner | None: ...


@runtime_checkable
class HasColumns(Protocol):
    """A runner that can read the states of many iterations at once, as rows of bytes; None where it cannot."""

    def stretch(self, n: int) -> np.ndarray | None: ...
