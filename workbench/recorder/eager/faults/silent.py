"""Faults without a NaN: parameters that are not trained, buffers that are not written, integers that wrap."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from workbench.kernels.eager import OpEvent
from workbench.recorder.eager.faults.first_bad import BadOp
from workbench.recorder.eager.faults.lost import Examined, nowhere, reader_of, where_cut, where_zeroed
from workbench.recorder.eager.faults.unwritten_buffers import unwritten_buffer
from workbench.recorder.eager.op_recorder import OpRecorder
from workbench.recorder.eager.sites import OPTIMIZER, Site

#: consecutive iterations after which a parameter without a gradient counts as a fault
PATIENCE = 3
NO_GRADIENT, ZERO_GRADIENT, NEVER_CHANGES = "no gradient", "zero gradient", "never changes"
#: the order of the kinds of faults of one parameter
KINDS = (NO_GRADIENT, ZERO_GRADIENT, NEVER_CHANGES)


class Stepped(NamedTuple):
    """A parameter at the step of its optimizer: whether it has a gradient, and the events that last wrote the gradient
    and the parameter.
    """

    parameter: Any
    there: bool
    gradient: OpEvent | None
    before: OpEvent | None


class Silent:
    """Follows the parameters of the optimizers.

    ``stepping`` is called before each step of an optimizer, ``look`` at the end of an iteration, before its rows are
    handed on. An iteration in which an optimizer does not step says nothing about its parameters.
    """

    def __init__(self, recorder: OpRecorder) -> None:
        self._recorder = recorder
        #: (kind, parameter) -> iteration from which on it lasts, and its site, None until that is found
        self._since: dict[tuple[str, str], int] = {}
        self._where: dict[tuple[str, str], Site | None] = {}
        self._stepped: dict[str, Stepped] = {}
        self._hashes: dict[str, Any] = {}
        self._buffer: BadOp | None = None

    def stepping(self, optimizer: Any) -> None:
        """Note the gradients that an optimizer is about to use."""
        phases, strided = self._recorder.phases, self._recorder.torch.strided
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                gradient = parameter.grad
                there = gradient is not None
                known = there and gradient.layout is strided
                event = self._recorder.storages.writer(gradient) if known else None
                before = self._recorder.storages.writer(parameter) if parameter.layout is strided else None
                name = phases.name_of(parameter) or phases.rename(parameter)
                self._stepped[name] = Stepped(parameter, there, event, before)

    def look(self, values: Mapping[str, Any], unfinished: bool = False) -> None:
        """Note which parameters got no gradient in this iteration."""
        recorder, stepped = self._recorder, self._stepped
        self._stepped = {}
        if unfinished or not stepped:
            return
        rows = recorder.log.rows(0, len(recorder.log))
        now = recorder.iteration
        settled = any(_is_zero(recorder.torch, v) for v in values.values())
        size = {name: _size(s.gradient, rows, now) for name, s in stepped.items()}
        largest = max(size.values())
        for name, (parameter, there, event, before) in stepped.items():
            trained = parameter.requires_grad
            row = rows[event.row] if event is not None and event.iteration == now and event.row >= 0 else None
            zeros = row is not None and row["count"] > 0 and row["zeros"] == row["count"]
            self._note(NO_GRADIENT, name, trained and not there)
            self._note(ZERO_GRADIENT, name, trained and zeros and not settled)
            writer = recorder.storages.writer(parameter) if parameter.layout is recorder.torch.strided else None
            if writer is None or writer.row < 0:
                continue
            was = rows[before.row]["hash"] if before and before.iteration == now else self._hashes.get(name)
            is_now = rows[writer.row]["hash"] if writer.iteration == now else was
            self._hashes[name] = is_now
            same = was is not None and was == is_now and not settled
            # a gradient of rounding errors only, such as that of a bias before a batch norm, changes nothing
            small = max(1e-4, 8 * recorder.torch.finfo(parameter.dtype).eps) if parameter.is_floating_point() else 0.0
            same &= not trained or not 0 < size[name] < small * largest
            self._note(NEVER_CHANGES, name, same)
            if same and self._where[NEVER_CHANGES, name] is None:
                written = writer.iteration == now and recorder.table[writer.site].phase == OPTIMIZER
                found = recorder.table[writer.site] if written else reader_of(recorder, writer)
                self._where[NEVER_CHANGES, name] = found or nowhere(name)
        self._examine(rows, stepped)

    def _note(self, kind: str, name: str, there: bool) -> None:
        key = (kind, name)
        if not there:
            self._since.pop(key, None)
            self._where.pop(key, None)
        elif key not in self._since:
            self._since[key] = self._recorder.iteration
            self._where[key] = None

    def _examine(self, rows: Any, stepped: dict[str, Stepped]) -> None:
        """Find the ops of new faults in an examined iteration; otherwise have the next iteration examined."""
        recorder = self._recorder
        examined, recorder.examined = recorder.examined, None
        for (kind, name), site in self._where.items():
            if site is not None or name not in stepped or kind == NEVER_CHANGES:
                continue
            if examined is None:
                recorder.examined = Examined(recorder)
                continue
            parameter, _, event, _ = stepped[name]
            if kind == NO_GRADIENT:
                found = where_cut(recorder, examined, recorder.storages.writer(parameter))
            else:
                found = where_zeroed(recorder, examined, event, rows)
            self._where[kind, name] = found or nowhere(name)

    def finish(self) -> None:
        """Look at the buffers, at the end of the loop."""
        if self._recorder.iteration >= PATIENCE:
            self._buffer = unwritten_buffer(self._recorder)

    def first(self) -> BadOp | None:
        """The earliest fault that lasted to the end of the record."""
        recorder = self._recorder
        if recorder.first_wrap is not None:
            event, index = recorder.first_wrap
            site = recorder.table[event.site]
            reason = f"{site.op} gave an integer at {list(index)} that does not fit its dtype: it wrapped"
            return BadOp(event.iteration, site, "wrapped", reason, "the integers computed from it")
        lasting = [
            (since, KINDS.index(kind), name)
            for (kind, name), since in self._since.items()
            if recorder.iteration - since >= PATIENCE
        ]
        if not lasting:
            return self._buffer
        since, number, name = min(lasting)
        kind = KINDS[number]
        gets = {
            NO_GRADIENT: "gets no gradient",
            ZERO_GRADIENT: "gets a gradient of zeros",
            NEVER_CHANGES: "is the same after each step of its optimizer",
        }[kind]
        reason = f"{name} {gets} from iteration {since} on"
        return BadOp(since, self._where[kind, name] or nowhere(name), kind, reason, f"the parameter {name}")


def _size(gradient: OpEvent | None, rows: Any, iteration: int) -> float:
    """The root mean square of a gradient of this iteration, 0 if unknown."""
    known = gradient is not None and gradient.iteration == iteration and gradient.row >= 0
    found = float(rows[gradient.row]["rms"]) if gradient is not None and known else 0.0
    return found if found == found else 0.0


def _is_zero(torch: Any, value: Any) -> bool:
    """True for a loss of 0, which leaves nothing to train."""
    if isinstance(value, torch.Tensor):
        return value.numel() == 1 and value.layout is torch.strided and float(value.detach()) == 0
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value == 0
