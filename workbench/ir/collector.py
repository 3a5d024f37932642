"""Making many objects at once without Python's cyclic garbage collector.

Each time the objects alive have grown by a quarter, the collector visits all of them. While a graph or a plan of many
nodes is made hardly anything becomes garbage, and those visits take longer than the work itself.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Switch the cyclic collector off, and on again at the end if it was on before.

    Safe to nest and with several threads: at worst it is on again while another thread still makes objects.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
