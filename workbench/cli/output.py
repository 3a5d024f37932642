"""Output of the commands: plain text, or JSON. Names from untrusted files are escaped before they are shown."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any, TextIO

from workbench.cli import pager
from workbench.cli.layout import clip, columns, wrap
from workbench.text import lines, printable

#: version of the fields of all JSON documents (docs/reference/json.md), raised when a field is removed or changed
SCHEMA = 1
#: maximum items of an array that is written in full as JSON; larger ones are described
JSON_ITEMS = 1000
_BARS = "▁▂▃▄▅▆▇█"


def show(text: str, *, pages: bool = True) -> None:
    """Print text that is already escaped, wrapped to the terminal, through a pager if it is longer than the screen."""
    ended = text if text.endswith("\n") else f"{text}\n"
    wrapped = wrap(ended, columns(sys.stdout))
    if pages:
        pager.show(wrapped)
    else:
        print(wrapped, end="")


def tell(text: object) -> None:
    """Print one or more lines on standard error, wrapped to the terminal."""
    print(wrap(lines(text), columns(sys.stderr)), file=sys.stderr)


def path_text(frame: Sequence[str], iteration: Sequence[int]) -> str:
    """``outer 2, inner 5`` for a frame path and its iterations."""
    return ", ".join(f"{printable(f)} {i}" for f, i in zip(frame, iteration, strict=False))


def value_text(value: Any) -> str:
    """A value on one line: the number or a few items, otherwise dtype, shape and range."""
    from workbench.trace.describe import short

    return "none" if value is None else clip(" ".join(short(value).split()), 120)


def sparkline(values: Any, width: int = 24) -> str:
    """Numbers over time as one line of bars; NaN is ``?``, infinities are ``^`` and ``v``. Empty if there are no
    numbers.

    Each bar stands for a range of firings and shows the first one that is not finite, if there is one, otherwise the
    last.
    """
    import numpy as np

    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "biuf" or not len(array):
        return ""
    numbers = array.astype(np.float64)
    edges = np.linspace(0, len(numbers), min(width, len(numbers)) + 1).astype(int)
    parts = [numbers[a:b] for a, b in zip(edges, edges[1:], strict=False)]
    picked = [float(bad[0]) if len(bad := part[~np.isfinite(part)]) else float(part[-1]) for part in parts]
    finite = [v for v in picked if math.isfinite(v)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 0.0)
    span = high / 2 - low / 2  # halves, because the span of the largest numbers is infinite

    def bar(v: float) -> str:
        if not math.isfinite(v):
            return "?" if math.isnan(v) else "^" if v > 0 else "v"
        return _BARS[3 if span == 0 else min(7, int((v / 2 - low / 2) / span * 8))]

    return "".join(map(bar, picked))


def as_json(value: Any) -> Any:
    """Plain data: arrays as lists, large ones as a description; NaN and infinities as strings, which JSON lacks as
    numbers."""
    import numpy as np

    from workbench.trace.describe import short

    if isinstance(value, np.generic):
        value = value.item() if value.dtype.kind != "V" else float(value)  # numbers of ml_dtypes
    if isinstance(value, np.ndarray):
        if value.size > JSON_ITEMS:
            return {"dtype": str(value.dtype), "shape": list(value.shape), "text": short(value)}
        return as_json(value.tolist())
    if isinstance(value, Mapping):
        return {str(k): as_json(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(v) for v in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else "NaN" if math.isnan(value) else f"{'-' if value < 0 else ''}Infinity"
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    try:
        return as_json(float(value))  # a number of ml_dtypes in a list
    except (TypeError, ValueError):
        return str(value)


#: standard output, while only the document may be printed there
_streams: list[TextIO] = []


@contextmanager
def one_document(as_json: bool) -> Iterator[None]:
    """Keep standard output for the JSON document, if one is requested: other output, such as that of an op of the
    model, goes to standard error.
    """
    if not as_json:
        yield
        return
    _streams.append(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _streams.pop().flush()


def print_document(data: Mapping[str, Any]) -> None:
    """Write the document, with the version of its fields; in ASCII, so that names cannot control a terminal."""
    print(json.dumps({"schema": SCHEMA, **data}, indent=1), file=_streams[-1] if _streams else None)


def print_line(data: Mapping[str, Any]) -> None:
    """Write a document as one line, and flush it."""
    print(json.dumps({"schema": SCHEMA, **as_json(data)}), file=_streams[-1] if _streams else None, flush=True)


def print_json(data: Any) -> None:
    """Print the single JSON document of a command."""
    print_document(as_json(data))


def error_facts(error: BaseException, text: str = "") -> dict[str, Any]:
    """An error as part of a document: its message, and for errors of the workbench slug, fix and node."""
    facts = {name: getattr(error, name, None) for name in ("slug", "fix", "node")}
    return {"message": printable(getattr(error, "message", text or str(error))), **facts}
