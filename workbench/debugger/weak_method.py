"""Calls a method of an object without keeping that object alive."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any


def weakly(method: Callable[..., Any], otherwise: Callable[[], Any] = lambda: None) -> Callable[..., Any]:
    """A function that calls this bound method, or ``otherwise()`` once the method's object no longer exists.

    A bound method that an object passes to one of its parts is a reference cycle: the object, and everything it refers
    to, would stay in memory until the next garbage collection.
    """
    held = weakref.WeakMethod(method)

    def call(*arguments: Any, **named: Any) -> Any:
        """Call the method if its object is alive."""
        alive = held()
        return otherwise() if alive is None else alive(*arguments, **named)

    return call
