"""NumPy-style indices as typed by users, of a tensor and of time: ``[0, :, 3]``, ``-1``, ``10:20``, ``1, :``.

A separate parser, because only whole numbers, slices and an ellipsis are allowed, in a bounded text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import EllipsisType

from workbench.errors import WorkbenchError
from workbench.widgets.text.labels import shorten

MAX_CHARS = 200
#: NumPy has no more axes
MAX_ITEMS = 64
_NUMBER = re.compile(r"[+-]?[0-9]{1,18}\Z")

Index = int | slice | EllipsisType
#: the part of an axis that an index selects: one position, or these
Picked = int | range


def _bad(words: str, what: str, fix: str) -> WorkbenchError:
    return WorkbenchError(f"{shorten(words, 40)!r} {what}", slug="bad-slice", fix=fix)


def parse_index(words: str) -> tuple[Index, ...]:
    """``"[0, :, 3]"`` (brackets may be left out) as a tuple of numbers, slices and at most one ellipsis; ``()`` for an
    empty text. Raises WorkbenchError (``bad-slice``) for anything else.
    """
    if len(words) > MAX_CHARS:
        raise _bad(words, f"has more than {MAX_CHARS} characters.", "write a shorter index.")
    inner = words.strip().replace("\u2212", "-")
    if inner[:1] in "[(" and inner[:1]:
        if inner[-1:] != {"[": "]", "(": ")"}[inner[0]]:
            raise _bad(words, "has a bracket that is not closed.", "write [0, :, 3].")
        inner = inner[1:-1].strip()
    if not inner:
        return ()
    parts = inner.removesuffix(",").split(",")
    if len(parts) > MAX_ITEMS:
        raise _bad(words, f"has more than {MAX_ITEMS} parts.", "write one per axis.")
    found = tuple(_part(words, part.strip()) for part in parts)
    if sum(part is ... for part in found) > 1:
        raise _bad(words, "has two ellipses.", "write ... once.")
    return found


def _part(words: str, part: str) -> Index:
    if part == "...":
        return ...
    if ":" not in part:
        return _whole(words, part)
    ends = part.split(":")
    if len(ends) > 3:
        raise _bad(words, "has a slice with more than three parts.", "write start:stop:step.")
    start, stop, step = (None if not e.strip() else _whole(words, e.strip()) for e in (*ends, "")[:3])
    if step == 0:
        raise _bad(words, "has a step of 0.", "write a step of 1 or more, or of -1 or less.")
    return slice(start, stop, step)


def _whole(words: str, part: str) -> int:
    if not _NUMBER.match(part):
        raise _bad(words, f"is not an index: {shorten(part, 20)!r} is not an integer.", "write [0, :, 3], -1 or 10:20.")
    return int(part)


def resolve(index: Sequence[Index], shape: Sequence[int]) -> list[Picked]:
    """For each axis of ``shape`` the position or positions that the index selects; raises WorkbenchError if it is out
    of range.
    """
    given = sum(part is not ... for part in index)
    if given > len(shape):
        raise WorkbenchError(
            f"The index has {given} parts, and the value {len(shape)} ax{'is' if len(shape) == 1 else 'es'}.",
            slug="bad-slice",
            fix="give at most one part per axis.",
        )
    parts: list[int | slice] = []
    for part in index:
        if isinstance(part, EllipsisType):
            parts += [slice(None)] * (len(shape) - given)
        else:
            parts.append(part)
    parts += [slice(None)] * (len(shape) - len(parts))
    found: list[Picked] = []
    for axis, (part, size) in enumerate(zip(parts, shape, strict=True)):
        if isinstance(part, slice):
            found.append(range(*part.indices(size)))
        elif -size <= part < size:
            found.append(part % size)
        else:
            raise WorkbenchError(
                f"Index {part} is out of range: axis {axis} has {size} element{'' if size == 1 else 's'}.",
                slug="bad-slice",
                fix=f"give a number from {-size} to {size - 1}." if size else "the axis is empty.",
            )
    return found


def as_key(picked: Sequence[Picked]) -> tuple[int | slice, ...]:
    """The index in NumPy's form, with slices instead of lists, so that nothing is copied."""
    return tuple(p if isinstance(p, int) else _slice(p) for p in picked)


def _slice(places: range) -> slice:
    stop = places.stop if places.step > 0 or places.stop >= 0 else None
    return slice(places.start, stop, places.step) if len(places) else slice(0, 0)


def index_text(index: Sequence[Index]) -> str:
    """``0, :, 3``: the index as it is written in code."""
    return ", ".join(_text(part) for part in index)


def _text(part: Index) -> str:
    if isinstance(part, EllipsisType):
        return "..."
    if isinstance(part, slice):
        ends = "" if part.start is None else str(part.start), "" if part.stop is None else str(part.stop)
        return ":".join(ends) + ("" if part.step is None else f":{part.step}")
    return str(part)
