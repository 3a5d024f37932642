"""Text of numbers and of names from untrusted sources, the same on every screen. Imports no other module of the
workbench."""

from __future__ import annotations

import difflib
import functools
import html
import math
import numbers
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec

P = ParamSpec("P")

#: Unicode categories of characters that move the cursor, change the direction of text or are invisible
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
#: minimum similarity at which a name counts as a misspelling of another
_NEAR = 0.72
#: Python refuses to write integers of more than 4300 digits
_MOST_BITS = 4096
#: digits that distinguish any two doubles
MOST_DIGITS = 17
#: maximum digits of an estimate
ESTIMATE_DIGITS = 12


def printable(text: object, limit: int | None = None) -> str:
    r"""One line of visible characters, harmless in a terminal.

    A name may come from a hostile file: control characters, terminal escapes and direction marks are escaped. HTML is
    escaped where it is written, not here.

    Parameters
    ----------
    text:
        Any object; its ``str`` is used.
    limit:
        Maximum characters; the middle of a longer text is replaced by an ellipsis. None means no limit.

    >>> printable("a\x1b[31m\n")
    'a\\x1b[31m\\n'
    >>> printable("abcdefghij", limit=5)
    'ab…ij'
    """
    raw = str(text)
    if limit is not None and len(raw) > 4 * limit:  # avoid work on megabytes that are cut anyway
        raw = f"{raw[: 2 * limit]}\u2026{raw[-2 * limit :]}"
    if not raw.isprintable():
        raw = "".join(_written(c) if unicodedata.category(c) in _HIDDEN else c for c in raw)
    if limit is not None and len(raw) > limit:
        tail = (limit - 1) // 2
        raw = f"{raw[: limit - 1 - tail]}\u2026{raw[-tail:]}"
    return raw


def _written(c: str) -> str:
    code = ord(c)
    return _SHORT.get(c) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}")


def lines(text: object) -> str:
    r"""``printable`` for text of several lines, which keeps its line breaks.

    >>> lines("a\x1b[31m\n\u202eb")
    'a\\x1b[31m\n\\u202eb'
    """
    raw = str(text)
    if raw.isprintable():  # the common case
        return raw
    return "\n".join(printable(line.expandtabs()) for line in raw.split("\n"))


def harmless(method: Callable[P, str]) -> Callable[P, str]:
    """Decorator for methods such as ``__str__`` that return text for users: applies ``lines`` to the result.

    Names from untrusted models can reach such text anywhere, so each method that creates some is decorated, and no
    other code needs to escape it. A test searches for methods without the decorator.
    """

    @functools.wraps(method)
    def safe(*args: P.args, **named: P.kwargs) -> str:
        return lines(method(*args, **named))

    return safe


def number(value: Any, digits: int = 6, grouped: bool = False) -> str:
    """A number as text.

    Parameters
    ----------
    value:
        A bool, an integer, a real or complex number, or None; other values are written by ``printable``.
    digits:
        Significant digits of a float.
    grouped:
        Whether the digits of an integer are grouped by thousands.

    >>> number(1 / 3), number(1234567, grouped=True), number(float("nan")), number(True), number(None)
    ('0.333333', '1,234,567', 'NaN', 'true', 'none')
    """
    kind = type(value)
    if kind is float:  # the common case
        return f"{value:.{digits}g}" if value == value else "NaN"
    if value is None:
        return "none"
    if kind.__name__ in ("bool", "bool_"):  # NumPy is not imported here, so that the command line's help is fast
        return "true" if value else "false"
    if isinstance(value, numbers.Integral):
        whole = int(value)
        if whole.bit_length() > _MOST_BITS:
            return f"{'-' if whole < 0 else ''}2**{whole.bit_length() - 1}..."
        return f"{whole:,}" if grouped else str(whole)
    if isinstance(value, numbers.Complex) and not isinstance(value, numbers.Real):
        return f"{complex(value):.{digits}g}"
    try:
        real = float(value)
    except (TypeError, ValueError, OverflowError):
        return printable(value, 24)
    return "NaN" if math.isnan(real) else f"{real:.{digits}g}"


def ordinal(n: int, digits: str = "") -> str:
    """An ordinal number; ``digits`` is the text of ``n`` if it is not ``str(n)``.

    >>> ordinal(2), ordinal(12), ordinal(21), ordinal(1003, "1,003")
    ('2nd', '12th', '21st', '1,003rd')
    """
    end = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{digits or n}{end}"


