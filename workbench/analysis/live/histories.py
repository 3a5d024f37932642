"""The history of one value, read from a trace in bounded time and memory.

For a nested loop only the current activation is read, not the sequence of all of them. If a trace keeps only some of
the iterations, the longest evenly spaced tail of the kept ones is read, and its spacing is reported.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.analysis.live.value_stream import is_real
from workbench.errors import TraceError, WorkbenchError
from workbench.ir.node import Ref
from workbench.ir.token_loops import token_values
from workbench.text import ordinal
from workbench.trace import Trace
from workbench.trace.tail_reader import Reading

#: number of elements of an array that are followed individually, besides its norm
COMPONENTS = 8
#: maximum number of newest values of a variable that are classified
TAIL = 4096
#: maximum number of bytes of one variable that are read
BYTES = 64 << 20
#: maximum number of bytes of an array's firings in memory at once, in addition to the column
BLOCK = 8 << 20
#: number of values searched for the first that is not finite, and how many of them at once
SCANNED, CHUNK = 20_000_000, 200_000
#: points of the coarse picture of a whole history
POINTS = 512


@dataclass
class HistoryColumn:
    """Values of one variable, oldest first: (n,), or (n, k) for an array (components, and the 2-norm as last column).

    ``iterations`` are those of the innermost loop, ``step`` apart; ``components`` the flat indices of the columns (None
    for a norm). ``x`` and ``y`` are a coarse picture of the whole activation of a scalar; ``first_bad`` maps nan and
    inf to their first iterations. ``notes`` say what is missing. ``codes`` says that the values are tokens chosen by a
    loop, for which only repetition is meaningful.
    """

    values: np.ndarray
    iterations: np.ndarray
    step: int = 1
    components: tuple[int | None, ...] = (None,)
    dtype: str = ""
    shape: tuple[int, ...] = ()
    total: int = 0
    x: np.ndarray = field(default_factory=lambda: np.empty(0))
    y: np.ndarray = field(default_factory=lambda: np.empty(0))
    last: Any = None
    first_bad: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    codes: bool = False

    def __len__(self) -> int:
        return len(self.values)

    @classmethod
    def empty(cls, *notes: str, dtype: str = "", total: int = 0) -> HistoryColumn:
        """A column without values, with notes that say why."""
        return cls(np.empty(0), np.empty(0, np.int64), dtype=dtype, total=total, notes=list(notes))

    @property
    def of_norms(self) -> bool:
        """True for norms of arrays that are not kept."""
        return self.values.ndim == 1 and math.prod(self.shape) > 1

    @property
    def of_sizes(self) -> bool:
        """True for norms, and for moduli of complex numbers: a complex number may change while its modulus does not."""
        return self.of_norms or self.dtype.startswith("complex")


def read_column(trace: Trace, ref: Ref, stop: int | None = None, outer: tuple[int, ...] | None = None) -> HistoryColumn:
    """The newest values of ``ref`` before row ``stop`` of its frame, or those of its loop's activation in iteration
    ``outer`` of the outer loops; empty, with a note, if there are none.
    """
    try:
        return _read(trace, ref, stop if outer is None else _behind(trace, ref, outer))
    except (WorkbenchError, IndexError, ValueError, TypeError, MemoryError) as error:
        why = getattr(error, "message", None) or str(error) or type(error).__name__
        return HistoryColumn.empty(f"It cannot be read: {why}")


def _behind(trace: Trace, ref: Ref, outer: tuple[int, ...]) -> int:
    """The row after a loop's activation in iteration ``outer`` of the outer loops; 0 if there is none."""
    frame, reader = trace.layout.values[ref.node, ref.index].frame, trace.reader
    first = reader.find_row(frame, (*outer, 0)[: len(trace.layout.frames[frame].path)])
    if first is None:
        return 0
    starts, _ = reader.source.activations(frame)
    at = int(np.searchsorted(starts, first, side="right"))
    return int(starts[at]) if at < len(starts) else reader.source.extent(frame).end


