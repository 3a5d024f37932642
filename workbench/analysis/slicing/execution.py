"""Execution of a slice: the program that computes a loop's condition, started in the state of a live run.

The nodes that the LoopCond depends on are planned like any graph (the loop is a dataflow graph), run by the same
compiled executor in a ring of two chunks, and start from the session's current loop variables. The session itself is
not changed.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.analysis.slicing import work
from workbench.analysis.slicing.can_fail import ONLY_FAIL
from workbench.analysis.slicing.clauses import find_clauses
from workbench.analysis.slicing.dependencies import (
    constant_step,
    data_slice,
    index_readers,
    loops_inside,
    serves,
    steered,
)
from workbench.analysis.slicing.formulas import SliceProgram
from workbench.analysis.slicing.protocol import SliceFailed, SliceTimeout
from workbench.analysis.slicing.slice_state import SliceState
from workbench.errors import FrameError
from workbench.execution import NEWEST_ROWS, Run
from workbench.ir.graph import Graph
from workbench.ir.node import FrozenAttrs, Ref
from workbench.ir.opspec import REGISTRY, OpSpec
from workbench.kernels import machine as core
from workbench.plan import PLANS, ExecutionPlan
from workbench.plan.reachability import required_nodes

#: nominal seconds between two checks of the work done, and measured seconds after which it is checked more often
BLOCK, SLOW = 1e-3, 0.05


class SliceMachine(SliceState):
    """A :class:`SliceRunner` over the executor. Create one with :func:`slice_of` and :meth:`align` it before use.

    Its state has the dependencies of the nodes ``also`` in addition to those of the condition.
    """

    def __init__(
        self, plan: ExecutionPlan, feeds: Mapping[str, np.ndarray], frame: tuple[str, ...], also: Sequence[str] = ()
    ) -> None:
        self.plan, self.feeds, self.frame = plan, feeds, frame
        self.run = Run(plan, dict(feeds), budget=NEWEST_ROWS)
        self.number = plan.numbers[frame]
        self.trip_limit: int | None = None
        #: LoopConds of inner loops whose later iterations cannot be inferred from a few observed ones
        self.unseen: list[str] = []
        self.whole = False  # True: the whole graph, not a plan of the condition's nodes
        #: nominal seconds (:mod:`work`) after which a call of :meth:`advance` or :meth:`align` raises SliceTimeout
        self.patience = 1.0
        self._event_seconds = plan.once(("seconds", frame), lambda: work.event_seconds(plan, frame))
        self._cond = next(n for n in plan.layout.nodes if n.op == "LoopCond" and n.frame == self.number)
        graph = plan.graph
        self.impure_nodes = list(plan.once(("effects",), lambda: _with_effects(plan)))
        self.pure = not self.impure_nodes
        #: True if all nodes that are not pure are random draws
        self.draws = not self.pure and all(spec_of(graph, n).draws for n in self.impure_nodes)
        ends = (Ref(self._cond.name),)
        reached = plan.once(("slice", *ends), lambda: data_slice(graph, *ends))
        if not reached.issuperset(also):
            reached = data_slice(graph, *ends, *map(Ref, also))
        fired = plan.layout.values
        variables = [v for v in graph.frames[frame].variables if v.merge in reached and (v.merge, 0) in fired]
        if self.pure:
            self.impure_nodes = index_readers(graph, reached)
            self.pure = not self.impure_nodes
        self.steps = {v.name: step for v in variables if (step := constant_step(graph, v)) != 0.0}
        self.state_names = [v.name for v in variables]
        self._merges = [plan.layout.values[v.merge, 0].place for v in variables]
        self._pred = plan.layout.values[self._cond.name, 0].place
        self.clauses, self.logic, self._operands = find_clauses(graph, Ref(self._cond.name))
        core.arm(self.run.machine, plan.layout.frames[self.number].stop, True)  # do not run past the loop
        #: the slice as formulas, for proofs that need not run it
        self.program = SliceProgram(graph, frame, Ref(self._cond.name), variables, self._invariant)

    # -- positioning ------------------------------------------------------------------------------------------
    def restart(self) -> None:
        """Return to the first node, with the random numbers of a new run."""
        self.run, self._read_at = Run(self.plan, dict(self.feeds), budget=NEWEST_ROWS), -1
        core.arm(self.run.machine, self.plan.layout.frames[self.number].stop, True)  # do not run past the loop

    def align(self, main: Run | None, instead: Mapping[str, Any] | None = None) -> bool:
        """Move to the condition, with the loop variables of ``main`` in all open frames; False if never entered.

        ``instead`` maps the Merge of a variable to its start value.
        """
        with np.errstate(all="ignore"):
            for number in self._frames_around():
                first = min((n for n in self.plan.layout.nodes if n.first and n.frame == number), key=lambda n: n.ip)
                core.arm(self.run.machine, first.ip, True)
                status = self._until_stop()
                core.arm(self.run.machine, first.ip, False)
                if status != "break" or self.run.view.ip != first.ip:
                    return False
                if main is not None:
                    self._take_over(main, number)
            for merge, value in (instead or {}).items():
                place = self.plan.layout.values[merge, 0].place
                assert place is not None
                self.run.put(place, np.asarray(value))
            return self._to_condition(0)

    def _frames_around(self) -> list[int]:
        """Indices of the loop's own frame and its outer frames, outermost first."""
        return [i for i, f in enumerate(self.plan.layout.frames) if i and self.frame[: len(f.path)] == f.path]

    def _take_over(self, main: Run, number: int) -> None:
        """Overwrite the start values of a frame with the current values of ``main``."""
        graph = self.plan.graph
        path = self.plan.layout.frames[number].path
        theirs = main.plan.numbers[path]
        row = main.view.rows(theirs)[1]
        for variable in graph.frames[path].variables:
            ours = self.plan.layout.values.get((variable.merge, 0))
            source = main.plan.layout.values.get((variable.merge, 0))
            if ours is not None and ours.place is not None and source is not None and source.place is not None:
                value = main.trace.reader.items(source.place, theirs, np.array([row]))[0]
                self.run.put(ours.place, np.asarray(value) if isinstance(value, np.generic) else value)

    def _to_condition(self, ahead: int) -> bool:
        """Run to the LoopCond ``ahead`` iterations later; False if the loop ends before."""
        machine, view = self.run.machine, self.run.view
        core.arm(machine, self._cond.ip, True, view.iteration(self.number) + ahead)
        if view.ip == self._cond.ip:  # leave the current condition
            machine.run(self.run.event + 1, True, True, -1, -1, False)
        with np.errstate(all="ignore"):
            if view.ip != self._cond.ip or ahead:
                self._until_stop()
        core.arm(machine, self._cond.ip, False)
        return view.ip == self._cond.ip

    def _until_stop(self) -> str:
        """Run to the next armed node or the end. An inner loop may hang, so the work done is checked on the way."""
        machine, begin, first = self.run.machine, work.now(), time.perf_counter()
        longest = max(work.PATIENCE * self.patience, work.LEAST_PATIENCE)
        block = max(int(BLOCK / self._event_seconds), 64)
        status = "poll"
        while status == "poll":
            event, looked = self.run.event, time.perf_counter()
            status = machine.run(event + block)
            work.charge((self.run.event - event) * self._event_seconds)
            if time.perf_counter() - looked > SLOW:
                block = max(block // 4, 16)
            if status == "poll" and (work.now() - begin > self.patience or time.perf_counter() - first > longest):
                inner = self.run.active_frames()[-1]
                path = "/".join(self.plan.layout.frames[inner].path)
                where = f"in the loop {path}" if inner != self.number and path else "on its way"
                raise SliceTimeout(
                    f"The slice of the condition did not get to the condition within {self.patience:.2g} s: it is "
                    f"still {where}."
                )
        if status == "failed":
            error = machine.error
            node = next((n.name for n in self.plan.layout.nodes if n.ip == self.run.view.ip), None)
            raise SliceFailed(getattr(error, "message", None) or str(error), node=node) from error
        return status

    # -- the protocol of SliceRunner ----------------------------------------------------------------------------
    def stretch(self, n: int) -> np.ndarray | None:
        """Run up to ``n`` iterations; return the state after each as bytes, (iterations, bytes of the state).

        Returns None without running if the state is not all numbers and arrays of known shape. The rows are read back
        from the executor's ring, so ``n`` is reduced to the number of iterations that it certainly holds.
        """
        if any(p is None or p.dtype is None for p in self._merges):
            return None
        places = [p for p in self._merges if p is not None and p.base]
        width = sum(np.dtype(p.dtype).itemsize * int(np.prod(p.shape, dtype=np.int64)) for p in places)
        row = max(width, self._iteration_bytes(), 1)
        n = min(n, NEWEST_ROWS // (8 * row))
        if n < 2 or not places:
            return None
        before = self._row()
        done = self.advance(n)
        work.charge(work.STEP + done * width * work.STATE_BYTE)
        parts = []
        for place in places:
            first, column = self.run.trace.source.column(place, before + 1, before + done + 1)
            if first > before + 1 or len(column) != done:
                raise RuntimeError("rows of the look-ahead were dropped before they were read")
            parts.append(np.ascontiguousarray(column).view(np.uint8).reshape(done, -1))
        return np.concatenate(parts, axis=1)

    def advance(self, n: int) -> int:
        """Run up to ``n`` iterations, until the condition is false; return how many were run."""
        work.charge(work.CALL)
        if n <= 0 or not self.cond():
            return 0
        before, begun = self._row(), self.run.view.iteration(self.number)
        try:
            self._to_condition(n)
        except SliceFailed as failed:
            failed.done = max(self.run.view.iteration(self.number) - begun, 0)
            raise
        return self._row() - before

    def finish(self) -> None:
        """Run the remaining nodes of the iteration whose condition is false; SliceFailed if one of them fails."""
        if not self.cond():
            self._until_stop()

    def fork(self) -> SliceMachine:
        work.charge(work.FORK)
        other = object.__new__(SliceMachine)
        other.__dict__.update(self.__dict__)
        if self.whole:
            other.run = self.run.fork(core.snapshot(self.run.machine, self.run.active_frames()))
        else:
            other.run = Run(self.plan, dict(self.feeds), budget=NEWEST_ROWS)
            core.restore(other.run.machine, core.snapshot(self.run.machine, [0, *self._frames_around()]))
        core.arm(other.run.machine, self.plan.layout.frames[self.number].stop, True)
        return other

    def moved_to(self, values: Mapping[str, Any]) -> SliceMachine | None:
        """A fork in the next iteration with these values of the state; None if it cannot be moved there.

        Values that the condition does not depend on are those of the current iteration.
        """
        if self.whole or not self.cond():
            return None
        other = self.fork()
        machine, view = other.run.machine, other.run.view
        first = min((n for n in self.plan.layout.nodes if n.frame == self.number and not n.first), key=lambda n: n.ip)
        core.arm(machine, first.ip, True)
        machine.run(other.run.event + 1, True, True, -1, -1, False)
        with np.errstate(all="ignore"):
            if view.ip != first.ip:
                other._until_stop()
        core.arm(machine, first.ip, False)
        if view.ip != first.ip:
            return None
        for name, place in zip(self.state_names, self._merges, strict=True):
            assert place is not None
            other.run.put(place, np.asarray(values[name]))
        return other if other._to_condition(0) else None

    def inner(self) -> SliceMachine | None:
        """The slice of the inner loop in which the look-ahead is; None if it cannot be sliced."""
        path = self.plan.layout.frames[self.run.active_frames()[-1]].path
        if len(path) <= len(self.frame) or path[: len(self.frame)] != self.frame:
            return None
        found = slice_of(self.plan.graph, path, self.plan, self.feeds)
        found.patience = self.patience
        return found if found.align(self.run) else None


def standing(
    main: Run, frame: tuple[str, ...], inside: bool, patience: float, also: Sequence[str] = ()
) -> tuple[SliceMachine, int] | None:
    """The whole graph as its own slice, on a copy of ``main`` in its current state, edits included, and the number of
    iterations that it ran to reach the next condition. None if the loop is not entered again.
    """
    out = SliceMachine(main.plan, main.feeds, frame, also)
    out.whole, out.patience = True, patience
    out.unseen = steered(main.plan.graph, frame, loops_inside(main.plan, frame))
    out.run = main.fork(core.snapshot(main.machine, main.active_frames()))
    core.arm(out.run.machine, main.plan.layout.frames[out.number].stop, inside)
    with np.errstate(all="ignore"):
        if inside and out.run.view.ip == out._cond.ip:
            return out, 0
        if inside:
            behind = int(out.run.view.ip > out._cond.ip)
            return (out, behind) if out._to_condition(behind) else None
        core.arm(out.run.machine, out._cond.ip, True)
        status = out._until_stop()
        core.arm(out.run.machine, out._cond.ip, False)
    core.arm(out.run.machine, main.plan.layout.frames[out.number].stop, True)
    return (out, 0) if status == "break" else None


def with_effects(graph: Graph, names: Iterable[str]) -> list[str]:
    """Nodes with effects other than their values or a failure."""
    effects: dict[tuple[str, FrozenAttrs], bool] = {}
    found = []
    for name in names:
        key = (node := graph.nodes[name]).op, node.attrs
        if key not in effects:
            effects[key] = not spec_of(graph, name).pure and node.op not in ONLY_FAIL
        if effects[key]:
            found.append(name)
    return found


def _with_effects(plan: ExecutionPlan) -> list[str]:
    return with_effects(plan.graph, [n.name for n in plan.layout.nodes if n.op != "Placeholder"])


def spec_of(graph: Graph, name: str) -> OpSpec:
    """The specification of a node's op."""
    node = graph.nodes[name]
    return REGISTRY.lookup(node.op, node.attrs)


def slice_of(
    graph: Graph, frame: tuple[str, ...], plan: ExecutionPlan, feeds: Mapping[str, np.ndarray], also: Sequence[str] = ()
) -> SliceMachine:
    """The slice of one loop's condition, and of the nodes ``also``, for a run with this plan and these feeds.

    Inner loops of the run belong to it, needed or not, because an inner loop that hangs keeps the outer one from
    ending. The slice omits them only if they cannot be run ahead; they are ``unseen`` then.
    """
    cond = next(n for n in graph.frames[frame].nodes if graph.nodes[n].op == "LoopCond" and n in plan.needed)
    signature = plan.signature
    inner = loops_inside(plan, frame)
    outputs = {"condition": Ref(cond), **{f"inside {k}": Ref(n) for k, n in enumerate(inner)}}
    reached = plan.once(("reached", *outputs.values()), lambda: required_nodes(graph, outputs.values()))
    outputs.update({f"also {k}": Ref(n) for k, n in enumerate(also) if n not in reached})
    own = plan.needed.issuperset(also) and serves(plan, reached)
    found = plan if own else PLANS.get(graph, outputs, signature)
    around = next((p for k in range(len(frame)) if (p := frame[: k + 1]) in found.raw), None)
    if around is not None:
        why = f"the frame {'/'.join(around)} is not a loop in it, because {found.raw[around]}"
        raise FrameError(f"{why[0].upper()}{why[1:]}.", slug="raw-frame")
    made = SliceMachine(found, feeds, frame, also)
    made.unseen = steered(graph, frame, inner)
    if inner and not made.pure and not also:
        made = SliceMachine(PLANS.get(graph, {"condition": Ref(cond)}, signature), feeds, frame)
        made.unseen = list(inner)
    return made
