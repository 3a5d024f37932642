"""A breakpoint paired with one of its values."""

from __future__ import annotations

from typing import NamedTuple

from workbench.debugger.breakpoints.breakpoint import Breakpoint
from workbench.ir.node import Ref


class ArmedBreakpoint(NamedTuple):
    """One value of an enabled breakpoint; ``health`` lists its checks except those that rules exclude."""

    point: Breakpoint
    ref: Ref
    health: tuple[str, ...]
