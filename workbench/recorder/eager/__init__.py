"""Eager PyTorch, op by op: the result of each ATen call of a loop, its line, and the call that caused a fault.

::

    TorchDispatchMode ─► OpMode ─► OpRecorder, whose OpCalls (kernels.eager) is compiled
                          ├─► TensorLog (64 bytes a tensor) ─► iterations of an OpRecord ─► first_bad, compare
                          ├─► OpEvent: the events whose tensors it read, until the iteration is two behind
                          └─► RecordedSteps: the calls themselves, to run them again

A *site* is an op at a line of the user's code, in a module and a phase (forward, backward, optimizer), the n-th such
call of the iteration: what a node is in a graph. torch is imported by the first watch that needs it.
"""
