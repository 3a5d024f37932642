# cython: language_level=3, embedsignature=True
"""What runs at each ATen call of a recorded loop: its site and line, the event of each tensor, the parts that it reads.

::

    OpCalls.before ──► StepCalls.before     the arguments, as parts of storages
    (the call)
    OpCalls.took   ──► UserLines.here ──► CallPlace ──► TensorLog.append ──► OpEvent ──► Storages.wrote
                   └─► StepCalls.after      what the call gave

These classes are the part of the recorder that is compiled; what happens rarely is in the classes of
``workbench.recorder.eager`` that are made from them. Nothing here imports torch: its classes and functions are given.
An op of a large model moves all that the processor has cached, so that each instruction of the interpreter afterwards
comes from memory: compiled code touches a tenth of it.
"""

cimport cython
from libc.stdint cimport int64_t, uintptr_t

include "events.pxi"
include "lines.pxi"
include "steps.pxi"
include "calls.pxi"
