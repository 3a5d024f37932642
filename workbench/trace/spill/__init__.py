"""Traces larger than memory: the rows that a run drops go to Arrow files, and are read from there.

::

    machine --retire--> SpillStore --queue--> Writer (its thread) --> Segment --> s<store>-<number>.arrow
                            |                                                           |
    trace <--column---------+-- Index: rows -> piece --> in memory or <--Maps-- memory map

The format. A run's folder holds ``manifest.json`` and Arrow IPC files (the *file* format, also called Feather
version 2, https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format), which any Arrow library reads. Each file
has rows of one store: the numbers, or the arrays of known shape, of one loop. Its columns are

``row``
    int64, the number of the row. Each activation of a loop begins with one row for the values that it starts with; then
    comes one row per iteration.
one for each value
    under the value's name. Numbers have their own Arrow type, arrays are fixed-size lists (the items in C order),
    complex numbers are pairs. The metadata of the field has the ``dtype`` and the ``shape``: bool is written as uint8,
    bfloat16 as uint16, the narrow dtypes of a byte or less as uint8, with the same bits. Values of unknown shape and
    strings are structs (see ``objects``). The column holds the value in the rows in which its node fired; its other
    rows are undefined. ``values`` in the metadata lists all names of the value.

The schema's metadata has, under ``workbench.spill``, a JSON object with ``format``, ``version``, the graph's name and
fingerprint, the ``frame`` (loop) and every column: ``name``, ``offset``, ``size``, ``dtype``, ``shape`` and ``values``,
of which one with ``shift`` -1 is seen one row later (the loop variable of an iteration is what the row before left).
``manifest.json`` lists the files, each with its ``store`` and the rows ``first`` to ``stop`` (exclusive) that count:
after going back in the run later rows are written anew into other files. Edits of what a loop
carries (``session.set_value``) are laid over what is read, and do not change files (see ``patches``).

Files that are closed end with the footer that makes them complete; only this process can read the one in progress. No
pickle anywhere; values that are not arrays are not written, but recomputed when they are read.
"""

from workbench.trace.spill.errors import SpillError
from workbench.trace.spill.status import SpillStatus
from workbench.trace.spill.store import SpillStore

__all__ = ["SpillError", "SpillStatus", "SpillStore"]
