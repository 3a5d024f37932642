"""Creation of many objects without Python's cyclic garbage collector.

Each time the number of live objects has grown by a quarter, the collector visits all of them. During the creation of a
graph or plan with many nodes hardly any object becomes garbage, and these visits take longer than the work itself.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Switch the cyclic collector off, and at the end on again if it was on before.

    It may be nested and used by several threads: at worst the collector is on again while another thread still creates
    objects.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
