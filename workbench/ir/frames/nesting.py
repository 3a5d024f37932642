"""The limit on the nesting of loops and branches, and stack space for the calls that build them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from workbench.errors import FrameError
from workbench.ir.node import Node

#: frames in frames; a path is as long as the nesting is deep, and every frame has one
MAX_DEPTH = 1024
#: nested loops and branches for which Python's own limit on calls is enough
PLAIN_DEPTH = 32
#: nested calls that one loop or branch may take, those of the program and of the builder together
CALLS_A_LOOP = 40


def check_depth(depth: int, node: Node | None = None, what: str = "Frames") -> None:
    """FrameError ``too-deep`` for more than :data:`MAX_DEPTH` frames (or branches) in each other; ``node`` is the
    Enter."""
    if depth > MAX_DEPTH:
        raise FrameError(
            f"{what} are nested more than {MAX_DEPTH} deep.",
            slug="too-deep",
            node=None if node is None else node.name,
            source=None if node is None else node.source,
            fix="close frames with Exit, or nest fewer loops and branches.",
        )


@contextmanager
def room_for_calls(depth: int) -> Iterator[None]:
    """Raise Python's recursion limit while the body of a loop or branch at this depth is built: they are nested calls.

    Endless recursion still ends: in loops and branches at :data:`MAX_DEPTH`, in other calls at the limit.
    """
    check_depth(depth, what="Loops and branches")
    if depth <= PLAIN_DEPTH:
        yield
        return
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + CALLS_A_LOOP)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
