"""Lays out text for the columns of a terminal: wraps at words, aligns tables. Output to a pipe is not wrapped."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from workbench.text import printable

#: maximum characters of one cell of a table
CELL = 72
#: minimum width: narrower terminals do not squeeze text further
NARROWEST = 20
#: minimum width of a table's column when others need room
_KEPT = 10


def columns(stream: Any) -> int | None:
    """Width of the terminal behind a stream; None for pipes and files, whose lines are not wrapped.

    The environment variable COLUMNS takes precedence, as in other programs.
    """
    try:
        if not stream.isatty():
            return None
    except (AttributeError, ValueError):
        return None
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and 0 < int(given[:9]):
        return max(int(given[:9]), NARROWEST)
    try:
        found = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError, AttributeError):
        found = 0
    return max(found, NARROWEST) if found else 80


def cells(text: str) -> int:
    """Columns that a text occupies on a terminal: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def clip(text: object, width: int = CELL) -> str:
    """A plain text of at most ``width`` characters; the middle of a longer one is left out."""
    shown = printable(text)
    if len(shown) <= width:
        return shown
    tail = (width - 1) // 2
    return f"{shown[: width - 1 - tail]}…{shown[len(shown) - tail :]}"


def wrap(text: str, width: int | None) -> str:
    """Lines of at most ``width`` columns, broken between words; continuation lines are indented.

    A word longer than a line is broken after a slash, or anywhere. If ``width`` is None, lines are not broken.

    >>> print(wrap("  x = 1.5  <- multiply(add, 0.5)", 20))
      x = 1.5  <-
        multiply(add,
        0.5)
    """
    if width is None:
        return text
    return "\n".join(piece for line in text.split("\n") for piece in _wrapped(line, max(width, NARROWEST)))


def _wrapped(line: str, width: int) -> list[str]:
    if cells(line) <= width:
        return [line]
    indent = min(len(line) - len(line.lstrip(" ")), width // 2)
    hanging = " " * (indent + 2)
    out, now = [], " " * indent
    for space, word in re.findall(r"(\s*)(\S+)", line.strip()):
        if now.strip() and cells(now) + cells(space) + cells(word) <= width:
            now += space + word
            continue
        if now.strip():
            out.append(now)
            now = hanging
        for piece in _pieces(word, width - len(hanging)):
            if now.strip():
                out.append(now)
                now = hanging
            now += piece
    return [*out, now]


def _pieces(word: str, room: int) -> list[str]:
    """A word split into pieces of at most ``room`` columns."""
    out = []
    while cells(word) > room:
        end = next(i for i in range(len(word), 0, -1) if cells(word[:i]) <= room or i == 1)
        slash = word.rfind("/", room // 3, end)
        end = slash + 1 if slash > 0 else end
        out.append(word[:end])
        word = word[end:]
    return [*out, word]


def table(
    rows: Iterable[Sequence[object]],
    header: Sequence[str] = (),
    indent: str = "",
    *,
    width: int | None = None,
    right: Sequence[int] = (),
    optional: Sequence[int] = (),
    most: int = CELL,
) -> str:
    """Rows as aligned columns; each line ends with a newline.

    Parameters
    ----------
    rows, header:
        Cells; a column whose cells are all empty takes no room.
    width:
        Columns of the terminal. If these are too few, the columns in ``optional`` are left out in that order, then the
        widest columns are wrapped.
    right:
        Indices of the columns that are aligned to the right.
    most:
        Maximum characters of a cell; longer cells lose their middle.
    """
    body = [[clip(c, most) for c in row] for row in rows]
    if header:
        body.insert(0, list(header))
    if not body:
        return ""
    count = max(map(len, body))
    body = [[*row, *[""] * (count - len(row))] for row in body]
    widths = [max(cells(row[i]) for row in body) for i in range(count)]
    shown = list(range(count))
    if width is not None:
        room = max(width, NARROWEST) - len(indent)
        for column in optional:
            if _total(widths, shown) > room:
                shown.remove(column)
        while _total(widths, shown) > room and max(widths[i] for i in shown) > _KEPT:
            widest = max(shown, key=lambda i: widths[i])
            widths[widest] -= 1
    return "".join(indent + line + "\n" for row in body for line in _row(row, shown, widths, right))


def _total(widths: Sequence[int], shown: Sequence[int]) -> int:
    return sum(widths[i] for i in shown) + 2 * (len(shown) - 1)


def _row(row: Sequence[str], shown: Sequence[int], widths: Sequence[int], right: Sequence[int]) -> list[str]:
    """The lines of a row with its wrapped cells."""
    columns_ = {i: [row[i]] if cells(row[i]) <= widths[i] else _cell(row[i], widths[i]) for i in shown}
    lines = []
    for k in range(max(map(len, columns_.values()))):
        parts = []
        for i in shown:
            text = columns_[i][k] if k < len(columns_[i]) else ""
            pad = " " * (widths[i] - cells(text))
            parts.append(pad + text if i in right else text + pad)
        lines.append("  ".join(parts).rstrip())
    return lines


def _cell(text: str, width: int) -> list[str]:
    """The lines of a wrapped cell."""
    out, now = [], ""
    for word in text.split():
        if now and cells(now) + 1 + cells(word) <= width:
            now += " " + word
            continue
        if now:
            out.append(now)
        *whole, now = _pieces(word, width)
        out += whole
    return [*out, now]
