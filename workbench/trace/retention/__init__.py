"""Retention: storage for rows that the executor evicts from memory.

::

    machine --retire--> keeper: carried | every | named | window | statistics
       |                   |
    LiveSource        held, take
       +-------KeptSource--+--> RowReader

A keeper never holds more than its share of the memory; replay recomputes rows that it has dropped.
"""

from workbench.trace.retention.backend import RetentionBackend, RetentionBackends
from workbench.trace.retention.make import make_keeper
from workbench.trace.retention.policy import DEFAULT_MEMORY, Retention, retention_of
from workbench.trace.retention.source import KeptSource
from workbench.trace.retention.tracks import has_objects

__all__ = [
    "DEFAULT_MEMORY",
    "RetentionBackend",
    "RetentionBackends",
    "KeptSource",
    "Retention",
    "has_objects",
    "make_keeper",
    "retention_of",
]
