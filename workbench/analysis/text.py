"""Text of numbers, counts and loop names in the sentences of the analysis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from workbench.ir.node import Ref, Source


def shown(value: Any) -> str:
    """A number as it is written, at most nine digits of a computed one, and a large power of two as such."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    text = digits(value)
    return power_of_two(float(value)) if isinstance(value, (float, np.floating)) and len(text) > 12 else text


def power_of_two(value: float) -> str:
    """2^53 for 9007199254740992.0, else nine digits."""
    exponent = math.log2(abs(value)) if value and math.isfinite(value) else 0.5
    sign = "-" if value < 0 else ""
    return f"{sign}2^{int(exponent)}" if exponent == int(exponent) and exponent > 9 else f"{value:.9g}"


def digits(value: Any) -> str:
    """All digits of a number, the fewest that no other number of its dtype has: 0.1, 2048.0, not 2.048e+03."""
    if isinstance(value, np.floating) and (value == 0 or 1e-4 <= abs(value) and abs(float(value)) < 1e16):
        return np.format_float_positional(value, trim="0")
    return str(value)


def apart(a: Any, b: Any) -> tuple[str, str]:
    """Two numbers with the digits that tell them apart: ``100.00000000001425``, ``100.0``."""
    one, two = shown(a), shown(b)
    same = one == two or _equal(one, two)
    return (digits(a), digits(b)) if same and digits(a) != digits(b) else (one, two)


def _equal(one: str, two: str) -> bool:
    try:
        return float(one) == float(two)
    except ValueError:
        return False


def count(n: int, thing: str, many: str | None = None) -> str:
    """``1 loop``, ``2 loops``."""
    return f"{n:,} {thing if n == 1 else many or thing + 's'}"


def bounds(low: int, high: int | None) -> str:
    """``1 to 50``; without an upper bound ``1 or more, no upper bound known``."""
    return f"{low:,} or more, no upper bound known" if high is None else f"{low:,} to {high:,}"


def listed(parts: list[str], most: int = 6) -> str:
    """``a, b and c``; of more than ``most`` the first ones and how many are left."""
    if len(parts) > most:
        return ", ".join(parts[:most]) + f" and {len(parts) - most:,} more"
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)


def places(sources: Iterable[Source], most: int = 4) -> str:
    """``newton.py, lines 3 and 5``; one line as ``newton.py:3``, of a notebook as ``notebook cell, line 3``."""
    files: dict[str, dict[int, str]] = {}
    for source in sources:
        name = source.place.removesuffix(str(source.line)).rstrip(":").removesuffix(", line ")
        files.setdefault(name, {})[source.line] = source.place
    parts = [
        f"{name}, lines {listed([str(n) for n in sorted(lines)], most)}" if len(lines) > 1 else "".join(lines.values())
        for name, lines in files.items()
    ]
    return listed(parts, most)


def loop_named(path: Sequence[str] | str) -> str:
    """``loop while`` for people; a loop whose name is "loop" is not called so twice."""
    name = path if isinstance(path, str) else "/".join(path)
    return "loop" if name == "loop" else f"loop {name}"


def plain(value: Any) -> Any:
    """A number, text, list or dictionary of them; NaN and infinities as text, because JSON has none."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Ref):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, (bool, int, str)) or value is None:
        return value
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    try:
        return float(value) if math.isfinite(value) else str(float(value))
    except (TypeError, ValueError, OverflowError):
        return str(value)
