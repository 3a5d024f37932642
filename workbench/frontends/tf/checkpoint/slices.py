"""Slices of a tensor: their text form in a graph, and the key under which a checkpoint keeps one.

``"10 20 0,5:-"`` means rows 0 to 4 and all columns of shape [10, 20]. A stored slice has the key::

    0 (number), name (text), rank (number), then start and length (signed numbers) of each dimension; length -1 is all

in a binary form that sorts as the values do: numbers as a length byte and big-endian bytes; strings with \\0 and \\xff
escaped, ended by \\0\\1; signed numbers as two's complement under a prefix of as many ones as they take bytes.

Sources: the documented formats of tensorflow/core/framework/tensor_slice.h, util/saved_tensor_slice_util.h and
lib/strings/ordered_code.h.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.errors import LoadError

#: (start, length) of each dimension; length None is the whole dimension
Extents = tuple[tuple[int, int | None], ...]


def parse_slice(text: str) -> tuple[tuple[int, ...], Extents] | None:
    """(shape of the whole tensor, extents) of a slice's text; None for the empty text, which is the whole tensor."""
    if not text:
        return None
    *dims, spec = text.split(" ")
    try:
        shape = tuple(int(d) for d in dims)
        extents = tuple(_extent(part) for part in spec.split(":"))
    except ValueError as error:
        raise _bad(text) from error
    fits = len(shape) == len(extents) and all(
        0 <= start and (length is None or 0 <= length <= size - start)
        for size, (start, length) in zip(shape, extents, strict=True)
    )
    if not fits:
        raise _bad(text)
    return shape, extents


def _extent(part: str) -> tuple[int, int | None]:
    if part == "-":
        return 0, None
    start, length = part.split(",")
    return int(start), int(length)


def _bad(text: str) -> LoadError:
    return LoadError(f"{text[:80]!r} describes no slice of a tensor.", slug="bad-checkpoint")


def slice_key(name: str, extents: Extents) -> bytes:
    """The key of a stored slice."""
    raw = name.encode().replace(b"\x00", b"\x00\xff")  # UTF-8 has no byte \xff
    parts = [_number(0), raw, b"\x00\x01", _number(len(extents))]
    for start, length in extents:
        parts += [_signed(start), _signed(-1 if length is None else length)]
    return b"".join(parts)


def _number(value: int) -> bytes:
    size = (value.bit_length() + 7) // 8
    return bytes((size,)) + value.to_bytes(size, "big")


def _signed(value: int) -> bytes:
    magnitude = ~value if value < 0 else value
    size = magnitude.bit_length() // 7 + 1
    if size > 10:
        raise LoadError(f"{value} is not a size of a slice.", slug="bad-checkpoint")
    raw = value & ((1 << 8 * size) - 1)
    # `size` leading ones, of which the first flips the sign bit so that negative numbers sort first
    prefix = ((1 << size) - 1) << (8 * size - size)
    return (raw ^ prefix).to_bytes(size, "big")


def places(shape: Sequence[int], extents: Extents) -> tuple[slice, ...]:
    """The extents as an index into an array of ``shape``."""
    if len(shape) != len(extents):
        raise LoadError(f"A slice has {len(extents)} dimensions, its tensor {len(shape)}.", slug="bad-checkpoint")
    found = []
    for size, (start, length) in zip(shape, extents, strict=True):
        stop = size if length is None else start + length
        if not 0 <= start <= stop <= size:
            raise LoadError(f"A slice takes {start} to {stop} of a dimension of {size}.", slug="bad-checkpoint")
        found.append(slice(start, stop))
    return tuple(found)
