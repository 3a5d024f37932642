"""The Jupyter kernel or marimo notebook that this process is, in which a watch shows itself."""

from __future__ import annotations

import os
import sys
from typing import Any

_PROCESS = os.getpid()


def kernel() -> Any:
    """The ipykernel of this process; None in a script, in a terminal, and in a worker forked from a kernel."""
    if os.getpid() != _PROCESS:
        return None
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None)


def marimo() -> Any:
    """The module ``marimo`` if this code runs in a cell of one of its notebooks; else None."""
    module = sys.modules.get("marimo")
    running = getattr(module, "running_in_notebook", None)
    return module if running is not None and running() else None
