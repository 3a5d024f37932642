"""The Jupyter kernel that this process is, for what a watch shows there by itself."""

from __future__ import annotations

import os
import sys
from typing import Any

_PROCESS = os.getpid()


def kernel() -> Any:
    """The ipykernel of this process; None in a script, at a terminal, and in a worker forked from a kernel."""
    if os.getpid() != _PROCESS:
        return None
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None)
