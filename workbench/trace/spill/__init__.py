"""Traces larger than memory: rows that a run evicts are written to Arrow files and read from them.

::

    machine --retire--> SpillStore --queue--> Writer (its thread) --> Segment --> s<store>-<number>.arrow
                            |                                                           |
    trace <--column---------+-- Index: rows -> piece --> in memory or <--Maps-- memory map

The format. A run's folder holds ``manifest.json`` and Arrow IPC files (the *file* format, also called Feather
version 2, https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format), which any Arrow library reads. Each file
has rows of one store: the numbers, or the arrays of known shape, of one loop. Its columns are

``row``
    int64, the row number. Each activation of a loop begins with one row for its initial values, followed by one row per
    iteration.
one for each value
    under the value's name. Numbers have their own Arrow type, arrays are fixed-size lists (the items in C order),
    complex numbers are pairs. The metadata of the field states ``dtype`` and ``shape``: bool is written as uint8,
    bfloat16 as uint16, dtypes of at most one byte as uint8, with the same bits. Values of unknown shape and strings are
    structs (see ``objects``). The column contains the value in the rows in which its node fired; its other rows are
    undefined. ``values`` in the metadata lists all names of the value.

The schema's metadata has, under ``workbench.spill``, a JSON object with ``format``, ``version``, the graph's name and
fingerprint, the ``frame`` (loop) and every column: ``name``, ``offset``, ``size``, ``dtype``, ``shape`` and ``values``,
where a value with ``shift`` -1 is read one row later (an iteration reads its loop variables from the previous row).
``manifest.json`` lists the files, each with its ``store`` and its valid rows ``first`` to ``stop`` (exclusive): after a
step back, later rows are rewritten into other files. Edits of loop variables (``session.set_value``) are applied on
reading, and do not change files (see ``patches``).

Closed files end with a footer that completes them; only this process can read the one in progress. No pickle anywhere;
values that are not arrays are not written, but recomputed on demand.
"""

from workbench.trace.spill.errors import SpillError
from workbench.trace.spill.status import SpillStatus
from workbench.trace.spill.store import SpillStore

__all__ = ["SpillError", "SpillStatus", "SpillStore"]
