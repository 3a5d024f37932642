"""Records every ATen call of a loop: its site, the statistics of its results, and its operands."""

from __future__ import annotations

import importlib
from collections import deque
from collections.abc import Iterator
from typing import Any

from workbench.kernels.eager import INFINITE, MEANT, NOT_A_NUMBER, OpCalls, OpEvent, OpInfo
from workbench.kernels.streaming import TENSOR_TYPES, TensorLog
from workbench.recorder.eager.faults.wraps import overwritten, wraps
from workbench.recorder.eager.ops import describe
from workbench.recorder.eager.phases import Phases
from workbench.recorder.eager.record import OpRecord
from workbench.recorder.eager.replay import Replay, replay
from workbench.recorder.eager.sites import OUTSIDE, Site
from workbench.recorder.eager.steps import RecordedSteps

#: number of iterations whose events keep their operands; older ones keep only their statistics
WINDOW = 3
#: maximum number of autograd sequence numbers whose lines are kept
MOST_LINES = 50_000


class OpRecorder(OpCalls):
    """The events of one loop. ``before`` and ``took`` are called by the dispatch mode around each op."""

    def __init__(self, modules: Any, optimizer: Any, record: OpRecord, steps: int = 0) -> None:
        torch = importlib.import_module("torch")
        types = {getattr(torch, n): code for n, code in TENSOR_TYPES.items() if hasattr(torch, n)}
        super().__init__(torch, Phases(torch, modules, optimizer), TensorLog(), types)
        self.record, self.table = record, record.table
        self.events: deque[list[OpEvent]] = deque([self.current])
        self.first_wrap: tuple[OpEvent, tuple[int, ...]] | None = None
        self.error: str | None = None
        #: whether the ops of this iteration are not recorded
        self.skipping = False
        self.replay = Replay(None, reason="the loop ended before its second iteration")
        self.steps = RecordedSteps(torch, steps) if steps else None
        self.why_no_steps = "the watch was told not to keep steps" if not steps else ""
        if not steps:
            self.replay = Replay(None, reason=self.why_no_steps)
        self._seen: dict[Any, int] = {}

    def unseen(self, func: Any, args: Any, kwargs: Any) -> None:
        """Forget the tensors that an unrecorded call writes: for a later iteration they come from outside."""
        info = self.info(func)
        if info.written or info.written_names:
            for tensor in self._written(info, args, kwargs):
                self.storages.forget(tensor)
                if self.steps is not None:
                    self.steps.forget(tensor)

    def _written(self, info: OpInfo, args: Any, kwargs: Any) -> Iterator[Any]:
        """The tensors among the arguments that a call writes."""
        for value in [args[k] for k in info.written if k < len(args)] + [kwargs.get(n) for n in info.written_names]:
            yield from self._tensors(value)

    def no_steps(self, error: Exception) -> None:
        """Keep no steps from here on, because of an error."""
        self.steps, self.why_no_steps = None, f"{type(error).__name__}: {error}"
        if self.iteration < 2:
            self.replay = Replay(None, reason=self.why_no_steps)

    # -- called by the compiled part ----------------------------------------------------------------------------------
    def describe(self, func: Any) -> OpInfo:
        """The facts of a new overload."""
        return describe(func, self.torch.Tag.nondeterministic_seeded)

    def was(self, info: OpInfo, args: Any) -> Any:
        """A copy of integers that the call is about to overwrite; None for other dtypes."""
        return overwritten(self.torch, info.op, args)

    def site(self, info: OpInfo, base: Any, n: int, k: int) -> int:
        """The index of a new site."""
        _, (file, line), module, phase = base
        return self.table.number((base, n, k), Site(info.op, info.overload, module, file, line, phase, n, k))

    def wrapped(self, info: OpInfo, event: OpEvent, args: Any, tensor: Any) -> None:
        """Note the first integers that do not fit their dtype."""
        if self.first_wrap is None:
            found = wraps(self.torch, info.op, args, tensor)
            if found is not None:
                self.first_wrap = event, found

    def meant(self, info: OpInfo, args: Any, parents: tuple[OpEvent, ...]) -> bool:
        """True if the infinities of the newest row are intended, as in a mask, or result from intended ones."""
        meant = [p for p in parents if p.flag & MEANT]
        if meant and info.rising and self.log.rows(len(self.log) - 1, len(self.log))["largest"][0] == float("inf"):
            return any(self._reaches(p, float("inf")) for p in meant)
        return bool(info.constant or meant or (not info.arithmetic and _infinite_number(args)))

    def _reaches(self, event: OpEvent, number: float) -> bool:
        """True if the largest element of an event is ``number``, or is no longer known."""
        if event.row < 0 or event.iteration != self.iteration:
            return True
        return bool(self.log.rows(event.row, event.row + 1)["largest"][0] == number)

    # -- operands and results of a call -------------------------------------------------------------------------------
    def _tensors(self, value: Any) -> Iterator[Any]:
        if self.is_plain(value):
            yield value
        elif isinstance(value, (tuple, list)):
            for item in value:
                yield from self._tensors(item)

    def given(self, info: OpInfo, args: Any, kwargs: Any, out: Any) -> list[Any]:
        """The tensors that a call made or wrote, each once."""
        found = list(self._tensors(out if info.values is None else out[: info.values]))
        if info.values is not None:
            for tensor in self._tensors(out[info.values :]):
                self.storages.wrote(tensor.untyped_storage(), self.unwritten)
        if info.written or info.written_names:
            there = {id(t) for t in found}
            for tensor in self._written(info, args, kwargs):
                if id(tensor) not in there:
                    there.add(id(tensor))
                    found.append(tensor)
        return found

    def operands(self, info: OpInfo, args: Any, kwargs: Any) -> Iterator[Any]:
        """The tensors that a call reads."""
        for k, value in enumerate(args):
            if k not in info.overwritten:
                yield from self._tensors(value)
        for name, value in kwargs.items():
            if name not in info.written_names:
                yield from self._tensors(value)

    def operands_at(self, args: Any, kwargs: Any, k: int) -> Iterator[Any]:
        """The operands of the k-th tensor of an op on lists."""
        for value in [*args, *kwargs.values()]:
            if isinstance(value, (tuple, list)):
                if k < len(value):
                    yield from self._tensors(value[k])
            else:
                yield from self._tensors(value)

    def from_outside(self, tensor: Any, base: Any) -> OpEvent:
        """The event of a tensor that no recorded op wrote."""
        if not self.is_plain(tensor):
            return self.unwritten
        name = self.phases.name_of(tensor)
        key = ("input", name or (base[1], tuple(tensor.shape)), 0)
        n = self._seen[key] = self._seen.get(key, -1) + 1
        file, line = ("", 0) if name else base[1]
        site = self.table.number((key, n), Site("input", "input", name, file, line, OUTSIDE, n, 0))
        status = self.scan(site, tensor)
        flag = max(0, status)
        if status == INFINITE and self.log.rows(len(self.log) - 1, len(self.log))["largest"][0] != float("inf"):
            flag = MEANT  # only -inf: a mask
        row = len(self.log) - 1 if status >= 0 else -1
        found = OpEvent(site, row, self.iteration, (), flag, flag in (INFINITE, NOT_A_NUMBER))
        self.current.append(found)
        self.storages.wrote(tensor.untyped_storage(), found)
        return found

    def is_bad(self) -> bool:
        """True if an op of the iteration produced an unintended NaN or infinity."""
        return any(e.flag & (INFINITE | NOT_A_NUMBER) for e in self.current)

    # -- iterations ---------------------------------------------------------------------------------------------------
    def end_iteration(self) -> None:
        """Pass the rows of the iteration to the record, and begin the next iteration."""
        rows = self.log.take()
        self.record.add(rows)
        ended = self.iteration
        self.next(MOST_LINES)
        self.events.append(self.current)
        if len(self.events) > WINDOW:
            for event in self.events.popleft():
                event.parents = ()
        self._seen = {}
        self.storages.sweep()
        if self.steps is not None:
            self.steps.end(ended, self.storages)
            if ended == 1:
                self.replay = replay(self)

    def skip_iteration(self) -> None:
        """Count an unrecorded iteration: which op wrote which tensor is unknown after it."""
        self.record.skip()
        self.storages.close()
        if self.steps is not None:
            self.steps.cut()
        self.iteration += 1


def _infinite_number(args: Any) -> bool:
    """True if a plain number among the arguments is infinite."""
    return any(isinstance(a, float) and a in (float("inf"), float("-inf")) for a in args)
