"""Loops, branches and calls of an exported program as frames, branches and regions of the graph."""

from collections.abc import Callable
from typing import Any

from workbench.frontends.pytorch.control.branch import lower_cond
from workbench.frontends.pytorch.control.calls import lower_call, lower_with_grad
from workbench.frontends.pytorch.control.loop import lower_stacking_while, lower_while
from workbench.frontends.pytorch.control.scan import lower_associative_scan, lower_map, lower_scan

CONTROL: dict[str, Callable[..., Any]] = {
    "higher_order.while_loop": lower_while,
    "higher_order.while_loop_stack_output": lower_stacking_while,
    "higher_order.cond": lower_cond,
    "higher_order.scan": lower_scan,
    "higher_order.associative_scan": lower_associative_scan,
    "higher_order.map": lower_map,
    "higher_order.map_impl": lower_map,
    "higher_order.invoke_subgraph": lower_call,
    "higher_order.wrap_with_set_grad_enabled": lower_with_grad,
}

__all__ = ["CONTROL"]
