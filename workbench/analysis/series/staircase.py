"""Staircases with treads of one length, or of growing length: the label of the values at the steps.

A schedule that halves every p iterations, or a sum to which each epoch adds a term, follows a law at its steps and none
between them.  The values at the steps are classified; rates and periods are then those of one iteration.  Of treads
that grow (the capacity of a list that doubles, an integer root of a counter) only the label and the limit are those of
the steps.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.analysis.series.models import Stairs
from workbench.analysis.series.result import Finding, Pattern
from workbench.analysis.series.value_series import History

#: Steps at least, of treads that are all of one length of two values or more.
LEAST = 4
#: The same of treads that grow.
LEAST_GROWING = 5
#: Exponent of the speed at the steps from which on a sum of such steps is told to have a limit.
CONVERGES = 1.15


def staircase(h: History, decide: Callable[[History], Finding]) -> Finding | None:
    """The finding about the values at the steps; None of a record whose treads neither are equally long nor grow."""
    moves = h.words[1:] != h.words[:-1]
    if not LEAST <= np.count_nonzero(moves) <= len(h) // 2:
        return None
    moved = np.flatnonzero(moves) + 1
    every, rest = int(moved[1] - moved[0]), len(h) - int(moved[-1])
    if not np.all(np.diff(moved) == every) or int(moved[0]) > every or rest > every:
        return _growing(h, moved, rest, decide) or _gated(h, moved, rest)
    starts = np.concatenate([[0], moved])
    why = f"The values step every {every} iterations; of the values at the steps:"
    return _stepped(h, starts, every, every - rest, why, decide)


def _stepped(
    h: History, starts: np.ndarray, every: int, left: int, why: str, decide: Callable[[History], Finding]
) -> Finding:
    """The finding about the values at ``starts``, one for each ``every`` iterations, told by the iterations of the
    record; ``left`` are those until the next."""
    found = decide(History(h.exact[starts], h.start // every, h.dtype))
    found.why = f"{why} {found.why}"
    # the record and its steps have one largest value, so one scale
    if found.rate is not None and found.rate > 0:
        found.rate **= 1.0 / every
    if found.period is not None:
        found.period *= every
    if found.model is not None:
        found.model = Stairs(found.model, every, left, float(h.x[-1]))
    return found


def _growing(h: History, moved: np.ndarray, rest: int, decide: Callable[[History], Finding]) -> Finding | None:
    """The same of steps that all lead one way, on treads each of which is as long as the one before or longer.

    A length may be one short of that, by rounding; the last rest may be twice the tread before it, and a half.
    """
    treads = np.diff(moved)
    if len(moved) < LEAST_GROWING or np.any(np.diff(treads) < -1) or treads[-1] < 2 * treads[: len(treads) // 2].min():
        return None
    if rest > 2.5 * treads[-1] + 2 or treads[-1] > 4 * max(treads[:-1].max(), 1):
        return None
    values = h.x[np.concatenate([[0], moved])]
    if not (np.all(np.diff(values) > 0) or np.all(np.diff(values) < 0)):
        return None
    found = decide(History(h.exact[np.concatenate([[0], moved])], 0, h.dtype))
    if found.label not in (Pattern.CONVERGING, Pattern.DIVERGING):
        return None
    slowing = _slowing(h.start + moved, values)
    if found.label is Pattern.DIVERGING and slowing is not None and slowing > CONVERGES:
        # rounded values of what approaches a level step by one unit, too, but ever more seldom
        last, unit = float(values[-1]), float(values[-1] - values[-2])
        # what a speed of unit / tread that goes on falling so has left of its way
        left = unit / max(int(treads[-1]), rest) * (h.total / (slowing - 1.0))
        why = f"the steps slow down like k**-{slowing:.3g}, and their sum has a limit."
        found = Finding(Pattern.CONVERGING, "growing_stairs", why, limit=last + left, limit_error=abs(left), doubt=0.2)
    found.why = f"The values step at growing intervals, the last of {treads[-1]} iterations: {found.why}"
    found.rate = found.order = found.sublinear_exponent = found.model = None
    found.method, found.doubt = "growing_stairs", max(found.doubt, 0.1)
    return found


def _slowing(at: np.ndarray, values: np.ndarray) -> float | None:
    """Exponent s of a speed that falls like k**-s, by the steps and the treads before them of the later half; None of
    fewer than five treads of three iterations or more.  Sums of k**-s have a limit for s > 1: see ``smooth_tail``."""
    treads, sizes = np.diff(at), np.abs(np.diff(values[1:]))
    usable = np.flatnonzero(treads >= 3)
    usable = usable[len(usable) // 3 :]
    if len(usable) < LEAST_GROWING:
        return None
    k = np.log(0.5 * (at[:-1] + at[1:])[usable] + 1.0)
    speed = np.log(sizes[usable] / treads[usable])
    if float(np.ptp(k)) < 0.5:
        return None
    return -float(np.polyfit(k, speed, 1)[0])


def _gated(h: History, moved: np.ndarray, rest: int) -> Finding | None:
    """DIVERGING if all moves are one step, as frequent in the second half as in the first: a counter that rests."""
    steps = h.d[moved - 1]
    close = 16 * h.ulp(max(abs(h.low), abs(h.high)))
    late = int(np.count_nonzero(moved > len(h) // 2))
    if len(moved) < 16 or float(np.ptp(steps)) > close or late < 0.4 * len(moved):
        return None
    if rest > 2 * int(np.diff(moved).max()):
        return None
    why = f"All {len(moved)} moves are steps of {h.unscale(float(steps[-1])):.6g}, with rests between: a counter."
    return Finding(Pattern.DIVERGING, "gated_counter", why, doubt=0.1)
