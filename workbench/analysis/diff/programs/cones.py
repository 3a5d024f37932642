"""The part of a graph between one value and the paired values before it, evaluated on chosen inputs.

::

    paired ─► node ─► node ─┐
    paired ─► node ─────────┴─► value        its cone: all nodes up to the nearest paired values

A firing is followed back along its recorded sources (:func:`~workbench.trace.provenance.sources_of`), so that a cone
may pass through a branch, and through the back edge of a loop into the previous iteration.
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

#: maximum number of firings in one cone
MOST = 512
#: errors of evaluating a node on other inputs, whose shapes or dtypes it may not accept
REFUSED = (WorkbenchError, ValueError, TypeError, LookupError, ArithmeticError, AttributeError)
#: the value at which a cone ends, by its reference and iteration path; raises one of REFUSED
End = Callable[[Ref, Path], Any]


class NoCone(Exception):
    """A cone that cannot be evaluated: it is too large, or an op in it has effects."""


class Cone:
    """One evaluation. ``graph`` is that of the trace, or the same in another dtype; ``ends`` are values at which a cone
    ends, ``end`` returns their values. ``noise`` changes all numbers that enter by that share, or if negative by that
    share of the largest number in their array. Afterwards ``used`` holds the ends that were reached, ``nodes`` the
    evaluated nodes.
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
        if not first and ref in self.used:  # a variable may be computed from its value in the previous iteration
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
        """A value of the other side in the dtype of this side."""
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
        if self._noise < 0:  # half a step of a tensor with a single scale
            known = np.abs(value[np.isfinite(value)])
            return (value - self._noise * signs * known.max(initial=0.0)).astype(value.dtype)
        return (value * (1.0 + self._noise * signs)).astype(value.dtype)


__all__ = ["REFUSED", "Cone", "End", "NoCone"]
