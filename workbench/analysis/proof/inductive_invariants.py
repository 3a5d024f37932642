"""Inductive invariants: boxes that contain the state and their own image, and on which the condition is true.

Such a box proves that the condition never becomes false, whatever the state does inside it: NaN, chaos, cycles too long
to run. The search starts from the state and widens the box to constants of the slice; it also starts from the hull of
later states. Because a single box loses correlations (x - 0.1 x), boxes are cut into pieces, and the images of all
pieces must lie in the whole box.

Source: P. Cousot and R. Cousot, "Abstract interpretation", POPL 1977, https://doi.org/10.1145/512950.512973.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.analysis.intervals.interval import (
    FLOATS,
    Interval,
    bounds,
    box,
    box_of,
    hull,
    inside,
    int_range,
    joined,
    top,
)
from workbench.analysis.slicing.formulas import Env, SliceProgram

#: number of rounds before bounds are widened, and maximum number of rounds
PATIENT, ROUNDS = 3, 24
#: number of pieces for one variable, and for each of two variables
PIECES = (256, 24)
#: shares of the hull's width by which it is enlarged
ROOM = (0.0, 0.02, 0.1, 0.5, 2.0)


def holding(program: SliceProgram, start: Env, fixed: Env) -> dict[str, Interval | None]:
    """Boxes that contain every variable in all later iterations, while the loop continues; the whole dtype if nothing
    is known.

    ``fixed``: boxes that are known to contain variables (counters) for ever.
    """
    marks = sorted({float(c) for c in program.constants()} | {0.0, 1.0, -1.0})
    x: dict[str, Interval | None] = {**start, **fixed}
    moving = [n for n in program.state if n not in fixed]
    for turn in range(ROUNDS):
        image = _image(program, x, moving)
        out = [n for n in moving if not _held(image[n], x[n])]
        if not out:
            return _narrowed(program, x, start, moving)
        for name in out:
            x[name] = _grown(x[name], image[name], marks if turn < ROUNDS // 2 else [], turn >= PATIENT)
    for name in moving:
        now = start[name]
        x[name] = None if now is None else top(now.dtype)
    return x


def _image(program: SliceProgram, x: Env, moving: Iterable[str], pieces: int = 1) -> dict[str, Interval | None]:
    """Boxes of the state after one iteration from any state in x at which the condition is true."""
    alive = program.assuming(x, program.cond, True)
    return {n: program.evaluate(program.updates[n], alive, pieces) for n in moving}


def _held(image: Interval | None, x: Interval | None) -> bool:
    return x is None or image is not None and image.dtype == x.dtype and inside(image, x)


def _grown(x: Interval | None, image: Interval | None, marks: list[float], widen: bool) -> Interval | None:
    """The hull of x and its image; with ``widen``, ends that still move are widened to the next mark, or to the dtype's
    limit.
    """
    if x is None or image is None or image.dtype != x.dtype:
        return None
    found = joined(image)
    if found is None:
        return x
    both = hull(x, found)
    if not widen:
        return both
    lo, hi = both.lo[0], both.hi[0]
    low, high = int_range(x.dtype) if x.integral else (-np.inf, np.inf)
    if lo < x.lo[0]:
        lo = max((m for m in marks if m <= lo), default=low)
    if hi > x.hi[0]:
        hi = min((m for m in marks if m >= hi), default=high)
    if x.integral:
        lo, hi = max(low, int(np.floor(lo))) if lo > low else low, min(high, int(np.ceil(hi))) if hi < high else high
    out = bounds(x.dtype, lo, hi, bool(both.nan[0]))
    return hull(out, both)  # a mark rounded to the dtype may have moved inwards


def _narrowed(program: SliceProgram, x: Env, start: Env, moving: list[str]) -> dict[str, Interval | None]:
    """The image of an invariant, joined with the start, which is an invariant too, and may be smaller."""
    now = dict(x)
    for _ in range(2):
        image = _image(program, now, moving)
        for name in moving:
            begin, later = start[name], image[name]
            if begin is not None and later is not None and now[name] is not None and begin.dtype == later.dtype:
                found = joined(later)
                now[name] = begin if found is None else hull(begin, found)
    image = _image(program, now, moving)
    return now if all(_held(image[n], now[n]) for n in moving) else dict(x)


def keeps_on(
    program: SliceProgram, start: Env, fixed: Env, seen: Callable[[], Sequence[Mapping[str, Any]]]
) -> tuple[dict[str, Interval | None], int] | None:
    """(boxes, pieces) of an inductive invariant on which the condition is certainly true; None if none was found.

    ``start`` is the state that it must contain; ``seen`` returns states of the loop soon after it.
    """
    base = holding(program, start, fixed)
    if _true_on(program, base):
        return base, 1
    moving = [n for n in program.state if n not in fixed]
    shapes = _hulls(program, start, seen(), moving)
    if not shapes:
        return None
    cut = [n for n in moving if _cuttable(shapes[n])]
    chosen = [cut[:1], cut[1:2], cut[:2]] if len(cut) > 1 else [cut]
    for room in ROOM:
        x: dict[str, Interval | None] = {**base, **{n: _blown(shapes[n], room) for n in moving if shapes.get(n)}}
        for names in chosen:
            found = _settled(program, x, fixed, moving, names)
            if found is not None:
                return found
    return None


def encloses(program: SliceProgram, state: Mapping[str, Any], boxes: Env, fixed: Env) -> bool:
    """True if the state lies in the boxes, an iteration maps them into themselves, and the condition is true on them.

    ``fixed`` are the boxes of counters, which follow from their closed forms.
    """
    start = {n: box_of(state[n]) for n in program.state}
    moving = [n for n in program.state if n not in fixed]
    if not all(_held(start[n], boxes[n]) for n in program.state):
        return False
    cut = [n for n in moving if _cuttable(boxes[n])]
    for names in ([], cut[:1], cut[1:2], cut[:2]):
        x, pieces = _cut(boxes, names)
        image = _image(program, x, moving, pieces)
        if program.condition(x, pieces)[0].all() and all(_held(image[n], boxes[n]) for n in moving):
            return True
    return False


def _settled(
    program: SliceProgram, x: dict[str, Interval | None], fixed: Env, moving: list[str], names: list[str]
) -> tuple[dict[str, Interval | None], int] | None:
    """The box after a few rounds of growing, cut into pieces along ``names``."""
    for _ in range(6):
        cut, pieces = _cut(x, names)
        sure, _ = program.condition(cut, pieces)
        if not sure.all():
            return None
        image = {n: program.evaluate(program.updates[n], cut, pieces) for n in moving}
        out = [n for n in moving if not _held(image[n], x[n])]
        if not out:
            return x, pieces
        for name in out:
            grown = _grown(x[name], image[name], [], False)
            x = {**x, name: _eased(x[name], grown)}
    return None


def _true_on(program: SliceProgram, x: Env) -> bool:
    sure, _ = program.condition(x, 1)
    return bool(sure[0])


def _hulls(
    program: SliceProgram, start: Env, seen: Sequence[Mapping[str, Any]], moving: list[str]
) -> dict[str, Interval | None]:
    out: dict[str, Interval | None] = {}
    for name in moving:
        found = start[name]
        for state in seen:
            more = box_of(state[name]) if name in state else None
            found = None if found is None or more is None or more.dtype != found.dtype else hull(found, more)
        out[name] = found
    return out


def _cuttable(x: Interval | None) -> bool:
    return x is not None and x.dtype in FLOATS and bool(np.isfinite(x.lo[0])) and bool(np.isfinite(x.hi[0]))


def _blown(x: Interval | None, room: float) -> Interval | None:
    """A finite box of floats, enlarged by its width times ``room`` on both sides."""
    if x is None or not _cuttable(x) or room == 0 or x.lo[0] > x.hi[0]:
        return x
    kind: Any = np.dtype(x.dtype).type
    with np.errstate(all="ignore"):
        by = kind((x.hi[0] - x.lo[0]) * kind(room))
        return bounds(x.dtype, x.lo[0] - by, x.hi[0] + by, bool(x.nan[0]))


def _eased(x: Interval | None, grown: Interval | None) -> Interval | None:
    """The box with its moved ends a little farther out, because the images of pieces may be slightly larger than the
    box.
    """
    wide = None if grown is None else _blown(grown, 0.003)
    if x is None or grown is None or wide is None:
        return grown
    lo = wide.lo[0] if grown.lo[0] < x.lo[0] else grown.lo[0]
    hi = wide.hi[0] if grown.hi[0] > x.hi[0] else grown.hi[0]
    return bounds(x.dtype, lo, hi, bool(grown.nan[0]))


def _cut(x: Mapping[str, Interval | None], names: list[str]) -> tuple[dict[str, Interval | None], int]:
    """The box cut into pieces along one or two variables; together they cover it."""
    parts = [_ends(x[n], PIECES[len(names) - 1]) for n in names if _cuttable(x[n])]
    names = [n for n in names if _cuttable(x[n])]
    if not names:
        return dict(x), 1
    grids = [np.arange(len(lo)) for lo, _ in parts]
    index = [g.ravel() for g in np.meshgrid(*grids, indexing="ij")]
    out = dict(x)
    for name, (lo, hi), k in zip(names, parts, index, strict=True):
        whole = x[name]
        assert whole is not None
        out[name] = box(whole.dtype, lo[k], hi[k], whole.nan)
    return out, len(index[0])


def _ends(x: Interval | None, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends of n parts of a finite box; neighbours share their ends."""
    assert x is not None
    half = np.linspace(0.0, 1.0, n + 1)
    cuts = (np.float64(x.lo[0]) * (1 - half) + np.float64(x.hi[0]) * half).astype(x.dtype)
    cuts = np.clip(np.maximum.accumulate(cuts), x.lo[0], x.hi[0])
    cuts[0], cuts[-1] = x.lo[0], x.hi[0]
    return cuts[:-1], cuts[1:]