def _read(trace: Trace, ref: Ref, stop: int | None) -> HistoryColumn:
    reading = Reading(trace, ref)
    path, newest = reading.newest(1, stop)
    if not len(newest):
        return _from_statistics(trace[ref], [_nothing(trace, ref)])
    total = reading.happened()
    sample = newest[0]
    if not isinstance(sample, np.ndarray | np.generic) or not _is_number(np.asarray(sample).dtype):
        kind = getattr(np.asarray(sample), "dtype", type(sample).__name__)
        why = "Its values are not numbers, so they have no pattern to report."
        return HistoryColumn.empty(why, dtype=str(kind), total=total)
    sample = np.asarray(sample)
    size, item = max(sample.size, 1), max(sample.dtype.itemsize, 1)
    tail = int(min(TAIL, max(8, BYTES // (size * item))))
    found = HistoryColumn.empty(dtype=str(sample.dtype), total=total)
    found.shape = tuple(sample.shape)
    found.codes = sample.dtype.kind in "iu" and ref in token_values(trace.graph)
    if size == 1:
        paths, values = reading.newest(tail, stop)
        mine = np.all(paths[:, :-1] == paths[-1, :-1], axis=1)
        numbers, found.step = _evenly(_numbers(paths[mine]))
        flat = np.asarray(values[mine][len(values[mine]) - len(numbers) :]).reshape(len(numbers), -1)[:, 0]
        found.values, found.iterations = _sizes(flat), numbers
        found.last = sample.reshape(-1)[0]
    else:
        found.values, numbers, found.components = _array(reading, tail, stop, size, item)
        found.iterations, found.step = _evenly(numbers)
        found.values = found.values[len(numbers) - len(found.iterations) :]
    _picture(reading, stop, path[-1], found, size)
    if sample.dtype.kind == "c":
        found.notes.append("Its values are complex; their magnitudes are analysed.")
    if (step := found.step) > 1:
        found.notes.append(
            f"It has a value in every {ordinal(step)} iteration only: "
            f"what repeats faster than every {2 * step} is not seen."
        )
    _missing(trace, ref, found)
    if len(found) < 16:
        more = _from_statistics(trace[ref], found.notes) if size > 1 else found
        if len(more) > len(found):
            return more
    return found


def _is_number(dtype: np.dtype) -> bool:
    return dtype.kind == "c" or is_real(dtype)


def _sizes(values: np.ndarray) -> np.ndarray:
    """Values as real numbers: moduli of complex numbers, float32 for small floats."""
    if values.dtype.kind == "V":
        return values.astype(np.float32)
    return np.abs(values) if values.dtype.kind == "c" else values


def _numbers(paths: np.ndarray) -> np.ndarray:
    return paths[:, -1].astype(np.int64) if paths.shape[1] else np.arange(len(paths), dtype=np.int64)


def _evenly(numbers: np.ndarray) -> tuple[np.ndarray, int]:
    """The longest tail of consecutive numbers, or one with a wider even spacing if it is twice as long."""
    if len(numbers) < 3:
        return numbers, 1
    gaps = np.diff(numbers)
    ones = np.flatnonzero(gaps != 1)
    dense = len(numbers) - (int(ones[-1]) + 1 if len(ones) else 0)
    if dense >= 64 or dense == len(numbers):
        return numbers[len(numbers) - dense :], 1
    before = gaps[: len(gaps) - (dense - 1)] if dense > 1 else gaps
    step = int(before[-1])
    other = np.flatnonzero(before != step)
    coarse = len(before) - (int(other[-1]) + 1 if len(other) else 0) + 1
    if coarse < 2 * dense or dense > 2:  # values after a gap do not continue the spacing
        return numbers[len(numbers) - dense :], 1
    return numbers[len(numbers) - coarse :], step


def _array(
    reading: Reading, tail: int, stop: int | None, size: int, item: int
) -> tuple[np.ndarray, np.ndarray, tuple[int | None, ...]]:
    """(values, iterations, components): the most active components and the 2-norm of an array's newest firings, read
    block by block, as far as shape and activation are the current ones.
    """
    block = max(1, BLOCK // (size * item))
    first, end = reading.extent()
    end = end if stop is None else min(stop, end)
    low = max(first, end - tail - 1)
    around = reading.newest(1, stop)[0][-1, :-1]

    def rows(start: int, end: int) -> tuple[np.ndarray, np.ndarray] | None:
        paths, values = reading.rows(range(start, end))
        mine = np.all(paths[:, :-1] == around, axis=1)
        if not len(paths):
            return np.empty(0, np.int64), np.empty((0, size))
        if not isinstance(values, np.ndarray) or values.dtype == object or values[0].size != size:
            return None
        flat = values[mine].reshape(int(mine.sum()), size)
        return _numbers(paths[mine]), _sizes(flat)

    if size <= COMPONENTS:
        chosen = list(range(size))
    else:
        moved, before = np.zeros(size), None
        for k in sorted({max(low, end - 1 - back) for back in (0, 1, 2, 5, 8, 16)}):
            found = rows(k, k + 1)
            now = found[1][0].astype(np.float64) if found is not None and len(found[1]) else None
            with np.errstate(all="ignore"):
                if now is not None and before is not None:
                    moved += np.nan_to_num(np.abs(now - before), nan=np.inf, posinf=np.inf)
            before = now
        chosen = np.argpartition(-moved, COMPONENTS)[:COMPONENTS].tolist()
        chosen.sort(key=lambda k: -moved[k])
    parts: list[np.ndarray] = []
    numbers: list[np.ndarray] = []
    for high in range(end, low, -block):
        found = rows(max(low, high - block), high)
        if found is None:
            break  # a different shape: the history of the current one begins here
        if not len(found[0]) and parts:
            break  # a different activation
        picked = found[1][:, chosen]
        if size > COMPONENTS:
            norms = np.array([[_norm(row)] for row in found[1]]).reshape(-1, 1)
            picked = np.concatenate([picked.astype(np.float64), norms], axis=1)
        parts.append(picked)
        numbers.append(found[0])
    names: list[int | None] = [*chosen, *([None] if size > COMPONENTS else [])]
    if not parts:
        return np.empty((0, len(names))), np.empty(0, np.int64), tuple(names)
    return np.concatenate(parts[::-1]), np.concatenate(numbers[::-1]), tuple(names)


def _norm(row: np.ndarray) -> float:
    """The 2-norm: in one pass if the squares stay within float64, else scaled."""
    wide = row.astype(np.float64, copy=False)
    with np.errstate(all="ignore"):
        square = float(np.dot(wide, wide))
        if 1e-280 < square < 1e300:
            return float(np.sqrt(square))
        top = float(np.max(np.abs(wide), initial=0.0))
        return float(np.sqrt(np.sum((wide / top) ** 2)) * top) if 0 < top < np.inf else top


def _picture(reading: Reading, stop: int | None, path: np.ndarray, found: HistoryColumn, size: int) -> None:
    """Add a coarse picture of the whole activation, not only its end, and its first NaN and infinity."""
    first, end = reading.extent()
    end = end if stop is None else min(stop, end)
    begun = reading.activation(end)
    end = (
        min(end, begun + int(found.iterations[-1]) + 1) if len(found) else end
    )  # the value may not have fired in the last row
    low = max(first, begun)
    if 0 < first == low:  # the oldest rows may be dropped while they are read
        low += (end - low) // 8
    if size == 1 and end - low > len(found.values) and found.step == 1 and len(path):
        paths, values = reading.rows(range(low, end, max(1, (end - low) // POINTS)))
        y = np.asarray(values).reshape(-1)
        found.x = np.append(paths[:, -1], found.iterations[-1]).astype(np.float64)
        found.y = np.append(_sizes(y), found.values[-1]).astype(np.float64)
        if y.dtype.kind in "fc" and not np.all(np.isfinite(found.y)):
            found.first_bad = _first_bad(reading, low, end)
        return
    if found.values.ndim == 1:
        keep = coarse(len(found))
        found.x, found.y = found.iterations[keep].astype(np.float64), found.values[keep].astype(np.float64)


def coarse(n: int) -> np.ndarray:
    """Indices of a picture of ``n`` values, including the last."""
    step = max(1, n // POINTS)
    return np.unique(np.append(np.arange(0, n, step), n - 1)) if n else np.empty(0, np.int64)


def _first_bad(reading: Reading, low: int, stop: int) -> dict[str, int]:
    """The first NaN and the first infinity of the activation, which may lie far before the classified values."""
    bad: dict[str, int] = {}
    for start in range(low, min(stop, low + SCANNED), CHUNK):
        paths, values = reading.rows(range(start, min(stop, start + CHUNK)))
        flat = np.asarray(values).reshape(-1)
        for slug, test in (("nan", np.isnan), ("inf", np.isinf)):
            places = np.flatnonzero(test(flat))
            if len(places) and slug not in bad:
                bad[slug] = int(paths[places[0], -1])
        if len(bad) == 2:
            break
    return bad


def _nothing(trace: Trace, ref: Ref) -> str:
    """The reason why there is no value: not reached, or not kept."""
    covered = trace.coverage(ref)
    if covered.happened > 0 and not covered.whole:
        return "None of its values is kept in this trace; session.values recomputes them."
    return "It has not been computed so far."


def _missing(trace: Trace, ref: Ref, found: HistoryColumn) -> None:
    try:
        covered = trace.coverage(ref)
    except (TraceError, ValueError, IndexError):
        return
    if not covered.whole and covered.happened:
        found.notes.append(f"The trace keeps {covered}; the verdict is about what is kept.")


def _from_statistics(series: Any, notes: list[str]) -> HistoryColumn:
    """The 2-norms from the statistics that a run keeps of arrays whose values it does not keep; or empty."""
    empty = HistoryColumn.empty(*notes, dtype=str(series.type.dtype))
    empty.shape = tuple(d or 0 for d in series.type.shape or ())
    try:
        records = series.statistics[-TAIL:]
    except (TraceError, ValueError, IndexError):
        return empty
    if not len(records):
        return empty
    norms = np.sqrt(records["sumsq"])
    norms[records["nan"] > 0] = np.nan
    norms[records["inf"] > 0] = np.inf
    numbers = np.arange(len(norms), dtype=np.int64)
    found = HistoryColumn(norms, numbers, dtype=empty.dtype, shape=empty.shape, total=len(norms))
    found.x, found.y = numbers.astype(float), norms
    found.notes = [n for n in notes if "None of its values" not in n]
    found.notes.append("Its arrays are not kept; the verdict is about their 2-norms, from the statistics.")
    return found
