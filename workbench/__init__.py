"""workbench: step through dataflow graphs with loops and branches, watch loop variables, learn why loops stop.

>>> import workbench as wb
>>> b = wb.GraphBuilder("newton")
>>> a = b.placeholder("a")
>>> x = b.while_loop(lambda x: abs(x * x - a) > 1e-9, lambda x: (x + a / x) * 0.5, {"x": a})
>>> b.build(x).run(a=2.0)

The public names are listed in ``workbench/public.py``.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"


def __getattr__(name: str) -> Any:
    if name == "widgets":
        return importlib.import_module("workbench.widgets")
    if not name.startswith("__") or name == "__all__":
        public = importlib.import_module("workbench.public")
        if name in public.__all__ or name == "__all__":
            return getattr(public, name)
    raise AttributeError(f"module 'workbench' has no attribute {name!r}")


# Numbers take a second to load. The command line answers -h at once: there, names are looked up when they are needed.
if TYPE_CHECKING or os.path.basename(sys.argv[0] if getattr(sys, "argv", None) else "") != "workbench":
    from workbench.public import *  # noqa: F403
    from workbench.public import __all__ as __all__
