"""The state that a repeated block carries from loop to loop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from workbench.errors import WatchError
from workbench.recorder.looped.blocks import RepeatedBlock
from workbench.recorder.looped.calls import GATE, ModuleCall, leaves
from workbench.recorder.looped.links import KINDS, CarryLink, find_link, tensors

#: (place in the round, path in the arguments or the output)
Where = tuple[int, tuple[Any, ...]]


@dataclass(eq=False)
class CarriedState:
    """``states`` has the state after each loop, preceded by the state before the first one if it is known (``begins``
    is then 0, else 1). ``link`` describes how a loop's input is made from the previous output; None if unknown.
    """

    block: RepeatedBlock
    enters: Where | None
    leaves: Where
    link: CarryLink | None
    states: list[Any]
    begins: int

    @property
    def loops(self) -> int:
        return len(self.states) - 1 + self.begins

    @property
    def names(self) -> list[str]:
        """The modules of a round from the one that takes the state in to the one that gives it out, without gates."""
        first = self.enters[0] if self.enters is not None else 0
        last = self.leaves[0] if self.enters is not None else len(self.block.names) - 1
        names = self.block.names[first : last + 1]
        return [name for name in names if not GATE.search(name.rpartition(".")[2])] or names

    @property
    def last_call(self) -> ModuleCall:
        """The call that returned the last state."""
        tail, k = self.block.tail, self.leaves[0]
        return tail[k] if k < len(tail) else self.block.rounds[-1][k]


def given(call: ModuleCall) -> tuple[Any, Any]:
    """The arguments of a call, as one value."""
    return call.args, call.kwargs


def at(value: Any, path: tuple[Any, ...]) -> Any:
    """The part of a value at a path; None if there is none."""
    return next((leaf for way, leaf in leaves(value) if way == path), None)


def find_state(torch: Any, block: RepeatedBlock) -> CarriedState | None:
    """The state of a block: the output that the next loop takes, by the most certain link, else the last output.

    Raises
    ------
    WatchError
        ``states-differ`` if its shape changes from loop to loop.
    """
    every = [*block.rounds, *([block.tail] if block.tail else [])]
    best: tuple[int, int, int] | None = None
    found: CarriedState | None = None
    for i, way_in in _inputs(torch, block):
        for j, way_out in _outputs(torch, block):
            if i > j:
                continue
            pairs = [(a, b) for a, b in zip(every, every[1:], strict=False) if i < len(b) and j < len(a)]
            values = [at(a[j].output, way_out) for a, _ in pairs]
            nexts = [at(given(b[i]), way_in) for _, b in pairs]
            entered = {k: [at(given(a[k]), way) for a, _ in pairs] for k, way in _inputs(torch, block) if i <= k <= j}
            link = _quick(torch, values, nexts, entered)
            if link is None:
                continue
            rank = (KINDS.index(link.kind), i, -j)
            if best is None or rank < best:
                best, found = rank, _carried(torch, block, every, (i, way_in), (j, way_out), link, entered)
    if found is None:
        found = _last_output(torch, block, every)
    if found is not None:
        shapes = [tuple(s.shape) for s in found.states]
        if len(set(shapes)) > 1:
            k = next(k for k, shape in enumerate(shapes) if shape != shapes[0])
            raise WatchError(
                f"The state of {block.name!r} has the shape {shapes[0]} in loop {found.begins} and {shapes[k]} in loop "
                f"{k + found.begins}: states of other shapes cannot be compared.",
                slug="states-differ",
                fix="watch a block whose state keeps its shape: wb.watch_states(model, block=...).",
            )
    return found


def _quick(torch: Any, values: list[Any], nexts: list[Any], entered: dict[int, list[Any]]) -> CarryLink | None:
    """A link of all loops, if the first two have one: they rule out most candidates."""
    if any(v is None for v in (*values, *nexts)) or len({v.shape for v in values}) > 1:
        return None
    entered = {k: found for k, found in entered.items() if all(v is not None for v in found)}
    first = {k: found[:2] for k, found in entered.items()}
    if find_link(torch, values[:2], nexts[:2], first) is None:
        return None
    return find_link(torch, values, nexts, entered)


def _inputs(torch: Any, block: RepeatedBlock) -> Iterator[Where]:
    for k, call in enumerate(block.rounds[0]):
        yield from ((k, path) for path, _ in tensors(torch, given(call)))


def _outputs(torch: Any, block: RepeatedBlock) -> Iterator[Where]:
    for k, call in reversed(list(enumerate(block.rounds[0]))):
        yield from ((k, path) for path, _ in tensors(torch, call.output))


def _carried(
    torch: Any,
    block: RepeatedBlock,
    every: list[list[ModuleCall]],
    enters: Where,
    leaves_at: Where,
    link: CarryLink,
    entered: dict[int, list[Any]],
) -> CarriedState:
    (i, way_in), (j, way_out) = enters, leaves_at
    outs = [at(calls[j].output, way_out) for calls in every if j < len(calls)]
    ins = [at(given(calls[i]), way_in) for calls in every if i < len(calls)][: len(outs)]
    if link.kind == "residual":
        way = next(way for k, way in _inputs(torch, block) if k == link.of)
        last = at(given(every[len(outs) - 1][link.of]), way) + outs[-1]
        return CarriedState(block, enters, leaves_at, link, [*ins, last], 0)
    first = ins[0]
    if link.kind == "joined":
        d = outs[0].shape[-1]
        first = first[..., :d] if link.front else first[..., -d:]
    elif link.kind == "sum":
        first = (first.double() - link.constant).to(first.dtype)
    return CarriedState(block, enters, leaves_at, link, [first, *outs], 0)


def _last_output(torch: Any, block: RepeatedBlock, every: list[list[ModuleCall]]) -> CarriedState | None:
    """The outputs of the module with the most parameters, used if no link shows which output is carried."""
    sizes = [sum(p.numel() for p in call.module.parameters()) for call in block.rounds[0]]
    for j, way in sorted(_outputs(torch, block), key=lambda w: -sizes[w[0]]):
        states = [at(calls[j].output, way) for calls in every if j < len(calls)]
        if all(isinstance(s, torch.Tensor) for s in states):
            return CarriedState(block, None, (j, way), None, states, 1)
    return None
