"""States of a loop that are not numbers: strings and objects, kept as digests, which show repetition.

Two values are one state if they have the same digest, BLAKE2b of 8 bytes of their parts. The beginning of each state's
text is kept for display. States that return in the same order are a recurrence: among all p for which the newest p
values equal the p before them, its period is the one that has held for the longest time, found with the Z function of
the reversed record (Gusfield, Algorithms on Strings, Trees and Sequences, 1997, 1.4).
"""

from __future__ import annotations

import dataclasses
import hashlib
from array import array
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from workbench.text import harmless, printable

#: maximum characters of a state that are kept for display, and number of states for which they are kept
SHOWN, MOST_SHOWN = 80, 10_000
#: maximum depth of an object, and maximum number of its parts
MAX_DEPTH, MAX_PARTS = 32, 100_000
#: newest iterations in which a period is searched
NEWEST = 4_096
#: rounds of a period after which a loop is reported as repeating; a single state needs more
ROUNDS, STILL = 3, 6


class Repetition(NamedTuple):
    """``period`` iterations have repeated since iteration ``since``, counted from 1, ``rounds`` times."""

    period: int
    since: int
    rounds: int


class NoState(Exception):
    """Raised for an object without parts that can be compared."""


def digest(value: Any) -> int:
    """8 bytes that are equal for values of equal parts.

    Raises
    ------
    NoState
        For an object without comparable parts, and for one that is too deep or too large.

    >>> digest({"a": [1, "x"]}) == digest({"a": [1, "x"]}), digest("x") == digest(["x"])
    (True, False)
    """
    state = hashlib.blake2b(digest_size=8)
    for count, part in enumerate(_parts(value, 0)):
        if count > MAX_PARTS:
            raise NoState(f"it has more than {MAX_PARTS:,} parts")
        state.update(len(part).to_bytes(8, "little"))
        state.update(part)
    return int.from_bytes(state.digest(), "little")


def _parts(value: Any, depth: int) -> Iterator[bytes]:
    if depth > MAX_DEPTH:
        raise NoState(f"it is nested more than {MAX_DEPTH} deep")
    if isinstance(value, str):
        yield b"s" + value.encode("utf-8", "surrogatepass")
    elif isinstance(value, bytes | bytearray):
        yield b"b" + bytes(value)
    elif value is None or isinstance(value, bool | int | float | complex):
        yield b"n" + repr(value).encode()
    elif isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
        yield b"a" + str((value.dtype.str, value.shape)).encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, Mapping):
        yield b"m" + str(len(value)).encode()
        for key, item in value.items():
            yield from _parts(key, depth + 1)
            yield from _parts(item, depth + 1)
    elif isinstance(value, list | tuple):
        yield b"l" + str(len(value)).encode()
        for item in value:
            yield from _parts(item, depth + 1)
    elif isinstance(value, set | frozenset):
        yield b"u" + str(len(value)).encode()
        yield from sorted(b"".join(_parts(item, depth + 1)) for item in value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield b"d" + type(value).__qualname__.encode()
        for field in dataclasses.fields(value):
            yield from _parts(getattr(value, field.name), depth + 1)
    elif isinstance(getattr(value, "__dict__", None), dict) and not callable(value):
        yield b"o" + type(value).__qualname__.encode()
        yield from _parts(value.__dict__, depth + 1)
    else:
        raise NoState(f"it is a {type(value).__name__}, which has no parts that can be compared")


class StateRecord:
    """The states of one variable, oldest first. ``iterations`` and ``digests`` are arrays of the same length.

    Examples
    --------
    >>> with wb.watch("agent", show=False) as loop:
    ...     for k in range(12):
    ...         _ = loop(action=("search", "read", "search")[k % 3] if k > 3 else f"plan {k}")
    >>> loop.states["action"].repetition()
    Repetition(period=3, since=5, rounds=2)
    >>> loop.states["action"].at(6)
    'read'
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._iterations, self._digests = array("q"), array("Q")
        self._texts: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._digests)

    @property
    def iterations(self) -> np.ndarray:
        return np.frombuffer(self._iterations.tobytes(), np.int64)  # an array with an exported buffer cannot grow

    @property
    def digests(self) -> np.ndarray:
        return np.frombuffer(self._digests.tobytes(), np.uint64)

    @property
    def different(self) -> int:
        """Number of different states."""
        return len(set(self._digests))

    @property
    def setting(self) -> bool:
        """True if the state never changed."""
        return self.different < 2

    def add(self, iteration: int, value: Any) -> None:
        """Record the state of an iteration; NoState for a value that has none."""
        found = digest(value)
        if found not in self._texts and len(self._texts) < MOST_SHOWN:
            self._texts[found] = printable(value if isinstance(value, str) else repr(value)[: 4 * SHOWN], SHOWN)
        self._digests.append(found)  # first, as another thread may read in between
        self._iterations.append(iteration)

    def at(self, iteration: int) -> str:
        """The beginning of the state of an iteration, counted from 1; "" where it had none."""
        where = np.flatnonzero(self.iterations == iteration)
        return self._texts.get(self._digests[int(where[-1])], "...") if len(where) else ""

    def repetition(self) -> Repetition | None:
        """The pattern that the newest states have repeated for the longest time, at least twice; None without one.

        A pattern with enough rounds is preferred, as a repeated a, a, b may end with a, a.
        """
        newest = list(self._digests[-NEWEST:])[::-1]
        n, matched = len(newest), _matched(newest)
        spans = {p: matched[p] + p for p in range(1, n // 2 + 1) if matched[p] >= p}
        found = [(_often(p, span // p), span, -p) for p, span in spans.items()]
        if not found:
            return None
        p = -max(found)[2]
        every = self.digests
        others = np.flatnonzero(every[:-p] != every[p:])
        first = int(others[-1]) + 1 if len(others) else 0
        return Repetition(p, int(self._iterations[first]), (len(every) - first) // p)

    @property
    @harmless
    def stuck(self) -> str:
        """A sentence about a loop that repeats its states; empty if it does not, or not for long enough."""
        again = self.repetition()
        if again is None or self.setting or not _often(again.period, again.rounds):
            return ""
        if again.period == 1:
            return f"{self.name} is the same since iteration {again.since:,}: {self.at(again.since)}."
        shown = [self.at(int(i)) for i in self._iterations[len(self) - again.period :][:3]]
        more = ", ..." if again.period > 3 else "."
        return (
            f"{self.name} repeats every {again.period:,} iterations since iteration {again.since:,}, "
            f"{again.rounds:,} times: {', '.join(shown)}{more}"
        )

    @harmless
    def __str__(self) -> str:
        newest = self.at(self._iterations[-1])
        text = f"{self.name}: {len(self):,} states, {self.different:,} different, the newest {newest}. {self.stuck}"
        return text.rstrip()

    @harmless
    def __repr__(self) -> str:
        return f"<StateRecord {self.name!r}, {len(self)} states, {self.different} different>"


def _often(period: int, rounds: int) -> bool:
    return rounds >= (STILL if period == 1 else ROUNDS)


def _matched(values: list[int]) -> list[int]:
    """For each shift, the length of the common prefix with the shifted values (the Z function)."""
    n = len(values)
    found = [0] * n
    left = right = 0
    for k in range(1, n):
        length = min(right - k, found[k - left]) if k < right else 0
        while k + length < n and values[length] == values[k + length]:
            length += 1
        found[k] = length
        if k + length > right:
            left, right = k, k + length
    return found
