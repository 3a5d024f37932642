"""Regular expressions of RE2, by RE2 itself: FullMatch, Replace and GlobalReplace as TensorFlow's ops call them.

Models may be untrusted, and Python's own matcher can need exponential time for a pattern of ten characters; RE2 takes
time linear in the text. Source: https://github.com/google/re2/blob/main/re2/re2.h.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from workbench.ops.rules import RuleError

#: maximum bytes written by the replacements of one evaluation
MOST_WRITTEN = 1 << 28
_MARK = re.compile(rb"\\(.?)", re.DOTALL)


class Room:
    """Number of bytes that may still be written, a limit for all strings together."""

    def __init__(self, left: int = MOST_WRITTEN) -> None:
        self.left = left

    def take(self, size: int) -> None:
        """Use up ``size`` bytes; RuleError ``too-large`` if fewer are left."""
        self.left -= size
        if self.left < 0:
            raise RuleError("too-large", "would make too much text of what it replaces.", "Give a shorter rewrite.")


class Regex:
    """A compiled pattern, for any number of strings. Texts are bytes; characters are those of UTF-8.

    >>> compiled(b"(a+)b").replace(b"aab ab b", rb"<\\1>", True)
    b'<aa> <a> b'
    """

    def __init__(self, pattern: bytes) -> None:
        import re2

        options = re2.Options()
        options.log_errors = False
        try:
            self._regex: Any = re2.compile(pattern, options)
        except re2.error as error:
            why = error.args[0] if error.args else b""
            reason = why.decode("utf-8", "backslashreplace") if isinstance(why, bytes) else str(why)
            raise RuleError(
                "bad-pattern",
                f"cannot read the pattern {pattern[:60]!r}: {reason[:100]}.",
                "Write it as https://github.com/google/re2/wiki/Syntax has it.",
            ) from None

    def fullmatch(self, text: bytes) -> bool:
        """True if the whole text matches."""
        return self._regex.fullmatch(text) is not None

    def replace(self, text: bytes, rewrite: bytes, every: bool, room: Room | None = None) -> bytes:
        """The text with its first match, or every match, replaced; ``\\1`` in ``rewrite`` is the text of a group.

        The text is unchanged if ``rewrite`` refers to a group that the pattern does not have, as in RE2.
        """
        parts, room = _parts(rewrite), room or Room()
        if any(isinstance(p, int) and p > self._regex.groups for p in parts):
            return text
        out: list[bytes] = []
        at, last = 0, -1
        while at <= len(text) and (found := self._regex.search(text, at)) is not None:
            begin, end = found.span()
            out.append(text[at:begin])
            if begin == end == last:  # no empty match at the end of the last one: advance by one character
                size = _size_of_character(text, begin)
                out.append(text[begin : begin + size])
                at = begin + size
                continue
            made = b"".join([(found[p] or b"") if isinstance(p, int) else p for p in parts])
            room.take(len(made))
            out.append(made)
            at = last = end
            if not every:
                break
        return b"".join([*out, text[at:]])


@functools.lru_cache(maxsize=64)
def compiled(pattern: bytes) -> Regex:
    """The compiled pattern, cached. Raises RuleError ``bad-pattern``."""
    return Regex(pattern)


def _size_of_character(text: bytes, at: int) -> int:
    """Number of bytes of the UTF-8 character at a position; 1 for an invalid byte, and at the end."""
    for size in (1, 2, 3, 4):
        try:
            if len(text[at : at + size].decode()) == 1:
                return size
        except UnicodeDecodeError:
            continue
    return 1


def _parts(rewrite: bytes) -> list[int | bytes]:
    """The parts of a rewrite: texts and group numbers."""
    out: list[int | bytes] = []
    at = 0
    for found in _MARK.finditer(rewrite):
        if not (found[1].isdigit() or found[1] == b"\\"):
            raise RuleError(
                "bad-pattern",
                f"cannot rewrite with {rewrite[:60]!r}: a backslash stands before a digit or another backslash.",
                "Write \\\\ for a backslash.",
            )
        out += [rewrite[at : found.start()], int(found[1]) if found[1].isdigit() else b"\\"]
        at = found.end()
    return [p for p in [*out, rewrite[at:]] if p != b""]
