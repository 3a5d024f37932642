"""Formulas of a slice: a loop's condition and updates as functions of intervals of its state.

Aliases of a value (Identity, Enter of a loop invariant, Switch by LoopCond) are resolved. Both sides of a branch are
evaluated, each assuming its predicate, and a side that is certainly not taken adds nothing. A value without bounds (of
an inner loop, or of an op without a rule) is any value of its dtype, or None for a dtype without bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from workbench.analysis import comparisons
from workbench.analysis.comparisons import NAMES, NEGATED, NODES
from workbench.analysis.intervals.interval import FLOATS, INTEGERS, Interval, box, box_of, spread
from workbench.analysis.intervals.transfer import COMPARED
from workbench.analysis.slicing.abstract_evaluation import Env, Evaluation, Overdue
from workbench.ir.frames.frame_tree import LoopVariable
from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref


class SliceProgram:
    """Formulas of one loop. ``state`` has the variables of the slice by name; ``read`` returns the value of an
    invariant.

    ``read`` may return None for an unknown value, which is then unbounded.
    """

    def __init__(
        self,
        graph: Graph,
        frame: tuple[str, ...],
        cond: Ref,
        variables: list[LoopVariable],
        read: Callable[[Ref], np.ndarray | None],
    ) -> None:
        self.graph, self.frame, self.read = graph, frame, read
        self.loop_cond = cond.node
        self.cond = graph.nodes[cond.node].inputs[0]
        self.state = {v.name: v for v in variables}
        self.merges = {v.merge: v.name for v in variables}
        self.updates = {v.name: graph.nodes[v.next_iteration].inputs[0] for v in variables}
        self._fixed: dict[Ref, Interval | None] = {}
        #: nominal time (:mod:`work`) after which evaluations raise Overdue
        self.deadline = math.inf

    # -- names ----------------------------------------------------------------------------------------------------
    def origin(self, ref: Ref) -> Ref:
        """The value of which ``ref`` is an alias, through Identity, LoopCond, Switch and invariant Enters."""
        while True:
            node = self.graph.nodes[ref.node]
            if self.passes_on(node) or node.op == "Switch":
                ref = node.inputs[0]
            elif node.op == "Enter" and node.attrs.get("is_constant"):
                ref = node.inputs[0]
            else:
                return ref

    def passes_on(self, node: Node) -> bool:
        """True if a node's output equals its input, bit for bit."""
        if node.op == "cast":
            dtype = self.graph.type_of(node.inputs[0]).dtype
            return dtype == node.types[0].dtype and dtype in (*FLOATS, *INTEGERS)
        return node.op in ("Identity", "LoopCond", "NextIteration", "stop_gradient")

    def variable(self, ref: Ref) -> str | None:
        """Name of the loop variable of which ``ref`` is an alias, in the same iteration."""
        found = self.origin(ref)
        return self.merges.get(found.node) if found.index == 0 else None

    def invariant(self, ref: Ref) -> Interval | None:
        """The box of a value that is the same in all iterations of this activation; None for others, or if unknown."""
        ref = self._named(ref)
        if ref not in self._fixed:
            node = self.graph.nodes[ref.node]
            value = None
            if ref.node in self.merges or node.op in ("Switch", "Merge", "Exit"):
                self._fixed[ref] = None
                return None
            if node.op not in ("Const", "Enter") and self.graph.frame_of(ref.node) == self.frame:
                self._fixed[ref] = None
                found = self.evaluate(ref, {})  # a value computed only from invariants is a single one
                if found is not None and found.pieces == 1 and found.lo[0] == found.hi[0] and not found.nan[0]:
                    self._fixed[ref] = found
                return self._fixed[ref]
            if node.op == "Const":
                value = node.attrs["value"]
            elif self.graph.frame_of(ref.node) != self.frame or node.op == "Enter" and node.attrs.get("is_constant"):
                value = None if self._within(ref.node) else self.read(ref)
            self._fixed[ref] = None if value is None else box_of(value)
        return self._fixed[ref]

    def release(self) -> None:
        """Stop reading invariants; those that were read are kept."""
        self.read = _nothing

    def _within(self, name: str) -> bool:
        """True for a node in an inner frame, which is not invariant."""
        path = self.graph.frame_of(name)
        return len(path) > len(self.frame) and path[: len(self.frame)] == self.frame

    def _named(self, ref: Ref) -> Ref:
        node = self.graph.nodes[ref.node]
        while self.passes_on(node) or node.op == "Switch" and self.by_loop(node):
            ref = node.inputs[0]
            node = self.graph.nodes[ref.node]
        return ref

    def by_loop(self, node: Node) -> bool:
        return node.inputs[1].node == self.loop_cond

    # -- values ----------------------------------------------------------------------------------------------------
    def evaluate(
        self, ref: Ref, env: Env, pieces: int = 1, known: Mapping[Ref, Interval] | None = None
    ) -> Interval | None:
        """Bounds of a value for bounds of the state; None if there are none. ``known`` values are not evaluated."""
        with np.errstate(all="ignore"):
            evaluation = Evaluation(self, env, pieces)
            evaluation.found.update(known or {})
            return evaluation.at(ref)

    def condition(
        self, env: Env, pieces: int = 1, known: Mapping[Ref, Interval] | None = None, about: Ref | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """(certainly true, certainly false) of the condition, or of ``about``, for each piece."""
        found = self.evaluate(self.cond if about is None else about, env, pieces, known)
        if found is None:
            return np.zeros(pieces, bool), np.zeros(pieces, bool)
        wide = spread(found, pieces)
        return np.asarray(wide.lo == 1, bool), np.asarray(wide.hi == 0, bool)

    def assuming(self, env: Env, ref: Ref, truth: bool) -> Env:
        """The part of the state in which ``ref`` may have this ``truth``: comparisons with invariants cut boxes."""
        ref = self.origin(ref)
        node = self.graph.nodes[ref.node]
        if node.op in ("logical_not", "invert"):
            return self.assuming(env, node.inputs[0], not truth)
        if node.op in ("logical_and", "bitwise_and") and truth or node.op in ("logical_or", "bitwise_or") and not truth:
            return self.assuming(self.assuming(env, node.inputs[0], truth), node.inputs[1], truth)
        name = self.variable(ref)
        if name is not None:
            x = env.get(name)
            if x is None or x.dtype != "bool":
                return env
            only = np.full(1, int(truth), object)
            return {**env, name: box("bool", only, only, x.nan, x.dead)}
        if node.op not in COMPARED or not self._single(node):
            return env
        for own, other, op in ((0, 1, node.op), (1, 0, MIRROR[node.op])):
            name, limit = self.variable(node.inputs[own]), self.invariant(self.origin_in(node.inputs[other]))
            x = env.get(name) if name is not None else None
            if name is not None and x is not None and limit is not None:
                part = cut(x, limit, op if truth else INVERSE[op], truth)
                return env if part is None else {**env, name: part}
        return env

    def origin_in(self, ref: Ref) -> Ref:
        """:meth:`origin`, up to the boundary of this frame."""
        return self._named(ref)

    def _single(self, node: Node) -> bool:
        return all(self.graph.type_of(r).shape == () for r in node.inputs)

    def constants(self) -> Iterator[float]:
        """Numbers of the slice from which thresholds and limits are computed."""
        seen: set[str] = set()
        todo = [self.cond.node, *(r.node for r in self.updates.values())]
        while todo:
            name = todo.pop()
            if name in seen or self._within(name):
                continue
            seen.add(name)
            node = self.graph.nodes[name]
            known = self.invariant(Ref(name)) if node.op in ("Const", "Enter") else None
            if known is not None and node.types[0].shape == ():
                yield known.lo[0]
            elif node.op != "Merge" or name not in self.merges:
                todo += [r.node for r in node.inputs]

    def count(self, ref: Ref, result: Ref) -> int:
        """How many elements are reduced to one; 0 if that is unknown."""
        before, after = self.graph.type_of(ref), self.graph.type_of(result)
        if not (before.is_static and after.is_static):
            return 0
        into = math.prod(d or 0 for d in after.shape or ())
        return math.prod(d or 0 for d in before.shape or ()) // into if into else 0


def _nothing(ref: Ref) -> None:
    return None


MIRROR = {name: NODES[comparisons.MIRROR[sign]] for name, sign in NAMES.items()}
INVERSE = {name: NODES[NEGATED[sign]] for name, sign in NAMES.items()}


def cut(x: Interval, limit: Interval, op: str, truth: bool) -> Interval | None:
    """The part of x that satisfies ``x op limit``; None if that is unknown. NaN stays if the comparison was false."""
    if limit.dtype != x.dtype or bool(limit.nan[0]) or limit.lo[0] != limit.hi[0]:
        return None
    at = limit.lo
    lo, hi = x.lo, x.hi
    if op == "less":
        hi = np.minimum(hi, at - 1 if x.integral else np.nextafter(at, np.array(-np.inf, x.dtype)))
    elif op == "less_equal":
        hi = np.minimum(hi, at)
    elif op == "greater":
        lo = np.maximum(lo, at + 1 if x.integral else np.nextafter(at, np.array(np.inf, x.dtype)))
    elif op == "greater_equal":
        lo = np.maximum(lo, at)
    elif op == "equal":
        lo, hi = np.maximum(lo, at), np.minimum(hi, at)
    else:
        return None
    void = np.asarray(lo > hi, bool)
    nan = x.nan & (not truth)  # these comparisons are false for NaN
    if x.integral:  # no integer satisfies it, so the code that follows is not reached
        return box(x.dtype, np.where(void, x.lo, lo), np.where(void, x.hi, hi), nan, x.dead)
    low, high = np.where(void, np.inf, lo).astype(x.dtype), np.where(void, -np.inf, hi).astype(x.dtype)
    return box(x.dtype, low, high, nan, x.dead)


__all__ = ["MIRROR", "Env", "Overdue", "SliceProgram"]
