"""The form of a message: a worker's line is read and checked here, and an invalid one is neither stored nor shown.

A message is one JSON object on one line, with the version of its form. Fields that the form does not name are left out;
strings are made printable; a message with a missing field, or one of another type, size or range, is refused as a
whole.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any

from workbench.text import printable

#: changes whenever a field changes its meaning
VERSION = 2
#: maximum bytes of a line, characters of a text, depth of brackets, variables, values of a strip, findings
LONGEST, TEXT, DEPTH, VARIABLES, POINTS, FOUND = 1 << 20, 400, 8, 64, 1000, 64
#: the largest count of iterations, and the largest iteration in a forecast
COUNT, FAR = 10**18, 10**300
OPEN = ("ready", "running", "quiet")
OVER = ("finished", "stopped", "failed")
#: strings, which end at the end of the line if they are not closed, and brackets
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[{]|[\]}]', re.DOTALL)

#: returns the value to be stored; ValueError for an invalid one
Check = Callable[[Any], Any]


def _text(value: Any) -> str:
    if type(value) is not str:
        raise ValueError(f"a text was expected, got a {type(value).__name__}")
    return printable(value, TEXT)


def _one_of(*words: str) -> Check:
    def check(value: Any) -> str:
        if type(value) is not str or value not in words:
            raise ValueError(f"one of {', '.join(words)} was expected")
        return value

    return check


def _whole(most: int) -> Check:
    def check(value: Any) -> int:
        if type(value) is not int or not 0 <= value <= most:
            raise ValueError(f"a whole number up to {most:.0e} was expected")
        return value

    return check


def _real(value: Any) -> float:
    if type(value) not in (int, float):
        raise ValueError(f"a number was expected, got a {type(value).__name__}")
    try:
        real = float(value)
    except OverflowError:
        real = math.inf
    if not math.isfinite(real):
        raise ValueError("a finite number was expected")
    return real


def _or_none(check: Check) -> Check:
    return lambda value: None if value is None else check(value)


def _rows(check: Check, most: int) -> Check:
    def each(value: Any) -> list[Any]:
        if type(value) is not list or len(value) > most:
            raise ValueError(f"a list of at most {most} was expected")
        return [check(item) for item in value]

    return each


def _pair(first: Check, second: Check) -> Check:
    def check(value: Any) -> list[Any]:
        if type(value) is not list or len(value) != 2:
            raise ValueError("a pair was expected")
        return [first(value[0]), second(value[1])]

    return check


def _record(form: dict[str, Check]) -> Check:
    def check(value: Any) -> dict[str, Any]:
        if type(value) is not dict:
            raise ValueError(f"an object was expected, got a {type(value).__name__}")
        if missing := sorted(form.keys() - value.keys()):
            raise ValueError(f"{missing[0]} is missing")
        return {name: one(value[name]) for name, one in form.items()}

    return check


def _stretch(value: Any) -> list[Any]:
    """The first and the last iteration without a finite value, True if none is drawn between them, and the kind."""
    if type(value) is not list or len(value) != 4 or type(value[2]) is not bool:
        raise ValueError("a stretch was expected")
    first, last = _whole(COUNT)(value[0]), _whole(COUNT)(value[1])
    if last < first:
        raise ValueError("a stretch ends where it begins, or later")
    return [first, last, value[2], _one_of("nan", "inf")(value[3])]


def _variable(value: Any) -> dict[str, Any]:
    row: dict[str, Any] = _record(VARIABLE)(value)
    if len(row["x"]) != len(row["y"]):
        raise ValueError("a strip has as many iterations as values")
    return row


VARIABLE: dict[str, Check] = {
    "name": _text,
    "value": _or_none(_text),
    "measure": _text,
    "label": _text,
    "confidence": _real,
    "rate": _or_none(_real),
    "limit": _or_none(_text),
    "why": _text,
    "x": _rows(_whole(COUNT), POINTS),
    "y": _rows(_or_none(_real), POINTS),
    "bound": _or_none(_real),
    "at": _or_none(_whole(COUNT)),
    "bad": _or_none(_stretch),
}
FORM: dict[str, Check] = {
    "host": _text,
    "pid": _whole(COUNT),
    "number": _whole(COUNT),
    "name": _text,
    "state": _one_of(*OPEN, *OVER),
    "standing": _text,
    "headline": _text,
    "why": _text,
    "reached": _text,
    "iteration": _whole(COUNT),
    "seconds": _text,
    "rate": _text,
    "status": _text,
    "outcome": _text,
    "sentence": _text,
    "remaining": _or_none(_whole(FAR)),
    "interval": _or_none(_pair(_whole(FAR), _or_none(_whole(FAR)))),
    "bad": _text,
    "gap": _or_none(_pair(_text, _text)),
    "found": _rows(_text, FOUND),
    "variables": _rows(_variable, VARIABLES),
}


def written(message: dict[str, Any]) -> bytes:
    """The line of a message."""
    return json.dumps({"version": VERSION, **message}).encode() + b"\n"


def read(line: bytes) -> dict[str, Any]:
    """The message of a line, with the fields of ``FORM``; ValueError for anything else, and no other error."""
    if len(line) > LONGEST:
        raise ValueError("the line is too long")
    if _depth(line) > DEPTH:  # before parsing, as the parser recurses at each bracket
        raise ValueError(f"more than {DEPTH} brackets in each other")
    document = json.loads(line.decode("utf-8"), parse_constant=_refused)
    if type(document) is not dict or type(document.get("version")) is not int or document["version"] != VERSION:
        raise ValueError(f"not a message of version {VERSION}")
    message: dict[str, Any] = _record(FORM)(document)
    return message


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is not a number of JSON")


def _depth(line: bytes) -> int:
    deep = most = 0
    for token in _TOKENS.finditer(line):
        match token.group()[:1]:
            case b"[" | b"{":
                deep += 1
                most = max(most, deep)
            case b"]" | b"}":
                deep -= 1
    return most
