"""The JavaScript of a small widget: what all of them share (``static/prelude.js``), then its own file."""

from __future__ import annotations

from functools import cache
from pathlib import Path

STATIC = Path(__file__).parent / "static"


@cache
def module(name: str) -> str:
    """The ES module of ``static/<name>`` with the prelude's functions (``make``, ``icon``, ``chord`` ...) in scope."""
    return (STATIC / "prelude.js").read_text() + (STATIC / name).read_text()


@cache
def styles(*names: str) -> str:
    """Several files of ``static/`` as one style sheet."""
    return "".join((STATIC / name).read_text() for name in names)
