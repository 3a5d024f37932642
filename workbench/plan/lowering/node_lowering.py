"""Nodes that compute: a kernel, an inner loop of NumPy, instructions on arrays in rows, or a call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.device import Placement, device_evaluator, on_host
from workbench.ir.node import Node, Ref
from workbench.ir.types import TensorType, numpy_dtype
from workbench.kernels.opcodes import ARRAY, CALL, KERNEL, NOP, UFUNC
from workbench.plan.lowering.array_layout import OWN, ArrayCode, ArrayInstruction, dims_of
from workbench.plan.lowering.arrays import whole_copy
from workbench.plan.lowering.element_access import item_code
from workbench.plan.lowering.kernel_choice import KernelChoice, choose, resolver
from workbench.plan.lowering.lowering_state import AT, LoweringState
from workbench.plan.lowering.node_facts import NodeFacts
from workbench.plan.memory.storage import ALIGNED, SMALL_BYTES, Spot, array_bytes


def _stand_together(a: Spot, b: Spot) -> bool:
    return (a.slot, a.shift, a.delta) == (b.slot, b.shift, b.delta)


def _can_go_over(steps: Sequence[ArrayInstruction]) -> tuple[int, ...]:
    """The inputs that the result of these steps may overwrite, element by element."""
    if not steps or any(s.array["kind"] not in ("flat", "rows") for s in steps):
        return ()
    step, later = steps[0], {k for s in steps[1:] for k, _ in s.operands}
    return tuple(
        k
        for n, (k, delta) in enumerate(step.operands)
        if k >= 0 and k not in later and not delta and step.array["stride"][n] == step.array["stride"][3]
    )


class NodeLowering:
    """Lowers nodes that compute."""

    def __init__(self, state: LoweringState, facts: NodeFacts) -> None:
        self._state, self._facts = state, facts
        self._choices: dict[tuple[object, ...], KernelChoice] = {}  # by likeness of nodes
        # for nodes whose values are all single numbers: dtypes of inputs and output, and the kernel
        self._kernels: dict[int | None, tuple[list[str | None], str | None, KernelChoice]] = {}

    def compute(self, node: Node, frame: int) -> None:
        """Emit the instructions of a node, and assign slots to its outputs."""
        known = self._kernels.get(self._facts.likeness(node))
        if known is not None and self._like_another(node, frame, *known):
            return
        value = self._facts.folded(node)
        if value is not None and node.ref() not in self._state.spots:
            self._state.choices[node.name] = KernelChoice(
                "constant", ("constant", f"{node.op} of constants is made with the plan")
            )
            self._state.spots[node.ref()] = Spot(self._state.pool.add(value))
            self._state.ips[node.name] = self._state.emit(NOP, frame, event=True)
            return
        inputs = [self._state.spot(r) for r in node.inputs]
        code = self._facts.code_of(node)
        if code is not None and not any(
            s.dtype is None
            and not (s.is_constant or s.slot in self._state.pointers)
            and array_bytes(self._facts.type_of(r)) > SMALL_BYTES
            for s, r in zip(inputs, node.inputs, strict=True)
        ):
            self._array_node(node, code, inputs, frame)
            return
        placed = self._facts.placed(node)
        if placed is not None and placed.rule is not None:
            self._device_node(node, placed, inputs, frame)
            return
        by_address = frame == 0 and self._by_address(node, inputs)
        self._state.lean_matters |= by_address
        outputs = self._outputs(node, frame, self._state.lean and by_address)
        choice = self.choice(node, inputs, outputs)
        if placed is not None:
            choice = replace(choice, reason=placed.reason)
        self._state.choices[node.name] = choice
        operands = {**dict(zip("abc", inputs, strict=False)), "out": outputs[0]} if outputs and len(inputs) <= 3 else {}
        if choice.kind == "kernel":
            at = self._state.emit(
                KERNEL, frame, kernel=choice.kernel, scalar_op=choice.scalar_op, event=True, **operands
            )
            like = self._facts.likeness(node)
            if like is not None and placed is None and len(outputs) == 1:
                self._kernels[like] = [s.number for s in inputs], outputs[0].number, choice
        elif choice.kind == "ufunc":
            at = self._state.emit(
                UFUNC,
                frame,
                ufunc=choice.ufunc,
                sizes=choice.sizes,
                x0=len(inputs),
                scalar_op=choice.scalar_op,
                event=True,
                **operands,
            )
        else:
            dynamic = len(outputs) == 1 and outputs[0].dtype is None and placed is None
            dtypes = [self._facts.type_of(r).dtype for r in node.inputs]
            resolve = resolver(node, dtypes, self._state.types[node.name][0].dtype) if dynamic else None
            if resolve is not None:
                why = f"{node.op} works on arrays of unknown shape; its compiled loop is set up once for each shape"
                self._state.choices[node.name] = replace(choice, reason=("dynamic-shape", why))
            path = self._state.frames[frame]
            around = tuple(self._state.number[path[: k + 1]] for k in range(len(path))) if choice.draws else None
            given = inputs if choice.takes is None else [inputs[k] for k in choice.takes]
            function, sees = choice.call, int(choice.sees)
            if choice.at is not None and all(s.dtype is not None for s in (*given, *outputs)):
                function, sees = choice.at, AT
            elif placed is not None and function is not None:
                function = on_host(function)
            self._state.calls.append((function, tuple(given), tuple(outputs), sees, resolve, around))
            quick: dict[str, Any] = {"scalar_op": choice.scalar_op, **operands} if choice.scalar_op else {}
            item = item_code(node, [self._facts.type_of(r) for r in node.inputs], self._state.types[node.name])
            if item is not None and all(s.dtype is not None or s.is_constant for s in (*inputs, *outputs)):
                quick = {
                    "scalar_op": item.scalar_op,
                    "sizes": item.sizes,
                    **{k: self._state.readable(s) for k, s in operands.items()},
                }
                why = f"{node.op} at computed places is compiled; Python finds what is out of range"
                self._state.choices[node.name] = replace(choice, reason=("checked", why))
            at = self._state.emit(CALL, frame, x0=len(self._state.calls) - 1, event=True, **quick)
            for spot in outputs:
                self._state.summarize(spot, frame)
        self._state.ips[node.name] = at

    def _like_another(
        self, node: Node, frame: int, takes: list[str | None], gives: str | None, choice: KernelChoice
    ) -> bool:
        """Emit the kernel that was chosen for a node of the same kind; False if its values are stored differently."""
        inputs = [self._state.spot(r) for r in node.inputs]
        if [s.number for s in inputs] != takes:
            return False
        out = self._outputs(node, frame, False)[0]
        if out.number != gives:
            return False
        self._state.choices[node.name] = choice
        operands = dict(zip("abc", inputs, strict=False), out=out)
        self._state.ips[node.name] = self._state.emit(
            KERNEL, frame, kernel=choice.kernel, scalar_op=choice.scalar_op, event=True, **operands
        )
        return True

    def _device_node(self, node: Node, placed: Placement, inputs: Sequence[Spot], frame: int) -> None:
        """Emit the call of a node on the device."""
        home, outs = self._state.home, self._state.types[node.name]
        assert home is not None and placed.rule is not None  # a plan with a device
        outputs = self._outputs(node, frame, False)
        call = device_evaluator(home, placed.rule, outs)
        self._state.choices[node.name] = KernelChoice("call", placed.reason, call=call)
        self._state.calls.append((call, tuple(inputs), tuple(outputs), False, None, None))
        self._state.ips[node.name] = self._state.emit(CALL, frame, x0=len(self._state.calls) - 1, event=True)
        for spot in outputs:
            self._state.summarize(spot, frame)

    def choice(self, node: Node, inputs: Sequence[Spot], outputs: Sequence[Spot]) -> KernelChoice:
        """Choose the code that computes a node; compiled code is the same for all nodes of the same kind."""
        takes, gives = tuple([s.number for s in inputs]), tuple([s.number for s in outputs])
        like = self._facts.likeness(node)
        key = (node.op, node.attrs, takes, gives) if like is None else (like, takes, gives)
        found = self._choices.get(key)
        if found is None:
            found = choose(node, takes, gives, self._facts.bound(node))
            if found.kind in ("kernel", "ufunc"):
                self._choices[key] = found
        return found

    def _by_address(self, node: Node, inputs: list[Spot]) -> bool:
        """Return whether a call can write its results directly to rows."""
        bound = self._facts.bound(node)
        return bound is not None and bound.at is not None and all(inputs[k].dtype is not None for k in bound.takes)

    def _outputs(self, node: Node, frame: int, rows: bool) -> list[Spot]:
        found = []
        for index, type_ in enumerate(self._state.types[node.name]):
            ref = node.ref(index)
            if ref not in self._state.spots:
                self._state.spots[ref] = Spot(self._state.new_slot(frame, type_, rows))
            found.append(self._state.spots[ref])
        return found

    def _array_node(self, node: Node, code: ArrayCode, inputs: list[Spot], frame: int) -> None:
        """Emit instructions on arrays in rows; a view of an array in rows or of a constant needs none."""
        why = f"{node.op} works on arrays of known shape, in the rows"
        placed = self._facts.placed(node)
        self._state.choices[node.name] = KernelChoice("array", placed.reason if placed else ("compiled-array", why))
        inputs = [self.unboxed(s, self._facts.type_of(r), frame) for s, r in zip(inputs, node.inputs, strict=True)]
        work: list[tuple[ArrayInstruction, Spot]] = []
        for index, type_ in enumerate(self._state.types[node.name]):
            ref, steps = node.ref(index), code.steps.get(index, [])
            if index in code.views:
                through = inputs[0].slot in self._state.pointers.values()  # readers of the trace only find rows
                if ref not in self._state.spots and not through:
                    self._state.spots[ref] = self.view_of(inputs[0], code.views[index], type_)
                    continue
                steps = [whole_copy(type_, code.views[index])]
            if ref not in self._state.spots:
                self._state.spots[ref] = self.destination(ref, type_, frame) or Spot(
                    self._state.new_slot(frame, type_, True)
                )
            work.extend((step, self._state.spots[ref]) for step in steps)
        self._state.ips[node.name] = len(self._state.code)
        event: dict[str, Any] = {"event": True}
        for step, out in work:
            operands = {}
            for letter, (k, delta) in zip("abc", step.operands, strict=False):
                given = step.constant if k == -1 else None
                source = out if k == OWN else inputs[k] if given is None else Spot(self._state.pool.add(given))
                spot = self._state.readable(source)
                operands[letter] = replace(spot, delta=spot.delta + delta) if delta else spot
            target = replace(out, delta=out.delta + step.delta) if step.delta else out
            if step.places and _stand_together(operands["a"], target):
                continue  # the node that computed it has written it there
            self._state.emit(ARRAY, frame, array=step.array, out=target, **operands, **event)
            event = {}
        if event:
            self._state.emit(NOP, frame, **event)
        if len(self._state.types[node.name]) == 1:
            self._state.flat[node.name] = _can_go_over([step for step, _ in work])
        for out in dict.fromkeys(out for _, out in work):
            self._state.summarize(out, frame)

    def destination(self, ref: Ref, type_: TensorType, frame: int) -> Spot | None:
        """The part of a joined array to which a value is written directly, if its only reader joins it with others."""
        found = None
        for name in self._state.graph.consumers(ref.node):
            node = self._state.graph.nodes[name]
            if node.op not in ("concat", "pad", "stack") or name not in self._state.types:
                continue
            same = self._state.graph.frame_of(name) == self._state.graph.frame_of(ref.node)
            if found is not None or not same or self._state.guards.node[name] != self._state.guards.node[ref.node]:
                return None
            found = node
        code = self._facts.code_of(found) if found is not None else None
        if found is None or code is None or found.inputs.count(ref) != 1:
            return None
        step = next((s for s in code.steps.get(0, ()) if s.operands[0] == (found.inputs.index(ref), 0)), None)
        if step is None or not step.places:
            return None
        if found.ref() not in self._state.spots:
            self._state.spots[found.ref()] = Spot(self._state.new_slot(frame, self._facts.type_of(found.ref()), True))
        whole = self._state.spots[found.ref()]
        if not whole.slot.phase and array_bytes(type_) * 2 > array_bytes(self._facts.type_of(found.ref())):
            whole.slot.phase = (whole.delta + step.delta) % ALIGNED  # the larger part is written directly
        return replace(whole, delta=whole.delta + step.delta, view=dims_of(type_))

    def view_of(self, spot: Spot, delta: int, type_: TensorType) -> Spot:
        """A view that begins ``delta`` bytes into an array, with another shape."""
        if not spot.is_constant:
            return replace(spot, delta=spot.delta + delta, view=dims_of(type_))
        whole = np.ascontiguousarray(self._state.pool.value(spot.slot)).reshape(-1).view(np.uint8)
        part = whole[delta : delta + array_bytes(type_)].view(numpy_dtype(type_.dtype)).reshape(dims_of(type_))
        return Spot(self._state.pool.add(part))

    def unboxed(self, spot: Spot, type_: TensorType, frame: int) -> Spot:
        """Copy an array that is kept as an object into the rows for compiled code."""
        if spot.dtype is not None or spot.is_constant:
            return spot
        if spot.slot in self._state.pointers:
            return Spot(self._state.pointers[spot.slot])
        target = Spot(self._state.new_slot(frame, type_, True))
        self._state.move(spot, target, frame)
        return target
