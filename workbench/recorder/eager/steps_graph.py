"""Recorded iterations as a graph: one loop whose body is the ATen calls of an iteration.

::

    state before the first ─► Enter ─► Merge ─► k < last ─► LoopCond
                                        └─► Switch ─► torch:aten.mm ─► ... ─► torch:aten.add_ ─► NextIteration ─► Merge
                          torch:given(k) ────────────────┘   batch, random state, floats that change

A value is a whole storage: a write in place makes a new value, so that every version can be inspected, edited and
followed. Iterations before the first of the loop's form are computed when the graph is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.errors import WatchError
from workbench.frontends.pytorch import aten
from workbench.ir.graph import Graph
from workbench.ir.node import FrozenAttrs, Node, Ref, Source
from workbench.ir.types import TensorType
from workbench.recorder.eager.boxes import Boxes
from workbench.recorder.eager.forms import integers_of
from workbench.recorder.eager.lowered import as_type, from_outside, lower_call, storage_types
from workbench.recorder.eager.replay import computed
from workbench.recorder.eager.sites import Site
from workbench.recorder.eager.steps import AtenCall, RecordedSteps

#: the loop variable that is True once an edit reached a number that Python had read with ``item()``
READS_DIFFER = "reads_differ"
#: the loop variable that counts iterations as the watch did, which may have begun before the loop
RECORDED = "recorded_iteration"


class StepsGraph:
    """Makes the graph of the foldable iterations of some steps."""

    def __init__(
        self, torch: Any, steps: RecordedSteps, name: str, record: str, places: Any, names: dict[int, str]
    ) -> None:
        self._torch, self._name, self._record = torch, name, record
        self._places, self._names = places, names
        self._iterations, addresses, self.span = steps.folded()
        self._address = {number: key for key, number in addresses.items()}
        if not self.span:
            raise WatchError(
                f"The newest iterations of {name!r} have no common form, so that no loop can be made of them.",
                slug="no-common-form",
                fix="watch.first_bad() and wb.diff work without one. A loop needs two iterations in a row with the "
                "same ops on tensors of the same sizes.",
            )
        self._nodes: list[Node] = []
        self._taken: set[str] = set()
        #: values per iteration that are nodes already
        self._made: dict[Any, Ref] = {}

    def graph(self) -> Graph:
        """The graph; its loop counts iterations as the watch does."""
        body = self._iterations[self.span[0]].body
        types = storage_types(body, True)
        start = self._before(self.span[0])
        at = self._name
        labels = self._labels(sorted(body.previous))
        written = {p.storage for call in body.calls for p in call.outs}
        fixed = [j for j in labels if body.previous[j] == j and j not in written and not self._known_name(j)]
        carried = [j for j in labels if j not in fixed]
        names = {s: name for s in types if (name := self._known_name(s))}
        self._boxes = Boxes(at, self._site_of, names | labels, (RECORDED, READS_DIFFER))
        counter = self._loop_variable(RECORDED, np.int64(self.span[0]))
        last = self._add("iterations", "Const", [], value=np.array(self.span[-1] + 1))
        bound = self._add(f"{at}/iterations/Enter", "Enter", [Ref(last)], frame_name=at, is_constant=True)
        less = self._add(f"{at}/goes_on", "less", [counter[0], Ref(bound)])
        cond = self._add(f"{at}/LoopCond", "LoopCond", [Ref(less)])
        value: dict[int, Ref] = {}
        merges = {}
        for j in carried:
            merge, _ = self._loop_variable(labels[j], as_type(start[j], types[j]))
            merges[j] = merge
            switch = self._add(f"{self._boxes.variable(labels[j])}/Switch", "Switch", [merge, Ref(cond)])
            value[j] = Ref(switch, 1)
        for k, j in enumerate(fixed):  # the data that each iteration reads
            labels[j] = f"data_{k}"
            begin = self._add(f"{labels[j]}/start", "Const", [], value=np.array(as_type(start[j], types[j])))
            value[j] = Ref(self._add(f"{at}/{labels[j]}", "Enter", [Ref(begin)], frame_name=at, is_constant=True))
        turn = self._add(f"{at}/{RECORDED}/Switch", "Switch", [counter[0], Ref(cond)])
        one = self._add("one", "Const", [], value=np.array(1))
        step = self._add(f"{at}/one/Enter", "Enter", [Ref(one)], frame_name=at, is_constant=True)
        more = self._add(f"{at}/next", "add", [Ref(turn, 1), Ref(step)])
        self._add(f"{at}/{RECORDED}/NextIteration", "NextIteration", [Ref(more)])
        for s in sorted(set(body.given) & set(types)):
            value[s] = self._given(turn, f"{at}/outside_{s}", types[s], self._bytes_of(s, types[s]))
        reads = [n for n in sorted(self._iterations[self.span[0]].read) if self._read_type(n) is not None]
        differs = self._loop_variable(READS_DIFFER, np.False_) if reads else None
        if differs is not None:
            differs_ref = Ref(self._add(f"{at}/{READS_DIFFER}/Switch", "Switch", [differs[0], Ref(cond)]), 1)
        for n in range(len(body.calls)):
            if n in reads:
                differs_ref = self._read(n, turn, value, differs_ref)
            elif body.calls[n].outs:
                self._call(n, turn, value, types)
        outputs = {}
        for j in carried:
            final = value[body.previous[j]]
            self._add(f"{self._boxes.variable(labels[j])}/NextIteration", "NextIteration", [final])
            box = self._boxes.variable(labels[j])
            outputs[labels[j]] = Ref(self._add(f"{box}/Exit", "Exit", [Ref(f"{box}/Switch")]))
        if differs is not None:
            self._add(f"{at}/{READS_DIFFER}/NextIteration", "NextIteration", [differs_ref])
            outputs[READS_DIFFER] = Ref(
                self._add(f"{at}/{READS_DIFFER}/Exit", "Exit", [Ref(f"{at}/{READS_DIFFER}/Switch")])
            )
        outputs[RECORDED] = Ref(self._add(f"{at}/{RECORDED}/Exit", "Exit", [Ref(turn)]))
        names = {labels[j]: merges[j] for j in carried} | {labels[j]: value[j] for j in fixed}
        names[RECORDED] = counter[0]
        if differs is not None:
            names[READS_DIFFER] = differs[0]
        for s, ref in value.items():
            if s not in body.previous and (label := self._known_name(s)):
                names.setdefault(label, ref)
        return Graph.from_nodes(at, self._nodes, inputs={}, outputs=outputs, names=names, notes=self._notes())

    def _notes(self) -> list[str]:
        """A note on the iterations of this loop, if the record has others too."""
        first, last, held = self.span[0], self.span[-1], self._iterations
        found = [
            f"This loop has the iterations {first} to {last} of the record; {RECORDED} counts them as the watch does."
        ]
        if others := [str(k) for k in (first - 1, last + 1) if k in held]:
            who = f"Iterations {others[0]} and {others[1]} have" if len(others) > 1 else f"Iteration {others[0]} has"
            found.append(f"{who} other ops, tensors of other sizes, or other tensors that the iteration before left.")
        if min(held) > 0:
            found.append(f"Before iteration {min(held)} only statistics are kept; memory= holds more of them.")
        return found if len(found) > 1 else []

    # -- nodes --------------------------------------------------------------------------------------------------------
    def _add(self, name: str, op: str, inputs: list[Ref], source: Source | None = None, **attrs: Any) -> str:
        unique, k = name, 1
        while unique in self._taken:
            unique, k = f"{name}_{k}", k + 1
        self._taken.add(unique)
        self._nodes.append(Node(unique, op, tuple(inputs), attrs=FrozenAttrs(attrs), source=source))
        return unique

    def _loop_variable(self, label: str, start: Any) -> tuple[Ref, str]:
        box = self._boxes.variable(label)
        first = self._add(f"{label}/start", "Const", [], value=np.array(start))
        enter = self._add(f"{box}/Enter", "Enter", [Ref(first)], frame_name=self._name)
        merge = self._add(f"{box}/Merge", "Merge", [Ref(enter), Ref(f"{box}/NextIteration")])
        return Ref(merge), merge

    def _labels(self, carried: list[int]) -> dict[int, str]:
        """Names of carried storages: those of parameters, of the state of an optimizer, or of recorded values."""
        found: dict[int, str] = {}
        for j in carried:
            after = self._iterations[self.span[-1]].body.previous[j]
            name = self._known_name(j) or self._known_name(after)
            found[j] = name if name and name not in found.values() else f"{name or 'state'}_{j}"
        return found

    def _known_name(self, storage: int) -> str:
        """The name of a storage in the last iteration: the one from the loop, or that of a parameter or buffer."""
        named = self._iterations[self.span[-1]].names.get(storage)
        return named or self._names.get(self._address.get(storage, -1), "")

    def _given(self, turn: str, name: str, kind: TensorType, source: Callable[[int], Any]) -> Ref:
        key = len(aten.SOURCES)
        while (self._record, key) in aten.SOURCES:
            key += 1
        aten.SOURCES[self._record, key] = source
        node = self._add(name, aten.GIVEN, [Ref(turn, 1)], types=(kind,), record=self._record, key=key)
        return Ref(node)

    def _bytes_of(self, storage: int, kind: TensorType) -> Callable[[int], Any]:
        iterations, torch = self._iterations, self._torch

        def value(iteration: int) -> Any:
            return from_outside(torch, iterations[iteration].given[storage], kind)

        return value

    def _call(self, n: int, turn: str, value: dict[int, Ref], types: dict[int, TensorType]) -> None:
        iterations = self._iterations
        first = iterations[self.span[0]]
        call = first.body.calls[n]
        known = np.array([iterations[k].floats(n) for k in self.span])
        changing = (known.view(np.int64) != known[:1].view(np.int64)).any(axis=0)
        integers = [list(integers_of((c.args, c.kwargs))) for c in (iterations[k].call(n) for k in self.span)]
        moving = [j for j, all_of_one in enumerate(zip(*integers, strict=True)) if len(set(all_of_one)) > 1]
        low = lower_call(self._torch, call, n in first.random, lambda k: bool(changing[k]), moving)
        name, source = self._boxes.place(call)
        inputs = [value[s] for s in low.storages]
        for what in low.outside:
            if what == "random":
                kind = TensorType("uint8", tuple(first.random[n].shape))
                inputs.append(self._given(turn, f"{name}/random", kind, lambda i: iterations[i].random[n].numpy()))
            elif what == "integers":
                inputs.append(self._integers(turn, name, call, moving, integers))
            else:
                inputs.append(self._float(turn, name, call, what, known[:, what]))
        kinds = tuple(types[s] for s in low.outs)
        node = self._add(name, f"torch:{call.op}", inputs or [Ref(turn, 1)], source, types=kinds, call=low.text)
        for k, s in enumerate(low.outs):
            value[s] = Ref(node, k)

    def _integers(self, turn: str, name: str, call: AtenCall, moving: list[int], integers: list[Any]) -> Ref:
        """The integers of a call that change between iterations; calls on the same slice share them."""
        owners = tuple((integers[0][j][1], call.op if integers[0][j][1] < 0 else "") for j in moving)
        numbers = np.array([[one[j][0] for j in moving] for one in integers], np.int64)
        what = "offset" if min(owner for owner, _ in owners) >= 0 else "number"
        label = f"{name}/{what}{'s' if len(moving) > 1 else ''}"
        return self._shared(turn, label, (owners, numbers.tobytes()), TensorType("int64", (len(moving),)), numbers)

    def _float(self, turn: str, name: str, call: AtenCall, k: int, numbers: Any) -> Ref:
        """A float of a call that changes between iterations; calls of this op with equal floats share one value."""
        return self._shared(
            turn, f"{name}/number_{k}", (call.op, k, numbers.tobytes()), TensorType("float64", ()), numbers
        )

    def _shared(self, turn: str, label: str, key: Any, kind: TensorType, numbers: Any) -> Ref:
        """The values per iteration, ``numbers``, as a node, made once per key."""
        if key not in self._made:
            self._made[key] = self._given(turn, label, kind, dict(zip(self.span, numbers, strict=True)).__getitem__)
        return self._made[key]

    def _site_of(self, row: int) -> Site | None:
        site: Site | None = self._places(self.span[0], row)
        return site

    def _read_type(self, n: int) -> TensorType | None:
        """The type of the number that Python read in a call; None if it is not compared."""
        number = self._iterations[self.span[0]].read[n]
        kinds = {bool: "bool", int: "int64", float: "float64"}
        return TensorType(kinds[type(number)], ()) if type(number) in kinds else None

    def _read(self, n: int, turn: str, value: dict[int, Ref], differs_ref: Ref) -> Ref:
        """The node that is True if this number that Python reads, or an earlier one, differs from the record."""
        iterations, kind = self._iterations, self._read_type(n)
        call = iterations[self.span[0]].body.calls[n]
        low = lower_call(self._torch, call, False, lambda _: False)
        name, source = self._boxes.place(call)
        assert kind is not None  # noqa: S101
        then = self._given(turn, f"{name}/recorded", kind, lambda i: np.array(iterations[i].read[n], kind.dtype))
        types = (TensorType("bool", ()),)
        node = self._add(name, aten.READ, [value[low.storages[0]], then], source, types=types, call=low.text)
        return Ref(self._add(f"{name}/or", "logical_or", [differs_ref, Ref(node)]))

    # -- the state with which the loop begins -------------------------------------------------------------------------
    def _before(self, first: int) -> dict[int, Any]:
        """The carried storages at the beginning of an iteration, computed from the oldest kept iteration."""
        values: dict[int, Any] = {}
        for _, _, now, _ in computed(
            self._torch, self._iterations, {}, [k for k in sorted(self._iterations) if k < first]
        ):
            values = now
        return {j: values[before] for j, before in self._iterations[first].body.previous.items()}
