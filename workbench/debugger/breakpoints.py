"""Breakpoints: on a node, in all or some iterations, when a condition on its value holds, after so many hits."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.debugger.predicate import Predicate
from workbench.errors import SessionError
from workbench.graph.node import Ref


@dataclass(slots=True)
class Breakpoint:
    """Stops in front of its node; with ``when``, right after the node fired and the condition held on its value.

    ``iteration`` is None or one number per enclosing frame (None in it for any). ``hits`` is the number of the hit
    to stop at. ``count`` counts hits so far. Internal ones serve a single command.
    """

    id: int
    ref: Ref
    iteration: tuple[int | None, ...] | None = None
    when: Predicate | None = None
    hits: int | None = None
    internal: bool = False
    count: int = 0

    def matches(self, iteration: tuple[int, ...]) -> bool:
        """Whether a firing with this iteration path is meant."""
        if self.iteration is None:
            return True
        return len(self.iteration) == len(iteration) and all(
            want is None or want == is_ for want, is_ in zip(self.iteration, iteration, strict=True)
        )

    def __str__(self) -> str:
        parts = [str(self.ref)]
        if self.iteration is not None:
            parts.append(f"iteration {', '.join('any' if i is None else str(i) for i in self.iteration)}")
        if self.when is not None:
            parts.append(f"when {self.when.text}")
        if self.hits is not None:
            parts.append(f"at hit {self.hits}")
        return ", ".join(parts)


def as_path(iteration: Any) -> tuple[int | None, ...] | None:
    """One number, or one per frame, NumPy's integers included."""
    if iteration is None:
        return None
    try:
        items = tuple(iteration) if isinstance(iteration, (tuple, list, np.ndarray)) else (iteration,)
        return tuple(None if i is None else operator.index(i) for i in items)
    except TypeError:
        raise SessionError(
            f"{iteration!r} is no iteration.",
            slug="bad-iteration",
            fix="give one number from 0 on per enclosing frame.",
        ) from None


class Breakpoints:
    """The breakpoints of a session. ``resolve`` turns a user's name into a value of the run and its frame depth."""

    def __init__(self, resolve: Callable[[str], tuple[Ref, int]], changed: Callable[[], None]) -> None:
        self._resolve, self._changed = resolve, changed
        self._ids = itertools.count(1)
        self._table: dict[int, Breakpoint] = {}

    def add(
        self, name: str, iteration: int | tuple[int | None, ...] | None = None, when: str | None = None,
        hits: int | None = None, *, internal: bool = False,
    ) -> int:  # fmt: skip
        """Add one and return its number. Raises SessionError for a bad iteration or condition, TraceError for a bad
        name."""
        ref, depth = self._resolve(name)
        path = as_path(iteration)
        if path is not None:
            if len(path) < depth:  # the innermost frames are meant: x at iteration 7 of whatever loop it is in
                path = (None,) * (depth - len(path)) + path
            if len(path) != depth or any(i is not None and i < 0 for i in path):
                raise SessionError(
                    f"{name!r} lives in {depth} frames; {iteration!r} is no iteration of it.", slug="bad-iteration",
                    fix="give one number from 0 on per enclosing frame.",
                )  # fmt: skip
        if hits is not None and hits < 1:
            raise SessionError(f"hits counts from 1; {hits} came.", slug="bad-hits")
        predicate = None if when is None else Predicate(when)
        point = Breakpoint(next(self._ids), ref, path, predicate, hits, internal)
        self._table[point.id] = point
        self._changed()
        return point.id

    def remove(self, number: int) -> None:
        """Remove one by its number; SessionError if there is none."""
        if self._table.pop(number, None) is None:
            raise SessionError(f"There is no breakpoint {number}.", slug="no-such-breakpoint")
        self._changed()

    def clear(self) -> None:
        """Remove all."""
        self._table.clear()
        self._changed()

    def at(self, node: str) -> list[Breakpoint]:
        return [p for p in list(self._table.values()) if p.ref.node == node]

    def nodes(self) -> set[str]:
        return {p.ref.node for p in list(self._table.values())}

    def __iter__(self) -> Iterator[Breakpoint]:
        return iter([p for p in list(self._table.values()) if not p.internal])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __getitem__(self, number: int) -> Breakpoint:
        return self._table[number]
