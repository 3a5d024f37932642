"""One loop of a block, computed again from a state: the update whose fixed points the states approach."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from workbench.recorder.looped.calls import filled, leaves, replaced
from workbench.recorder.looped.carried import CarriedState, at, given
from workbench.recorder.looped.links import CarryLink, find_link, same, tensors

#: maximum roundings between a recomputed update and the record, relative to its largest element
ROUNDINGS = 64
#: types of arguments that a second call takes unchanged
PLAIN = (bool, int, float, complex, str, bytes, type(None))


class NoUpdate(Exception):
    """The reason why a loop cannot be computed again."""


@dataclass(eq=False)
class _Step:
    """A module of the chain: its arguments, and which of these are made from the value of an earlier step."""

    place: int
    module: Any
    links: dict[tuple[Any, ...], tuple[int, CarryLink]]
    args: Any
    way_out: tuple[Any, ...]
    injected: set[tuple[Any, ...]]
    autocast: Any


class Update:
    """``update(state)`` is the state one loop later, with the arguments of the last loop.

    ``scale`` multiplies what is injected in each loop: constants that are added or joined to the state, and unchanging
    arguments of the state's shape. ``injected`` names them; ``changing`` names arguments that change from loop to loop,
    so that the update is only that of the last loop.
    """

    def __init__(self, torch: Any, carried: CarriedState) -> None:
        if carried.link is None or carried.enters is None:
            raise NoUpdate("nothing recorded says how the input of a loop is made of the output before")
        self.torch, self._carried = torch, carried
        self.injected: list[str] = []
        self.changing: list[str] = []
        self._steps = list(self._chain())
        if carried.link.kind in ("sum", "joined"):
            self.injected.append(f"what is {_done(carried.link)} the state before {carried.block.names[0]}")
        self._verify()

    def __call__(self, state: Any, scale: Any = 1.0) -> Any:
        torch, carried = self.torch, self._carried
        link = carried.link
        assert link is not None  # noqa: S101
        value = state if link.kind == "residual" else link.apply(torch, state, {}, scale)
        entered: dict[int, Any] = {}
        values = {-1: value}
        for step in self._steps:
            fed = {path: found.apply(torch, values[of], entered, scale) for path, (of, found) in step.links.items()}
            entered[step.place] = next(iter(fed.values()))
            args, kwargs = filled(step.args, fed, step.injected, scale)
            with self._as_then(step.autocast):
                output = step.module(*args, **kwargs)
            value = values[step.place] = at(output, step.way_out)
        return link.apply(torch, value, entered, scale) if link.kind == "residual" else value

    def in_float32(self) -> Update:
        """The same with modules and tensors of half precision as float32."""
        made = copy.copy(self)
        copies: dict[int, Any] = {}
        made._steps = []
        for step in self._steps:
            module = copies.setdefault(id(step.module), copy.deepcopy(step.module).float())
            made._steps.append(
                _Step(
                    step.place, module, step.links, replaced(step.args, self._wide), step.way_out, step.injected, None
                )
            )
        return made

    def _wide(self, leaf: Any) -> Any:
        half = isinstance(leaf, self.torch.Tensor) and leaf.is_floating_point()
        return leaf.float() if half else leaf

    @contextlib.contextmanager
    def _as_then(self, autocast: Any) -> Iterator[None]:
        if autocast is None:
            yield
            return
        device, on, dtype = autocast
        with self.torch.autocast(device, dtype, enabled=on):
            yield

    # -- the chain ----------------------------------------------------------------------------------------------------
    def _chain(self) -> Iterator[_Step]:
        """The modules from the one that takes the state in to the one that gives it out, and their links."""
        torch, carried = self.torch, self._carried
        rounds = carried.block.rounds
        (i, way_in), (j, way_out) = carried.enters or (0, ()), carried.leaves
        shape = carried.states[-1].shape
        values: dict[int, list[Any]] = {-1: [at(given(calls[i]), way_in) for calls in rounds]}
        entered: dict[int, list[Any]] = {}
        for place in range(i, j + 1):
            calls = [calls[place] for calls in rounds]
            links: dict[tuple[Any, ...], tuple[int, CarryLink]] = {}
            for path, _ in tensors(torch, given(calls[-1])):
                nexts = [at(given(call), path) for call in calls]
                for of in reversed(values):
                    link = find_link(torch, values[of], nexts, entered)
                    if link is not None and not (link.kind == "sum" and len(nexts) < 3):
                        links[path] = (of, link)
                        break
            if not links:
                if place == j:
                    raise NoUpdate(f"the input of {calls[0].name} is not made of the state by a sum or a join")
                continue
            first = next(iter(links))
            entered[place] = [at(given(call), first) for call in calls]
            out = way_out if place == j else next((path for path, _ in tensors(torch, calls[-1].output)), None)
            if out is None:
                raise NoUpdate(f"{calls[0].name} gives no tensor")
            values[place] = [at(call.output, out) for call in calls]
            injected = self._others(calls, links, shape)
            for _, link in links.values():
                if link.kind in ("sum", "joined"):
                    self.injected.append(f"what is {_done(link)} the state before {calls[0].name}")
            last = calls[-1]
            yield _Step(place, last.module, links, given(last), out, injected, last.autocast)

    def _others(self, calls: list[Any], links: Any, shape: Any) -> set[tuple[Any, ...]]:
        """The injected arguments: those of the state's shape that are the same in each loop."""
        torch, injected = self.torch, set()
        name = calls[-1].name
        for path, leaf in leaves(given(calls[-1])):
            if path in links:
                continue
            argument = (
                f"argument {path[1]!r} of {name}" if path and path[0] == 1 else f"argument {path[1] + 1} of {name}"
            )
            others = [at(given(call), path) for call in calls]
            if isinstance(leaf, torch.Tensor):
                if not all(isinstance(o, torch.Tensor) and same(torch, o, leaf) for o in others):
                    self.changing.append(argument)
                elif leaf.is_floating_point() and leaf.shape == shape:
                    injected.add(path)
                    self.injected.append(argument)
            elif not isinstance(leaf, (*PLAIN, torch.dtype, torch.device)):
                raise NoUpdate(f"{argument} is a {type(leaf).__name__}, which another call could change")
            elif any(o != leaf for o in others):
                self.changing.append(argument)
        return injected

    def _verify(self) -> None:
        """Check that the last loop, computed again, gives the recorded state."""
        torch, states = self.torch, self._carried.states
        rounds = len(self._carried.block.rounds)
        before, after = states[rounds - 1], states[rounds]
        state = torch.get_rng_state()
        try:
            with torch.no_grad():
                again = self(before)
        except Exception as error:
            raise NoUpdate(f"computed again, it raised {type(error).__name__}: {str(error)[:200]}") from None
        finally:
            torch.set_rng_state(state)
        if again is None or again.shape != after.shape:
            raise NoUpdate("computed again, it gives a state of another shape")
        finite = torch.isfinite(after) & torch.isfinite(again)
        if not bool((torch.isfinite(after) == torch.isfinite(again)).all()):
            raise NoUpdate("computed again, it gives other numbers")
        apart = ((again.double() - after.double()).abs() * finite).nan_to_num(0.0).amax()
        size = torch.where(finite, after.double().abs(), 0.0).amax()
        if float(apart) > ROUNDINGS * torch.finfo(after.dtype).eps * float(size):
            raise NoUpdate(
                f"computed again, the last loop gives numbers that differ by up to {float(apart):.3g}, as with dropout"
            )


def _done(link: CarryLink) -> str:
    return "added to" if link.kind == "sum" else "joined to"
