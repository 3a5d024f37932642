"""``DecodingLog``: the calls of a model as they are made, within the memory of the record."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from workbench.recorder.decoding.record import DecodingOp, DecodingRecord, ModelCall, OpValue

#: calls after which the size of a record is estimated
FORECAST_CALLS = 3


class DecodingLog:
    """Fills a record; ``call`` is the running call of the model, or None."""

    def __init__(self, record: DecodingRecord, memory: int, expected: int) -> None:
        self.record, self.memory, self.expected = record, memory, expected
        self.call: ModelCall | None = None
        #: why the record has ended, and the warning about its memory
        self.full, self.warning = "", ""
        self._kept_from = self._bytes = 0

    def begin(self, ids: np.ndarray) -> None:
        """Begin a call of the model with these tokens (batch, positions)."""
        calls = self.record.calls
        self.call = ModelCall(ids)
        self._kept_from = 0
        if calls:
            before = calls[-1].ids
            n = before.shape[1]
            self._kept_from = n if ids.shape[1] > n and np.array_equal(ids[:, :n], before) else 0
        calls.append(self.call)

    def keep(self, op: DecodingOp, values: np.ndarray, inputs: Any = (), settings: Any = (), outside: Any = ()) -> None:
        """Keep the result of an op."""
        if self.call is None or self.full:
            return
        value = OpValue(self.record.number(op), values, 0, False, inputs, settings, outside)
        self.record.add(self.call, value, self._kept_from)
        if self.record.bytes > self.memory:
            self.full = (
                f"The record ends in call {len(self.record.calls)}: its {self.memory / 2**20:,.3g} MiB are full. "
                "memory= gives it more."
            )
            self.record.calls.pop()
            self.call = None

    def end(self, logits: np.ndarray | None) -> None:
        """End the call, whose logits (batch, rows, vocabulary) the model returned."""
        call, self.call = self.call, None
        self._foresee()
        if call is None or logits is None or not logits.size:
            return
        call.vocabulary = int(logits.shape[-1])
        call.chosen = logits.argmax(-1)
        two = np.partition(logits, -2, axis=-1)[..., -2:] if logits.shape[-1] > 1 else logits
        with np.errstate(invalid="ignore"):
            call.margins = two[..., -1] - two[..., 0]
        call.finite = bool(np.isfinite(logits[..., -1, :]).any())

    def _foresee(self) -> None:
        """Warn that the memory will not suffice, as soon as the size of a call is known."""
        record, done = self.record, len(self.record.calls)
        grown, self._bytes = record.bytes - self._bytes, record.bytes
        if done != FORECAST_CALLS or self.expected <= done or not grown:
            return
        needed = record.bytes + grown * (self.expected - done)
        if needed > self.memory:
            reached = done + int((self.memory - record.bytes) // grown)
            self.warning = (
                f"The record of {self.expected:,} tokens needs about {needed / 2**20:,.3g} MiB and has "
                f"{self.memory / 2**20:,.3g} MiB: it will end near token {max(reached, done):,}."
            )
            warnings.warn(f"record_decoding: {self.warning} memory= gives it more.", stacklevel=2)
