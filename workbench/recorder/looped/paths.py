"""The path of each token through the loops, in numbers."""

from __future__ import annotations

from functools import cached_property

import numpy as np


class TokenPaths:
    """The states of all tokens, and quantities derived from them.

    ``states`` has the shape (loops + 1, tokens, features), or (loops, tokens, features) with ``begins`` 1 if the state
    before the first loop is unknown. A tensor of up to three dimensions has its features last, any other has one token
    for each item of the batch. All arithmetic is in float64; ``eps`` is the rounding of the model's dtype.
    """

    def __init__(self, states: list[np.ndarray], eps: float, begins: int = 0) -> None:
        shape = states[0].shape
        rows = (1, -1) if len(shape) < 2 else (-1, shape[-1]) if len(shape) <= 3 else (shape[0], -1)
        self.shape, self.eps, self.begins = shape, eps, begins
        self.states = np.stack([np.asarray(s, np.float64).reshape(rows) for s in states])

    @property
    def tokens(self) -> int:
        return int(self.states.shape[1])

    @property
    def loops(self) -> int:
        return len(self.states) - 1 + self.begins

    def index(self, loop: int) -> int:
        """The index in ``states`` of the state after a loop, counted from 1; loop 0 is before the first."""
        return loop - self.begins

    @cached_property
    def finite(self) -> np.ndarray:
        """(states, tokens): True where all numbers of a state are finite."""
        return np.asarray(np.isfinite(self.states).all(axis=-1))

    @cached_property
    def norms(self) -> np.ndarray:
        """(states, tokens): the 2-norm of each state."""
        return length(self.states)

    @cached_property
    def steps(self) -> np.ndarray:
        """(states - 1, tokens): the distance from each state to the next."""
        with np.errstate(all="ignore"):
            return length(np.diff(self.states, axis=0))

    @cached_property
    def to_end(self) -> np.ndarray:
        """(states, tokens): the distance from each state to the last one."""
        with np.errstate(all="ignore"):
            return length(self.states - self.states[-1])

    @cached_property
    def cosines(self) -> np.ndarray:
        """(states - 1, tokens): the cosine between each state and the next."""
        return cosine(self.states[:-1], self.states[1:])

    @cached_property
    def cosines_to_end(self) -> np.ndarray:
        """(states, tokens): the cosine between each state and the last one."""
        return cosine(self.states, self.states[-1:])

    @cached_property
    def turns(self) -> np.ndarray:
        """(states - 2, tokens): the cosine between each step and the next: 1 straight on, -1 back."""
        with np.errstate(all="ignore"):
            moved = np.diff(self.states, axis=0)
        return cosine(moved[:-1], moved[1:])

    def returned(self, period: int) -> np.ndarray:
        """(states - period, tokens): the distance from each state to the one ``period`` loops before."""
        with np.errstate(all="ignore"):
            return length(self.states[period:] - self.states[:-period])

    def token(self, number: int) -> str:
        """A token for display: its number, in a batch of several preceded by that of the sequence."""
        if len(self.shape) == 3 and self.shape[0] > 1:
            return f"{number // self.shape[1]}:{number % self.shape[1]}"
        return str(number)


def length(vectors: np.ndarray) -> np.ndarray:
    """2-norms along the last axis, also of values whose squares overflow."""
    with np.errstate(all="ignore"):
        size = np.abs(vectors).max(axis=-1, initial=0.0)
        unit = np.where((size > 0) & np.isfinite(size), size, 1.0)
        found = np.sqrt(((vectors / unit[..., None]) ** 2).sum(axis=-1)) * unit
    return np.asarray(found)


def cosine(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cosines along the last axis; NaN where a vector is zero or not finite."""
    la, lb = length(a), length(b)
    with np.errstate(all="ignore"):
        return np.asarray(np.clip(((a / la[..., None]) * (b / lb[..., None])).sum(axis=-1), -1.0, 1.0))
