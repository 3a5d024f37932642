"""The recorded calls of iterations computed again, and whether they give the same values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.frontends.pytorch import aten
from workbench.ir.types import TensorType, numpy_dtype
from workbench.kernels.streaming import TENSOR_TYPES, TensorLog
from workbench.recorder.eager.forms import StoragePart
from workbench.recorder.eager.lowered import as_type, from_outside, lower_call, storage_types
from workbench.recorder.eager.ops import READ_BACK
from workbench.recorder.eager.sites import Site
from workbench.recorder.eager.steps import StepRecord
from workbench.text import harmless

#: bytes of the storages of an iteration above which it is not replayed during the record
MOST_BYTES = 1 << 30


@dataclass(frozen=True)
class Replay:
    """The outcome of calling the ops of the first iterations again: whether they produced the same values.

    ``exact`` is None if it was not tried, for ``reason``; ``first`` is the first op with different values.
    """

    exact: bool | None
    iteration: int = -1
    ops: int = 0
    first: Site | None = None
    reason: str = ""

    @harmless
    def __str__(self) -> str:
        if self.exact is None:
            return f"Not replayed: {self.reason}."
        if self.exact:
            return f"Iteration {self.iteration} replays exactly: {self.ops} ops gave the same numbers, bit for bit."
        return f"Iteration {self.iteration} does not replay: {self.first} gave other numbers. {self.reason}"


def computed(
    torch: Any, iterations: dict[int, StepRecord], start: dict[int, Any], span: list[int]
) -> Iterator[tuple[int, int, dict[int, Any], dict[int, TensorType]]]:
    """Compute consecutive iterations from the carried storages ``start``.

    Yields (iteration, calls done, storages, their types) after each call, and once before the first.
    """
    values = start
    for k in span:
        iteration = iterations[k]
        types = storage_types(iteration.body, False)
        now = {j: as_type(values[before], types[j]) for j, before in iteration.body.previous.items()}
        for s, given in ((s, given) for s, given in iteration.given.items() if s in types):
            now[s] = from_outside(torch, given, types[s])
        yield k, 0, now, types
        for n in range(len(iteration.body.calls)):
            call = iteration.call(n)
            if call.outs:
                numbers = iteration.floats(n)
                low = lower_call(torch, call, n in iteration.random, lambda _: True)
                outside = [iteration.random[n].numpy() if w == "random" else np.array(numbers[w]) for w in low.outside]
                arrays = [*(now[s] for s in low.storages), *outside]
                kinds = tuple(types[s] for s in low.outs)
                results = aten.evaluate(call.op, arrays, {"call": low.text, "types": kinds})
                now.update(zip(low.outs, results, strict=True))
            yield k, n + 1, now, types
        values = now


def replay(recorder: Any) -> Replay:
    """Compute the first two iterations again, and compare each tensor with the record."""
    steps, log = recorder.steps, TensorLog()
    iterations = steps.iterations or steps.older[0]
    span = sorted(iterations)
    size = sum(iterations[span[-1]].body.lengths.values())
    if size > MOST_BYTES:
        return Replay(None, span[-1], reason=f"the iteration has {size:,} bytes of tensors")
    done = 0
    if not iterations[span[-1]].body.calls:
        return Replay(None, span[-1], reason="the iteration has no ops")
    try:
        for k, calls, now, types in computed(recorder.torch, iterations, {}, span):
            if not calls:
                continue
            body, rows = iterations[k].body, recorder.record.rows[k]
            call = iterations[k].call(calls - 1)
            done += k == span[-1]
            if call.op.split(".")[1] == READ_BACK:
                continue
            for part, row in zip(call.outs, () if call.unwritten else call.rows, strict=call.unwritten is False):
                if row >= 0 and not _same(log, now[part.storage], types[part.storage], part, rows[row]):
                    site = recorder.table[int(rows[row]["site"])]
                    return Replay(False, k, len(body.calls), site, WHY)
    except Exception as error:
        return Replay(None, span[-1], reason=f"{type(error).__name__}: {str(error)[:300]}")
    return Replay(True, span[-1], done)


WHY = (
    "Threads that share a sum, atomic additions on a GPU, memory that is read before it is written, or code outside of "
    "PyTorch can be the cause."
)


def _same(log: TensorLog, array: Any, kind: TensorType, part: StoragePart, row: Any) -> bool:
    """True if a part of a storage has the statistics of a row."""
    code = TENSOR_TYPES.get(part.dtype)
    if code is None:
        return True
    flat = np.ascontiguousarray(array).reshape(-1)
    if part.dtype != kind.dtype:
        flat = flat.view(np.uint8).view(numpy_dtype(part.dtype))
    strides = [flat.itemsize * s for s in part.stride]
    view = np.lib.stride_tricks.as_strided(flat[part.offset :], part.size, strides)
    whole = np.ascontiguousarray(view)
    log.append(0, whole.ctypes.data, whole.size, code, 0)
    mine = log.take()[0]
    return bool(mine["hash"] == row["hash"] and mine["count"] == row["count"])
