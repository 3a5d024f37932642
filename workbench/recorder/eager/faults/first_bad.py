"""The op that produced the first bad value of a loop, found backwards from where that value appeared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from workbench.kernels.eager import INFINITE, NOT_A_NUMBER, OpEvent
from workbench.recorder.eager.op_recorder import OpRecorder
from workbench.recorder.eager.ops import SINGULAR
from workbench.recorder.eager.sites import Site
from workbench.text import harmless

#: maximum steps of the backward search for an absorbed infinity
DEEP = 64


@dataclass(frozen=True)
class OpOperand:
    """A tensor that an op read, by its statistics.

    ``made_by`` is the site that produced it, in ``iteration``; ``zeros`` of its ``count`` elements are 0.
    """

    made_by: Site
    iteration: int
    count: int
    nan: int
    inf: int
    zeros: int
    least: float
    largest: float

    @harmless
    def __str__(self) -> str:
        odd = "".join(
            f", {n} {word}" for n, word in ((self.nan, "NaN"), (self.inf, "infinite"), (self.zeros, "zero")) if n
        )
        name = self.made_by.module if self.made_by.op == "input" and self.made_by.module else str(self.made_by)
        return f"{name}: {self.count} numbers from {self.least:.6g} to {self.largest:.6g}{odd}"


@dataclass(frozen=True)
class BadOp:
    """The first op of a loop whose bad value reached the loss, a parameter or a recorded value.

    Attributes
    ----------
    iteration : int
        Iteration of the op, counted from 0.
    op, file, line, module, phase : str, str, int, str, str
        The op and where it was called; see :class:`workbench.recorder.eager.sites.Site`.
    source : Source or None
        The line with its text, ``source.expression``.
    kind : str
        "nan", "inf", or a silent fault: "no gradient", "zero gradient", "wrapped".
    operands : list of OpOperand
        The operands that the op read.
    reached : str
        Where the bad value appeared, and in which iteration.
    chain : list of Site
        The ops from this one to where the value appeared.
    """

    iteration: int
    site: Site
    kind: str
    reason: str
    reached: str
    operands: list[OpOperand] = field(default_factory=list)
    chain: list[Site] = field(default_factory=list)
    index: int | None = None

    op = property(lambda self: self.site.op)
    file = property(lambda self: self.site.file)
    line = property(lambda self: self.site.line)
    module = property(lambda self: self.site.module)
    phase = property(lambda self: self.site.phase)
    source = property(lambda self: self.site.source)

    @harmless
    def __str__(self) -> str:
        lines = [f"Iteration {self.iteration}: {self.site}: {self.reason}", f"It reached {self.reached}."]
        return "\n".join([*lines, *(f"  read {operand}" for operand in self.operands)])


def origin(recorder: OpRecorder, sink: OpEvent) -> tuple[OpEvent, list[OpEvent]]:
    """The event that produced the bad elements of ``sink``, and the events between the two."""
    best, read_by = _earliest_maker(sink)
    for _ in range(DEEP):
        absorbed = _absorbed_infinity(recorder, best)
        if absorbed is None:
            break
        earlier, more = _earliest_maker(absorbed)
        if (earlier.iteration, earlier.row) >= (best.iteration, best.row):
            break
        read_by = {**read_by, **more, absorbed: best}
        best = earlier
    chain, at = [best], best
    while at is not sink and at in read_by and len(chain) < 200:
        at = read_by[at]
        chain.append(at)
    return best, chain


def _earliest_maker(sink: OpEvent) -> tuple[OpEvent, dict[OpEvent, OpEvent]]:
    """The earliest of the bad ancestors of an event that produced bad elements from good ones; and which event read
    which.
    """
    read_by: dict[OpEvent, OpEvent] = {}
    seen, todo, makers, oldest = {sink}, [sink], [], sink
    while todo:
        event = todo.pop()
        if event.made:
            makers.append(event)
        if (event.iteration, event.row) < (oldest.iteration, oldest.row):
            oldest = event
        for parent in event.parents:
            if parent not in seen and parent.flag & (INFINITE | NOT_A_NUMBER):
                seen.add(parent)
                read_by[parent] = event
                todo.append(parent)
    return min(makers, key=lambda e: (e.iteration, e.row), default=oldest), read_by


def _absorbed_infinity(recorder: OpRecorder, event: OpEvent) -> OpEvent | None:
    """The infinite event that was absorbed into the zero at which ``event`` is singular: 1 / inf, then log(0)."""
    if event.site < 0 or recorder.table[event.site].op not in SINGULAR:
        return None
    todo = [(parent, 0) for parent in event.parents if parent.flag == 0]
    seen = set()
    while todo:
        at, depth = todo.pop()
        if at in seen or depth > DEEP or at.site < 0:
            continue
        seen.add(at)
        row = row_of(recorder, at)
        if row is None or not row["zeros"]:
            continue
        for parent in at.parents:
            if parent.flag & INFINITE:
                return parent
            if parent.flag == 0:
                todo.append((parent, depth + 1))
    return None


def row_of(recorder: OpRecorder, event: OpEvent) -> Any:
    """The statistics of an event; None if it has none, or they are no longer kept."""
    if event.row < 0:
        return None
    if event.iteration == recorder.iteration:
        rows = recorder.log.rows(event.row, event.row + 1)
        return rows[0] if len(rows) else None
    rows = recorder.record.rows.get(event.iteration)
    return None if rows is None or event.row >= len(rows) else rows[event.row]


def describe_bad(recorder: OpRecorder, sink: OpEvent, reached: str) -> BadOp:
    """The answer for a bad value that appeared at ``sink``."""
    event, chain = origin(recorder, sink)
    site = recorder.table[event.site]
    read = list(event.parents)
    operands = [o for o in (_operand(recorder, e) for e in read) if o is not None]
    row = row_of(recorder, event)
    kind = "nan" if event.flag == NOT_A_NUMBER else "inf"
    if site.op == "input":
        reader = next((e for e in chain[1:] if e is not event), None)
        operands = [o for o in [_operand(recorder, event)] if o is not None]
        what = f"{site.module or 'a tensor from outside'} had {_odd(row)} before any op of the loop wrote it"
        if reader is not None:
            site = recorder.table[reader.site]
        return BadOp(event.iteration, site, kind, what, reached, operands, [recorder.table[e.site] for e in chain])
    index = None if row is None or row["first_bad"] == 0xFFFFFFFF else int(row["first_bad"])
    reason = f"{site.op} gave {_odd(row)} from finite numbers" if event.made else f"{site.op} gave {_odd(row)}"
    return BadOp(event.iteration, site, kind, reason, reached, operands, [recorder.table[e.site] for e in chain], index)


def _odd(row: Any) -> str:
    if row is None:
        return "numbers that are not finite"
    parts = [f"{int(row[k])} {word}" for k, word in (("nan", "NaN"), ("inf", "infinite")) if row[k]]
    return f"{' and '.join(parts)} of {int(row['count'])} numbers"


def _operand(recorder: OpRecorder, event: OpEvent) -> OpOperand | None:
    row = row_of(recorder, event)
    if row is None or event.site < 0:
        return None
    return OpOperand(
        recorder.table[event.site], event.iteration, int(row["count"]), int(row["nan"]), int(row["inf"]),
        int(row["zeros"]), float(row["least"]), float(row["largest"]),
    )  # fmt: skip
