"""Text of reports: escaped names, numbers, counts, and wrapped lines.

A name may come from a hostile file. In text every control character, terminal escape and direction mark of it is
written out (``\\x1b``, ``\\u202e``); HTML escapes what is left at the place where it is written.
"""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from workbench.analysis.text import count as count
from workbench.analysis.text import listed as listed
from workbench.text import number, printable

#: longest name that a report writes out
NAME = 48


def clean(text: Any, limit: int | None = NAME) -> str:
    """A name in a report: :func:`~workbench.text.printable`, and short."""
    return printable(text, limit)


def sentence(text: Any, limit: int = 600) -> str:
    """A sentence of some other part of the analysis, names in it made harmless."""
    return clean(" ".join(str(text).split("\n")), limit)


def num(value: Any, digits: int = 6) -> str:
    """A number in a report, grouped by thousands; above a million million with ``digits`` significant digits."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and abs(int(value)) >= 10**12:
        value = float(value)
    return number(value, digits, grouped=True)


def wrap(text: str, width: int, indent: str = "", hanging: str | None = None) -> list[str]:
    """Lines of at most ``width`` characters; a word that is longer is broken."""
    lines = textwrap.wrap(
        text,
        max(width, len(indent) + 16),
        initial_indent=indent,
        subsequent_indent=indent if hanging is None else hanging,
        break_on_hyphens=False,
    )
    return lines or [indent.rstrip()]