def apart(a: Any, b: Any, least: int = 6, write: Callable[[Any, int], str] = number) -> tuple[str, str]:
    """Two numbers as text, with the fewest digits that distinguish them.

    Parameters
    ----------
    a, b:
        The numbers; if they are equal, so are both strings.
    least:
        Minimum number of digits.
    write:
        Writes a number with a given number of digits.

    >>> apart(1.0, 2.0), apart(0.1, 0.1 + 2**-54), apart(3.0000001, 3.0000002)
    (('1', '2'), ('0.1', '0.1000000000000001'), ('3.0000001', '3.0000002'))
    """
    texts = write(a, least), write(b, least)
    try:
        same = complex(a) == complex(b)  # exact, although a comparison may round one to the other's dtype
    except (TypeError, ValueError, OverflowError):
        same = bool(a == b)
    if texts[0] != texts[1] or same or (a != a and b != b):
        return texts
    for digits in range(least + 1, MOST_DIGITS + 1):
        texts = write(a, digits), write(b, digits)
        if texts[0] != texts[1]:
            break
    return texts


def estimate(value: float, error: float | None, size: float = 0.0) -> str | None:
    """An estimate with as many digits as its error allows, and the error; None if the error leaves no digits.

    Parameters
    ----------
    value:
        The estimate.
    error:
        An estimate of its error; None or 0 if it is exact.
    size:
        The quantity with which the estimate is compared, such as the distance from the newest value to a limit. If the
        error exceeds a tenth of both ``size`` and the estimate, the result is None.

    >>> estimate(1.4142135623730951, 2e-16)
    '1.41421356237 (within 3e-12)'
    >>> estimate(1.41421356237, 2e-7), estimate(3.2e-7, 1e-6, size=5e-3), estimate(6.3558947, 6.0, size=1.0)
    ('1.4142136 (within 2e-07)', '0 (within 1e-06)', None)
    """
    if not math.isfinite(value) or error is not None and not math.isfinite(error):
        return None
    if not error:
        return number(value, 10)
    error = abs(error)
    if error > 0.1 * max(abs(value), size):
        return None
    error += abs(float(f"{value:.{ESTIMATE_DIGITS}g}") - value)  # add digits that are not shown
    within = f"(within {error:.1g})"
    place = math.floor(math.log10(float(f"{error:.1g}")))
    if abs(value) < error:
        return f"0 {within}"
    digits = max(1, math.floor(math.log10(abs(value))) - place + 1)
    return f"{value:.{min(digits, ESTIMATE_DIGITS)}g} {within}"


def similar_names(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Known names similar to a misspelt one, most similar first; empty if none is similar.

    Parameters
    ----------
    name:
        The misspelt name.
    known:
        The existing names.
    most:
        Maximum number of names to return.

    >>> similar_names("A", ["a", "start"]), similar_names("strat", ["a", "start"]), similar_names("bogus", ["use"])
    (['a'], ['start'], [])
    """
    names = dict.fromkeys(known)
    folded = name.casefold()
    same = [n for n in names if n.casefold() == folded]
    if same:
        return same[:most]
    ends = [n for n in names if n.casefold().endswith(f"/{folded}")] if len(name) > 1 else []
    folder, _, leaf = name[:200].rpartition("/")
    siblings = {n.rpartition("/")[2]: n for n in names if n.rpartition("/")[0] == folder}
    near = [siblings[n] for n in difflib.get_close_matches(leaf, siblings, n=most, cutoff=_NEAR)]
    if folder and not near:  # the folder may be the misspelt part
        near = difflib.get_close_matches(name[:200], names, n=most, cutoff=0.9)
    return list(dict.fromkeys([*ends, *near]))[:most]


def facts_html(title: object, facts: Iterable[tuple[str, object]], more: str = "") -> str:
    """A short table for a notebook, in the colours of the page; all text is escaped except ``more``, which is HTML."""
    rows = "".join(
        f'<tr><th style="text-align:left">{html.escape(name)}</th><td style="text-align:left">'
        f"{html.escape(printable(value, 300))}</td></tr>"
        for name, value in facts
        if value not in ("", None)
    )
    return f"<div><b>{html.escape(printable(title, 200))}</b><table>{rows}</table>{more}</div>"


def words_html(words: str) -> str:
    """Lines of text for a notebook, escaped, in the colours of the page; the first line is bold."""
    first, *others = words.split("\n")
    rest = "".join(f'<div style="white-space:pre-wrap">{html.escape(line)}</div>' for line in others)
    return f"<div><b>{html.escape(first)}</b>{rest}</div>"
