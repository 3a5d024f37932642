"""Buffers of UTF-8 strings: the offsets of the strings, then their bytes; or each string preceded by its length.

Java writes the number of strings n first, then n + 1 offsets; libnd4j writes only the offsets. The first offset is 0
and the last one the end of the bytes, which distinguishes the two forms. libnd4j writes its offsets in the byte order
of the processor, even if the array is declared big-endian. Java's own streams write a length before each string. A form
is accepted only if it consumes the whole buffer. Source: Utf8Buffer and BaseDataBuffer of ND4J, FlatUtils of libnd4j.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workbench.errors import LoadError

#: sizes in bytes of a string's length
_LENGTHS = (2, 4, 8)


def strings_of(raw: bytes, big: bool, what: str, count: int) -> np.ndarray:
    """The strings of a buffer as an array of bytes objects; LoadError ``bad-tensor`` for any other buffer. ``count`` is
    the number of elements in the array's shape; a view may have fewer than the buffer.
    """
    other: list[bytes] | None = None
    for strings in _readings(raw, big, count):
        if len(strings) == count:
            return _array(strings)
        other = strings if other is None else other
    if other is not None:
        return _array(other)
    raise LoadError(
        f"{what} holds {len(raw)} bytes, which are no strings as ND4J writes them.",
        slug="bad-tensor",
        fix="save the model again with the tool that wrote it.",
    )


def _array(strings: list[bytes]) -> np.ndarray:
    out = np.empty(len(strings), object)
    out[:] = strings
    return out


def _readings(raw: bytes, big: bool, count: int) -> Iterator[list[bytes]]:
    """The possible readings of a buffer, the likeliest first."""
    orders = (">", "<") if big else ("<", ">")
    for order in orders:
        places = np.frombuffer(raw, f"{order}i8", len(raw) // 8)
        for first, n in _forms(places):
            start, listed = 8 * (first + n + 1), places[first : first + n + 1]
            if len(listed) != n + 1 or listed[0] != 0 or listed[-1] != len(raw) - start or np.any(np.diff(listed) < 0):
                continue
            ends = (listed + start).tolist()
            yield [raw[a:b] for a, b in zip(ends, ends[1:], strict=False)]
    for order in orders:
        for width in _LENGTHS:
            found = _prefixed(raw, "big" if order == ">" else "little", width, count)
            if found is not None:
                yield found


def _forms(places: np.ndarray) -> list[tuple[int, int]]:
    """(index at which the offsets may begin, number of strings): after the number of strings, or at 0."""
    found = []
    if len(places) > 1 and 0 < places[0] < len(places):
        found.append((1, int(places[0])))
    if len(places) > 1 and places[0] == 0:
        # the last offset is the number of bytes after it
        left = len(places) * 8 - 8 * np.arange(2, len(places) + 1)
        fits = np.flatnonzero((places[1:] >= left) & (places[1:] < left + 8))
        found += [(0, int(n) + 1) for n in fits[:8]]
    return found[:8]


def _prefixed(raw: bytes, order: str, width: int, count: int) -> list[bytes] | None:
    """``count`` strings, each preceded by a length of ``width`` bytes, if they end with the buffer."""
    if not 0 < count * width <= len(raw):
        return None
    strings, at = [], 0
    for _ in range(count):
        size = int.from_bytes(raw[at : at + width], "big" if order == "big" else "little")
        at += width + size
        if at > len(raw):
            return None
        strings.append(raw[at - size : at])
    return strings if at == len(raw) else None
