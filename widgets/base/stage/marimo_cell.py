"""Widgets that end with a cell of marimo: marimo closes the comms of a cell's widgets when the cell runs again."""

from __future__ import annotations

import contextlib
import importlib
from typing import Any

from workbench.recorder import home


def run_of_cell() -> Any:
    """An object for the present run of a cell of marimo; None elsewhere."""
    if home.marimo() is None:
        return None
    context = importlib.import_module("marimo._runtime.context").get_context()
    return getattr(context, "execution_context", None)


def closes_with_cell(widget: Any) -> None:
    """Close a widget when the cell of marimo that made it runs again or is deleted; nothing elsewhere."""
    if home.marimo() is None:
        return
    with contextlib.suppress(ImportError, AttributeError):  # these modules of marimo are private
        base = importlib.import_module("marimo._runtime.cell_lifecycle_item").CellLifecycleItem
        registry = importlib.import_module("marimo._runtime.context").get_context().cell_lifecycle_registry
        registry.add(
            type("ClosesWithCell", (base,), {"create": _nothing, "dispose": lambda *_, **__: _close(widget)})()
        )


def _nothing(*_: Any, **__: Any) -> None:
    """Do nothing: the widget exists already."""


def _close(widget: Any) -> bool:
    widget.close()
    return True
