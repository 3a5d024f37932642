"""The terminal's screen: styled if the terminal supports it, otherwise plain text. All text from a graph is escaped."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

from rich.console import Console
from rich.text import Text

from workbench.cli import layout, pager
from workbench.cli.output import lines, sparkline
from workbench.text import printable

#: styles with a meaning; the words also express it, so colour is never the only sign
STYLES = {"bad": "bold red", "good": "green", "quiet": "dim", "strong": "bold", "name": "cyan", "": ""}
_ASCII = str.maketrans("▁▂▃▄▅▆▇█…─│┐┤└├▼►·×›", "_.-:=+*#~-|++++v>.x>")


class Screen:
    """Prints lines and tables, wrapped to the terminal; pipes and files get whole lines.

    NO_COLOR, dumb terminals and pipes get plain text; ASCII terminals get ASCII. If ``pages`` is True, long output goes
    through a pager, because a user reads it.
    """

    def __init__(self, file: TextIO | None = None) -> None:
        self.file = file or sys.stdout
        tty = self.file.isatty()
        self.console = Console(
            file=self.file,
            highlight=False,
            markup=False,
            emoji=False,
            soft_wrap=True,
            legacy_windows=False,
            color_system=None if os.environ.get("NO_COLOR") else "auto",
        )
        self.tty = tty and os.environ.get("TERM", "") != "dumb"
        self.pages = False
        self.ascii = not (getattr(self.file, "encoding", None) or "utf-8").lower().startswith("utf")

    @property
    def width(self) -> int | None:
        """Columns of the terminal; None if lines are not wrapped."""
        return layout.columns(self.file)

    @contextmanager
    def paged(self) -> Iterator[None]:
        """Show everything printed in a ``with`` block together, through the pager if it is longer than the screen."""
        if not self.pages:
            yield
            return
        captured = self.console.capture()
        captured.__enter__()
        try:
            yield
        finally:
            captured.__exit__(None, None, None)
            pager.show(captured.get(), self.file)

    def say(self, text: object = "", style: str = "") -> None:
        """Print one or more lines."""
        wrapped = layout.wrap(self._fit(lines(text)), self.width)
        self.console.print(Text(wrapped, style=STYLES[style]))

    def pairs(self, *parts: tuple[object, str]) -> None:
        """Print one line of (text, style) parts."""
        line = Text()
        for text, style in parts:
            line.append(self._fit(printable(text)), style=STYLES[style])
        self.console.print(_wrapped(line, self.width))

    def table(
        self,
        header: Sequence[str],
        rows: Iterable[Sequence[object]],
        right: Sequence[str] = (),
        optional: Sequence[str] = (),
        indent: str = "",
        most: int = layout.CELL,
    ) -> None:
        """Print aligned columns; those named in ``right`` are aligned to the right.

        If the terminal is too narrow, the columns named in ``optional`` are left out, in that order.
        """
        body = [[self._fit(layout.clip(cell, most)) for cell in row] for row in rows]
        head = [self._fit(name) for name in header] if any(header) else ()
        aligned = [number for number, name in enumerate(header) if name in right]
        spare = [list(header).index(name) for name in optional]
        text = layout.table(body, head, indent, width=self.width, right=aligned, optional=spare, most=most).rstrip("\n")
        first, newline, rest = text.partition("\n")
        self.console.print(Text(first, style=STYLES["quiet"] if head else "").append(newline + rest, style="not dim"))

    def spark(self, values: Any, width: int = 24) -> str:
        return self._fit(sparkline(values, width))

    def _fit(self, text: str) -> str:
        return text.translate(_ASCII).encode("ascii", "backslashreplace").decode() if self.ascii else text


def _wrapped(line: Text, width: int | None) -> Text:
    """A styled line, broken like :func:`~workbench.cli.layout.wrap` breaks it."""
    out, at = Text(), 0
    for number, piece in enumerate(layout.wrap(line.plain, width).split("\n")):
        words = piece.lstrip(" ") if number else piece
        at = line.plain.index(words, at)
        out.append(" " * (len(piece) - len(words)) if number else "").append_text(line[at : at + len(words)])
        at += len(words)
        out.append("\n")
    out.right_crop(1)
    return out
