"""Words for reports: names made harmless, numbers, counts, and lines that are not too long.

A name may come from a hostile file. In text every control character, terminal escape and direction mark of it is
written out (``\\x1b``, ``\\u202e``); HTML escapes what is left at the place where it is written.
"""

from __future__ import annotations

import math
import textwrap
import unicodedata
from typing import Any

import numpy as np

from workbench.analysis.wording import count as count

#: longest name that a report writes out
NAME = 48
#: categories that move the cursor, change the direction of text or show nothing
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def clean(text: Any, limit: int | None = NAME) -> str:
    """One line of visible characters; the middle of what is longer than ``limit`` is left out."""
    raw = str(text)
    if limit is not None and len(raw) > 4 * limit:  # no work on megabytes that are cut anyway
        raw = f"{raw[: 2 * limit]}\u2026{raw[-2 * limit :]}"
    raw = "".join(c if unicodedata.category(c) not in _HIDDEN else _written(c) for c in raw)
    if limit is not None and len(raw) > limit:
        tail = (limit - 1) // 2
        raw = f"{raw[: limit - 1 - tail]}\u2026{raw[-tail:]}"
    return raw


def _written(c: str) -> str:
    if c in "\n\t\r":
        return " "
    code = ord(c)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def sentence(text: Any, limit: int = 600) -> str:
    """A sentence of some other part of the analysis, names in it made harmless."""
    return clean(text, limit)


def num(value: Any, digits: int = 6) -> str:
    """A number for reading; ``none`` for None."""
    if value is None:
        return "none"
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return f"{int(value):,}" if abs(int(value)) < 10**12 else f"{float(value):.{digits}g}"
    if isinstance(value, (complex, np.complexfloating)):
        return f"{complex(value):.{digits}g}"
    try:
        real = float(value)
    except (TypeError, ValueError, OverflowError):
        return clean(value, 24)
    if math.isnan(real):
        return "NaN"
    return f"{real:.{digits}g}"


def listed(parts: list[str], most: int = 6) -> str:
    """``a, b and c``; of more than ``most`` the first ones and how many are left."""
    if len(parts) > most:
        return ", ".join(parts[:most]) + f" and {len(parts) - most:,} more"
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)


def wrap(text: str, width: int, indent: str = "", hanging: str | None = None) -> list[str]:
    """Lines of at most ``width`` characters; a word that is longer is broken."""
    lines = textwrap.wrap(
        text, max(width, len(indent) + 16), initial_indent=indent,
        subsequent_indent=indent if hanging is None else hanging, break_on_hyphens=False,
    )  # fmt: skip
    return lines or [indent.rstrip()]
