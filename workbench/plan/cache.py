"""The plan cache: keyed by graph, required outputs and feed signature; hits, misses and evictions
counted."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from workbench.device import Device
from workbench.ir.graph import Graph, check_files
from workbench.ir.listing import Listing
from workbench.ir.node import Ref
from workbench.plan.plan import ExecutionPlan, Signature, make_plan
from workbench.text import harmless
from workbench.threads import Lock


class _SameGraph:
    """A graph as part of a key. Equal graphs are equal keys; their fingerprints, which take a fifth of the time of
    planning, are compared only if everything else agrees.
    """

    __slots__ = ("graph",)

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def __hash__(self) -> int:
        return hash((self.graph.name, len(self.graph.nodes)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SameGraph) and (self.graph is other.graph or self.graph == other.graph)


class _Key:
    """A key whose hash is computed once: hashing the types of feeds takes longer than running a small model."""

    __slots__ = ("parts", "hash")

    def __init__(self, parts: tuple[object, ...]) -> None:
        self.parts, self.hash = parts, hash(parts)

    def __hash__(self) -> int:
        return self.hash

    def __eq__(self, other: object) -> bool:
        return self is other or isinstance(other, _Key) and self.parts == other.parts


@dataclass(slots=True)
class CacheEntry:
    """One cached plan, and its number of hits."""

    plan: ExecutionPlan
    statistics: bool
    hits: int = 0


@dataclass(frozen=True, slots=True)
class CacheStats:
    """Counts since the cache was created. ``reason`` says what the last look-up found."""

    entries: int
    hits: int
    misses: int
    evictions: int
    reason: str


class PlanCache:
    """A thread-safe cache of execution plans. Sessions and ``Graph.run`` use ``wb.plan_cache``.

    The key is the graph (equal graphs have equal fingerprints), the required outputs and the types of the feeds, so
    that a second session on a graph need not plan again. The most recently used plans are kept.

    Parameters
    ----------
    capacity : int, default 128
        Number of plans to keep.

    Examples
    --------
    >>> before = wb.plan_cache.stats().hits
    >>> with wb.Session(graph, {"a": 3.0}) as another:
    ...     wb.plan_cache.stats().hits > before
    True
    >>> print(wb.plan_cache)
    Plan cache: ... of 128 plans, ... hits, ... misses, ... evictions
    ...
    """

    def __init__(self, capacity: int = 128) -> None:
        self.capacity = capacity
        self._plans: OrderedDict[_Key, CacheEntry] = OrderedDict()
        #: (identity of a graph, its caller's ``seen``) -> (the graph, the key), for look-ups that need no types
        self._seen: dict[tuple[int, Hashable], tuple[weakref.ref[Graph], _Key]] = {}
        self._lock = Lock()
        self._hits = self._misses = self._evictions = 0
        self._reason = "nothing was looked up yet"

    def get(
        self,
        graph: Graph,
        outputs: Mapping[str, Ref],
        signature: Signature,
        statistics: bool = False,
        lean: bool = False,
        device: Device | None = None,
        seen: Hashable = None,
    ) -> ExecutionPlan:
        """Return the plan for a key, and make it if it is not cached.

        Parameters
        ----------
        graph : Graph
            The graph.
        outputs : mapping of str to Ref
            The required outputs.
        signature : tuple
            Types of the feeds.
        statistics : bool, default False
            Whether statistics of arrays are computed with the arrays.
        lean : bool, default False
            Whether values are freed after their last use.
        device : Device, optional
            Where large arrays live; by default on the host.
        seen : hashable, optional
            Distinguishes this key from others of the same graph, for :meth:`again`.

        Returns
        -------
        ExecutionPlan

        Raises
        ------
        GraphError
            ``file-changed``: a file that holds constants of the graph has been written since it was loaded.
        """
        if check_files(graph):
            _ = graph.fingerprint  # for the current numbers
        lean = lean or statistics
        wanted = (tuple(outputs.items()), signature, statistics, device)
        key, other = (_Key((*wanted, k, _SameGraph(graph))) for k in (lean, not lean))
        with self._lock:
            found = self._plans.get(key)
            if found is None and (same := self._plans.get(other)) is not None and same.plan.lean is None:
                key, found = other, same
            if found is not None:
                self._hit(key, found)
                if seen is not None and found.plan.graph is graph:
                    self._note(graph, seen, key)
                # an equal graph may have other source lines: errors name those of the requested graph
                return found.plan if found.plan.graph is graph else replace(found.plan, graph=graph)
        plan = make_plan(graph, outputs, signature, statistics, lean, device)
        with self._lock:
            self._misses += 1
            self._reason = "miss: this graph, these outputs and these feed types were not planned before"
            self._plans[key] = CacheEntry(plan, statistics)
            if seen is not None:
                self._note(graph, seen, key)
            while len(self._plans) > self.capacity:
                self._plans.popitem(last=False)
                self._evictions += 1
        return plan

    def again(self, graph: Graph, seen: Hashable) -> ExecutionPlan | None:
        """Return the plan that :meth:`get` returned for this same graph object and ``seen``, if it is still cached.

        Raises
        ------
        GraphError
            As :meth:`get`.
        """
        noted = self._seen.get((id(graph), seen))
        if noted is None or noted[0]() is not graph or check_files(graph):
            return None
        with self._lock:
            found = self._plans.get(noted[1])
            if found is None or found.plan.graph is not graph:
                return None
            self._hit(noted[1], found)
            return found.plan

    def _hit(self, key: _Key, found: CacheEntry) -> None:
        with suppress(KeyError):  # a signal handler may have used the cache in the meantime
            self._plans.move_to_end(key)
        self._hits += 1
        self._reason = "hit: the same graph, outputs and feed types were planned before"
        found.hits += 1

    def _note(self, graph: Graph, seen: Hashable, key: _Key) -> None:
        if len(self._seen) >= 4 * self.capacity:
            self._seen.clear()
        self._seen[id(graph), seen] = weakref.ref(graph), key

    def stats(self) -> CacheStats:
        """Return the numbers of entries, hits, misses and evictions since the cache was created."""
        with self._lock:
            return CacheStats(len(self._plans), self._hits, self._misses, self._evictions, self._reason)

    def entries(self) -> Listing:
        """Return the cached plans as a table, most recently used last."""
        with self._lock:
            kept = list(self._plans.values())
        stats = self.stats()
        return Listing(
            f"Plan cache: {stats.entries} of {self.capacity} plans, {stats.hits} hits, {stats.misses} misses, "
            f"{stats.evictions} evictions",
            ("graph", "outputs", "feeds", "nodes", "statistics", "planned in", "hits"),
            kept,
            lambda e: (
                e.plan.graph.name,
                ", ".join(e.plan.outputs),
                ", ".join(f"{n} {t}" for n, t in e.plan.signature),
                str(len(e.plan.layout.nodes)),
                "yes" if e.statistics else "no",
                f"{e.plan.seconds * 1e3:.1f} ms",
                str(e.hits),
            ),
        )

    @harmless
    def __repr__(self) -> str:
        return f"<{self.entries().title}>"

    @harmless
    def __str__(self) -> str:
        return self.entries().text()

    @harmless
    def _repr_html_(self) -> str:
        return self.entries()._repr_html_()

    def clear(self) -> None:
        """Remove all plans; the counts are kept."""
        with self._lock:
            self._plans.clear()
            self._seen.clear()


#: the cache that sessions and ``Graph.run`` use
PLANS = PlanCache()
