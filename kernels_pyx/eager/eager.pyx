# cython: language_level=3, embedsignature=True
"""Code that runs at each ATen call of a recorded loop: its site and line, the event of each tensor, the parts that it
reads.

::

    OpCalls.before ──► StepCalls.before     the arguments, as parts of storages
    (the call)
    OpCalls.took   ──► UserLines.here ──► CallPlace ──► TensorLog.append ──► OpEvent ──► Storages.wrote
                   └─► StepCalls.after      what the call gave

These classes are the compiled part of the recorder; rare operations are in their subclasses in
``workbench.recorder.eager``. Nothing here imports torch: its classes and functions are passed in. An op of a large
model evicts the processor's caches, so that each instruction of the interpreter afterwards comes from memory: compiled
code touches a tenth as much.
"""

cimport cython
from libc.stdint cimport int64_t, uintptr_t

include "events.pxi"
include "lines.pxi"
include "steps.pxi"
include "calls.pxi"
