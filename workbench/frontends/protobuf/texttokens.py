"""Tokens of the protobuf text format, one at a time, each with its position for errors.

Source: https://protobuf.dev/reference/protobuf/textformat-spec/#characters.
"""

from __future__ import annotations

import re

from workbench.errors import LoadError

#: Maximum length of a text; larger graphs should be in the binary form, which is read ten times as fast.
MAX_TEXT = 1 << 28

# Possessive (++ and *+): a token can be read in one way only, so no state is kept for backtracking.
_SKIP = re.compile(r"(?:[ \t\n\v\f\r]++|#[^\n]*+)*+")
_TOKEN = re.compile(
    r"""(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<text>"(?:[^"\\\n]++|\\[^\n])*+" | '(?:[^'\\\n]++|\\[^\n])*+')
    | (?P<float>(?:(?:0|[1-9][0-9]*)\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fF]?(?![A-Za-z0-9_.])
        | (?:0|[1-9][0-9]*)(?:[eE][+-]?[0-9]+[fF]?|[fF])(?![A-Za-z0-9_.]))
    | (?P<int>(?:0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)(?![A-Za-z0-9_.]))
    | (?P<mark>[{}<>\[\]:,;/.-])""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.?))", re.DOTALL)
_SIMPLE = dict(zip("abfnrtv?\\'\"", b"\a\b\f\n\r\t\v?\\'\"", strict=True))
_END = "the end of the input"


class TextError(LoadError):
    """Text that is not a protobuf message of the expected kind.

    ``line`` and ``column`` count from 1. The slug is ``truncated`` where the input ends inside a message or a string,
    otherwise ``malformed``, ``too-deep`` or ``too-large``.
    """

    slug = "malformed"

    def __init__(self, message: str, *, line: int, column: int, slug: str | None = None) -> None:
        self.line, self.column = line, column
        super().__init__(f"{message} (line {line}, column {column}).", slug=slug)


class Tokens:
    """The current token of a text: ``kind`` is name, text, float, int or mark; ``token`` is "" at the end."""

    def __init__(self, text: str | bytes) -> None:
        if len(text) > MAX_TEXT:
            raise TextError(
                f"The text has {len(text):,} characters; at most {MAX_TEXT:,} are read",
                line=1,
                column=1,
                slug="too-large",
            )
        if isinstance(text, bytes):
            text = _decoded(text)
        elif not text.isascii():
            _decoded(text.encode("utf-8", "surrogatepass"))  # a str may contain lone surrogates
        self.source = text.removeprefix("\ufeff")
        self.kind = self.token = ""
        self.at = self.end = 0

    def next(self) -> None:
        """Move on: ``token`` is the text of the next token, ``""`` at the end; ``kind`` is its group's name."""
        self.at = _SKIP.match(self.source, self.end).end()  # type: ignore[union-attr]  # it always matches
        match = _TOKEN.match(self.source, self.at)
        if match is not None:
            self.kind, self.token, self.end = match.lastgroup or "", match.group(), match.end()
        elif self.at == len(self.source):
            self.kind = self.token = ""
        else:
            raise self._no_token()

    def at_mark(self, *marks: str) -> bool:
        return self.kind == "mark" and self.token in marks

    def take(self, token: str) -> bool:
        """Move past a punctuation mark if it comes next."""
        found = self.at_mark(token)
        if found:
            self.next()
        return found

    def shown(self) -> str:
        return clipped(self.token) if self.token else _END

    def error(self, message: str, slug: str | None = None) -> TextError:
        before = self.source[: self.at]
        line, column = before.count("\n") + 1, self.at - before.rfind("\n")
        return TextError(message, line=line, column=column, slug=slug or (None if self.token else "truncated"))

    def _no_token(self) -> TextError:
        first = self.token = self.source[self.at]
        if first in "\"'":
            at_end = "\n" not in self.source[self.at :]
            return self.error("A string is not closed on its line", "truncated" if at_end else None)
        return self.error(
            "This is not a number" if first.isascii() and first.isdigit() else f"{first!r} begins nothing"
        )

    def unescaped(self, body: str) -> bytes:
        """The bytes of a string literal, from the text between its quotes."""
        out, position = [], 0
        for match in _ESCAPE.finditer(body):
            out.append(body[position : match.start()].encode())
            position = match.end()
            octal, hexa, short, long, simple = match.groups()
            if octal is not None or hexa is not None:
                value = int(octal, 8) if octal else int(hexa, 16)
            elif simple is not None:
                value = _SIMPLE.get(simple, 256)
            else:
                point = int(short or long, 16)
                if point > 0x10FFFF or 0xD800 <= point < 0xE000:
                    raise self.error(f"{match.group()!r} names no character")
                out.append(chr(point).encode())
                continue
            if value > 255:
                raise self.error(f"{match.group()!r} is not an escape of a string")
            out.append(bytes((value,)))
        out.append(body[position:].encode())
        return b"".join(out)


def clipped(text: str) -> str:
    """A token as shown in messages, shortened because a hostile token may be as long as the file."""
    return repr(text if len(text) <= 40 else text[:40] + "...")


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        before = raw[: error.start]
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        raise TextError("The text is not UTF-8", line=line, column=column) from None
