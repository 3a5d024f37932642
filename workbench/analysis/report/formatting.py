"""Text of reports: escaped names, numbers, counts, and wrapped lines.

A name may come from a hostile file. In text, its control characters, terminal escapes and direction marks are written
out (``\\x1b``, ``\\u202e``); HTML escapes the rest when it is written.
"""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from workbench.analysis.text import count as count
from workbench.analysis.text import listed as listed
from workbench.text import number, printable

#: maximum length of a name in a report
NAME = 48


def clean(text: Any, limit: int | None = NAME) -> str:
    """A name for a report: :func:`~workbench.text.printable`, and shortened."""
    return printable(text, limit)


def sentence(text: Any, limit: int = 600) -> str:
    """A sentence from another part of the analysis, with the names in it made harmless."""
    return clean(" ".join(str(text).split("\n")), limit)


def num(value: Any, digits: int = 6) -> str:
    """A number for a report, grouped by thousands; above 10**12 with ``digits`` significant digits."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and abs(int(value)) >= 10**12:
        value = float(value)
    return number(value, digits, grouped=True)


def wrap(text: str, width: int, indent: str = "", hanging: str | None = None) -> list[str]:
    """Lines of at most ``width`` characters; longer words are broken."""
    lines = textwrap.wrap(
        text,
        max(width, len(indent) + 16),
        initial_indent=indent,
        subsequent_indent=indent if hanging is None else hanging,
        break_on_hyphens=False,
    )
    return lines or [indent.rstrip()]
