"""Checks at the end of each iteration whether a bad value has reached a recorded value or the state of the loop."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from workbench.kernels.eager import INFINITE, NOT_A_NUMBER, OpEvent
from workbench.recorder.eager.faults.first_bad import BadOp, describe_bad
from workbench.recorder.eager.op_recorder import OpRecorder

BAD = INFINITE | NOT_A_NUMBER


def look(recorder: OpRecorder, values: Mapping[str, Any], unfinished: bool = False) -> BadOp | None:
    """The first bad op, if one of ``values``, a parameter, a buffer or the optimizer's state holds a bad value.

    An incomplete iteration, and a loop of which nothing else is known, are judged by the NaN of their ops.
    """
    sinks = [*_values(recorder, values), *_state(recorder)]
    if not sinks and (unfinished or not (values or recorder.phases.roots or recorder.phases.optimizers)):
        sinks = [(e, "no end of the iteration") for e in recorder.events[-1] if e.flag == NOT_A_NUMBER and e.made][:1]
    if not sinks:
        return None
    event, name = min(sinks, key=lambda s: (s[0].iteration, s[0].row))
    return describe_bad(recorder, event, f"{name} in iteration {recorder.iteration}")


def is_bad(torch: Any, value: Any) -> bool:
    """True if a recorded value has a number that is not finite."""
    if isinstance(value, torch.Tensor):
        return value.is_floating_point() and value.layout is torch.strided and not bool(value.detach().isfinite().all())
    return isinstance(value, float) and not math.isfinite(value)


def _values(recorder: OpRecorder, values: Mapping[str, Any]) -> list[tuple[OpEvent, str]]:
    torch, found = recorder.torch, []
    for name, value in values.items():
        if isinstance(value, torch.Tensor):
            event = recorder.storages.writer(value) if value.layout is torch.strided else None
            if event is not None and event.flag & BAD:
                found.append((event, name))
        elif isinstance(value, float) and not math.isfinite(value):
            read = [e for number, e in recorder.read_back if e is not None and number != number or number == value]
            bad = [e for e in read if e is not None and e.flag & BAD] or [
                e for e in recorder.events[-1] if e.flag & BAD
            ]
            found.extend((e, name) for e in bad[:1])
    return found


def _state(recorder: OpRecorder) -> list[tuple[OpEvent, str]]:
    torch, found = recorder.torch, []
    named = [*recorder.phases.state(), *(("the optimizer's state", t) for _, t in recorder.phases.optimizer_state())]
    for name, tensor in named:
        event = recorder.storages.writer(tensor) if tensor.layout is torch.strided else None
        if event is None or not event.flag & BAD or event.iteration < recorder.iteration:
            continue
        found.append((event, name))
    return found
