"""The calls of the last iterations and all that they read from outside, from which they can run again as a graph.

Tensors are identified by their storages. A storage that an iteration reads before writing it existed before: either the
previous iteration had it, and it is carried state, or it comes from outside, and its bytes are copied. When the kept
data exceed half of the budget, a new part begins with copies of the state, and of the older parts only the last is
kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.kernels.eager import StepCallList, StepCalls
from workbench.recorder.eager.forms import FloatArgument, StoragePart, differing, parts_of

#: approximate bytes of a recorded call; iterations of one form share them
CALL_BYTES = 1500
#: approximate bytes of an iteration without its numbers
ITERATION_BYTES = 1000


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
    """The common part of iterations of one form: everything except numbers, bytes from outside and random states.

    ``previous`` maps each storage of the carried state to its index in the previous iteration, ``given`` are the
    storages whose bytes come from outside, ``lengths`` their bytes, ``floats`` the index of each call's first float.
    ``form`` has the calls as they were recorded, which are equal in all iterations of one form.
    """

    calls: tuple[AtenCall, ...]
    form: Any
    previous: dict[int, int]
    given: tuple[int, ...]
    lengths: dict[int, int]
    floats: tuple[int, ...]


class StepRecord(NamedTuple):
    """One iteration: its body, and the data of this iteration alone; ``read`` has the numbers that Python read, by
    call, ``names`` the names that the loop gave to storages, and ``own`` the calls whose integers, such as offsets,
    differ from the body's.
    """

    body: StepBody
    numbers: NDArray[np.float64]
    random: dict[int, Any]
    given: dict[int, Any]
    read: dict[int, Any]
    names: dict[int, str]
    own: dict[int, AtenCall]

    def call(self, n: int) -> AtenCall:
        """A call of this iteration, without its floats."""
        return self.own.get(n) or self.body.calls[n]

    def floats(self, call: int) -> NDArray[np.float64]:
        """The floats among the arguments of a call."""
        ends = (*self.body.floats, len(self.numbers))
        return self.numbers[ends[call] : ends[call + 1]]


class StepRecording(StepCallList):
    """The running iteration: calls as (facts, arguments, keyword arguments, outputs, grad mode)."""

    __slots__ = ()

    def ended(self, before: StepRecord | None, named: dict[int, str]) -> StepRecord:
        """The finished iteration for the record; it shares the body of ``before`` if both have one form."""
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
    """Arguments for the record: names of dtypes, tuples, floats with their values."""
    if isinstance(value, StoragePart):
        return StoragePart(value[0], str(value[1])[6:], tuple(value[2]), tuple(value[3]), int(value[4]))
    if value is FloatArgument:
        return FloatArgument(next(floats))
    if isinstance(value, (list, tuple)):
        return tuple(_plain(v, floats) for v in value)
    if isinstance(value, dict):
        return tuple((k, _plain(v, floats)) for k, v in value.items())
    return value


class RecordedSteps(StepCalls):
    """The newest iterations. The recorder calls ``end``; the compiled base class records the calls."""

    def __init__(self, torch: Any, budget: int) -> None:
        super().__init__(torch, StoragePart, FloatArgument)
        self.budget = budget
        self.iterations: dict[int, StepRecord] = {}
        self.older: tuple[dict[int, StepRecord], dict[int, dict[int, int]]] = ({}, {})
        #: iteration -> address of a storage -> its number; only for the last of iterations with one body
        self.addresses: dict[int, dict[int, int]] = {}
        #: address of a storage -> its name in the loop in this iteration
        self.named: dict[int, str] = {}
        self.begin(StepRecording())

    def end(self, iteration: int, alive: Any) -> None:
        """Close an iteration; ``alive`` are the addresses of the storages that still exist."""
        now: Any = self.now
        before = self.iterations.get(iteration - 1)
        kept = now.ended(before, self.named)
        same = before is not None and kept.body is before.body
        self.bytes += ITERATION_BYTES + kept.numbers.nbytes + CALL_BYTES * len(kept.own if same else now.calls)
        self.iterations[iteration] = kept
        if same:
            self.addresses.pop(iteration - 1, None)
        self.addresses[iteration] = now.locals
        self.known = {key: number for key, number in now.locals.items() if key in alive}
        if 2 * self.bytes > self.budget:
            self.cut()
        self.begin(StepRecording(), kept.body.form[0])

    def cut(self) -> None:
        """Begin a new part with copies of the state; of the older parts only the last is kept."""
        if self.iterations:
            self.older, self.bytes = (self.iterations, self.addresses), 0
            self.iterations, self.addresses, self.known = {}, {}, {}

    def folded(self) -> tuple[dict[int, StepRecord], dict[int, int], list[int]]:
        """The newest part with consecutive iterations of one form: its iterations, the addresses of the storages of its
        last one, and the numbers of the iterations of that form. A record of one iteration is a loop of one.
        """
        for iterations, addresses in ((self.iterations, self.addresses), self.older):
            span = _same_body(iterations)
            if len(span) > 1 or list(iterations) == [0]:
                return iterations, addresses[span[-1]], span
        return {}, {}, []


def _same_body(iterations: dict[int, StepRecord]) -> list[int]:
    """The newest consecutive iterations, at least two, that share a body; the last one may have a different form."""
    found: list[int] = []
    for k in sorted(iterations, reverse=True):
        if found and iterations[k].body is not iterations[found[-1]].body:
            if len(found) > 1:
                break
            found = []
        found.append(k)
    return found[::-1]
