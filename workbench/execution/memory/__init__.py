"""Who owns which array, and when it goes: a tree of managers, light handles, holds, the collection of unused arrays.

::

    ArrayManager ──owns──► Buffer ◄──looks up── Array (a key)      managers.py   handles.py, interop.py
         │                   ▲ ▲
    submanagers         Hold ┘ └ reference queue, drained on the calling thread      scopes.py   ledger.py

``buffers.py``: what is known of one array. ``books.py``: what the ledger keeps. ``accounts.py``: figures.
``faults.py``: errors. ``process.py``: the ledger of this process and the switch. ``runs.py``: what a run itself holds.
"""

from workbench.execution.memory.accounts import LedgerEvent, ManagerFigures, Memory
from workbench.execution.memory.buffers import ArrayInfo, Origin, Released, Site
from workbench.execution.memory.handles import Array, held_value
from workbench.execution.memory.ledger import Ledger
from workbench.execution.memory.managers import ArrayManager
from workbench.execution.memory.process import LEDGER, collect_unused, memory
from workbench.execution.memory.runs import RunFigures, run_figures
from workbench.execution.memory.scopes import Hold

__all__ = [
    "LEDGER", "Array", "ArrayInfo", "ArrayManager", "Hold", "Ledger", "LedgerEvent", "ManagerFigures", "Memory",
    "Origin", "Released", "RunFigures", "Site", "collect_unused", "held_value", "memory", "run_figures",
]  # fmt: skip
