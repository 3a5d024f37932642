"""Finds the number of iterations in which certainly no node of a loop fails, from its formulas; see also
``time_bounds``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.analysis.intervals.interval import Interval, box, box_of, fitted, spread
from workbench.analysis.intervals.op_safety import certain
from workbench.analysis.proof.counter_detection import Counter, counters_of
from workbench.analysis.proof.counters import Times
from workbench.analysis.proof.inductive_invariants import holding
from workbench.analysis.proof.time_bounds import FAR, Timeline
from workbench.analysis.slicing import work
from workbench.analysis.slicing.abstract_evaluation import Evaluation
from workbench.analysis.slicing.formulas import Env, Overdue, SliceProgram
from workbench.ir.node import Node, Ref
from workbench.ir.types import TensorType


def horizon(
    program: SliceProgram,
    present: Mapping[str, Any],
    nodes: Sequence[str],
    types: Mapping[str, tuple[TensorType, ...]],
    seconds: float,
) -> tuple[int | None, list[str]]:
    """The number of whole iterations from the state ``present`` on in which certainly none of the nodes fails (None:
    for ever), and the nodes that may fail in the next one.

    The nodes must belong to the slice of ``program``; ``types`` are the types in its plan. The number is 0 if any of
    them is in an inner loop.
    """
    frame = program.frame
    if any(program.graph.frame_of(n) != frame for n in nodes):
        return 0, list(nodes)
    state = {name: np.asarray(present[name]) for name in program.state}
    program.deadline = work.now() + seconds
    with np.errstate(all="ignore"):
        try:
            start = {name: box_of(value) for name, value in state.items()}
            counters = counters_of(program, state)
            fixed: dict[str, Interval | None] = {name: c.box([(0, None)]) for name, c in counters.items()}
            held = holding(program, start, fixed)
            failing = _Failing(program, state, counters, held, nodes, types)
            after = failing.turn().after
            return after, [] if after is None else failing.doubtful(after)
        except (Overdue, RecursionError):
            return 0, list(nodes)
        finally:
            program.deadline = math.inf


class _Failing(Timeline):
    """The state over ranges of times; the condition is replaced by the statement that certainly no node fails."""

    def __init__(
        self,
        program: SliceProgram,
        present: Mapping[str, np.ndarray],
        counters: Mapping[str, Counter],
        held: Env,
        nodes: Sequence[str],
        types: Mapping[str, tuple[TensorType, ...]],
    ) -> None:
        super().__init__(program, present, counters, held)
        self.nodes, self.types = [program.graph.nodes[n] for n in nodes], types
        self.behind = {n.name for n in self.nodes if _behind_condition(program, n.name)}
        self.sums = {name: found for name in self.derived if (found := _sum_of(program, name)) is not None}

    def condition(self, times: Times) -> tuple[np.ndarray, np.ndarray]:
        self.evaluations += 1
        return self._all_safe(times, self.nodes), np.zeros(len(times), bool)

    def doubtful(self, t: int) -> list[str]:
        """The nodes that may fail at time t."""
        return [node.name for node in self.nodes if not self._all_safe([(t, t)], [node])[0]]

    def _all_safe(self, times: Times, nodes: Sequence[Node]) -> np.ndarray:
        now = self._safe(times, [node for node in nodes if node.name in self.behind], True)
        before = [node for node in nodes if node.name not in self.behind]
        if before:  # nodes computed before the condition also belong to the iteration that has just ended
            later = [(t + 1, None if u is None else u + 1) for t, u in times]
            now = now & self._safe(times, before, False) & self._safe(later, before, False)
        return now

    def _safe(self, times: Times, nodes: Sequence[Node], goes_on: bool) -> np.ndarray:
        n = len(times)
        env = self._grown(times, self.state(times))
        if goes_on:
            env = self.program.assuming(env, self.program.cond, True)
        evaluation = Evaluation(self.program, env, n)
        out = np.ones(n, bool)
        for node in nodes:
            boxes = [evaluation.at(r) for r in node.inputs]
            dead = np.zeros(n, bool)
            for x in boxes:
                dead = dead | (x.dead if x is not None else False)
            for name in node.control:
                waits = self.program.graph.nodes[name]
                if waits.op == "Identity" and (known := evaluation.at(Ref(name))) is not None:
                    dead = dead | known.dead
            kinds = [self.types[r.node][r.index] if r.node in self.types else TensorType("any") for r in node.inputs]
            known = [x for x in boxes if x is not None]
            held = len(known) == len(boxes) and certain(node.op, known, {**node.attrs, "_op": node.op}, kinds)
            out &= np.broadcast_to(np.asarray(held, bool) | dead, (n,))
            if not out.any():
                break
        return out

    def _grown(self, times: Times, env: Env) -> Env:
        """Add the bounds of sums, which have no invariant: the number of terms times the bounds of one term."""
        if not self.sums:
            return env
        out = dict(env)
        from_start: Times = [(0, u) for _, u in times]
        behind = self.program.assuming(self.state(from_start), self.program.cond, True)
        for name, (term, sign) in self.sums.items():
            x, e = self.start[name], self.program.evaluate(term, behind, len(times))
            if x is None or e is None or e.dtype != x.dtype:
                continue
            count = np.array([FAR if u is None else u for _, u in times], object)
            low, high = (e.lo, e.hi) if sign > 0 else (-e.hi, -e.lo)
            lo, hi = x.lo + count * np.minimum(low, 0), x.hi + count * np.maximum(high, 0)
            known = env[name]
            found = fitted(x.dtype, lo, hi, np.zeros(1, bool), False)
            endless = np.array([u is None for _, u in times])
            if known is not None:
                wide = spread(known, len(times))
                found = box(x.dtype, np.where(endless, wide.lo, found.lo), np.where(endless, wide.hi, found.hi))
            elif endless.any():
                continue
            out[name] = found
        return out


def _sum_of(program: SliceProgram, name: str) -> tuple[Ref, int] | None:
    """(term, sign) of an int variable to which each iteration adds a term or subtracts one, with overflow checks."""
    node = program.graph.nodes[program.origin(program.updates[name]).node]
    if node.op not in ("add", "subtract") or not node.attrs.get("checked") or node.types[0].dtype != "int64":
        return None
    one, two = node.inputs
    if program.variable(one) == name:
        return two, 1 if node.op == "add" else -1
    return (one, 1) if node.op == "add" and program.variable(two) == name else None


def _behind_condition(program: SliceProgram, name: str) -> bool:
    """True if a node runs only where the condition is true: one of its inputs is switched by the condition."""
    graph, seen, todo = program.graph, {name}, [name]
    while todo:
        node = graph.nodes[todo.pop()]
        if node.op == "Switch" and program.by_loop(node):
            return True
        if node.name in program.merges or graph.frame_of(node.name) != program.frame:
            continue
        if node.op == "Merge":
            continue  # one live input is enough, so it may run anyway
        sources = {*(r.node for r in node.inputs), *node.control} - seen
        seen |= sources
        todo += sources
    return False
