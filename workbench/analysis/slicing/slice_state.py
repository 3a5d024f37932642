"""The state of a slice of a loop's condition: loop variables, their bits, the condition and its clauses."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.execution import Run
from workbench.ir.node import Ref
from workbench.kernels.layout import NodeLayout, Place
from workbench.plan import ExecutionPlan
from workbench.plan.memory.storage import array_bytes

#: bytes that an object in a row takes in addition to those of its array
OBJECT = 256


class SliceState:
    """Values of the run of a :class:`SliceMachine`, whose slice is at the condition."""

    plan: ExecutionPlan
    run: Run
    #: the index of the loop's frame
    number: int
    state_names: list[str]
    _merges: list[Place | None]
    _operands: list[Any]
    _cond: NodeLayout
    #: the place of the condition's value
    _pred: Place | None
    #: the event of the run at which values were read, and these values by place: each is read once per event
    _read_at: int = -1
    _read: dict[int, Any]

    def _row(self) -> int:
        return self.run.view.rows(self.number)[1]

    def _at(self, place: Place | None) -> Any:
        assert place is not None
        event = self.run.view.events
        if event != self._read_at:
            self._read_at, self._read = event, {}
        elif (known := self._read.get(id(place))) is not None:
            return known
        value = self.run._now(place)
        if isinstance(value, (np.ndarray, np.generic)):
            out = np.asarray(value)
        else:
            out = np.empty((), object)  # a list is a single object
            out[()] = value
        self._read[id(place)] = out
        return out

    def _invariant(self, ref: Ref) -> np.ndarray | None:
        """The current value of an invariant of this activation; None if it is not an array."""
        found = self.plan.layout.values.get((ref.node, ref.index))
        if found is None or found.place is None or found.kind != "slot":
            return None
        value = self.run._now(found.place)
        return np.asarray(value) if isinstance(value, (np.ndarray, np.generic)) else None

    def values(self) -> dict[str, Any]:
        """The loop variables in this iteration."""
        return {name: self._at(place) for name, place in zip(self.state_names, self._merges, strict=True)}

    def state(self) -> bytes:
        """The bit pattern of all loop variables of the slice, dtypes and shapes included."""
        parts = []
        for place in self._merges:
            value = self._at(place)
            if value.dtype == object and not all(isinstance(v, (str, bytes)) for v in value.ravel()):
                raise RuntimeError("a loop variable is not an array, so its state cannot be compared bit for bit")
            parts.append(b"%d%r" % (value.dtype.num, value.shape))
            parts.append(repr(value.tolist()).encode() if value.dtype == object else value.tobytes())
        return b"|".join(parts)

    def _iteration_bytes(self) -> int:
        """Bytes that an iteration leaves in the ring: its row, the rows of its arrays, and the objects it refers to."""
        layout = self.plan.layout
        ends: dict[int, int] = {self.number + 1: layout.frames[self.number].row_bytes}
        objects = 0
        for value in layout.values.values():
            place = value.place
            if place is None or not place.base or layout.frame_of(place) != self.number:
                continue
            size = np.dtype(place.dtype or object).itemsize * int(np.prod(place.shape, dtype=np.int64))
            ends[place.base] = max(ends.get(place.base, 0), place.offset + size)
            if place.dtype is None:
                type_ = self.plan.graph.type_of(Ref(value.node, value.output))
                objects += OBJECT + (array_bytes(type_) if type_.is_static else 0)
        return sum(ends.values()) + objects

    def cond(self) -> bool:
        return bool(self._at(self._pred))

    def clause_values(self) -> list[tuple[Any, str, Any]]:
        def scalar(ref: Ref) -> Any:
            value = self._at(self.plan.layout.values[ref].place)
            return value[()] if value.ndim == 0 else value

        return [(scalar(a), op, scalar(b) if isinstance(b, Ref) else b) for a, op, b in self._operands]
