"""The op at which a gradient is lost: detached, not differentiable, or made zero.

An *examined* iteration records, besides its events, for which of them autograd made a node, which nodes ran backward,
and which tensors were detached.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from workbench.kernels.eager import OpEvent, OpInfo
from workbench.kernels.streaming import TENSOR_TYPES
from workbench.recorder.eager.op_recorder import OpRecorder
from workbench.recorder.eager.sites import BACKWARD, FORWARD, OPTIMIZER, OUTSIDE, Site

_REAL = {code for name, code in TENSOR_TYPES.items() if "float" in name}
#: modules whose functions torch calls around the mode after ``torch.compile`` was called
_WRAPPERS = tuple(os.path.join("torch", *name) for name in (("_compile.py",), ("_dynamo", "eval_frame.py")))


class Examined:
    """The work of autograd in one iteration; ``took`` is called after each op."""

    def __init__(self, recorder: OpRecorder) -> None:
        self._recorder, self._graph = recorder, recorder.torch.autograd
        self._last = self._graph._get_sequence_nr() - 1
        self._inside = -1
        self._at, self._detaches = (0, 0), False
        #: event of the forward pass -> sequence number of its node
        self.nodes: dict[OpEvent, int] = {}
        #: event of the backward pass -> sequence number of the node that ran
        self.backward: dict[OpEvent, int] = {}
        self.ran: set[int] = set()
        self.forward: dict[int, Site] = {}
        #: (event that was detached, number of events before, site of the detach)
        self.detached: list[tuple[OpEvent, int, Site]] = []

    def took(self, info: OpInfo, args: Any, made: list[OpEvent]) -> None:
        """Note a call and the events of its results."""
        recorder = self._recorder
        node = recorder.torch._C._current_autograd_node()
        if node is not None:
            number = node._sequence_nr()
            self.ran.add(number)
            self.backward.update(dict.fromkeys(made, number))
            return
        number = self._graph._get_sequence_nr() - 1
        if number > self._last:
            self._last = number
            # without grad mode it is the node of a running Function written in Python
            self._inside = -1 if recorder.torch.is_grad_enabled() else number
        elif number != self._inside or recorder.torch.is_grad_enabled():
            number = -1
        if number >= 0:
            self.nodes.update(dict.fromkeys(made, number))
            for event in made[:1]:
                self.forward.setdefault(number, recorder.table[event.site])
        before, self._at = self._at, _instruction()
        # autograd detaches a result to save it, within the instruction that called the op
        own = info.op == "detach" and (self._at != before or self._detaches)
        self._detaches = info.op == "detach"
        if own and isinstance(args[0], recorder.torch.Tensor):
            event = recorder.storages.writer(args[0])
            if event is not None:
                (file, line), module = recorder.phases.lines.here(), recorder.phases.module
                site = Site(info.op, info.overload, module, file, line, FORWARD, 0, 0)
                self.detached.append((event, len(recorder.events[-1]), site))


def _instruction() -> tuple[int, int]:
    """The frame that called the op, and its current instruction."""
    frame: Any = sys._getframe(3)  # past ``took`` and the mode; compiled functions have no frame
    while frame.f_code.co_filename.endswith(_WRAPPERS) and frame.f_back is not None:
        frame = frame.f_back
    return id(frame), frame.f_lasti


def _is_real(recorder: OpRecorder, event: OpEvent) -> bool:
    """True if an op produced floats: an op that produces integers always cuts the gradient."""
    return event.row >= 0 and int(recorder.log.rows(event.row, event.row + 1)["kind"][0]) in _REAL


def where_cut(recorder: OpRecorder, examined: Examined, parameter: OpEvent | None) -> Site | None:
    """The op between a parameter and the differentiated value through which no gradient flows."""
    if parameter is None:
        return None
    events = [e for e in recorder.events[-1] if e.site >= 0 and recorder.table[e.site].phase == FORWARD]
    reached, last = {parameter}, None
    #: (event, site of the cut, True if its backward pass ran; None if none of the ops of that pass is known)
    cuts: list[tuple[OpEvent, Site, bool | None]] = []
    for at, event in enumerate(recorder.events[-1]):
        if event.site < 0 or recorder.table[event.site].phase != FORWARD:
            continue
        sources = [p for p in event.parents if p in reached]
        if not sources:
            continue
        last = recorder.table[event.site]
        number = examined.nodes.get(event, -1)
        detached = [s for p, k, s in examined.detached if p in sources and k <= at and _is_real(recorder, event)]
        if number >= 0 and number not in examined.ran:
            reached.add(event)
            if detached:  # the backward pass of a sum has no op
                cuts.append((event, detached[-1], None))
        elif detached:
            cuts.append((event, detached[-1], number >= 0))
        elif number < 0:
            cuts.append((event, last, False))
    for event, site, ran in cuts:
        if ran or _is_used(examined, events, event, ran is None):
            return site
    return next((site for _, site, ran in cuts if ran is not None), last)


def _is_used(examined: Examined, events: list[OpEvent], cut: OpEvent, by_nodes: bool) -> bool:
    """True if a differentiated value was computed from an event; ``by_nodes``: through ops with a node."""
    reached = {cut}
    for event in events:
        if any(p in reached for p in event.parents):
            number = examined.nodes.get(event, -1)
            if number in examined.ran:
                return True
            if number >= 0 or not by_nodes:
                reached.add(event)
    return False


def where_zeroed(recorder: OpRecorder, examined: Examined, gradient: OpEvent | None, rows: Any) -> Site | None:
    """The op whose backward pass turned other values into zeros; its forward op if known."""
    now, event = recorder.iteration, gradient
    if event is None:
        return None

    def zeros(e: OpEvent) -> bool:
        known = e.iteration == now and e.row >= 0 and e.site >= 0 and recorder.table[e.site].phase == BACKWARD
        return bool(known and rows[e.row]["zeros"] == rows[e.row]["count"] > 0)

    while True:
        earlier = next((p for p in event.parents if zeros(p) and p.row < event.row), None)
        if earlier is None:
            break
        event = earlier
    number = examined.backward.get(event)
    found = examined.forward.get(number) if number is not None else None
    return found or recorder.table[event.site]


def reader_of(recorder: OpRecorder, event: OpEvent) -> Site | None:
    """The first op of this iteration that read the result of an event."""
    for reader in recorder.events[-1]:
        if event in reader.parents and recorder.table[reader.site].phase != OPTIMIZER:
            return recorder.table[reader.site]
    return None


def nowhere(name: str) -> Site:
    """The site of a parameter that no op of the iteration read."""
    return Site("input", "input", name.rpartition(".")[0], "", 0, OUTSIDE, 0, 0)
