"""The limit on the nesting of loops and branches, and stack space for the calls that build them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from workbench.errors import FrameError
from workbench.ir.node import Node

#: maximum depth of nested frames, which is the length of their paths
MAX_DEPTH = 1024
#: depth of nested loops and branches up to which Python's default recursion limit suffices
PLAIN_DEPTH = 32
#: maximum number of nested calls of one loop or branch, of program and builder together
CALLS_A_LOOP = 40


def check_depth(depth: int, node: Node | None = None, what: str = "Frames") -> None:
    """Raise FrameError ``too-deep`` for more than :data:`MAX_DEPTH` nested frames or branches; ``node``: the Enter."""
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
    """Increase Python's recursion limit while the body of a loop or branch at this depth is built by nested calls.

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
