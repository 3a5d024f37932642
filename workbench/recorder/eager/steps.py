"""The calls of the last iterations and all that they read from outside: enough to run them again as a graph.

Tensors are known by their storages. A storage that an iteration reads before it writes it was there before: either the
iteration before had it, and then the state is carried over, or it comes from outside, and then its bytes are copied.
When what is kept passes half of the budget, a new part begins with copies of the state, and only the part before it
is kept beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.recorder.eager.forms import FloatArgument, StoragePart, differing, parts_of
from workbench.recorder.eager.ops import OpInfo

_made: Any = tuple.__new__
#: bytes of a recorded call, about; iterations of one form share theirs
CALL_BYTES = 1500


class AtenCall(NamedTuple):
    """One ATen call: arguments with :class:`StoragePart` and :class:`FloatArgument` in place of tensors and floats."""

    op: str
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]
    outs: tuple[StoragePart, ...]
    written: tuple[int, ...]
    grad: bool
    unwritten: bool
    rows: tuple[int, ...]


class StepBody(NamedTuple):
    """The common part of iterations of one form: all but numbers, bytes from outside and random states.

    ``previous`` is (storage, its number in the iteration before) of the state that is carried over, ``given`` are the
    storages whose bytes come from outside, ``lengths`` their bytes, ``floats`` the index of each call's first float.
    ``form`` is the calls as they were taken down, which iterations of one form have in common.
    """

    calls: tuple[AtenCall, ...]
    form: Any
    previous: dict[int, int]
    given: tuple[int, ...]
    lengths: dict[int, int]
    floats: tuple[int, ...]


class StepRecord(NamedTuple):
    """One iteration: its body, and what is its own; ``read`` are the numbers that Python read, by call, ``names`` those
    of storages that the loop has named, and ``own`` the calls with other integers than in the body, such as offsets."""

    body: StepBody
    numbers: NDArray[np.float64]
    random: dict[int, Any]
    given: dict[int, Any]
    read: dict[int, Any]
    names: dict[int, str]
    own: dict[int, AtenCall]

    def call(self, n: int) -> AtenCall:
        """A call as it was made in this iteration, but for its floats."""
        return self.own.get(n) or self.body.calls[n]

    def floats(self, call: int) -> NDArray[np.float64]:
        """The floats among the arguments of a call."""
        ends = (*self.body.floats, len(self.numbers))
        return self.numbers[ends[call] : ends[call + 1]]


class StepRecording:
    """The iteration that runs: calls as (facts, arguments, keyword arguments, outputs, grad mode)."""

    __slots__ = ("calls", "floats", "given", "lengths", "locals", "numbers", "previous", "random", "read", "rows")

    def __init__(self) -> None:
        self.calls: list[tuple[OpInfo, list[Any], list[Any], list[StoragePart], bool]] = []
        self.rows: list[tuple[int, ...]] = []
        self.numbers: list[float] = []
        #: index of each call's first float
        self.floats: list[int] = []
        #: address of a storage -> its number in this iteration
        self.locals: dict[int, int] = {}
        self.previous: dict[int, int] = {}
        self.given: dict[int, Any] = {}
        self.lengths: dict[int, int] = {}
        self.random: dict[int, Any] = {}
        self.read: dict[int, Any] = {}

    def ended(self, before: StepRecord | None, named: dict[int, str]) -> StepRecord:
        """The iteration as it is kept; its body is that of the one ``before`` where that has the same form."""
        last = before.body if before is not None else None
        names = {self.locals[key]: name for key, name in named.items() if key in self.locals}
        if before is not None and names == before.names:
            names = before.names
        given = tuple(sorted(self.given))
        form = self.calls, self.previous, given, self.lengths, list(self.random)
        own: dict[int, AtenCall] = {}
        if last is None or form != last.form:
            others = None if last is None or form[1:] != last.form[1:] else differing(self.calls, last.form[0])
            if last is not None and others is not None:
                own = {n: self._call(n) for n in others}
            else:
                calls = tuple(self._call(n) for n in range(len(self.calls)))
                last = StepBody(calls, form, self.previous, given, self.lengths, tuple(self.floats))
        return StepRecord(last, np.array(self.numbers, np.float64), self.random, self.given, self.read, names, own)

    def _call(self, n: int) -> AtenCall:
        info, args, kwargs, outs, grad = self.calls[n]
        floats = iter(self.numbers[self.floats[n] :])
        frozen = _plain((*args, dict(kwargs)), floats)
        read = {p.storage for p in parts_of((frozen[:-1], tuple(frozen[-1])))}
        made = tuple(_plain(tuple(outs), floats))
        written = tuple(sorted({p.storage for p in made if p.storage in read}))
        return AtenCall(info.overload, frozen[:-1], frozen[-1], made, written, grad, info.unwritten, self.rows[n])


def _plain(value: Any, floats: Iterator[float]) -> Any:
    """Arguments as they are kept: names of dtypes, tuples, the floats in their places."""
    if isinstance(value, StoragePart):
        return StoragePart(value[0], str(value[1])[6:], tuple(value[2]), tuple(value[3]), int(value[4]))
    if value is FloatArgument:
        return FloatArgument(next(floats))
    if isinstance(value, (list, tuple)):
        return tuple(_plain(v, floats) for v in value)
    if isinstance(value, dict):
        return tuple((k, _plain(v, floats)) for k, v in value.items())
    return value


class RecordedSteps:
    """The newest iterations. ``before``, ``after`` or ``nothing``, and ``end`` are called by the recorder."""

    def __init__(self, torch: Any, budget: int) -> None:
        self._torch, self.budget = torch, budget
        self.iterations: dict[int, StepRecord] = {}
        self.older: tuple[dict[int, StepRecord], dict[int, dict[int, int]]] = ({}, {})
        self.bytes = 0
        self._known: dict[int, int] = {}
        self._now = StepRecording()
        #: address of a storage -> its number, in the last one of iterations with one body
        self.addresses: dict[int, dict[int, int]] = {}
        #: address of a storage -> the name that the loop gives it in this iteration
        self.named: dict[int, str] = {}
        self._args: list[Any] = []
        self._kwargs: list[Any] = []
        self._random: Any = None
        self._plain = (torch.Tensor, torch.nn.Parameter)

    def before(self, info: OpInfo, args: Any, kwargs: Any, reads: list[tuple[Any, int]]) -> None:
        """Note the arguments of a call that is about to be made; (tensor, address) of what it reads go to ``reads``."""
        now = self._now
        now.floats.append(len(now.numbers))
        plain, part, skipped = self._plain, self.part, info.overwritten
        frozen = self._args = []
        for k, value in enumerate(args):
            kind = type(value)
            if kind in plain:
                storage = value.untyped_storage()
                frozen.append(part(value, storage, False))
                if k not in skipped:
                    reads.append((value, storage._cdata))
            elif kind is float:
                frozen.append(FloatArgument)
                now.numbers.append(value)
            elif kind is list or kind is tuple:
                frozen.append(self._frozen(value, reads))
            else:
                frozen.append(self._frozen((value,), reads)[0] if isinstance(value, self._torch.Tensor) else value)
        self._kwargs = []
        if kwargs:
            for name in sorted(kwargs):
                aside: list[tuple[Any, int]] = [] if name in info.written_names else reads
                self._kwargs.append((name, self._frozen((kwargs[name],), aside)[0]))
        self._random = self._random_state(kwargs.get("generator")) if info.random else None

    def _random_state(self, generator: Any) -> Any:
        """The state from which a call draws its numbers: of the generator that it was given, or of torch's own."""
        return self._torch.get_rng_state() if generator is None else generator.get_state()

    def after(self, info: OpInfo, outs: list[StoragePart], rows: tuple[int, ...]) -> None:
        """Note the parts of storages that the call gave, and their rows in the record of the iteration."""
        now = self._now
        if self._random is not None:
            now.random[len(now.calls)] = self._random
            self.bytes += self._random.nbytes
        now.calls.append((info, self._args, self._kwargs, outs, self._torch.is_grad_enabled()))
        now.rows.append(rows)

    def read(self, info: OpInfo, number: Any) -> None:
        """Note a number that Python read."""
        self._now.read[len(self._now.calls)] = number
        self.after(info, [], ())

    def nothing(self) -> None:
        """The call that began gave nothing that is kept."""
        now = self._now
        del now.numbers[now.floats.pop() :]

    def _frozen(self, values: Any, reads: list[tuple[Any, int]]) -> list[Any]:
        found: list[Any] = []
        for value in values:
            if isinstance(value, self._torch.Tensor):
                storage = value.untyped_storage()
                found.append(self.part(value, storage, False))
                reads.append((value, storage._cdata))
            elif type(value) is float:
                found.append(FloatArgument)
                self._now.numbers.append(value)
            elif isinstance(value, (list, tuple)):
                found.append(self._frozen(value, reads))
            else:
                found.append(type(value) if isinstance(value, self._torch.Generator) else value)
        return found

    def part(self, tensor: Any, storage: Any, new: bool) -> StoragePart:
        """The part of a storage that a tensor is; ``new`` ones were made by the call."""
        key = storage._cdata
        number = self._now.locals.get(key)
        if number is None:
            number = self._numbered(key, tensor, storage, new)
        return _made(StoragePart, (number, tensor.dtype, tensor.shape, tensor.stride(), tensor.storage_offset()))

    def _numbered(self, key: int, tensor: Any, storage: Any, new: bool) -> int:
        now = self._now
        number = now.locals[key] = len(now.lengths)
        now.lengths[number] = storage.nbytes()
        if not new:
            before = self._known.get(key)
            if before is None:
                count = storage.nbytes() // tensor.element_size()
                now.given[number] = tensor.detach().as_strided((count,), (1,), 0).clone()
                self.bytes += storage.nbytes()
            else:
                now.previous[number] = before
        return number

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
        self.bytes += kept.numbers.nbytes + CALL_BYTES * len(kept.own if same else now.calls)
        self.iterations[iteration] = kept
        if same:
            self.addresses.pop(iteration - 1, None)
        self.addresses[iteration] = now.locals
        self._known = {key: number for key, number in now.locals.items() if key in alive}
        if 2 * self.bytes > self.budget:
            self.cut()
        self._now = StepRecording()

    def cut(self) -> None:
        """Begin a new part, with copies of the state; only the part before it is kept."""
        if self.iterations:
            self.older, self.bytes = (self.iterations, self.addresses), 0
            self.iterations, self.addresses, self._known = {}, {}, {}

    def folded(self) -> tuple[dict[int, StepRecord], dict[int, int], list[int]]:
        """The newest part that has iterations of one form in a row: its iterations, the addresses of the storages of
        its last one, and the numbers of those that have the form. A record of one iteration is a loop of that."""
        for iterations, addresses in ((self.iterations, self.addresses), self.older):
            span = _same_body(iterations)
            if len(span) > 1 or list(iterations) == [0]:
                return iterations, addresses[span[-1]], span
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
