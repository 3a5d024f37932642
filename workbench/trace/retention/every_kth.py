"""Keeps every k-th iteration in full."""

from __future__ import annotations

from workbench.kernels.layout import Layout
from workbench.trace.retention.backend import Live
from workbench.trace.retention.thinning import ThinnedKeeper
from workbench.trace.retention.tracks import all_places


def every_kth(layout: Layout, limit: int, live: Live, every: int) -> ThinnedKeeper:
    """Keeps all values of iterations 0, k, 2k, ... of a loop; ``every`` is k at first and doubles whenever ``limit`` is
    reached. In inner loops, iterations are numbered consecutively over all activations."""
    return ThinnedKeeper(layout, all_places(layout), limit, live, every)
