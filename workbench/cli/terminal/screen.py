"""The terminal's screen: styled where the terminal can, plain text elsewhere. Every text from a graph is escaped."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from workbench.cli.output import clip, lines, plain, sparkline

#: style of words that mean something; never colour alone, the word says it too
STYLES = {"bad": "bold red", "good": "green", "quiet": "dim", "strong": "bold", "name": "cyan", "": ""}
_ASCII = str.maketrans("▁▂▃▄▅▆▇█…─│┐┤└├▼►·×›", "_.-:=+*#~-|++++v>.x>")


class Screen:
    """Prints lines and tables. NO_COLOR, dumb terminals and pipes get plain text; ASCII ones get ASCII."""

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
            width=None if tty else 160,
        )
        self.tty = tty and os.environ.get("TERM", "") != "dumb"
        self.ascii = not (getattr(self.file, "encoding", None) or "utf-8").lower().startswith("utf")

    def say(self, text: object = "", style: str = "") -> None:
        """One or more lines."""
        self.console.print(Text(self._fit(lines(text)), style=STYLES[style]))

    def pairs(self, *parts: tuple[object, str]) -> None:
        """One line of parts, each with its style."""
        line = Text()
        for text, style in parts:
            line.append(self._fit(plain(text)), style=STYLES[style])
        self.console.print(line)

    def table(self, header: Sequence[str], rows: Iterable[Sequence[object]], right: Sequence[str] = ()) -> None:
        """Aligned columns; those named in ``right`` are aligned to the right."""
        made = Table(box=None, pad_edge=False, show_header=any(header), header_style=STYLES["quiet"])
        for name in header:
            made.add_column(
                self._fit(name), justify="right" if name in right else "left", no_wrap=True, overflow="ellipsis"
            )
        for row in rows:
            made.add_row(*(Text(self._fit(clip(cell, 60))) for cell in row))
        self.console.print(made, soft_wrap=False)

    def spark(self, values: Any, width: int = 24) -> str:
        return self._fit(sparkline(values, width))

    def _fit(self, text: str) -> str:
        return text.translate(_ASCII).encode("ascii", "backslashreplace").decode() if self.ascii else text
