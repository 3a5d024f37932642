"""A number as typed by users, for a value of a given dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.widgets.text.labels import shorten

MAX_CHARS = 100
WORDS = {"true": True, "false": False, "1": True, "0": False}


def typed_value(words: str, dtype: np.dtype[Any]) -> Any:
    """``words`` as one item of ``dtype``: a bool, a whole number that fits, a real or a complex number.

    Raises WorkbenchError (``bad-value``) for anything else; nothing is evaluated.
    """
    number = words.strip().replace("\u2212", "-").replace("\u202f", "").replace("\u2009", "")
    if not number or len(number) > MAX_CHARS:
        raise _bad(words, dtype, "type a number.")
    if dtype.kind == "b":
        if number.lower() not in WORDS:
            raise _bad(words, dtype, "type true or false.")
        return dtype.type(WORDS[number.lower()])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        try:
            whole = int(number)
        except ValueError:
            raise _bad(words, dtype, "type an integer.") from None
        if not limits.min <= whole <= limits.max:
            raise _bad(words, dtype, f"its range is {limits.min} to {limits.max}.")
        return dtype.type(whole)
    if dtype.kind in "fc":
        try:
            found = complex(number.replace(" ", "")) if dtype.kind == "c" else float(number)
        except ValueError:
            raise _bad(words, dtype, "type a number such as 1.5, -2e-3, inf or nan.") from None
        with np.errstate(over="ignore"):
            item = dtype.type(found)
        if np.isinf(item) and not np.isinf(found):
            raise _bad(words, dtype, f"the largest is {np.finfo(dtype).max}.")
        return item
    raise _bad(words, dtype, "edit it in code: session.set_value(name, value).")


def _bad(words: str, dtype: np.dtype[Any], fix: str) -> WorkbenchError:
    return WorkbenchError(f"{shorten(words, 40)!r} is not a valid {dtype}.", slug="bad-value", fix=fix)
