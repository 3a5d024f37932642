"""The live view that appears by itself in a notebook when a watched loop begins."""

from __future__ import annotations

import contextlib
import importlib
from typing import Any

from workbench.recorder import Watch, home
from workbench.recorder.outlook import Outlook
from workbench.widgets.base.stage.marimo_cell import closes_with_cell, run_of_cell
from workbench.widgets.watch.watch_view import WatchView

#: maximum views that appear in one run of a cell; further loops are in the list of live runs
MOST = 4
#: the last run of a cell (in Jupyter its number), and the views that appeared in it
_shown: tuple[Any, int] = (0, 0)


def appear(watch: Watch) -> None:
    """Show a loop that begins, unless its cell already shows ``MOST`` of them."""
    global _shown
    run = run_of_cell() or int(getattr(getattr(home.kernel(), "shell", None), "execution_count", 0))
    count = _shown[1] if _shown[0] is run or _shown[0] == run else 0
    if count < MOST:
        _shown = run, count + 1
        display_view(watch)


def display_view(watch: Watch) -> None:
    """Show the live view of a loop below its cell; nothing in a worker process of the kernel."""
    marimo = home.marimo()
    if marimo is not None:
        view = WatchView(watch)
        closes_with_cell(view)
        marimo.output.append(view)
        return
    if home.kernel() is None:
        return
    view = WatchView(watch)
    handle = importlib.import_module("IPython.display").display(view, display_id=True)
    listeners = watch.observer.listeners

    def store(outlook: Outlook | None) -> None:
        """Save the end of the loop in the notebook, for readers without a kernel."""
        if outlook is not None and outlook.over:
            listeners.remove(store)
            with contextlib.suppress(Exception):  # the kernel ends
                handle.update(view)

    if handle is not None:
        listeners.append(store)
