"""Takes down every ATen call of a loop: its site, the statistics of what it gave, and what it read."""

from __future__ import annotations

import importlib
from collections import deque
from collections.abc import Iterator
from typing import Any

from workbench.kernels.streaming import TENSOR_TYPES, TensorLog
from workbench.recorder.eager.faults.wraps import overwritten, wraps
from workbench.recorder.eager.ops import READ_BACK, OpInfo, describe
from workbench.recorder.eager.phases import Phases
from workbench.recorder.eager.record import OpRecord
from workbench.recorder.eager.replay import Replay, replay
from workbench.recorder.eager.sites import BACKWARD, FORWARD, OPTIMIZER, OUTSIDE, Site
from workbench.recorder.eager.steps import RecordedSteps
from workbench.recorder.eager.storages import OpEvent, Storages

#: iterations whose events know what they read; older ones keep their statistics only
WINDOW = 3
#: sequence numbers of autograd whose lines are remembered at most
MOST_LINES = 50_000
INFINITE, NOT_A_NUMBER, MEANT = 1, 2, 4


class OpRecorder:
    """The events of one loop. ``took`` is called by the dispatch mode after each op; nothing of it may raise."""

    def __init__(self, modules: Any, optimizer: Any, record: OpRecord, steps: int = 0) -> None:
        self.torch = torch = importlib.import_module("torch")
        self.record, self.table = record, record.table
        self.phases = Phases(torch, modules, optimizer)
        self.log, self.storages = TensorLog(), Storages()
        self.unwritten = OpEvent(-1, -1, -1, (), 0, False)
        self.events: deque[list[OpEvent]] = deque([[]])
        self.iteration = 0
        #: the newest number that Python read from a tensor, and the event of that tensor
        self.read_back: list[tuple[Any, OpEvent | None]] = []
        self._was: Any = None
        self.first_wrap: tuple[OpEvent, tuple[int, ...]] | None = None
        self.error: str | None = None
        #: whether the ops of this iteration are not recorded
        self.skipping = False
        #: what is noted of autograd while the op of a silent fault is looked for
        self.examined: Any = None
        self.replay = Replay(None, reason="the loop ended before its second iteration")
        self.steps = RecordedSteps(torch, steps) if steps else None
        self.no_steps = "the watch was told not to keep steps" if not steps else ""
        if not steps:
            self.replay = Replay(None, reason=self.no_steps)
        self._infos: dict[Any, OpInfo] = {}
        self._seen: dict[Any, int] = {}
        self._lines_of: dict[int, tuple[tuple[str, int], str]] = {}
        names = {str(getattr(torch, n, None)): code for n, code in TENSOR_TYPES.items() if hasattr(torch, n)}
        self._types = {getattr(torch, n): code for n, code in TENSOR_TYPES.items() if f"torch.{n}" in names}
        self._plain = (torch.Tensor, torch.nn.Parameter)
        self._strided, self._node = torch.strided, torch._C._current_autograd_node
        self._grad_enabled, self._sequence = torch.is_grad_enabled, torch.autograd._get_sequence_nr
        self._info: Any = None
        self._reads: list[tuple[Any, int]] = []

    def before(self, func: Any, args: Any, kwargs: Any) -> None:
        """Take down the arguments of a call that is about to be made, so that it can be made again."""
        info = self._infos.get(func)
        self._info = info = self.info(func) if info is None else info
        if info.view:
            return
        reads: list[tuple[Any, int]] = []
        self._reads = reads
        if info.wrapping:
            self._was = overwritten(self.torch, info.op, args)
        if self.steps is not None:
            if not info.gives and info.op != READ_BACK:
                return
            try:
                self.steps.before(info, args, kwargs, reads)
                return
            except Exception as error:
                self._no_steps(error)
        self._reads = [(t, t.untyped_storage()._cdata) for t in self._operands(info, args, kwargs)]

    def unseen(self, func: Any, args: Any, kwargs: Any) -> None:
        """Forget what a call writes that is not taken down: for a later iteration it is from outside."""
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

    def _no_steps(self, error: Exception) -> None:
        self.steps, self.no_steps = None, f"{type(error).__name__}: {error}"
        if self.iteration < 2:
            self.replay = Replay(None, reason=self.no_steps)

    def info(self, func: Any) -> OpInfo:
        """The facts of an overload."""
        found = self._infos.get(func)
        if found is None:
            found = self._infos[func] = describe(func, self.torch.Tag.nondeterministic_seeded)
        return found

    # -- an op ------------------------------------------------------------------------------------------------------
    def took(self, func: Any, args: Any, kwargs: Any, out: Any) -> None:
        """Take down a call that has returned ``out``."""
        info, steps = self._info, self.steps
        if info.view:
            if self.examined is not None:
                self.examined.took(info, args, [])
            return
        if info.op == READ_BACK:
            self.read_back.append((out, self.storages.writer(args[0])))
            if steps is not None:
                steps.read(info, out)
            return
        one = info.single and type(out) in self._plain and out.layout is self._strided
        given = [out] if one else self._given(info, args, kwargs, out)
        if not given:
            if steps is not None and info.gives:
                steps.nothing()
            return
        made: list[OpEvent] = []
        if info.unwritten:
            for tensor in given:
                self.storages.wrote(tensor.untyped_storage(), self.unwritten)
        else:
            base = self._base(func)
            n = self._seen[base] = self._seen.get(base, -1) + 1
            writers, parents = self.storages.writers, []
            if info.by_index:
                width = max((len(a) for a in args if isinstance(a, (tuple, list))), default=1) or 1
            else:
                for tensor, key in self._reads:
                    found = writers.get(key)
                    parents.append(self._input(tensor, base) if found is None else found[1])
            for k, tensor in enumerate(given):
                if info.by_index:
                    parents = [self._event(t, base) for t in self._operands_at(args, kwargs, k % width)]
                made.append(self._add(info, base, n, k, tensor, tuple(parents), args))
            if self.examined is not None:
                self.examined.took(info, args, made)
        if steps is not None:
            try:
                outs = [steps.part(t, t.untyped_storage(), True) for t in given]
                steps.after(info, outs, tuple([e.row for e in made]))
            except Exception as error:
                self._no_steps(error)

    def _add(
        self, info: OpInfo, base: Any, n: int, k: int, tensor: Any, parents: tuple[OpEvent, ...], args: Any
    ) -> OpEvent:
        """The row and the event of one tensor of a call."""
        key = (base, n, k)
        site = self.table.known(key)
        if site is None:
            (file, line), module, phase = base[1], base[2], base[3]
            site = self.table.number(key, Site(info.op, info.overload, module, file, line, phase, n, k))
        status = self._scan(site, tensor)
        flag, made = 0, False
        if status > 0:
            bad = any(p.flag & (INFINITE | NOT_A_NUMBER) for p in parents)
            if status == NOT_A_NUMBER:
                flag, made = NOT_A_NUMBER, not bad
            elif bad:
                flag = INFINITE
            elif self._meant(info, args, parents):
                flag = MEANT
            else:
                flag, made = INFINITE, True
        event = OpEvent(site, len(self.log) - 1 if status >= 0 else -1, self.iteration, parents, flag, made)
        self.events[-1].append(event)
        self.storages.wrote(tensor.untyped_storage(), event)
        if info.wrapping and self.first_wrap is None and not tensor.dtype.is_floating_point:
            found = wraps(self.torch, info.op, args if self._was is None else (self._was, *args[1:]), tensor)
            if found is not None:
                self.first_wrap = event, found
        return event

    def _meant(self, info: OpInfo, args: Any, parents: tuple[OpEvent, ...]) -> bool:
        """True if the infinities of the newest row were put there, as in a mask, or come from such ones."""
        meant = [p for p in parents if p.flag & MEANT]
        if meant and info.rising and self.log.rows(len(self.log) - 1, len(self.log))["largest"][0] == float("inf"):
            return any(self._reaches(p, float("inf")) for p in meant)
        return bool(info.constant or meant or (not info.arithmetic and _infinite_number(args)))

    def _reaches(self, event: OpEvent, number: float) -> bool:
        """True if the largest number of an event is ``number``, or it is not known any more."""
        if event.row < 0 or event.iteration != self.iteration:
            return True
        return bool(self.log.rows(event.row, event.row + 1)["largest"][0] == number)

    def _scan(self, site: int, tensor: Any) -> int:
        """Append the statistics of a tensor; -1 where its dtype has none."""
        code = self._types.get(tensor.dtype)
        if code is None:
            return -1
        if not tensor.is_cpu:
            tensor = tensor.cpu()
        if not tensor.is_contiguous():
            tensor = tensor.contiguous()
        return self.log.append(site, tensor.data_ptr(), tensor.numel(), code, code)

    # -- what a call read and wrote -----------------------------------------------------------------------------------
    def _tensors(self, value: Any) -> Iterator[Any]:
        if isinstance(value, self.torch.Tensor):
            if type(value) in self._plain and value.layout is self.torch.strided:
                yield value
        elif isinstance(value, (tuple, list)):
            for item in value:
                yield from self._tensors(item)

    def _given(self, info: OpInfo, args: Any, kwargs: Any, out: Any) -> list[Any]:
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

    def _operands(self, info: OpInfo, args: Any, kwargs: Any) -> Iterator[Any]:
        for k, value in enumerate(args):
            if k not in info.overwritten:
                yield from self._tensors(value)
        for name, value in kwargs.items():
            if name not in info.written_names:
                yield from self._tensors(value)

    def _operands_at(self, args: Any, kwargs: Any, k: int) -> Iterator[Any]:
        """The operands of the k-th tensor of an op on lists."""
        for value in [*args, *kwargs.values()]:
            if isinstance(value, (tuple, list)):
                if k < len(value):
                    yield from self._tensors(value[k])
            else:
                yield from self._tensors(value)

    def _event(self, tensor: Any, base: Any) -> OpEvent:
        """The event that wrote an operand last; a row of its own for a tensor that comes from outside."""
        found = self.storages.writer(tensor)
        return self._input(tensor, base) if found is None else found

    def _input(self, tensor: Any, base: Any) -> OpEvent:
        """The event of a tensor that no recorded op wrote."""
        if type(tensor) not in self._plain or tensor.layout is not self._strided:
            return self.unwritten
        name = self.phases.name_of(tensor)
        key = ("input", name or (base[1], tuple(tensor.shape)), 0)
        n = self._seen[key] = self._seen.get(key, -1) + 1
        file, line = ("", 0) if name else base[1]
        site = self.table.number((key, n), Site("input", "input", name, file, line, OUTSIDE, n, 0))
        status = self._scan(site, tensor)
        flag = max(0, status)
        if status == INFINITE and self.log.rows(len(self.log) - 1, len(self.log))["largest"][0] != float("inf"):
            flag = MEANT  # only -inf: a mask
        row = len(self.log) - 1 if status >= 0 else -1
        found = OpEvent(site, row, self.iteration, (), flag, flag in (INFINITE, NOT_A_NUMBER))
        self.events[-1].append(found)
        self.storages.wrote(tensor.untyped_storage(), found)
        return found

    def _base(self, func: Any) -> tuple[Any, tuple[str, int], str, str]:
        """(op, line, module, phase) of a call that just returned."""
        phases = self.phases
        node = self._node()
        if node is None:
            if phases.in_optimizer:
                return func, phases.step_line or phases.lines.here(3), "", OPTIMIZER
            where, stack = phases.lines.here(3), phases.stack
            module = stack[-1] if stack else ""
            if self._grad_enabled():
                self._lines_of.setdefault(self._sequence() - 1, (where, module))
            return func, where, module, FORWARD
        if not type(node).__name__[-1:].isdigit():  # a Function written in Python
            here = phases.lines.here(3)
            return func, here, self._lines_of.get(node._sequence_nr(), (here, ""))[1], BACKWARD
        known = self._lines_of.get(node._sequence_nr())
        where, module = known if known is not None else (phases.lines.here(3), "")
        return func, where, module, BACKWARD

    def is_bad(self) -> bool:
        """True if an op of the iteration gave a number that is not finite and was not meant."""
        return any(e.flag & (INFINITE | NOT_A_NUMBER) for e in self.events[-1])

    # -- iterations ---------------------------------------------------------------------------------------------------
    def end_iteration(self) -> None:
        """Hand the rows of the iteration to the record, and begin the next one."""
        rows = self.log.take()
        self.record.add(rows)
        self.events.append([])
        if len(self.events) > WINDOW:
            for event in self.events.popleft():
                event.parents = ()
        self._seen = {}
        self.read_back = []
        self.storages.sweep()
        if self.steps is not None:
            self.steps.end(self.iteration, self.storages)
            if self.iteration == 1:
                self.replay = replay(self)
        if len(self._lines_of) > MOST_LINES:
            self._lines_of = {}
        self.iteration += 1

    def skip_iteration(self) -> None:
        """Count an iteration whose ops were not seen: who wrote what is not known any more."""
        self.record.skip()
        self.storages.close()
        if self.steps is not None:
            self.steps.cut()
        self.iteration += 1


def _infinite_number(args: Any) -> bool:
    """True if a plain number among the arguments is infinite."""
    return any(isinstance(a, float) and a in (float("inf"), float("-inf")) for a in args)
