"""Failure reports: tag, operands, last events, source line and advice for a node that failed."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.errors import ExecutionError, WorkbenchError
from workbench.execution.released_objects import use_after_release
from workbench.ir.node import Ref, Source, Tag
from workbench.kernels import machine as core
from workbench.text import harmless
from workbench.trace import Trace
from workbench.trace.describe import WRITTEN_OUT, describe, numbers, short

if TYPE_CHECKING:
    from workbench.execution.run import Run

#: number of events in a report
EVENTS = 8


@dataclass(frozen=True, slots=True)
class FailureOperand:
    """One input of the failing node. ``value`` is None if it cannot be shown; ``statistics`` are those of
    ``trace.describe.numbers``."""

    name: str
    value: Any
    statistics: Mapping[str, float]

    @harmless
    def __str__(self) -> str:
        if self.value is None:
            return f"{self.name} (not available)"
        line = f"{self.name} = {describe(self.value)}"
        if 1 < self.statistics.get("size", 0) <= WRITTEN_OUT:
            line += f", {short(self.value)}"
        elif "mean" in self.statistics and self.statistics["size"] > 1:
            line += f", mean {self.statistics['mean']:.6g}"
        bad = [f"{int(self.statistics[k])} {k}" for k in ("nan", "inf") if self.statistics.get(k)]
        return line + (f" ({', '.join(bad)})" if bad else "")


@dataclass(frozen=True, slots=True)
class Event:
    """A firing before the failure, and its value."""

    tag: Tag
    value: Any

    @harmless
    def __str__(self) -> str:
        where = ", ".join(f"{f} {i}" for f, i in zip(self.tag.frame, self.tag.iteration, strict=True))
        shown = "" if self.value is None else f" = {short(self.value)}"
        return f"{self.tag.node}{f'[{where}]' if where else ''}{shown}"


@dataclass(frozen=True, slots=True)
class FailureReport:
    """One failure as data; ``print`` shows the full text. It is the ``report`` of an ExecutionError."""

    op: str
    tag: Tag
    cause: str
    operands: tuple[FailureOperand, ...]
    events: tuple[Event, ...]
    source: Source | None
    advice: tuple[str, ...]

    @harmless
    def text(self) -> str:
        """The full text."""
        lines = [f"{self.op} {self.tag} failed: {self.cause}"]
        if self.source is not None:
            lines.append(f"written at {self.source}")
        lines += ["operands:", *(f"  {o}" for o in self.operands)] if self.operands else ["it has no operands"]
        if self.events:
            frame = "/".join(self.tag.frame) or "the outermost level"
            lines += [f"last events of {frame}, oldest first:", *(f"  {e}" for e in self.events)]
        lines += ["what to do:", *(f"  {a}" for a in self.advice)]
        return "\n".join(lines)

    __str__ = text

    @harmless
    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text())}</pre>"


def failure(
    trace: Trace, node_name: str, frame: tuple[str, ...], path: tuple[int, ...], error: BaseException
) -> ExecutionError:
    """The ExecutionError for a node that failed at this tag; its ``report`` is a :class:`FailureReport`. Slug and fix
    are taken from ``error`` if an op raised it as an ExecutionError."""
    node = trace.graph.nodes[node_name]
    tag = Tag(node.name, 0, frame, path)
    operands = tuple(_operand(trace, ref) for ref in node.inputs)
    own = error if isinstance(error, ExecutionError) else None  # raised by an op, with its own fix
    cause = f"{type(error).__name__}: {error}" if own is None else own.message
    report = FailureReport(node.op, tag, cause, operands, _events(trace, frame), node.source, tuple(_advice(operands)))
    made = ExecutionError(
        f"{node.op} failed: {cause.rstrip('.')}. Operands: {'; '.join(map(str, operands)) or 'none'}.",
        slug=None if own is None else own.slug,
        node=node.name,
        tag=tag,
        source=node.source,
        fix=(None if own is None else own.fix)
        or "inspect the operands with session.value(...), step back, or change the inputs; see error.report.",
    )
    made.report = report
    made.__cause__ = error
    return made


def failure_of(run: Run, error: BaseException) -> ExecutionError:
    """The ExecutionError for a run that has stopped at a failing node, with its tag, source line and operands."""
    ip, _, _ = core.current_instruction(run.machine)
    named = error.node if isinstance(error, WorkbenchError) else None  # a check that precedes a later node
    later = [n for n in run.plan.layout.nodes if (n.name == named if named else n.ip >= ip)]
    node = run.plan.graph.nodes[later[0].name] if later else None
    if node is None:
        return ExecutionError(f"The run failed: {error}.")
    frame = later[0].frame
    path = run.plan.layout.frames[frame].path
    if isinstance(error, core.ReleasedError):
        return use_after_release(run.plan.graph, run.plan.layout, error)
    return failure(run.trace, node.name, path, run.iteration_of(frame) if path else (), error)


def not_retired(error: Exception) -> ExecutionError:
    """The ExecutionError for rows that the retention backend refused: no data is lost, and the run can continue."""
    known = error if isinstance(error, WorkbenchError) else None
    made = ExecutionError(
        known.message if known else f"The oldest rows could not be evicted: {type(error).__name__}: {error}",
        slug=known.slug if known else "not-retired",
        fix=(known and known.fix) or "remove the cause and call session.resume(); no data is lost.",
    )
    made.__cause__ = error
    return made


def _operand(trace: Trace, ref: Ref) -> FailureOperand:
    name = trace.graph.name_of(ref)
    try:
        value = trace[ref][-1]
        return FailureOperand(name, value, numbers(value))
    except Exception:  # an operand that cannot be shown must not hide the failure
        return FailureOperand(name, None, {})


def _events(trace: Trace, frame: tuple[str, ...]) -> tuple[Event, ...]:
    try:
        tags = trace.recent(frame, EVENTS)
    except Exception:  # the events before it must not either
        return ()
    found = []
    for tag in tags:
        value = None
        for index in range(len(trace.graph.nodes[tag.node].types)):  # for a Switch, the side that was alive
            try:
                series = trace[Ref(tag.node, index)]
                value = series.at(tag.iteration) if tag.iteration else series[-1]
                break
            except Exception:  # dead on this side
                continue
        found.append(Event(tag, value))
    return tuple(found)


def _advice(operands: tuple[FailureOperand, ...]) -> list[str]:
    lines = []
    for operand in operands:
        if operand.statistics.get("nan") or operand.statistics.get("inf"):
            lines.append(f"{operand.name} is not finite: session.explain({operand.name!r}) shows the cause.")
    if operands:
        lines.append(f"session.explain({operands[0].name!r}) shows the values from which this operand was computed.")
        lines.append(
            f"session.step_back() goes to the node before; session.set_value({operands[0].name!r}, ...) and "
            "session.resume() continue with another value."
        )
    lines.append("session.restart() goes back to the beginning; the trace so far stays readable.")
    return lines
