"""Ownership of arrays: a tree of managers, light handles, holds, and the collection of unused arrays.

::

    ArrayManager ──owns──► Buffer ◄──looks up── Array (a key)      managers.py   handles.py, numpy_interop.py
         │                   ▲ ▲
    submanagers         Hold ┘ └ reference queue, drained on the calling thread      scopes.py   ledger.py

``buffers.py``: the record of one array. ``ledger_state.py``: the state of the ledger. ``accounts.py``: byte counts over
time. ``errors.py``: errors. ``process.py``: the ledger of this process, and the switch for collection.
"""

from workbench.arrays.accounts import LedgerEvent, ManagerFigures, Memory
from workbench.arrays.buffers import ArrayInfo, Origin, Site, Tombstone
from workbench.arrays.handles import Array, held_value
from workbench.arrays.ledger import Ledger
from workbench.arrays.managers import ArrayManager
from workbench.arrays.process import LEDGER, collect_unused, memory
from workbench.arrays.scopes import Hold

__all__ = [
    "LEDGER",
    "Array",
    "ArrayInfo",
    "ArrayManager",
    "Hold",
    "Ledger",
    "LedgerEvent",
    "ManagerFigures",
    "Memory",
    "Origin",
    "Tombstone",
    "Site",
    "collect_unused",
    "held_value",
    "memory",
]
