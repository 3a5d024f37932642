"""A loop of a public question, what is true of it, and its run in plain Python."""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Truth:
    """``ends`` is the number of iterations or None (run it); ``cause`` are words of which one must be in the answer;
    ``kinds`` are kinds of claims of which one must be made."""

    outcome: str
    iterations: int | None = None
    cause: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()


def never(cause: tuple[str, ...] = (), kinds: tuple[str, ...] = ()) -> Truth:
    return Truth("never", None, cause, kinds)


def ends(iterations: int | None) -> Truth:
    return Truth("terminates", iterations)


#: a node of the graph fails, where Python's ints would go on
FAILS = Truth("fails")
#: endless, and not proved: the answer may be unknown, and must not be that it ends
OPEN = Truth("open")


@dataclass(frozen=True)
class PublicLoop:
    name: str
    source: str
    function: Any
    arguments: tuple[Any, ...]
    truth: Truth

    def trips(self, most: int) -> int | None:
        """Iterations of the outermost loop in plain Python; None if it has not ended after ``most``."""
        function = self.function.__wrapped__
        lines, first = inspect.getsourcelines(function)
        head = first + next(k for k, text in enumerate(lines) if text.strip().startswith("while"))
        count = -1

        def local(frame: FrameType, event: str, arg: Any) -> Any:
            nonlocal count
            if event == "line" and frame.f_lineno == head:
                count += 1
                if count > most:
                    raise TimeoutError
            return local

        before = sys.gettrace()
        sys.settrace(lambda frame, event, arg: local if frame.f_code is function.__code__ else None)
        try:
            with np.errstate(all="ignore"):
                function(*self.arguments)
        except TimeoutError:
            return None
        finally:
            sys.settrace(before)
        return count
