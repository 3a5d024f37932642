"""Keeps some series in full."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.kernels.layout import Layout
from workbench.trace.retention.backend import Live
from workbench.trace.retention.thinning import ThinnedKeeper
from workbench.trace.retention.tracks import places_of


def named(layout: Layout, values: Iterable[tuple[str, int]], limit: int, live: Live) -> ThinnedKeeper:
    """Keeps every firing of these values (node, output) while they fit; then every second one, and so on."""
    places = set().union(*(places_of(layout.values[key]) for key in values))
    return ThinnedKeeper(layout, places, limit, live)
