"""The claims behind a black-box answer: statements about the recorded operands of a clause, which are recomputed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from workbench.analysis.claims import clause as clauses
from workbench.analysis.claims import numbers
from workbench.analysis.claims.claim import Claim, checked
from workbench.analysis.claims.recompute import holds, same
from workbench.analysis.comparisons import MIRROR, NEGATED

#: number of newest evaluations that the claims of an answer are about
LOOKED_AT = 16


class RecordedOperands:
    """The operands of one clause by evaluation index, as the evidence of claims."""

    def __init__(self, left: Iterable[Any], right: Iterable[Any], start: int, step: Any = None) -> None:
        self.sides = {"left": list(left), "right": list(right)}
        self.start, self.step = start, step

    def value(self, ref: str, k: int) -> Any:
        if k < self.start:
            raise KeyError(k)
        return self.sides[ref][k - self.start]

    def values(self, ref: str, iterations: Iterable[int]) -> list[Any]:
        return [self.value(ref, k) for k in iterations]

    def merge(self, name: str) -> str:
        return "left"

    def op(self, node: str) -> str:
        return "add" if self.step is not None else ""

    def operands(self, node: str, k: int) -> list[Any]:
        """Both sides of the comparison; for an update, the value before it and the step that it adds."""
        if node != "update":
            return [self.value("left", k), self.value("right", k)]
        now, later = self.value("left", k), self.value("left", k + 1)
        if not same(now + self.step, later):
            raise KeyError(k)
        return [now, self.step]


def recorded_claims(
    slug: str, name: str, other: str, keep: str, left: Sequence[Any], right: Sequence[Any], count: int, ends_on: bool
) -> list[Claim]:
    """Claims about ``left keep right``, which was true at all evaluations up to index ``count - 1``."""
    xs, ts = _typed(left), _typed(right)
    if xs is None or ts is None or len(xs) < 2:
        return []
    constant_left = all(same(v, xs[0]) for v in xs) and not all(same(v, ts[0]) for v in ts)
    mirrored = constant_left
    if mirrored:
        xs, ts, name, other, keep = ts, xs, other, name, MIRROR[keep]
    start, last = count - len(xs), count - 1
    first = max(start, count - LOOKED_AT)
    record = RecordedOperands(xs, ts, start)
    clause = clauses.BlockingClause("", name, keep, other, ts[-1], str(xs.dtype), (), mirrored, ends_on)
    common: dict[str, Any] = {"clause": clause, "refs": ("left", "right"), "evidence": record}
    made: list[Claim] = []
    if _bad(xs[-1]) or _bad(ts[-1]):
        op = NEGATED[keep] if ends_on else keep
        made.append(_nan(record, xs, ts, clause, op, not ends_on, start, last))
    elif slug == "out-of-range" and xs.dtype.kind in "iu":
        limits = np.iinfo(xs.dtype)
        made.append(clauses.EveryNumber(clause=clause, evidence=(int(limits.min), int(limits.max))))
    elif same(xs[-1], xs[-2]) and same(ts[-1], ts[-2]):
        back = _run_of(xs, ts, start, first)
        rests = {**common, "value": xs[-1], "first": back, "last": last, "closed": False}
        made.append(clauses.Rests(**rests, variable=name, start=xs[0]))
    elif slug in ("moves-away", "steps-over", "absorbed"):
        made += _moving(slug, xs, ts, first, start, last, common)
    elif slug == "overflow" and np.isinf(xs[-1]):
        made.append(numbers.Infinite(clause=clause, ref="left", last=last, evidence=record))
    made = checked(made)
    return made or _observed(xs, ts, first, start, last, common)


def _typed(values: Sequence[Any]) -> np.ndarray | None:
    """The operands in their common dtype; None if they are not numbers of one dtype."""
    try:
        found = np.array(values)
    except (ValueError, OverflowError):
        return None
    return found if found.ndim == 1 and found.dtype.kind in "iuf" else None


def _bad(value: Any) -> bool:
    return isinstance(value, (float, np.floating)) and math.isnan(value)


def _nan(
    record: RecordedOperands, xs: np.ndarray, ts: np.ndarray, clause: Any, op: str, truth: bool, start: int, last: int
) -> Claim:
    bad, side = (xs, clause.name) if _bad(xs[-1]) else (ts, clause.other)
    k = len(bad) - 1
    while k > 0 and _bad(bad[k - 1]):
        k -= 1
    return numbers.NanCompared(
        node="compare",
        side=side,
        text=f"{clause.name} {op} {clause.other}",
        op=op,
        holds=truth,
        last=last,
        since=start + k if k > 0 else None,
        clause=clause,
        evidence=record,
    )


def _run_of(xs: np.ndarray, ts: np.ndarray, start: int, first: int) -> int:
    k = len(xs) - 1
    while k > first - start and same(xs[k - 1], xs[-1]) and same(ts[k - 1], ts[-1]):
        k -= 1
    return start + k


def _moving(
    slug: str, xs: np.ndarray, ts: np.ndarray, first: int, start: int, last: int, common: dict[str, Any]
) -> list[Claim]:
    part = xs[first - start :]
    whole = part.dtype.kind in "iu"
    steps = [int(b) - int(a) if whole else float(b) - float(a) for a, b in zip(part, part[1:], strict=False)]
    step = steps[0] if steps and all(s == steps[0] for s in steps) else None
    name = common["clause"].name
    if slug == "moves-away":
        return [clauses.MovesAway(**common, step=step, value=xs[-1], first=first, last=last, variable=name)]
    if slug == "steps-over":
        gap = xs.astype(np.float64) - ts.astype(np.float64)
        passed = np.flatnonzero(gap[1:] * gap[:-1] < 0)
        if len(passed):
            k = int(passed[0]) + 1
            return [clauses.StepsOver(**common, before=xs[k - 1], after=xs[k], iteration=start + k, step=step)]
        if step and whole and ts.dtype.kind in "iu":
            bits = 8 * xs.dtype.itemsize
            return [clauses.Residue(**common, step=int(step), bits=bits, first=first, last=last)]
        return []
    if xs.dtype.kind != "f" or not steps:
        return []
    value = xs.dtype.type
    seen = [value(b - a) for a, b in zip(xs, xs[1:], strict=False) if b != a]
    if not seen:
        return []
    stalls = numbers.stall(xs[-1], seen[-1])
    if stalls is None or not holds(stalls, common["clause"].op, ts[-1]):
        return []
    record = RecordedOperands(xs, ts, start, seen[-1])
    more = {"whole": float(seen[-1]).is_integer(), "clause": common["clause"], "evidence": record}
    found = numbers.StallsAt(
        node="update",
        variable=name,
        value=stalls,
        step=seen[-1],
        dtype=str(xs.dtype),
        first=max(last - 2, start),
        last=last - 1,
        **more,
    )
    return [found]


def _observed(xs: np.ndarray, ts: np.ndarray, first: int, start: int, last: int, common: dict[str, Any]) -> list[Claim]:
    gaps = [abs(float(a) - float(b)) for a, b in zip(xs[first - start :], ts[first - start :], strict=True)]
    return checked([clauses.Observed(**common, nearest=min(gaps), first=first, last=last)])


__all__ = ["RecordedOperands", "recorded_claims"]
