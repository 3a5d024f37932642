"""The calls of the last iterations and all that they read from outside: enough to run them again as a graph.

Tensors are known by their storages. A storage that an iteration reads before it writes it was there before: either the
iteration before had it, and then the state is carried over, or it comes from outside, and then its bytes are copied.
When what is kept passes half of the budget, a new part begins with copies of the state, and only the part before it
is kept beside it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.recorder.eager.ops import OpInfo

#: bytes of a recorded call, about; iterations of one form share theirs
CALL_BYTES = 1500


class StoragePart(NamedTuple):
    """A strided part of a storage, whose number is that of its first appearance in the iteration."""

    storage: int
    dtype: str
    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int


class FloatArgument(NamedTuple):
    """A float among the arguments; its value may be another one in each iteration."""

    value: float


class AtenCall(NamedTuple):
    """One ATen call: arguments with :class:`StoragePart` and :class:`FloatArgument` in place of tensors and floats."""

    op: str
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]
    outs: tuple[StoragePart, ...]
    written: tuple[int, ...]
    grad: bool
    unwritten: bool
    row: int


class StepBody(NamedTuple):
    """The common part of iterations of one form: all but floats, bytes from outside and random states.

    ``previous`` is (storage, its number in the iteration before) of the state that is carried over, ``given`` are the
    storages whose bytes come from outside, ``lengths`` their bytes, ``floats`` the index of each call's first float.
    """

    calls: tuple[AtenCall, ...]
    form: Any
    previous: dict[int, int]
    given: tuple[int, ...]
    lengths: dict[int, int]
    floats: tuple[int, ...]


class StepRecord(NamedTuple):
    """One iteration: its body, and what is its own; ``names`` are those of storages that the loop has named."""

    body: StepBody
    numbers: NDArray[np.float64]
    random: dict[int, Any]
    given: dict[int, Any]
    names: dict[int, str]

    def floats(self, call: int) -> NDArray[np.float64]:
        """The floats among the arguments of a call."""
        ends = (*self.body.floats, len(self.numbers))
        return self.numbers[ends[call] : ends[call + 1]]


class StepRecording:
    """The iteration that runs."""

    __slots__ = ("calls", "given", "lengths", "locals", "previous", "random")

    def __init__(self) -> None:
        self.calls: list[AtenCall] = []
        #: address of a storage -> its number in this iteration
        self.locals: dict[int, int] = {}
        self.previous: dict[int, int] = {}
        self.given: dict[int, Any] = {}
        self.lengths: dict[int, int] = {}
        self.random: dict[int, Any] = {}

    def ended(self, before: StepRecord | None, named: dict[int, str]) -> StepRecord:
        """The iteration as it is kept; its body is that of the one ``before`` where that has the same form."""
        last = before.body if before is not None else None
        names = {self.locals[key]: name for key, name in named.items() if key in self.locals}
        if before is not None and names == before.names:
            names = before.names
        calls = tuple(
            (c.op, _shape(c.args), _shape(c.kwargs), c.outs, c.written, c.grad, c.unwritten) for c in self.calls
        )
        given = tuple(sorted(self.given))
        form = calls, tuple(self.previous.items()), given, tuple(self.lengths.items()), tuple(self.random)
        numbers = [numbers_of(c) for c in self.calls]
        if last is None or form != last.form:
            floats = tuple(itertools.accumulate((len(n) for n in numbers[:-1]), initial=0)) if numbers else ()
            last = StepBody(tuple(self.calls), form, self.previous, given, self.lengths, floats)
        return StepRecord(
            last, np.array([n for row in numbers for n in row], np.float64), self.random, self.given, names
        )


def numbers_of(call: AtenCall) -> list[float]:
    """The floats among the arguments of a call, in order."""

    def found(value: Any) -> list[float]:
        if isinstance(value, FloatArgument):
            return [value.value]
        if isinstance(value, tuple) and not isinstance(value, StoragePart):
            return [n for item in value for n in found(item)]
        return []

    return [*found(call.args), *(n for _, v in call.kwargs for n in found(v))]


def _shape(value: Any) -> Any:
    if isinstance(value, FloatArgument):
        return FloatArgument
    if isinstance(value, tuple) and not isinstance(value, StoragePart):
        return tuple(_shape(v) for v in value)
    return value


class RecordedSteps:
    """The newest iterations. ``begin``, ``before``, ``after`` and ``end`` are called by the recorder."""

    def __init__(self, torch: Any, budget: int) -> None:
        self._torch, self.budget = torch, budget
        self.iterations: dict[int, StepRecord] = {}
        self.older: tuple[dict[int, StepRecord], dict[int, int]] = ({}, {})
        self.bytes = 0
        self._known: dict[int, int] = {}
        self._now = StepRecording()
        self.addresses: dict[int, int] = {}
        #: address of a storage -> the name that the loop gives it in this iteration
        self.named: dict[int, str] = {}
        self._args: Any = ()
        self._kwargs: Any = ()
        self._random: Any = None
        self.reason = ""

    def before(self, func: Any, args: Any, kwargs: Any) -> None:
        """Note the arguments of a call that is about to be made."""
        self._args = self._frozen(tuple(args))
        self._kwargs = tuple((k, self._frozen(v)) for k, v in sorted(kwargs.items()))
        seeded = self._torch.Tag.nondeterministic_seeded in func.tags
        self._random = self._torch.get_rng_state() if seeded else None

    def after(self, info: OpInfo, outs: list[Any], row: int) -> None:
        """Note what the call gave."""
        made = tuple(self._part(t, new=True) for t in outs)
        seen: set[int] = set()
        for part in parts_of((self._args, self._kwargs)):
            seen.add(part.storage)
        written = tuple(sorted({p.storage for p in made if p.storage in seen}))
        grad = self._torch.is_grad_enabled()
        if self._random is not None:
            self._now.random[len(self._now.calls)] = self._random
            self.bytes += self._random.nbytes
        self._now.calls.append(
            AtenCall(info.overload, self._args, self._kwargs, made, written, grad, info.unwritten, row)
        )

    def _frozen(self, value: Any) -> Any:
        if isinstance(value, self._torch.Tensor):
            return self._part(value)
        if type(value) is float:
            return FloatArgument(value)
        if isinstance(value, (list, tuple)):
            return tuple(self._frozen(v) for v in value)
        return value

    def _part(self, tensor: Any, new: bool = False) -> StoragePart:
        storage = tensor.untyped_storage()
        key = storage._cdata
        number = self._now.locals.get(key)
        if number is None:
            number = self._now.locals[key] = len(self._now.locals)
            self._now.lengths[number] = storage.nbytes()
            if not new:
                before = self._known.get(key)
                if before is None:
                    self._copy(number, tensor)
                else:
                    self._now.previous[number] = before
        return StoragePart(
            number, str(tensor.dtype)[6:], tuple(tensor.shape), tuple(tensor.stride()), int(tensor.storage_offset())
        )

    def _copy(self, number: int, tensor: Any) -> None:
        storage = tensor.untyped_storage()
        count = storage.nbytes() // tensor.element_size()
        self._now.given[number] = tensor.detach().as_strided((count,), (1,), 0).clone()
        self.bytes += storage.nbytes()

    def forget(self, tensor: Any) -> None:
        """A storage was written unseen: the next call that reads it gets a copy of it from outside."""
        key = tensor.untyped_storage()._cdata
        self._known.pop(key, None)
        self._now.locals.pop(key, None)

    def end(self, iteration: int, alive: Any) -> None:
        """Close an iteration; ``alive`` are the addresses of the storages that are still there."""
        now, before = self._now, self.iterations.get(iteration - 1)
        kept = now.ended(before, self.named)
        same = before is not None and kept.body is before.body
        self.bytes += kept.numbers.nbytes + (0 if same else CALL_BYTES * len(now.calls))
        self.iterations[iteration] = kept
        self.addresses = now.locals
        self._known = {key: number for key, number in now.locals.items() if key in alive}
        if 2 * self.bytes > self.budget:
            self.older, self.iterations, self.bytes, self._known = (self.iterations, now.locals), {}, 0, {}
        self._now = StepRecording()

    def folded(self) -> tuple[dict[int, StepRecord], dict[int, int], list[int]]:
        """The newest part that has iterations of one form in a row: its iterations, the addresses of the storages of
        its last one, and the numbers of those that have the form. A record of one iteration is a loop of that."""
        for iterations, addresses in ((self.iterations, self.addresses), self.older):
            span = _same_body(iterations)
            if len(span) > 1 or list(iterations) == [0]:
                return iterations, addresses, span
        return {}, {}, []


def _same_body(iterations: dict[int, StepRecord]) -> list[int]:
    """The newest iterations in a row, two at least, that have one body; the last one may be alone in its form."""
    found: list[int] = []
    for k in sorted(iterations, reverse=True):
        if found and iterations[k].body is not iterations[found[-1]].body:
            if len(found) > 1:
                break
            found = []
        found.append(k)
    return found[::-1]


def parts_of(value: Any) -> Iterator[StoragePart]:
    """The parts of storages among arguments."""
    if isinstance(value, StoragePart):
        yield value
    elif isinstance(value, tuple) and not isinstance(value, FloatArgument):
        for item in value:
            yield from parts_of(item)
