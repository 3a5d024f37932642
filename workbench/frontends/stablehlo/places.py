"""Source lines and names from the locations of MLIR."""

from __future__ import annotations

import linecache
import re
from collections.abc import Sequence
from typing import Any

from workbench.ir.node import Source

#: ``"newton.py":7:2``, the innermost place of a location
_PLACE = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+):\d+')
_NAME = re.compile(r'^loc\("((?:[^"\\]|\\.)*)"(?!:\d)')
#: a name of the user's code, ``state[0].x``; JAX also names locations after operations, "while:"
_OF_CODE = re.compile(r"^[A-Za-z_][\w.\[\]'\"]*$")


class SourcePlaces:
    """The locations of one program; the parser calls the program's own file "-"."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self._lines = text.splitlines()

    def source(self, operation: Any, around: Source | None) -> Source | None:
        match = _PLACE.search(str(operation.location))
        if match is None:
            return around
        file, line = match[1], int(match[2])
        if file != "-":
            return Source(file, line, linecache.getline(file, line).strip())
        shown = self._lines[line - 1].strip()[:200] if 0 < line <= len(self._lines) else ""
        return Source(self.name, line, shown)

    def place(self, operation: Any) -> str:
        """The place of an operation for messages, ``newton.mlir:7``."""
        source = self.source(operation, None)
        return "a line that the program does not note" if source is None else source.place


def names_of(arguments: Sequence[Any], stem: str) -> list[str]:
    """Names of the arguments of a function or a loop body: those of their locations, else ``stem`` and a number."""
    found = []
    for k, argument in enumerate(arguments):
        match = _NAME.match(str(argument.location))
        found.append(match[1] if match and _OF_CODE.match(match[1]) else f"{stem}{k}")
    return found
