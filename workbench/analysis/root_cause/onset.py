"""The first bad iteration: the root variable comes to rest, turns NaN, begins to cycle, or passes its goal."""

from __future__ import annotations

import numpy as np

from workbench.analysis.root_cause.blocking_clauses import Suspect
from workbench.analysis.root_cause.clause_features import period_of
from workbench.analysis.root_cause.loop_samples import LoopSamples
from workbench.analysis.slicing import work
from workbench.analysis.slicing.execution import SliceMachine
from workbench.ir.node import Ref
from workbench.trace.aligned_columns import MAX_FIRINGS, AlignedColumns

#: iterations of the last stretch of the search, which are read one by one
STRETCH = 4096
#: values of a cycle that are compared
MAX_PERIOD = 4096


def first_bad(found: LoopSamples, worst: Suspect, deadline: float) -> int | None:
    """The iteration, or None if it cannot be told in time."""
    slug, facts = worst.cause.slug, worst.facts
    its, ex, et = worst.iterations, facts.early_x, facts.early_t
    if not len(its):
        return None
    if slug in ("not-updated", "clause-invariant", "always-true", "flag-never-set"):
        return 0  # from the beginning
    if slug in ("steps-over", "moves-away", "nan", "overflow") and not isinstance(worst.still, Ref):
        its, ex = _longer(found, worst.moving, its, ex)
        et = np.concatenate([np.full(len(ex) - len(et), et[0]), et])
    with np.errstate(all="ignore"):
        if slug == "steps-over":
            gap = ex.astype(np.float64) - et.astype(np.float64)
            passed = np.flatnonzero(gap[1:] * gap[:-1] < 0)
            if len(passed):
                return int(its[int(passed[0]) + 1])
            step = worst.cause.step
            return int(its[0]) + int(np.ceil(-gap[0] / step)) if step and gap[0] * step < 0 else None
        if slug == "moves-away":
            gap = np.abs(ex.astype(np.float64) - et.astype(np.float64))
            back = np.flatnonzero(np.diff(gap) < 0)
            first = int(its[int(back[-1]) + 1 if len(back) else 0])
            return first if len(back) or first == 0 else 0 if facts.step else None
        if slug == "wraps":
            return _first_wrap(found, worst)
        if slug == "absorbed" and found.settled is None:
            return _first_absorbed(its, ex, worst.cause.step or facts.step, deadline)
        if slug in ("nan", "overflow", "step-too-large"):
            bad = np.flatnonzero(~np.isfinite(ex.astype(np.float64)))
            if len(bad):
                return int(its[int(bad[0])])
    return _settled(found, worst, deadline)


