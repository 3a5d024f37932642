"""Creates the keepers of a policy."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from workbench.kernels.layout import Layout
from workbench.trace.retention.backend import Live, RetentionBackend, RetentionBackends
from workbench.trace.retention.carried_values import carried
from workbench.trace.retention.every_kth import every_kth
from workbench.trace.retention.named_series import named
from workbench.trace.retention.policy import Retention
from workbench.trace.retention.statistics import StatisticsKeeper
from workbench.trace.retention.window import WindowKeeper

Maker = Callable[[int], RetentionBackend]


def make_keeper(
    policy: Retention, layout: Layout, limit: int, live: Live, values: Iterable[tuple[str, int]] = ()
) -> RetentionBackends:
    """The keepers of a policy, which share ``limit`` bytes evenly; ``values`` are its ``names`` as (node, output)."""
    wanted = list(values)
    makers: list[Maker] = []
    if policy.keep == "carried":
        makers.append(lambda share: carried(layout, share, live))
    if policy.keep == "statistics":
        makers.append(lambda share: StatisticsKeeper(layout, share, live))
    if wanted:
        makers.append(lambda share: named(layout, wanted, share, live))
    if policy.every is not None:
        every = policy.every
        makers.append(lambda share: every_kth(layout, share, live, every))
    if policy.window is not None:
        window = policy.window
        makers.append(lambda share: WindowKeeper(layout, share, live, window))
    return RetentionBackends([make(limit // len(makers)) for make in makers])
