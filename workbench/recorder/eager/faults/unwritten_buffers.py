"""Buffers of modules in training mode that are read in each iteration and were never written.

A table of positions or a mask is such a buffer, without a fault. There is a fault if a new value was computed that
nothing reads, or if the buffer still has the zeros or ones with which a running mean, a variance or a counter begins.
"""

from __future__ import annotations

from typing import Any

from workbench.kernels.eager import OpEvent
from workbench.recorder.eager.faults.first_bad import BadOp, row_of
from workbench.recorder.eager.op_recorder import OpRecorder
from workbench.recorder.eager.sites import FORWARD, Site

KIND = "never written"
#: ops that take a constant of zeros or ones as weight or bias
AFFINE = {"native_layer_norm", "native_group_norm", "addmm", "convolution"}


def unwritten_buffer(recorder: OpRecorder) -> BadOp | None:
    """The first such buffer, with the op that computes the unread value, or the first op that reads the buffer."""
    whole = [events for events in recorder.events if events]
    if not recorder.phases.optimizers or not whole:
        return None
    events = [e for e in whole[-1] if e.site >= 0]
    for name, tensor in recorder.phases.buffers_in_training():
        if not tensor.is_floating_point() or tensor.layout is not recorder.torch.strided or not tensor.numel():
            continue
        first = recorder.storages.writer(tensor)
        if first is None or first.site < 0 or recorder.table[first.site].op != "input":
            continue
        readers = [e for e in events if first in e.parents and recorder.table[e.site].phase == FORWARD]
        row = row_of(recorder, first)
        if not readers or row is None:
            continue
        lost = _lost(recorder, events, readers, int(row["count"]))
        site: Site | None = None if lost is None else recorder.table[lost.site]
        what = "a new value is computed, which nothing reads"
        if site is None and _as_registered(row):
            site = recorder.table[readers[0].site]
            what = f"it is still {'0' if row['zeros'] else '1'}"
        if site is not None and site.op not in AFFINE:
            reason = f"the buffer {name} is read in each iteration and never written: {what}"
            return BadOp(first.iteration, site, KIND, reason, f"the buffer {name}")
    return None


def _as_registered(row: Any) -> bool:
    return bool(row["zeros"] == row["count"] or (row["count"] > 1 and row["least"] == row["largest"] == 1))


def _lost(recorder: OpRecorder, events: list[OpEvent], readers: list[OpEvent], count: int) -> OpEvent | None:
    """An event of the size of the buffer, computed from it, that nothing reads."""
    reached, read = set(readers), {p for e in events for p in e.parents}
    for event in events:
        if any(p in reached for p in event.parents) and recorder.table[event.site].phase == FORWARD:
            reached.add(event)
    for event in events:
        if event in reached and event not in read:
            row = row_of(recorder, event)
            if row is not None and int(row["count"]) == count and recorder.table[event.site].phase == FORWARD:
                return event
    return None
