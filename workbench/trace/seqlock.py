"""Reads a trace while its run steps back: a result that mixes rows before and after is discarded and read again."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any, TypeVar

from workbench.errors import TraceError
from workbench.trace.source import RowsGone, RowSource

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
ATTEMPTS = 200


def steady(method: F) -> F:
    """Decorate methods of objects with a ``_reader``: they are repeated until no step back happened during the call."""

    @functools.wraps(method)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        return consistent_read(self._reader.source, lambda: method(self, *args, **kwargs))

    return wrapped  # type: ignore[return-value]


def consistent_read(source: RowSource, question: Callable[[], T]) -> T:
    """The result of a read during which no step back happened; TraceError if every attempt was interrupted."""
    for _ in range(ATTEMPTS):
        before = source.epoch
        try:
            if before % 2 == 0:
                result = question()
                if source.epoch == before:
                    return result
        except RowsGone:
            pass
        except (IndexError, ValueError, KeyError, TypeError, TraceError):
            if source.epoch == before:
                raise
        time.sleep(0.001)
    raise TraceError("The trace changes faster than it can be read.", slug="trace-busy", fix="pause the session first.")
