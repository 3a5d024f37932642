"""Source lines of equations."""

from __future__ import annotations

import linecache
import re
from typing import Any

from workbench.frontends.jax.library import function_place, user_frame
from workbench.ir.node import Source

#: JAX's description of a function: ``body at /home/me/newton.py:7``
PLACE = re.compile(r"^(?P<name>\S+) at (?P<file>.+):(?P<line>\d+)$")


def source_of(equation: Any, around: Source | None) -> Source | None:
    """File, line and text of the user's line of an equation; otherwise that of the call ``around``."""
    frame = user_frame(equation)
    if frame is None:
        return around
    return Source(frame.file_name, frame.start_line, linecache.getline(frame.file_name, frame.start_line).strip())


def place_of(equation: Any, around: Source | None) -> str:
    """The line of an equation or else of the call ``around`` for messages, ``newton.py:9``; "a line that JAX did not
    note" if neither has one.
    """
    source = source_of(equation, around)
    return "a line that JAX did not note" if source is None else source.place


def function_source(jaxpr: Any) -> Source | None:
    """The line where the function of a jaxpr is defined."""
    match = PLACE.match(function_place(jaxpr))
    if match is None:
        return None
    file, line = match["file"], int(match["line"])
    return Source(file, line, linecache.getline(file, line).strip())
