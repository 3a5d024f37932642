"""Parses the arguments of a line: names, iterations, slices of arrays and ranges of iterations."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.errors import SessionError

#: maximum characters of a line
MAX_LINE = 100_000
_INDEX = re.compile(r"^(?P<name>.+?)\[(?P<inside>[0-9:,.\s-]*)\]$", re.DOTALL)
_SPAN = re.compile(r"^(-?\d{0,18}):(-?\d{0,18})(?::(\d{1,18}))?$")


def split(line: str) -> list[str]:
    """The words of a line; names with spaces are quoted. Raises SessionError for an unclosed quote."""
    if len(line) > MAX_LINE:
        raise SessionError(f"The line has {len(line):,} characters.", slug="too-long", fix=f"use at most {MAX_LINE:,}.")
    lexer = shlex.shlex(line, posix=True, punctuation_chars="")
    lexer.whitespace_split, lexer.commenters = True, ""
    lexer.escape = ""  # a backslash is an ordinary character of names
    try:
        return list(lexer)
    except ValueError:
        raise SessionError("A quote is not closed.", slug="bad-line", fix="close it, or leave it out.") from None


def condition(line: str) -> tuple[str, str | None]:
    """(line without its condition, condition); the condition follows ``if`` or ``when`` outside quotes."""
    quote = ""
    for match in re.finditer(r"[\"']|\s(?:if|when)\s", line):
        found = match[0]
        if found in "\"'":
            quote = "" if quote == found else quote or found
        elif not quote:
            return line[: match.start()], line[match.end() :].strip()
    return line, None


def iteration(text: str) -> tuple[int, ...]:
    """``7`` or ``2,5``, outermost loop first."""
    try:
        path = tuple(int(part) for part in text.split(",")) if len(text) < 4000 else (-1,)
    except ValueError:
        path = (-1,)
    if min(path) < 0:
        raise SessionError(
            f"{text[:60]!r} is not an iteration.",
            slug="bad-iteration",
            fix="give one number (0 or more), or one per enclosing loop: 2,5.",
        )
    return path


def span(text: str) -> tuple[int | None, int | None, int] | None:
    """``10:20``, ``:``, ``-5:`` or ``0:100:10`` as (start, stop, step); None for other text."""
    match = _SPAN.match(text.strip())
    if match is None:
        return None
    first, last = (None if part in ("", "-") else int(part) for part in match.group(1, 2))
    return first, last, max(1, int(match[3] or 1))


def indexed(word: str, known: Callable[[str], bool]) -> tuple[str, tuple[Any, ...] | None]:
    """``x[0, :3]`` as a name and an index for a NumPy array; a known name that contains brackets is not split."""
    match = None if known(word) else _INDEX.match(word)
    if match is None:
        return word, None
    parts = [part.strip() for part in match["inside"].split(",") if part.strip()]
    index: list[Any] = []
    for part in parts[:65]:
        if part == "...":
            index.append(Ellipsis)
        elif re.fullmatch(r"-?\d{1,18}", part):
            index.append(int(part))
        elif re.fullmatch(r"(-?\d{1,18})?:(-?\d{1,18})?(:(-?\d{1,18})?)?", part):
            index.append(slice(*(int(p) if p else None for p in part.split(":"))))
        else:
            raise SessionError(f"{part[:40]!r} is not an index.", slug="bad-index", fix="write for example x[0, :3].")
    if len(index) > 64 or index.count(Ellipsis) > 1:
        raise SessionError("The index has too many parts.", slug="bad-index", fix="give one part per dimension.")
    return match["name"], tuple(index)


def part_of(name: str, value: Any, index: tuple[Any, ...] | None) -> Any:
    """``value[index]``; the whole value without an index. SessionError if the index does not fit its shape."""
    if index is None:
        return value
    array = np.asarray(value)
    try:
        return array[index]
    except (IndexError, ValueError) as error:
        shape = "a single number" if array.ndim == 0 else f"of shape {array.shape}"
        raise SessionError(
            f"{name!r} is {shape}: {error}.",
            slug="bad-index",
            fix=f"print {name} shows all of it." if array.ndim == 0 else "give at most one part per dimension.",
        ) from None


def number(text: str, what: str) -> float:
    """A finite number, at least 0."""
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if 0 <= found < float("inf"):
        return found
    raise SessionError(f"{text[:40]!r} is not {what}.", slug="bad-number", fix="write a number such as 1e-6.")
