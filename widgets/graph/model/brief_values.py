"""Ever shorter forms of a value, for the box of a node: a number is rounded and never cut, an array is shown as its
range.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from workbench.widgets.text.labels import number, value_text
from workbench.widgets.text.numerals import MINUS, THIN, WHOLE, numeral
from workbench.widgets.text.value_facts import facts_of

#: significant digits of a number, in descending order, and of the ends of a range
DIGITS, ENDS = (5, 4, 3, 2, 1), (3, 2, 1)
#: the range of a longer array is not computed
MAX_SEARCHED = 1_000_000


def brief_forms(value: Any) -> tuple[str, ...]:
    """Texts of a value, each different and shorter than those before it."""
    found: dict[str, None] = {}
    for text in _forms(value):
        if not found or len(text) < len(next(reversed(found))):
            found[text] = None
    return tuple(found)


def fitted(forms: Sequence[str], room: int) -> str:
    """The longest form that fits into ``room`` characters, or ""."""
    return next((text for text in forms if len(text) <= room), "")


def _forms(value: Any) -> Iterator[str]:
    array = np.asarray(value) if isinstance(value, (np.ndarray, np.generic, bool, int, float)) else None
    if array is None or array.dtype.kind not in "biuf" or not array.size or array.size > MAX_SEARCHED:
        yield value_text(value, DIGITS[0])
    elif array.size == 1:
        yield value_text(value, DIGITS[0])
        if array.dtype.kind != "b":
            before, after = "[" * array.ndim, "]" * array.ndim
            for digits in DIGITS:
                yield f"{before}{_rounded(array.reshape(-1)[0], digits)}{after}"
    else:
        if array.ndim == 1 and array.size <= 4:
            yield value_text(value, DIGITS[0])
        yield from _of_array(array)


def _of_array(array: np.ndarray[Any, Any]) -> Iterator[str]:
    if array.dtype.kind == "b":
        true = int(array.sum())
        yield f"{numeral(true)} of {numeral(array.size)} true"
        yield f"{numeral(true)} true"
        return
    facts = facts_of(array)
    if facts is None:
        return
    if not facts.nan and not facts.inf:
        yield from _range(facts.least, facts.largest)
        return
    counts = ((facts.nan, "NaN"), (facts.inf, "Inf"))
    for count, word in counts:
        if count == array.size:
            yield f"all {word}"
            return
    wrong = [f"{numeral(count)} {word}" for count, word in counts if count]
    if facts.largest is not None:
        yield from (f"{', '.join(wrong)}, max {_rounded(facts.largest, digits)}" for digits in ENDS)
    yield ", ".join(wrong)
    yield wrong[0]


def _range(low: Any, high: Any) -> Iterator[str]:
    if low == high:
        yield from (f"all {_rounded(low, digits)}" for digits in DIGITS)
    else:
        yield from (f"{_rounded(low, digits)} \u2026 {_rounded(high, digits)}" for digits in ENDS)


def _rounded(value: Any, digits: int) -> str:
    """A number, whole or not, with at most this many significant digits."""
    text = number(value, digits)
    plain = text.strip(MINUS).replace(THIN, "")
    if plain.isdigit() and len(plain) > digits and abs(int(value)) < WHOLE and len(plain) > 4:
        mantissa, exponent = f"{float(value):.{digits - 1}e}".split("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        text = f"{mantissa}e{int(exponent)}".replace("-", MINUS)
    return text
