"""Numbers on a screen: integers in full with thin spaces, a typographic minus, exponents without zeros.

``base/figure/numerals.js`` writes the same in the browser, for the value under the pointer.
"""

from __future__ import annotations

import math
import re
from typing import Any

#: significant digits of a number in a strip or a node
DIGITS = 7
#: floats that are whole are written in full below this
WHOLE = 1e15
THIN, MINUS = "\u202f", "\u2212"
#: exponents of numbers in prose
_EXPONENT = re.compile(r"(?<=\d)e([+-])0*(\d+)\b")
#: the sign of a negative number in prose, not a hyphen and no part of an exponent
_SIGN = re.compile(r"(?<![\w.)\]-])-(?=\d)")
#: integers with commas in prose, not the dimensions of a shape
_COMMAS = re.compile(r"(?<![\w.,\[])\d{1,3}(?:,\d{3})+(?!\w|[,.]\d)")
#: whole numbers that Python writes with a point
_POINT = re.compile(r"(?<![\w.])(\d+)\.0(?!\w|\.\d)")
#: numbers in prose whose integer part is long, no digits of a name or of a fraction
_LONG = re.compile(r"(?<![\w.,\[])\d{5,15}(?:\.\d+)?(?!\w|[.,]\d)")


def numeral(value: Any, digits: int = DIGITS) -> str:
    """A real number for a strip, a tick or a table.

    Parameters
    ----------
    value:
        An integer or a real number; None for what was not computed.
    digits:
        Significant digits of what is not whole.

    >>> numeral(17000012), numeral(-2.5), numeral(1e-9), numeral(1 / 3, 3), numeral(float("nan")), numeral(None)
    ('17\u202f000\u202f012', '\u22122.5', '1e\u22129', '0.333', 'NaN', '\u2013')
    """
    if value is None:
        return "\u2013"
    if isinstance(value, int) or hasattr(value, "dtype") and value.dtype.kind in "iu":
        return _grouped(f"{int(value)}")
    value = float(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "infinite" if value > 0 else f"{MINUS}infinite"
    if value == math.floor(value) and abs(value) < WHOLE:
        return _grouped(f"{value:.0f}" if value else "0")
    text = f"{value:.{digits}g}"
    mantissa, _, exponent = text.partition("e")
    if not exponent:
        return _grouped(mantissa)
    return f"{mantissa}e{int(exponent)}".replace("-", MINUS)


def _grouped(text: str) -> str:
    """Thin spaces between thousands from five digits on."""
    sign, text = (MINUS, text[1:]) if text.startswith("-") else ("", text)
    whole, point, rest = text.partition(".")
    if len(whole) > 4:
        whole = f"{int(whole):,}".replace(",", THIN)
    return f"{sign}{whole}{point}{rest}"


def spaced(words: str) -> str:
    """Words of an answer, which a terminal shows in plain characters, with the numerals of a screen.

    >>> spaced("after 3,489 of 17,000,012 steps above -1e-09, on float32[1,640]")
    'after 3489 of 17\u202f000\u202f012 steps above \u22121e\u22129, on float32[1,640]'
    >>> spaced("k_10000 < 16777216 became false (16777216 < 16777216)")
    'k_10000 < 16\u202f777\u202f216 became false (16\u202f777\u202f216 < 16\u202f777\u202f216)'
    >>> spaced("x stays 16777216, so it comes to 16777216.0.")
    'x stays 16\u202f777\u202f216, so it comes to 16\u202f777\u202f216.'
    """
    words = _LONG.sub(lambda found: _grouped(found[0]), words)
    words = _COMMAS.sub(lambda found: _grouped(found[0].replace(",", "")), words)
    words = _SIGN.sub(MINUS, words)
    words = _POINT.sub(r"\1", words)
    return _EXPONENT.sub(lambda found: f"e{MINUS if found[1] == '-' else ''}{found[2]}", words)
