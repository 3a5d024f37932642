"""The plan cache: keyed by graph fingerprint, required outputs and feed signature; hits, misses and evictions
counted."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from workbench.graph.graph import Graph
from workbench.graph.node import Ref
from workbench.plan.plan import ExecutionPlan, Signature, make_plan


@dataclass(frozen=True, slots=True)
class CacheStats:
    """Counts since the cache was made. ``reason`` says what the last look-up found."""

    entries: int
    hits: int
    misses: int
    evictions: int
    reason: str


class PlanCache:
    """Keeps the ``capacity`` plans used last. Safe under threads."""

    def __init__(self, capacity: int = 128) -> None:
        self.capacity = capacity
        self._plans: OrderedDict[object, ExecutionPlan] = OrderedDict()
        self._lock = threading.Lock()
        self._hits = self._misses = self._evictions = 0
        self._reason = "nothing was looked up yet"

    def get(
        self, graph: Graph, outputs: Mapping[str, Ref], signature: Signature, statistics: bool = False
    ) -> ExecutionPlan:
        """The plan for this key, made if it is not there."""
        key = (graph.fingerprint, tuple(outputs.items()), signature, statistics)
        with self._lock:
            found = self._plans.get(key)
            if found is not None:
                self._plans.move_to_end(key)
                self._hits += 1
                self._reason = "hit: the same graph, outputs and feed types were planned before"
                return found
        plan = make_plan(graph, outputs, signature, statistics)
        with self._lock:
            self._misses += 1
            self._reason = "miss: this graph, these outputs and these feed types were not planned before"
            self._plans[key] = plan
            while len(self._plans) > self.capacity:
                self._plans.popitem(last=False)
                self._evictions += 1
        return plan

    def stats(self) -> CacheStats:
        with self._lock:
            return CacheStats(len(self._plans), self._hits, self._misses, self._evictions, self._reason)

    def clear(self) -> None:
        """Forget all plans; the counts stay."""
        with self._lock:
            self._plans.clear()


#: the cache that sessions and ``Graph.run`` use
PLANS = PlanCache()
