"""Splits a condition into tokens: numbers, names, quoted strings and signs, of bounded length and number.

Only printable characters are accepted, and outside quotes only ASCII, because letters of other scripts can look the
same.
"""

from __future__ import annotations

import re

from workbench.debugger.conditions.grammar import refuse
from workbench.debugger.iteration_path import short_repr

MAX_LENGTH, MAX_TOKENS = 500, 160
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<text>\"[^\"\\]*\"|'[^'\\]*')|(?P<mark>\*\*|//|<=|>=|==|!=|\.\.\.|[-+*/%<>()\[\],:]))",
    re.ASCII,  # digits and letters of other scripts can look the same
)


def tokenize(text: str, what: str = "condition") -> list[tuple[str, str]]:
    """(kind, token) in order; SessionError (``bad-condition``) for any other character, and for long strings."""
    if not isinstance(text, str):
        raise refuse(short_repr(text), f"expected a text, got a {type(text).__name__}", what)
    if len(text) > MAX_LENGTH:
        raise refuse(text, f"it is longer than {MAX_LENGTH} characters", what)
    odd = next((c for c in text if not c.isprintable() and c not in "\t\n\r"), "")
    if odd:
        raise refuse(text, f"it has the character U+{ord(odd):04X}, which is not printable", what)
    found: list[tuple[str, str]] = []
    at = 0
    while text[at:].strip(" \t\n\r"):
        match = _TOKEN.match(text, at)
        if match is None:
            raise refuse(text, f"{text[at:].strip()[:20]!r} is not understood", what)
        found.append((str(match.lastgroup), match[str(match.lastgroup)]))
        if len(found) > MAX_TOKENS:
            raise refuse(text, f"it has more than {MAX_TOKENS} words", what)
        at = match.end()
    return found


def number_of(word: str) -> int | float:
    """The number that a token denotes: an int if it fits into 64 bits, else a float."""
    if word.isdigit() and len(word) < 19:
        return int(word)
    return float(word)
