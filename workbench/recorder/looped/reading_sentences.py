"""Sentences about the gate, the output and the loss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from workbench.analysis.text import count
from workbench.recorder.looped.courses import Course
from workbench.recorder.looped.sentence_parts import StateSentence
from workbench.text import number

if TYPE_CHECKING:
    from workbench.recorder.looped.states_report import StatesReport


def gate_sentences(report: StatesReport) -> Iterator[StateSentence]:
    gate = report.gate
    if gate is None:
        return
    over, n = gate.summed >= gate.threshold, gate.values.shape[1]
    opened = gate.opened
    never = [k for k in range(n) if not opened[k]]
    what = {"each": "it", "sum": "its sum", "product": "the probability that it has halted"}[gate.halts]
    limit = number(gate.threshold, 3)
    if len(never) < n:
        first, last = int(opened[opened > 0].min()), int(opened.max())
        when = f"after loop {first}" if first == last else f"after loops {first} to {last}"
        who = "" if not never else f" for {n - len(never)} of {n}"
        text = f"The gate ({gate.name}) opens {when}{who}: {what} reaches {limit} there."
        if last < report.loops:
            text += f" {count(report.loops - last, 'loop')} ran after that."
        data = {"first": first, "last": last, "never": len(never)}
        yield StateSentence("gate_opens", text, lambda: _opened(report, first, last, len(never)), data)
    if never:
        high = gate.summed[:, never]
        k = int(np.nanargmax(high.max(axis=1))) if np.isfinite(high).any() else 0
        who = "" if len(never) == n else f" for {len(never)} of {n}"
        text = f"The gate ({gate.name}) never opens{who} in {count(report.loops, 'loop')}: {what} comes no higher than "
        text += f"{number(float(np.nanmax(high)), 3)}, and {limit} is needed."
        yield StateSentence(
            "gate_never", text, lambda: not over[:, never].any(), {"highest": float(np.nanmax(high)), "loop": k + 1}
        )
        since = max((c.since or 0) for c in report.courses)
        tail = gate.values[max(since - 1, 0) :, never] if since else gate.values[:0]
        if report.label is Course.FIXED_POINT and gate.halts == "each" and len(tail) > 1:
            text = f"The state rests since loop {since}, so that the gate sees the same state in each further loop: "
            text += "more loops will not open it."
            span = lambda: bool(np.ptp(tail, axis=0).max() <= 1e-3)  # noqa: E731
            yield StateSentence("gate_cause", text, span, {"since": since})


def _opened(report: StatesReport, first: int, last: int, never: int) -> bool:
    gate = report.gate
    assert gate is not None  # noqa: S101
    over = gate.summed >= gate.threshold
    at = [int(np.flatnonzero(column)[0]) + 1 for column in over.T if column.any()]
    return (min(at), max(at), over.shape[1] - len(at)) == (first, last, never)


def output_sentences(report: StatesReport) -> Iterator[StateSentence]:
    settled = report.settled
    if settled is None or report.outputs is None:
        return
    n, last = len(settled), int(settled.max())
    chosen = report.outputs.argmax(axis=-1).reshape(report.loops, -1)
    many = n > 1
    if last < report.loops:
        text = f"The largest entry of the output ({report.head}) is the same from loop {last} on"
        text += f" for all {n} rows; " if many else "; "
        text += f"{count(report.loops - last, 'more loop')} did not change it."
    else:
        late = int((settled == report.loops).sum())
        text = f"The largest entry of the output ({report.head}) still changes in the last loop, {report.loops}"
        text += f", in {late} of {n} rows." if many else "."

    def holds() -> bool:
        same = bool((chosen[last - 1 :] == chosen[-1]).all())
        return same and (last == 1 or bool((chosen[last - 2] != chosen[-1]).any()))

    yield StateSentence("output", text, holds, {"since": last, "rows": n})


def loss_sentences(report: StatesReport) -> Iterator[StateSentence]:
    if report.losses is None or not np.isfinite(report.losses).any():
        return
    best, losses = report.best or 0, report.losses
    text = f"The loss is lowest after loop {best}: {number(float(losses[best - 1]), 4)}"
    text += (
        f"; after loop {report.loops}, the last, it is {number(float(losses[-1]), 4)}."
        if best != report.loops
        else ", the last one."
    )
    yield StateSentence(
        "best",
        text,
        lambda: bool(np.nanmin(losses) == losses[best - 1]),
        {"loop": best, "loss": float(losses[best - 1])},
    )
