"""The first bad iteration, from which on the variables of the cause rest, repeat, wrap, are NaN, or move away."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from workbench.analysis.claims import FirstBad, checked
from workbench.analysis.claims.claim import Claim
from workbench.analysis.root_cause.clause_diagnosis import ClauseDiagnosis
from workbench.analysis.root_cause.firings import Firings
from workbench.analysis.slicing import work
from workbench.analysis.slicing.execution import SliceMachine
from workbench.ir.node import Ref
from workbench.trace.aligned_columns import MAX_FIRINGS, AlignedColumns

#: nominal seconds in which a counter is followed to its stall
SECONDS = 0.2
#: maximum period of a compared cycle, and iterations of the last part of a search, which are read one by one
MAX_PERIOD, STRETCH = 4096, 64
#: maximum number of tuples with which a block is compared at once; with more, its rows are compared one by one
FEW = 16


def first_bad(firings: Firings, worst: ClauseDiagnosis, deadline: float) -> tuple[int | None, list[Claim]]:
    """The iteration, or None if it is not found in time, and the claims about it."""
    cause, f = worst.cause, worst.values
    slug, said = cause.slug, {c.kind: c for c in cause.claims}
    if slug in ("not-updated", "always-true"):
        return 0, []  # from the beginning
    if "steps-over" in said:
        return int(said["steps-over"].iteration), []  # type: ignore[attr-defined]
    if "residue" in said:
        claim: Any = said["residue"]
        way = int(claim.clause.threshold) - int(f.early_x[0])
        far = -(-way // claim.step) if way * claim.step > 0 else 0
        return int(worst.iterations[0]) + far, []
    if slug == "wraps" and "wraps" in said:
        return int(said["wraps"].iteration) + 1, []  # type: ignore[attr-defined]
    if "moves-away" in said:
        return _turned_away(firings, worst), []
    if "stalls" in said:
        return _stalled(firings, said["stalls"], deadline), []
    for kind in ("nan", "infinite"):
        if kind in said and getattr(said[kind], "since", None) is not None:
            return int(said[kind].since), []  # type: ignore[attr-defined]
    if slug in ("nan", "overflow", "step-too-large"):
        its, ex = longer(firings, worst.moving, worst.iterations, f.early_x)
        bad: Any = np.flatnonzero(~np.isfinite(ex.astype(np.float64))) if ex.dtype.kind in "iuf" else []
        if len(bad) and (int(bad[0]) > 0 or its[0] == 0):
            return int(its[int(bad[0])]), []
    names = [n for n in cause.names if n in firings.loop.variables] or [
        n for n in worst.root[:1] if n in firings.loop.variables
    ]
    found = _repeating(firings, names, deadline)
    guard: Any = said.get("guard")
    if found[0] is None and guard is not None and guard.since is not None:
        return int(guard.since), []
    return found


def _turned_away(firings: Firings, worst: ClauseDiagnosis) -> int | None:
    its, ex = longer(firings, worst.moving, worst.iterations, worst.values.early_x)
    et = worst.values.early_t
    et = np.concatenate([np.full(len(ex) - len(et), et[0]), et])
    with np.errstate(all="ignore"):
        gap = np.abs(ex.astype(np.float64) - et.astype(np.float64))
    back = np.flatnonzero(np.diff(gap) < 0)
    first = int(its[int(back[-1]) + 1 if len(back) else 0])
    return first if len(back) or first == 0 else None


def _stalled(firings: Firings, claim: Any, deadline: float) -> int | None:
    """The iteration at which a counter reaches the number at which it stalls, by summing in its own dtype."""
    kind = np.dtype(claim.dtype).type
    value = kind(firings.value(firings.merge(claim.variable), claim.last))
    step = kind(-claim.step if firings.op(claim.node) == "subtract" else claim.step)
    if math.frexp(abs(float(step)))[0] == 0.5 and float(value) % float(step) == 0.0 <= float(value) * float(step):
        return int(claim.last + (int(claim.value) - int(value)) // int(step)) if claim.whole else None
    done, size, end = claim.last, 1 << 12, min(deadline, work.now() + SECONDS)
    while work.now() < end:
        block = np.full(size + 1, step, kind)
        block[0] = value
        sums = np.add.accumulate(block)
        work.charge(size * 3e-9)
        still = np.flatnonzero(sums[1:] == sums[:-1])
        if len(still):
            return int(done + int(still[0]))
        done, value, size = done + size, sums[-1], min(2 * size, 1 << 22)
    return None


def _repeating(firings: Firings, names: list[str], deadline: float) -> tuple[int | None, list[Claim]]:
    """The first iteration from which on all variables have values of the recurrence, with the claim about it."""
    if not names:
        return None, []
    refs, window = [firings.merge(n) for n in names], firings.window
    try:
        tuples = firings.states(refs, window)
    except KeyError:
        return None, []
    settled = firings.found.settled
    n = settled[1] if settled is not None else firings.period(firings.loop.closure(names))
    if n is None or not n <= len(tuples) or n > MAX_PERIOD:
        return None, []
    pattern = set(tuples[-n:])
    found = _scan(firings, refs, names, pattern, window[0], deadline)
    if found is None:
        return None, []
    k, here, before = found
    known = {k: here} | ({k - 1: before} if before is not None else {})
    return k, checked([FirstBad(names=tuple(names), iteration=k, n=len(pattern), evidence=(pattern, known))])


#: the first iteration of the recurrence, its values, and those of the previous iteration
Found = tuple[int, bytes | None, bytes | None]


def _tuple(firings: Firings, refs: list[Ref], k: int) -> bytes | None:
    try:
        return _bits([firings.value(r, k) for r in refs])
    except KeyError:
        return None


def _scan(
    firings: Firings, refs: list[Ref], names: list[str], pattern: set[bytes], start: int, deadline: float
) -> Found | None:
    """Search back through the known iterations, then by bisection or by running all iterations again."""
    k = start
    while k > 0 and (before := _tuple(firings, refs, k - 1)) is not None:
        if before not in pattern:
            return k, _tuple(firings, refs, k), before
        k -= 1
    if k == 0:
        return 0, _tuple(firings, refs, 0), None
    base = firings.found.base
    if firings.found.runner is None or k <= base:
        return _through_record(firings, refs, pattern, k)
    if k - base > STRETCH and (found := _search(firings, names, pattern, k, deadline)) is not None:
        return found
    first, here, last, seen = base, None, None, base - 1
    for at, columns in firings.run_through(refs, k):
        inside = _among(columns, pattern)
        if inside is None:
            return None
        outside, n = np.flatnonzero(~inside), len(inside)
        if len(outside):
            j = int(outside[-1])
            first, last = at + j + 1, _bits([column[j] for column in columns])
            here = _bits([column[j + 1] for column in columns]) if j + 1 < n else None
        elif at == first:
            here = _bits([column[0] for column in columns])
        seen = at + n - 1
    if seen < k - 1:
        return None
    if first > base:
        return first, here or _tuple(firings, refs, first), last
    return _scan(firings, refs, names, pattern, base, deadline) if base < start else None


def _through_record(firings: Firings, refs: list[Ref], pattern: set[bytes], end: int) -> Found | None:
    """Search further back in the record than its columns reach, one iteration at a time."""
    record = firings.found.record
    if record is None:
        return None
    columns = AlignedColumns(record.trace, record.activation, MAX_FIRINGS)
    known = [columns.latest(ref) for ref in refs]
    k = end
    while k > 0 and all(k - 1 in m for m in known):
        bits = _bits([m[k - 1] for m in known])
        if bits not in pattern:
            return k, _bits([m[k] for m in known]) if all(k in m for m in known) else None, bits
        k -= 1
    return (0, _bits([m[0] for m in known]), None) if k == 0 and end > 0 else None


def _search(firings: Firings, names: list[str], pattern: set[bytes], end: int, deadline: float) -> Found | None:
    """Bisection for the recurrence of variables that depend on no others: once they repeat, they repeat for ever."""
    found = firings.found
    if found.runner is None or set(firings.loop.closure(names)) - set(names):
        return None
    low: SliceMachine = found.runner.fork()
    done, high = found.base, end
    while high - done > STRETCH:
        middle, wanted, ran = low.fork(), (high - done) // 2, 0
        while ran < wanted:
            more = middle.advance(min(wanted - ran, 65536))
            ran += more
            if work.now() > deadline or not more:
                return None
        values = middle.values()
        if _bits([values[n] for n in names]) in pattern:
            high = done + wanted
        else:
            low, done = middle, done + wanted
    last: bytes | None = None
    while done < high + 1:
        values = low.values()
        bits = _bits([values[n] for n in names])
        if bits in pattern:
            return (done, bits, last) if last is not None else None
        last = bits
        if low.advance(1) != 1:
            return None
        done += 1
    return None


def longer(firings: Firings, ref: Ref, its: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A series, extended backwards by the record as far as it has no gap."""
    record = firings.found.record
    if record is None or not len(its) or its[0] == 0 or values.ndim > 1:
        return its, values
    iterations, earlier = AlignedColumns(record.trace, record.activation, MAX_FIRINGS).get(ref)
    if iterations.ndim != 2 or not len(iterations) or np.asarray(earlier).ndim != 1:
        return its, values
    known = iterations[:, -1] < its[0]
    before, earlier = iterations[known, -1], np.asarray(earlier)[known]
    if not len(before) or before[-1] != its[0] - 1 or earlier.dtype != values.dtype:
        return its, values
    broken = np.flatnonzero(np.diff(before) != 1)
    start = int(broken[-1]) + 1 if len(broken) else 0
    return np.concatenate([before[start:], its]), np.concatenate([earlier[start:], values])


def _among(columns: list[Any], pattern: set[bytes]) -> np.ndarray | None:
    """A mask of the iterations of a block whose values together are in the pattern; None if one of them is missing."""
    n = len(columns[0])
    if len(pattern) > FEW or not all(isinstance(c, np.ndarray) and c.dtype != object for c in columns):
        if any(v is None for column in columns for v in column):
            return None
        return np.fromiter((_bits(list(row)) in pattern for row in zip(*columns, strict=True)), bool, n)
    stroke = np.full((n, 1), ord("|"), np.uint8)
    parts = [np.ascontiguousarray(c).reshape(n, -1).view(np.uint8).reshape(n, -1) for c in columns]
    rows = np.concatenate([part for column in parts for part in (stroke, column)][1:], axis=1)
    inside = np.zeros(n, bool)
    for bits in pattern:
        if len(bits) == rows.shape[1]:
            inside |= (rows == np.frombuffer(bits, np.uint8)).all(axis=1)
    return inside


def _bits(values: list[Any]) -> bytes:
    return b"|".join(np.asarray(v).tobytes() for v in values)


__all__ = ["first_bad", "longer"]
