"""The token interpreter with one value overwritten between two events, and runs held against it.

An edit is about one value and its other names: Identity, Switch, Enter and NextIteration give a value another name and
compute nothing. A node that has read it keeps its result; who reads it later gets the new value.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.plan.checks import same, same_numbers
from tests.plan.reference import ExitTwiceError, Instance, Path, Reference
from tests.plan.rounding import adopt
from workbench.errors import DeadValueError, ExecutionError, SessionError, WorkbenchError
from workbench.execution import Run, prepare_feeds
from workbench.execution.decisions import overlap
from workbench.ir import Graph, Node, Ref
from workbench.ir.types import TensorType
from workbench.plan import PLANS, signature_of

Feeds = dict[str, np.ndarray]
Tag = tuple[Ref, Path]
#: ops that give a value another name
NAMES = frozenset("Identity LoopCond Switch Enter NextIteration".split())
#: events after which an edited run is given up
MOST = 20_000


@dataclass(frozen=True)
class Override:
    """``value`` stands for the value ``tag`` from the moment on at which ``past`` had fired."""

    tag: Tag
    value: Any
    past: Collection[tuple[str, Path]]


def root(graph: Graph, ref: Ref, path: Path) -> Tag:
    """The value that this one is another name of."""
    while (node := graph.nodes[ref.node]).op in NAMES:
        ref, path = node.inputs[0], path[:-1] if node.op == "Enter" else path
    return ref, path


class EditedReference(Reference):
    """Runs with an :class:`Override`."""

    def __init__(self, run: Run, override: Override) -> None:
        graph = run.plan.graph
        super().__init__(graph, dict(run.feeds), list(graph.outputs.values()), adopt=adopt)
        self.override, self.root = override, root(graph, *override.tag)
        self.place = run.plan.layout.values[tuple(override.tag[0])].place
        self.layout = run.plan.layout.values
        self.recorded = {Ref(*key): firings(run, Ref(*key)) for key in self.layout}
        self.observed = {
            ref: {path: value for path, value in found.items() if not self.is_edited(ref, path)}
            for ref, found in self.recorded.items()
        }

    def may_show(self, ref: Ref, path: Path) -> bool:
        """True if the record may show the edit in a value: its other names, what a loop carries and is one with the
        value of the iteration before, and views of one array."""
        place = self.layout[tuple(ref)].place
        near = bool(place and self.place and overlap(place, self.place))
        return self.is_edited(ref, path) or near and (path, ref) != (self.override.tag[1], self.override.tag[0])

    def is_edited(self, ref: Ref, path: Path) -> bool:
        return root(self.graph, ref, path) == self.root

    def _adopted(self, node: Node, instance: Instance, inputs: list[Any], results: Sequence[Any]) -> list[Any]:
        try:
            return super()._adopted(node, instance, inputs, results)
        except AssertionError:
            if any(self.may_show(node.ref(k), self._path(instance)) for k in range(len(results))):
                return list(results)
            raise

    def _read(self, reader: str, instance: Instance, ref: Ref, value: Any) -> Any:
        path = self._path(instance)
        source = path
        if self.graph.nodes[ref.node].op == "NextIteration":
            source = (*path[:-1], path[-1] - 1)
        op = self.graph.nodes[reader].op
        fires = path[:-1] if op == "Exit" else (*path, 0) if op == "Enter" else path
        fired = (reader, fires) in self.override.past
        if self.is_edited(ref, source) and not fired:
            return self.override.value
        return value


def firings(run: Run, ref: Ref) -> dict[Path, Any]:
    """Values by iteration path."""
    series = run.trace[ref]
    return dict(zip(map(tuple, series.iterations.tolist()), series.firings(), strict=True))


def another(r: random.Random, before: Any) -> Any:
    """Another value of the same dtype and shape."""
    array = np.array(before, copy=True)
    if array.dtype.kind == "b":
        return ~array
    if array.dtype.kind not in "iuf" or array.size == 0:
        return None
    flat = array.reshape(-1)
    flat[r.randrange(flat.size)] += array.dtype.type(r.choice([-2, -1, 1, 3]))
    if r.random() < 0.3:
        flat[:] = array.dtype.type(r.randint(-3, 4))
    return None if same(array, before) else array


def run_of(graph: Graph, feeds: Feeds, lean: bool = False) -> Run:
    """A run with a plan that lets values go when nothing needs them any more, or not; planned once for a graph."""
    arrays = prepare_feeds(graph, feeds)
    signature = signature_of(graph, {n: TensorType.of(a) for n, a in arrays.items()})
    return Run(PLANS.get(graph, graph.outputs, signature, lean=lean), arrays, 1 << 28)


def edited_run(
    r: random.Random, graph: Graph, feeds: Feeds, event: int, key: tuple[str, int] | None = None, lean: bool = False
) -> tuple[Run, Override] | str:
    """A run that stands where a value (any, or ``key``) was edited after about ``event`` events; or why it was not."""
    run = run_of(graph, feeds, lean)
    run.to_event(event, skip_silent=True)
    if run.finished or run.position().between:
        return "at-the-end"
    fired: dict[str, Path] = {}
    events = [(t.node, tuple(t.iteration)) for t in run.trace.events()]
    assert len(events) == run.event
    for node, path in events:
        fired[node] = path
    key = key or r.choice(list(run.plan.layout.values))
    if key[0] not in fired:
        return "not-fired"
    ref = Ref(*key)
    try:
        before = run.value_now(ref)
    except Exception:
        before = None
    series = run.trace[ref]
    if before is None or not len(series):
        return "dead"
    value = another(r, before)
    if value is None:
        return "no-other-value"
    path = tuple(int(k) for k in series.iterations[-1])
    try:
        edit = run.edit(ref, value)
    except SessionError as error:
        assert error.fix, error
        return str(error.slug)
    if edit.ref != ref or (ref.node, run.iteration_of(run.plan.layout.values[ref].frame)) not in events:
        path = run.iteration_of(run.plan.layout.values[ref].frame)  # the loop variable's present value
    return run, Override((edit.ref, path), value, frozenset(events))


def check_edit(run: Run, override: Override) -> str:
    """Run on and compare everything that is kept with the reference; the result of that."""
    graph, failure = run.plan.graph, None
    try:
        while run.event < MOST and run.go(MOST) != "halt":
            pass
    except ExecutionError as error:
        failure = error
    if failure is None and not run.finished:
        return "too-long"
    reference = EditedReference(run, override)
    try:
        reference.run()
    except ExitTwiceError:
        assert failure is not None, "an Exit is alive twice, and the run ended"
        return "exit-twice"
    except (ArithmeticError, LookupError, ValueError, WorkbenchError) as error:
        assert failure is not None, f"the reference fails with {error!r}, and the run ended"
        return "failed"
    assert failure is None, f"the run fails with {failure}, and the reference does not"
    for key in run.plan.layout.values:
        ours, theirs = reference.recorded[Ref(*key)], dict(reference.firings[Ref(*key)])
        place = run.plan.layout.values[key].place
        if place is None or place.until < 0:
            assert ours.keys() == theirs.keys(), f"{key} fired at {sorted(ours)}, expected {sorted(theirs)}"
        for path, value in theirs.items() if ours else ():
            if not same_numbers(ours[path], value) and not reference.may_show(Ref(*key), path):
                raise AssertionError(f"{key} at {path} is {ours[path]!r}, expected {value!r}")
    for name, out in graph.outputs.items():
        if graph.frame_of(out.node) and graph.nodes[out.node].op != "Exit" or not reference.firings[out]:
            continue
        wanted = override.value if reference.is_edited(out, ()) else reference.firings[out][-1][1]
        try:
            ours = run.outputs()[name]
        except DeadValueError:  # of another output, which is dead
            break
        assert same_numbers(ours, wanted), f"the output {name} is {ours}, expected {wanted}"
    return "agrees"
