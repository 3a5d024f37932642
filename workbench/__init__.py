"""workbench: step through dataflow graphs with loops and branches, watch loop variables, learn why loops stop.

A graph with one loop, Newton's iteration for the square root of ``a``:

>>> import workbench as wb
>>> b = wb.GraphBuilder("newton")
>>> a = b.placeholder("a")
>>> x = b.while_loop(lambda x: abs(x * x - a) > 1e-9, lambda x: (x + a / x) * 0.5, {"x": a})
>>> graph = b.build(x)
>>> graph.run(a=2.0)
{'x': array(1.41421356)}

A session runs it step by step and records every value:

>>> session = wb.Session(graph, {"a": 2.0})
>>> session.run()
<Stop FINISHED: The run is finished: every required output was computed. Next: the end (event 72).>
>>> session.trace["x"].values
array([2.        , 1.5       , 1.41666667, 1.41421569, 1.41421356])

All examples of this reference begin with this ``graph`` and this finished ``session``, and with ``import numpy as
np``. In a notebook, ``wb.debug(graph, {"a": 2.0})`` shows the debugger panel.

Notes
-----
Terms, most of them those of TensorFlow 1:

- A *node* is one op of a graph, a *value* one output of a node. A value is written as ``node:index``
  (``"while/multiply:0"``), as ``node`` (its output 0) or by its public name (``"x"``).
- A *frame* is the scope that a loop opens; its path is a tuple of names, ``()`` for the outermost level and
  ``("outer", "inner")`` for a loop in a loop. Every node belongs to one frame.
- A node *fires* once in each iteration of its frame; iterations count from 0. The *tag* of a firing names the node, the
  frame path and one iteration number per frame of the path.
- A *loop variable* has in iteration k the value with which iteration k begins; in iteration 0 that is its start value.
  In the last iteration only the condition is evaluated.
- An *activation* is one execution of a loop from its entry to its exit; an inner loop has one in each iteration of the
  loop around it.
- A *Switch* sends a value to one of two sides; nodes on the other side are *dead* in that iteration and do not fire.
- An *event* is one firing in the order of execution; events are numbered from 0.

The public names are listed in ``workbench/public.py``. They are loaded when one of them is first used, so that ``import
workbench`` and ``workbench -h`` are fast.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from workbench.public import *  # noqa: F403
    from workbench.public import __all__ as __all__


def __getattr__(name: str) -> Any:
    """A public name, or a subpackage loaded with them (PEP 562)."""
    if name == "widgets":
        return importlib.import_module("workbench.widgets")
    if name.startswith("__") and name != "__all__":
        raise AttributeError(f"module 'workbench' has no attribute {name!r}")
    importlib.import_module("workbench.libraries").warn_of_namesake()
    public = importlib.import_module("workbench.public")
    globals().update({public_name: getattr(public, public_name) for public_name in ("__all__", *public.__all__)})
    if "IPython" in sys.modules:
        importlib.import_module("workbench.tracebacks").install()
    if name not in globals():
        raise AttributeError(f"module 'workbench' has no attribute {name!r}")
    return globals()[name]


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext workbench``: registers the magics ``%%watch``, ``%wb`` and ``%%wb``; an import in IPython also
    does."""
    importlib.import_module("workbench.magics").register(shell)


_get_shell = getattr(sys.modules.get("IPython"), "get_ipython", None)
if _get_shell is not None and (_shell := _get_shell()) is not None:
    load_ipython_extension(_shell)


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__"), "widgets"})
