"""while, scan and cond as frames and branches of the graph."""

from collections.abc import Callable, Sequence
from typing import Any

from workbench.frontends.jax.control.branch import lower_branch
from workbench.frontends.jax.control.loop import lower_while
from workbench.frontends.jax.control.scan import lower_scan

CONTROL: dict[str, Callable[[Any, Any, Sequence[Any]], list[Any]]] = {
    "while": lower_while,
    "scan": lower_scan,
    "cond": lower_branch,
}

__all__ = ["CONTROL"]
