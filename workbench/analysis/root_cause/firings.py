"""The firings of one loop that an explanation reads: operands and results by iteration, from record and look-ahead.

Claims are checked against these values: each value of a claim is read again here, or recomputed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from workbench.analysis.claims.recompute import item_of
from workbench.analysis.comparisons import NAMES
from workbench.analysis.root_cause.loop_samples import LoopSamples
from workbench.analysis.slicing import work
from workbench.analysis.slicing.execution import SliceMachine
from workbench.execution import NEWEST_ROWS
from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref
from workbench.trace.aligned_columns import AlignedColumns, origin

#: nominal seconds of one search through all iterations from the current one to the end of the look-ahead
SEARCH = 0.2
#: number of values that are looked up individually before all of them are read
FEW = 2
#: maximum number of iterations read at once in such a search
CHUNK = 4096


class Firings:
    """Values of one activation of a loop by iteration; KeyError if a value did not fire, or is not known."""

    def __init__(self, found: LoopSamples) -> None:
        self.found, self.loop = found, found.loop
        self.graph: Graph = found.loop.graph
        self._maps: dict[Ref, dict[int, Any]] = {}
        self._read: dict[Ref, dict[int, Any]] = {}
        self._since: dict[Any, int | None] = {}
        self._reads: dict[Ref, int] = {}
        self._released = False

    def op(self, node: str) -> str:
        return self.graph.nodes[node].op

    def merge(self, variable: str) -> Ref:
        return Ref(self.loop.variables[variable].merge)

    def value(self, ref: Any, k: int) -> Any:
        """The value of ``ref`` in iteration ``k`` of the loop; constants and plain numbers never change."""
        if not isinstance(ref, Ref):
            return ref
        if ref not in self._maps and (alone := self._at_the_end(ref, k)) is not None:
            return alone
        known = self._of(ref)
        if k not in known:
            source = origin(self.graph, ref)
            if source.op == "Const":
                return source.attrs["value"]
            if self.graph.frame_of(source.name) == self.loop.path or not known:
                raise KeyError(f"{ref} did not fire in iteration {k}")
            k = next(reversed(known))
        self._read.setdefault(ref, {})[k] = known[k]
        return known[k]

    def values(self, ref: Any, iterations: Iterable[int]) -> list[Any]:
        """:meth:`value` for many iterations, read at once."""
        its = list(iterations)
        if not isinstance(ref, Ref):
            return [ref] * len(its)
        if len(its) <= FEW:
            return [self.value(ref, k) for k in its]
        read = self.reader(ref)
        found = [read(k) for k in its]
        self._read.setdefault(ref, {}).update(zip(its, found, strict=True))
        return found

    def _at_the_end(self, ref: Ref, k: int) -> Any:
        """One of the last known values, for the first few reads without a map of all values; else None."""
        reads = self._reads[ref] = self._reads.get(ref, 0) + 1
        source = origin(self.graph, ref)
        if source.op == "Const":
            return source.attrs["value"]
        if self._released or reads > FEW:
            return None
        its, values = self.found.at_the_end(ref)
        i = int(np.searchsorted(its, k))
        if i == len(its) or its[i] != k:
            return None
        self._read.setdefault(ref, {})[k] = values[i]
        return values[i]

    def reader(self, ref: Ref) -> Callable[[int], Any]:
        """:meth:`value` of one node, for searches through many iterations: these values are not kept."""
        known, source = self._of(ref), origin(self.graph, ref)
        if source.op == "Const":
            return lambda k: source.attrs["value"]
        if self.graph.frame_of(source.name) != self.loop.path and known:
            last = known[next(reversed(known))]
            return lambda k: known.get(k, last)
        return known.__getitem__

    def release(self) -> None:
        """Release record and look-ahead; the values that were read, which are those of the claims, are kept."""
        own = {ref: {k: _own(v) for k, v in values.items()} for ref, values in self._read.items()}
        self._maps, self._read, self._released = own, own, True
        vars(self).pop("found", None)

    def has(self, ref: Ref, k: int) -> bool:
        node = self.graph.nodes[ref.node]
        return node.op == "Const" and not node.control or k in self._of(ref)

    def operands(self, node: str, k: int) -> list[Any]:
        found = self.graph.nodes[node]
        self.output(node, k)  # raises if it did not fire
        return [self.value(ref, k) for ref in found.inputs]

    def output(self, node: str, k: int) -> Any:
        return self.value(Ref(node), k)

    def _of(self, ref: Ref) -> dict[int, Any]:
        if ref not in self._maps:
            parts: dict[int, Any] = {}
            if self._released:
                return parts
            found = self.found
            for columns in (found.record, found.early, found.late):
                if columns is not None:
                    base = found.base_of(columns)
                    parts.update({k + base: v for k, v in found.plain(columns, ref).items()})
            self._maps[ref] = parts
        return self._maps[ref]

    def first_value(self, variable: str, item: tuple[int, ...] | None = None) -> Any:
        """The first known value of a variable."""
        known = self._of(self.merge(variable))
        return item_of(known[min(known)], item)

    def known(self, ref: Ref) -> list[int]:
        """Iterations in which a value is known, in order."""
        return sorted(self._of(ref))

    def remember(self, node: Node, k: int, result: Any, operands: list[Any]) -> None:
        """Keep the result and operands of one firing that a search has read."""
        for ref, value in zip((node.ref(), *node.inputs), (result, *operands), strict=True):
            if self.graph.nodes[ref.node].op != "Const":
                self._of(ref).setdefault(k, value)

    @cached_property
    def window(self) -> list[int]:
        """The last known iterations whose bodies have run: two periods if a period is known, else at most 64."""
        found = self.found
        columns = found.late or found.early or found.record
        assert columns is not None
        base = found.base_of(columns)
        known = sorted(k + base for k in found.plain(columns, found.cond))
        start = len(known) - 1
        while start > 0 and known[start - 1] == known[start] - 1:
            start -= 1
        n = 2 * found.settled[1] + 1 if found.settled is not None else 65
        return known[max(start, len(known) - n) : -1] or known[-1:]

    def states(self, refs: list[Ref], iterations: Iterable[int]) -> list[bytes]:
        """The bits of several values together, for each of the iterations."""
        its = list(iterations)
        columns = [[np.asarray(v).tobytes() for v in self.values(r, its)] for r in refs]
        return list(map(b"|".join, zip(*columns, strict=True))) if columns else [b""] * len(its)

    def period(self, names: Iterable[str]) -> int | None:
        """The period of variables that depend on no others, seen in two full turns; None if there is none."""
        refs = [self.merge(n) for n in names]
        try:
            states = self.states(refs, self.window)
        except KeyError:
            return None
        last = len(states) - 1
        for n in range(1, last // 2 + 1):
            if states[last] == states[last - n] == states[last - 2 * n]:
                return n  # equal states have equal successors
        return None

    def since(self, node: str, op: str, truth: bool, item: tuple[int, ...] | None = None) -> int | None:
        """The first iteration from which on a comparison is always ``truth``, up to the last known one.

        None if it is unknown: the search takes too long, or the comparison is not evaluated in some iterations.
        """
        key = ("since", node, op, truth, item)
        if key not in self._since:
            self._since[key] = self._first(
                Ref(node), lambda value: bool(np.all(item_of(value, item))) == self._output(node, op, truth)
            )
        return self._since[key]

    def first_nan(self, ref: Any, item: tuple[int, ...] | None = None) -> int | None:
        """The first iteration from which on a value is always NaN; None if it is unknown."""
        if not isinstance(ref, Ref):
            return None
        key = ("nan", ref, item)
        if key not in self._since:
            self._since[key] = self._first(ref, lambda value: bool(np.all(np.isnan(item_of(value, item)))))
        return self._since[key]

    def _output(self, node: str, op: str, truth: bool) -> bool:
        """The node's result if ``left op right`` is ``truth``; ``op`` may be the opposite of its operator."""
        return truth if NAMES.get(self.op(node), op) == op else not truth

    def _first(self, ref: Ref, test: Callable[[Any], bool]) -> int | None:
        known = self._of(ref)
        last = self.window[-1]
        if last not in known or not test(known[last]):
            return None
        k = last
        while k - 1 in known and test(known[k - 1]):
            k -= 1
        if k == 0 or k - 1 in known:
            return k
        if self.found.runner is None or k <= self.found.base:
            return None
        found = self._run_through(ref, test, k)
        if found is None or found > self.found.base or found == 0:
            return found
        while found - 1 in known and test(known[found - 1]):
            found -= 1
        return found if found == 0 or found - 1 in known else None

    def _run_through(self, ref: Ref, test: Callable[[Any], bool], end: int) -> int | None:
        """The first iteration from which on all values up to ``end`` pass the test, found by running it again."""
        first: int | None = self.found.base
        for begin, (values,) in self.run_through([ref], end):
            for k, value in enumerate(values, begin):
                if value is None:
                    return None
                if not test(value):
                    first = None
                elif first is None:
                    first = k
        return first if self._reached >= end - 1 else None

    def run_through(self, refs: list[Ref], end: int) -> Iterator[tuple[int, list[Any]]]:
        """Blocks of all iterations from the present one up to ``end``, until the time is over.

        Each block is its first iteration and, for each ref, the values in its iterations: an array if a column holds
        all of them, else a list with None for iterations without a firing.
        """
        found = self.found
        assert found.runner is not None
        runner, at, deadline = found.runner.fork(), found.base, work.now() + SEARCH
        size = min(CHUNK, max(NEWEST_ROWS // (8 * max(runner._iteration_bytes(), 1)), 16))
        self._reached = at - 1
        while at < end and work.now() < deadline:
            done = runner.advance(min(size, end - at))
            if done == 0:
                return
            columns = AlignedColumns(runner.run.trace, _around(runner), firings=2 * done + 4)
            work.charge(done * len(refs) * 2e-7)
            yield at, [found.block(columns, ref, at - found.offset, done) for ref in refs]
            at += done
            self._reached = at - 1


def _own(value: Any) -> Any:
    """A copy of a value that does not refer to a row of a record."""
    return value if isinstance(value, np.generic) else np.array(value)[()]


def _around(runner: SliceMachine) -> tuple[int, ...] | None:
    return runner.run.iteration_of(runner.number)[:-1] or None


__all__ = ["Firings"]