def _first_wrap(found: LoopSamples, worst: Suspect) -> int | None:
    """The iteration at which an integer first jumped from one end of its dtype to the other, or will."""
    its, x = worst.iterations, worst.facts.early_x
    name = worst.root[0] if worst.root else ""
    if name in found.loop.variables:
        own, values = found.series(Ref(found.loop.variables[name].merge))
        if values.ndim == 1 and values.dtype.kind in "iu":
            its, x = own, values
    limits, plain = np.iinfo(x.dtype), [int(v) for v in x]
    steps = [b - a for a, b in zip(plain, plain[1:], strict=False)]
    jumps = [k for k, d in enumerate(steps) if abs(d) > int(limits.max) // 2 + (int(limits.max) - int(limits.min)) // 4]
    if jumps:
        return int(its[jumps[0] + 1])
    if not steps or not steps[0] or len(set(steps)) > 1:
        return None
    room = int(limits.max) - plain[0] if steps[0] > 0 else plain[0] - int(limits.min)
    return int(its[0]) + room // abs(steps[0]) + 1


def _first_absorbed(its: np.ndarray, x: np.ndarray, step: float | None, deadline: float) -> int | None:
    """The iteration at which a counter will stall: its sums in its own dtype, continued."""
    if not step or x.dtype.kind != "f":
        return None
    done, value, size = int(its[0]), x[0], 1 << 16
    while work.now() < deadline:
        block = np.full(size + 1, step, x.dtype)
        block[0] = value
        sums = np.add.accumulate(block)
        work.charge(size * 3e-9)
        still = np.flatnonzero(sums[1:] == sums[:-1])
        if len(still):
            return done + int(still[0])
        done, value, size = done + size, sums[-1], min(2 * size, 1 << 22)
    return None


def _settled(found: LoopSamples, worst: Suspect, deadline: float) -> int | None:
    """The first iteration from which on the root's values are those of the recurrence."""
    loop, name = found.loop, worst.root[0] if worst.root else ""
    if name not in loop.variables:
        return None
    ref = Ref(loop.variables[name].merge)
    late_its, late = found.at_the_end(ref)
    if found.settled is None and late.ndim > 0 and len(late) >= 32:
        # the state as a whole goes on, but this variable repeats itself as far as is known
        at, period = int(late_its[0]) - found.base, period_of(late) or 0
        if not 0 < period <= len(late) // 3:
            return None
    elif found.settled is not None:
        at, period = found.settled
    else:
        return None
    if len(late) < period or period > MAX_PERIOD:
        return None
    pattern = {_bits(v) for v in late[-period:]}
    its, values = _longer(found, ref, *found.series(ref))
    first = _from(its, values, pattern)
    if first is not None and first == its[0] > 0:
        return _halved(found, ref, pattern)  # it began before what was read
    if first is not None or found.runner is None:
        return first
    return _search(found, ref, pattern, at, deadline)


def _halved(found: LoopSamples, ref: Ref, pattern: set[bytes]) -> int | None:
    """Of the whole record the first iteration with a value of the pattern, if from there on all have one: by halving.

    None where the record begins with such a value, in an iteration after the first.
    """
    if found.record is None:
        return None
    series, around = found.record.trace[ref], found.record.activation or ()
    low, high = 0, len(series) - 1

    def settled(k: int) -> tuple[bool, int]:
        iterations, values = series.window(k, k + 1)
        path = tuple(iterations[0].tolist())
        return path[:-1] == tuple(around) and _bits(values[0]) in pattern, path[-1]

    if high < 0 or not settled(high)[0]:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if settled(middle)[0] else (middle + 1, high)
    first = settled(low)[1]
    return first if low > 0 or first == 0 else None


def _longer(found: LoopSamples, ref: Ref, its: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A series with as much of the record before it as there is."""
    if found.record is None or not len(its) or its[0] == 0 or values.ndim > 1:
        return its, values
    iterations, earlier = AlignedColumns(found.record.trace, found.record.activation, MAX_FIRINGS).get(ref)
    if iterations.ndim != 2 or not len(iterations) or np.asarray(earlier).ndim != 1:
        return its, values
    known = iterations[:, -1] < its[0]
    before, earlier = iterations[known, -1], np.asarray(earlier)[known]
    if not len(before) or before[-1] != its[0] - 1 or earlier.dtype != values.dtype:
        return its, values
    broken = np.flatnonzero(np.diff(before) != 1)
    start = int(broken[-1]) + 1 if len(broken) else 0
    return np.concatenate([before[start:], its]), np.concatenate([earlier[start:], values])


def _from(its: np.ndarray, values: np.ndarray, pattern: set[bytes]) -> int | None:
    """The first of the iterations at the end that are all in the pattern; None if the last one is not."""
    k, size = len(its), values[0].nbytes if len(values) else 0
    if values.dtype != object and size in (1, 2, 4, 8):
        words = np.ascontiguousarray(values).reshape(-1).view(np.uint8).view(f"u{size}")
        missing = np.flatnonzero(~np.isin(words, np.frombuffer(b"".join(pattern), f"u{size}")))
        k = int(missing[-1]) + 1 if len(missing) else 0
        return int(its[k]) if k < len(its) else None
    while k > 0 and _bits(values[k - 1]) in pattern:
        k -= 1
    return int(its[k]) if k < len(its) else None


def _bits(value: object) -> bytes:
    return np.asarray(value).tobytes()


def _search(found: LoopSamples, ref: Ref, pattern: set[bytes], at: int, deadline: float) -> int | None:
    """Halve the way to the recurrence until the stretch that is left can be read; costs its length once."""
    low: SliceMachine | None = found.runner
    assert low is not None
    low, done, high = low.fork(), 0, at
    name = next((v.name for v in found.loop.variables.values() if v.merge == ref.node), "")
    while high - done > STRETCH:
        middle = low.fork()
        wanted = (high - done) // 2
        ran = 0
        while ran < wanted:
            ran += middle.advance(min(wanted - ran, 65536))
            if work.now() > deadline or not middle.cond():
                return None
        if _bits(middle.values().get(name)) in pattern:
            high = done + wanted
        else:
            low, done = middle, done + wanted
    low.advance(high - done + 1)
    columns = AlignedColumns(low.run.trace, found.early.activation if found.early else None, firings=2 * STRETCH)
    known = columns.latest(ref)
    order = sorted(known)
    first = _from(np.array(order), np.array([known[k] for k in order]), pattern) if order else None
    return None if first is None else first + found.offset
