"""Buffers of UTF-8 strings: the places of the strings, then their bytes.

Java writes the number of strings n first, then n + 1 places; libnd4j writes the places alone. The first place is 0 and
the last one the end of the bytes, so that the two are told apart.
"""

from __future__ import annotations

import numpy as np

from workbench.errors import LoadError


def strings_of(raw: bytes, big: bool, what: str) -> np.ndarray:
    """The strings of a buffer as bytes, an array of objects; LoadError ``bad-tensor`` for any other buffer."""
    places = np.frombuffer(raw, ">i8" if big else "<i8", len(raw) // 8)
    for first, count in _forms(places):
        start = 8 * (first + count + 1)
        found = places[first : first + count + 1]
        if len(found) == count + 1 and found[0] == 0 and found[-1] == len(raw) - start and np.all(np.diff(found) >= 0):
            out = np.empty(count, object)
            ends = (found + start).tolist()
            out[:] = [raw[a:b] for a, b in zip(ends, ends[1:], strict=False)]
            return out
    raise LoadError(
        f"{what} holds {len(raw)} bytes, which are no strings as ND4J writes them.",
        slug="bad-tensor",
        fix="save the model again with the tool that wrote it.",
    )


def _forms(places: np.ndarray) -> list[tuple[int, int]]:
    """Index at which the places may begin, and of how many strings: behind their number, or at once."""
    found = []
    if len(places) > 1 and 0 < places[0] < len(places):
        found.append((1, int(places[0])))
    if len(places) > 1 and places[0] == 0:
        # the last place is the number of bytes behind it
        size = len(places) * 8
        for count in range(1, len(places)):
            if 0 <= places[count] and size - 8 * (count + 1) <= places[count] < size - 8 * (count + 1) + 8:
                found.append((0, count))
    return found[:8]
