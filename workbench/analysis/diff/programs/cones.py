"""The part of a graph between one value and the paired values before it, evaluated on inputs of one's choice.

::

    paired ─► node ─► node ─┐
    paired ─► node ─────────┴─► value        its cone: everything up to the nearest paired values

A firing is followed back as it was made (:func:`~workbench.trace.provenance.sources_of`), so that a cone may lead
through a branch, and through the back edge of a loop into the iteration before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from workbench.analysis.diff.error_source import value_at
from workbench.analysis.diff.side import Path
from workbench.analysis.diff.trace_side import HANDS_ON
from workbench.errors import WorkbenchError
from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref
from workbench.ir.opspec import REGISTRY
from workbench.ir.types import numpy_dtype
from workbench.trace import Trace
from workbench.trace.provenance import sources_of

#: firings that one cone may hold
MOST = 512
#: what evaluating a node on other inputs may raise: shapes or dtypes that it does not take
REFUSED = (WorkbenchError, ValueError, TypeError, LookupError, ArithmeticError, AttributeError)
#: the value at which a cone ends, by its own reference and iteration path; raises one of REFUSED
End = Callable[[Ref, Path], Any]


class NoCone(Exception):
    """A cone that cannot be evaluated: it is too large, or an op in it has effects."""


class Cone:
    """One evaluation. ``graph`` is that of the trace, or the same in another dtype; ``ends`` are values at which a cone
    ends, ``end`` gives their numbers. ``noise`` moves all numbers that go in by that share, below 0 by that share of
    the largest number beside them. After it ``used`` holds the ends that were reached, ``nodes`` what was evaluated.
    """

    def __init__(self, trace: Trace, graph: Graph, ends: Collection[Ref], end: End, noise: float = 0.0) -> None:
        self.trace, self.graph, self.ends, self.end = trace, graph, ends, end
        self.known: dict[tuple[Ref, Path], Any] = {}
        self.used: set[Ref] = set()
        self.nodes: dict[str, None] = {}
        self._noise, self._rng = noise, np.random.default_rng(0)

    def value(self, ref: Ref, path: Path) -> Any:
        """The value of a firing; raises NoCone or one of REFUSED."""
        waiting = [(ref, path)]
        start = waiting[0]
        while waiting:
            key = waiting[-1]
            if key in self.known:
                waiting.pop()
                continue
            needed = self._needed(key, key == start)
            missing = [k for k in needed if k not in self.known]
            if not missing:
                self._make(key, needed, key == start)
                waiting.pop()
                continue
            if len(self.known) + len(waiting) > MOST:
                raise NoCone
            waiting.extend(missing)
        return self.known[start]

    def _needed(self, key: tuple[Ref, Path], first: bool) -> list[tuple[Ref, Path]]:
        ref, path = key
        node = self.graph.nodes[ref.node]
        if not first and ref in self.ends:
            self.used.add(ref)
            return []
        if node.op in HANDS_ON:
            made = sources_of(self.trace, ref, path)
            if not made:
                raise NoCone
            return made[:1]
        return [(r, path) for r in node.inputs]

    def _make(self, key: tuple[Ref, Path], needed: list[tuple[Ref, Path]], first: bool) -> None:
        ref, path = key
        node = self.graph.nodes[ref.node]
        if not first and ref in self.used:  # a variable may be made from itself, of the iteration before
            self.known[key] = self._noisy(self._typed(ref, self.end(ref, path)))
        elif node.op in HANDS_ON:
            self.known[key] = self.known[needed[0]]
        elif node.op == "Placeholder":
            self.known[key] = self._noisy(value_at(self.trace, ref, path))
        else:
            self.nodes[node.name] = None
            if node.op == "Const":
                self.known[key] = self._noisy(node.attrs["value"])
                return
            for k, made in enumerate(self._evaluated(node, [self.known[k] for k in needed])):
                self.known[Ref(ref.node, k), path] = made
            if key not in self.known:
                raise NoCone

    def _evaluated(self, node: Node, arrays: list[Any]) -> Any:
        spec = REGISTRY.lookup(node.op, node.attrs)
        if spec.evaluate is None or not spec.pure or spec.draws:
            raise NoCone
        with np.errstate(all="ignore"):
            return spec.evaluate(arrays, node.attrs)

    def _typed(self, ref: Ref, value: Any) -> Any:
        """A number of the other side in the dtype that this side has there."""
        dtype = self.graph.nodes[ref.node].types[ref.index].dtype
        if not isinstance(value, np.ndarray | np.generic) or dtype in ("any", "opaque", "string"):
            return value
        with np.errstate(all="ignore"):
            return np.asarray(value).astype(numpy_dtype(dtype))

    def _noisy(self, value: Any) -> Any:
        if not self._noise or not isinstance(value, np.ndarray | np.generic) or value.dtype.kind != "f":
            return value
        value = np.asarray(value)
        signs = self._rng.choice(np.array([-1.0, 1.0]), value.shape)
        if self._noise < 0:  # half a step of a tensor that is quantised as a whole
            known = np.abs(value[np.isfinite(value)])
            return (value - self._noise * signs * known.max(initial=0.0)).astype(value.dtype)
        return (value * (1.0 + self._noise * signs)).astype(value.dtype)


__all__ = ["REFUSED", "Cone", "End", "NoCone"]
