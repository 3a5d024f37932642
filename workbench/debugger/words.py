"""The words of a condition: numbers, names, texts in quotes and signs, of bounded length and number.

Only what can be seen is taken, and outside of quotes only ASCII: digits and letters of other scripts look like those.
"""

from __future__ import annotations

import re

from workbench.debugger.iterations import short_repr
from workbench.debugger.language import refuse

MAX_LENGTH, MAX_WORDS = 500, 160
_WORD = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<text>\"[^\"\\]*\"|'[^'\\]*')|(?P<mark>\*\*|//|<=|>=|==|!=|\.\.\.|[-+*/%<>()\[\],:]))",
    re.ASCII,  # digits of other scripts look like others, and letters like those of names
)


def words_of(text: str) -> list[tuple[str, str]]:
    """(kind, word) in order; SessionError (``bad-condition``) for what is no word, and for what is too long."""
    if not isinstance(text, str):
        raise refuse(short_repr(text), f"a text is expected, a {type(text).__name__} came")
    if len(text) > MAX_LENGTH:
        raise refuse(text, f"it is longer than {MAX_LENGTH} characters")
    odd = next((c for c in text if not c.isprintable() and c not in "\t\n\r"), "")
    if odd:
        raise refuse(text, f"it has the character U+{ord(odd):04X}, which cannot be seen")
    found: list[tuple[str, str]] = []
    at = 0
    while text[at:].strip(" \t\n\r"):
        match = _WORD.match(text, at)
        if match is None:
            raise refuse(text, f"{text[at:].strip()[:20]!r} is not understood")
        found.append((str(match.lastgroup), match[str(match.lastgroup)]))
        if len(found) > MAX_WORDS:
            raise refuse(text, f"it has more than {MAX_WORDS} words")
        at = match.end()
    return found


def number_of(word: str) -> int | float:
    """Whole numbers of 64 bits as such, all others as floats."""
    if word.isdigit() and len(word) < 19:
        return int(word)
    return float(word)
