"""The JavaScript of a small widget: what all of them share (``static/wire.js``, ``prelude.js``), then its own file."""

from __future__ import annotations

from functools import cache
from pathlib import Path

STATIC = Path(__file__).parent / "static"


@cache
def module(*names: str) -> str:
    """The ES module of these files of ``static/``, with the prelude's functions (``make``, ``tell``, ``follow`` ...) in
    scope; the last file is the one that exports."""
    return joined("wire.js", "prelude.js", *names)


@cache
def joined(*names: str) -> str:
    """Several files of ``static/`` as one text. A text and no path: anywidget watches a file for each widget that it
    belongs to, and the watch keeps the widget for ever."""
    return "".join((STATIC / name).read_text() for name in names)
