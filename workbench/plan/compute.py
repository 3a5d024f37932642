"""Nodes that compute: a kernel, an inner loop of NumPy, instructions on arrays in rows, or a call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.graph.node import Node, Ref
from workbench.graph.types import TensorType, numpy_dtype
from workbench.plan.arrays import OWN, ArrayCode, Step, dims_of, whole_copy
from workbench.plan.items import item_code
from workbench.plan.places import ALIGNED, SMALL_BYTES, Spot, array_bytes
from workbench.plan.select import Choice, choose, resolver
from workbench.plan.values import ARRAY, AT, CALL, KERNEL, NOP, UFUNC, Values


def _stand_together(a: Spot, b: Spot) -> bool:
    return (a.slot, a.shift, a.delta) == (b.slot, b.shift, b.delta)


def _can_go_over(steps: Sequence[Step]) -> tuple[int, ...]:
    """The inputs that the result of these steps may be written over, element by element."""
    if not steps or any(s.array["kind"] not in ("flat", "rows") for s in steps):
        return ()
    step, later = steps[0], {k for s in steps[1:] for k, _ in s.operands}
    return tuple(
        k for n, (k, delta) in enumerate(step.operands)
        if k >= 0 and k not in later and not delta and step.array["stride"][n] == step.array["stride"][3]
    )  # fmt: skip


class Computing(Values):
    """Lowers one computing node."""

    def compute(self, node: Node, frame: int) -> None:
        value = self.folded(node)
        if value is not None and node.ref() not in self.spots:
            self.choices[node.name] = Choice("constant", ("constant", f"{node.op} of constants is made with the plan"))
            self.spots[node.ref()] = Spot(self.pool.add(value))
            self.ips[node.name] = self.emit(NOP, frame, event=True)
            return
        inputs = [self.spot(r) for r in node.inputs]
        large = (s.dtype is None and not s.is_constant and array_bytes(t) > SMALL_BYTES
                 for s, t in zip(inputs, map(self.type_of, node.inputs), strict=True))  # fmt: skip
        code = self.code_of(node)
        if code is not None and not any(large):
            self._array_node(node, code, inputs, frame)
            return
        by_address = frame == 0 and self._by_address(node, inputs)
        self.lean_matters |= by_address
        outputs = self._outputs(node, frame, self.lean and by_address)
        choice = choose(node, [s.number for s in inputs], [s.number for s in outputs], self.bound(node))
        self.choices[node.name] = choice
        operands = {**dict(zip("abc", inputs, strict=False)), "out": outputs[0]} if outputs and len(inputs) <= 3 else {}
        if choice.kind == "kernel":
            at = self.emit(KERNEL, frame, kernel=choice.kernel, hot=choice.hot, event=True, **operands)
        elif choice.kind == "ufunc":
            at = self.emit(
                UFUNC, frame, ufunc=choice.ufunc, sizes=choice.sizes, x0=len(inputs), hot=choice.hot, event=True,
                **operands,
            )  # fmt: skip
        else:
            dynamic = len(outputs) == 1 and outputs[0].dtype is None
            dtypes = [self.type_of(r).dtype for r in node.inputs]
            resolve = resolver(node, dtypes, self.types[node.name][0].dtype) if dynamic else None
            if resolve is not None:
                why = f"{node.op} works on arrays of unknown shape; its compiled loop is set up once for each shape"
                self.choices[node.name] = replace(choice, reason=("dynamic-shape", why))
            path = self.frames[frame]
            around = tuple(self.number[path[: k + 1]] for k in range(len(path))) if choice.draws else None
            given = inputs if choice.takes is None else [inputs[k] for k in choice.takes]
            function, sees = choice.call, int(choice.sees)
            if choice.at is not None and all(s.dtype is not None for s in (*given, *outputs)):
                function, sees = choice.at, AT
            self.calls.append((function, tuple(given), tuple(outputs), sees, resolve, around))
            quick: dict[str, Any] = {"hot": choice.hot, **operands} if choice.hot else {}
            item = item_code(node, [self.type_of(r) for r in node.inputs], self.types[node.name])
            if item is not None and all(s.dtype is not None or s.is_constant for s in (*inputs, *outputs)):
                quick = {"hot": item.hot, "sizes": item.sizes, **{k: self.readable(s) for k, s in operands.items()}}
                why = f"{node.op} at computed places is compiled; Python finds what is out of range"
                self.choices[node.name] = replace(choice, reason=("checked", why))
            at = self.emit(CALL, frame, x0=len(self.calls) - 1, event=True, **quick)
            for spot in outputs:
                self.summarize(spot, frame)
        self.ips[node.name] = at

    def _by_address(self, node: Node, inputs: list[Spot]) -> bool:
        """Whether a call can leave its results in rows at once."""
        bound = self.bound(node)
        return bound is not None and bound.at is not None and all(inputs[k].dtype is not None for k in bound.takes)

    def _outputs(self, node: Node, frame: int, rows: bool) -> list[Spot]:
        for index, type_ in enumerate(self.types[node.name]):
            if node.ref(index) not in self.spots:
                self.spots[node.ref(index)] = Spot(self.new_slot(frame, type_, rows))
        return [self.spots[node.ref(index)] for index in range(len(self.types[node.name]))]

    def _array_node(self, node: Node, code: ArrayCode, inputs: list[Spot], frame: int) -> None:
        """Instructions on arrays in rows; a view of an array in rows or of a constant is none at all."""
        why = f"{node.op} works on arrays of known shape, in the rows"
        self.choices[node.name] = Choice("array", ("compiled-array", why))
        inputs = [self.unboxed(s, self.type_of(r), frame) for s, r in zip(inputs, node.inputs, strict=True)]
        work: list[tuple[Step, Spot]] = []
        for index, type_ in enumerate(self.types[node.name]):
            ref, steps = node.ref(index), code.steps.get(index, [])
            if index in code.views:
                view = self.view_of(inputs[0], code.views[index], type_)
                if ref not in self.spots:
                    self.spots[ref] = view
                    continue
                steps = [whole_copy(type_, code.views[index])]
            if ref not in self.spots:
                self.spots[ref] = self.destination(ref, type_, frame) or Spot(self.new_slot(frame, type_, True))
            work.extend((step, self.spots[ref]) for step in steps)
        self.ips[node.name] = len(self.code)
        event: dict[str, Any] = {"event": True}
        for step, out in work:
            operands = {}
            for letter, (k, delta) in zip("abc", step.operands, strict=False):
                given = step.constant if k == -1 else None
                source = out if k == OWN else inputs[k] if given is None else Spot(self.pool.add(given))
                spot = self.readable(source)
                operands[letter] = replace(spot, delta=spot.delta + delta)
            target = replace(out, delta=out.delta + step.delta)
            if step.places and _stand_together(operands["a"], target):
                continue  # its maker has put it there
            self.emit(ARRAY, frame, array=step.array, out=target, **operands, **event)
            event = {}
        if event:
            self.emit(NOP, frame, **event)
        if len(self.types[node.name]) == 1:
            self.flat[node.name] = _can_go_over([step for step, _ in work])
        for out in dict.fromkeys(out for _, out in work):
            self.summarize(out, frame)

    def destination(self, ref: Ref, type_: TensorType, frame: int) -> Spot | None:
        """Where the only reader that joins it with others wants a value: then it is written there at once."""
        found = None
        for name in self.graph.consumers(ref.node):
            node = self.graph.nodes[name]
            if node.op not in ("concat", "pad", "stack") or name not in self.types:
                continue
            same = self.graph.frame_of(name) == self.graph.frame_of(ref.node)
            if found is not None or not same or self.guards.node[name] != self.guards.node[ref.node]:
                return None
            found = node
        code = self.code_of(found) if found is not None else None
        if found is None or code is None or found.inputs.count(ref) != 1:
            return None
        step = next((s for s in code.steps.get(0, ()) if s.operands[0] == (found.inputs.index(ref), 0)), None)
        if step is None or not step.places:
            return None
        if found.ref() not in self.spots:
            self.spots[found.ref()] = Spot(self.new_slot(frame, self.type_of(found.ref()), True))
        whole = self.spots[found.ref()]
        if not whole.slot.phase and array_bytes(type_) * 2 > array_bytes(self.type_of(found.ref())):
            whole.slot.phase = (whole.delta + step.delta) % ALIGNED  # the larger part is written at full speed
        return replace(whole, delta=whole.delta + step.delta, view=dims_of(type_))

    def view_of(self, spot: Spot, delta: int, type_: TensorType) -> Spot:
        """``delta`` bytes into an array, as an array of another shape."""
        if not spot.is_constant:
            return replace(spot, delta=spot.delta + delta, view=dims_of(type_))
        whole = np.ascontiguousarray(self.pool.value(spot.slot)).reshape(-1).view(np.uint8)
        part = whole[delta : delta + array_bytes(type_)].view(numpy_dtype(type_.dtype)).reshape(dims_of(type_))
        return Spot(self.pool.add(part))

    def unboxed(self, spot: Spot, type_: TensorType, frame: int) -> Spot:
        """An array that is kept as an object, copied into the rows for compiled code."""
        if spot.dtype is not None or spot.is_constant:
            return spot
        target = Spot(self.new_slot(frame, type_, True))
        self.move(spot, target, frame)
        return target
