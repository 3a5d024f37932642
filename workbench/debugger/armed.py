"""A breakpoint at one of the values that it looks at."""

from __future__ import annotations

from typing import NamedTuple

from workbench.debugger.breakpoint import Breakpoint
from workbench.graph.node import Ref


class Armed(NamedTuple):
    """One value that a breakpoint looks at; ``health`` is what the rules leave of its complaints."""

    point: Breakpoint
    ref: Ref
    health: tuple[str, ...]
