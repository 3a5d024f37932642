"""The course of a token's state over the loops: fixed point, approach, cycle, drift, growth, or none of these."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from workbench.recorder.looped.paths import TokenPaths

#: a state is at rest if a loop moves it by less than a share of its norm: so many roundings of the dtype, at most a
#: limit
RESTING, ROUNDING, MOST_RESTING = 64, 2, 1e-4
#: minimum loops for any answer; longest period that is searched
FEWEST, LONGEST = 3, 64
#: a factor of the steps per loop nearer to 1 than this counts as level; maximum deviation of its logarithm
LEVEL, SPREAD = 0.01, 0.35
#: a state has returned if its distance to the one a period before is below this share of its smallest step in the
#: period
BACK = 0.1
#: minimum ratio of end-to-end distance to path length of a straight path
STRAIGHT = 0.8
#: the ratio of the last to the first step of the newest half: maximum for a state that converges, and minimum, with
#: both relative to the norm, for one that explodes
SHRUNK, GROWS = 0.85, 0.7
#: exponent of a power of the loop number above which steps count as growing by a factor
HIGHEST = 4.0
#: minimum ratio of the norm in an explosion to the largest norm before the newest half
EXPLOSION_RATIO = 1.5


class Course(Enum):
    """The course of the states of a token, or of all; the values are full sentences.

    Examples
    --------
    >>> from workbench.recorder.looped.courses import Course
    >>> Course.CYCLE
    <Course.CYCLE: 'The state returns to where it was a fixed number of loops before.'>
    """

    FIXED_POINT = "The state no longer moves."
    CONVERGING = "Each loop moves the state by less than the loop before, by a steady factor."
    CYCLE = "The state returns to where it was a fixed number of loops before."
    DRIFTING = "The state moves on in one direction, and its steps do not die away."
    EXPLODING = "Each loop enlarges the state by a factor, or it has left the finite numbers so."
    NOT_FINITE = "The state became NaN or infinite without growing before."
    WANDERING = "The state neither rests, nor repeats, nor moves in one direction."
    MIXED = "The tokens have different courses."
    UNKNOWN = "There are too few loops for an answer."


@dataclass(frozen=True)
class TokenCourse:
    """The course of one token. Loops count from 1; fields that do not apply are None.

    Attributes
    ----------
    course : Course
        The label.
    since : int or None
        The loop from whose state on the state rests, repeats, or is not finite.
    period : int or None
        Loops of a cycle.
    rate : float or None
        Factor of the step per loop, before the state rested, or over the newest half of the loops.
    turn : float or None
        Mean cosine between a step and the next over the newest half, or before the state rested.
    left : float or None
        Estimated distance to the limit of a state that converges.
    """

    course: Course
    since: int | None = None
    period: int | None = None
    rate: float | None = None
    turn: float | None = None
    left: float | None = None


def resting(eps: float, tolerance: float | None = None) -> float:
    """The share of its norm by which a loop may move a state at rest."""
    return tolerance if tolerance is not None else max(ROUNDING * eps, min(RESTING * eps, MOST_RESTING))


def course_of(paths: TokenPaths, token: int, tolerance: float | None = None) -> TokenCourse:
    """The course of one token."""
    finite = paths.finite[:, token]
    last = len(finite) if finite.all() else int(np.argmin(finite))
    if last < len(finite):
        return _left_numbers(paths, token, last)
    if len(finite) - 1 < FEWEST:
        return TokenCourse(Course.UNKNOWN)
    norms, steps = paths.norms[:, token], paths.steps[:, token]
    floor = resting(paths.eps, tolerance) * np.maximum(norms[:-1], norms[1:])
    still = steps <= floor
    if still[-1] and not _creeps(paths, token, steps):
        since = len(steps) - int(np.argmin(still[::-1])) if not still.all() else 0
        rate, turn = _before_rest(paths, token, steps[:since])
        return TokenCourse(Course.FIXED_POINT, since + paths.begins, rate=rate, turn=turn)
    if (found := _cycle(paths, token, floor)) is not None:
        return found
    return _moving(paths, token, steps, norms)


def _left_numbers(paths: TokenPaths, token: int, at: int) -> TokenCourse:
    """The course of a state that is not finite from ``at`` on: by growth, or otherwise."""
    norms = paths.norms[:at, token]
    since = at + paths.begins
    state = paths.states[at, token]
    grown = norms[-1] / norms[-2] if len(norms) > 1 and norms[-2] > 0 else None
    huge = bool(np.isinf(state).any()) or (len(norms) > 0 and norms[-1] > 1e4)
    if grown is not None and grown > 1 + LEVEL and huge and (len(norms) < 3 or norms[-1] > norms[-3]):
        return TokenCourse(Course.EXPLODING, since, rate=float(grown))
    return TokenCourse(Course.NOT_FINITE, since)


def _creeps(paths: TokenPaths, token: int, steps: np.ndarray) -> bool:
    """True for steps that are tiny relative to the state, but continue in one direction without shrinking."""
    newest = steps[-min(4, len(steps)) :]
    turns = paths.turns[-min(3, len(steps) - 1) :, token]
    moved = newest.min() > 4 * paths.eps * paths.norms[-1, token]
    return bool(moved and len(turns) and np.nan_to_num(turns, nan=0.0).min() > 0.9 and newest[-1] >= 0.9 * newest[0])


def _before_rest(paths: TokenPaths, token: int, steps: np.ndarray) -> tuple[float | None, float | None]:
    """(factor per loop, mean turn) of the steps before the state rested that are far above rounding."""
    share = max(16 * paths.eps, min(1024 * paths.eps, 1e-3))
    high = steps > share * paths.norms[1 : len(steps) + 1, token]
    count = len(steps) if high.all() else int(np.argmin(high))
    used = slice(count // 2 if count >= 6 else 0, count)
    if count < 2:
        return None, None
    turns = paths.turns[used.start : count - 1, token]
    return float(np.exp(_slope(steps[used])[0])), float(np.nanmean(turns)) if len(turns) else None


def _slope(steps: np.ndarray) -> tuple[float, float]:
    """(slope of the logarithms, their largest distance from the line)."""
    logs = np.log(np.maximum(steps, 1e-300))
    k = np.arange(len(logs)) - (len(logs) - 1) / 2
    slope = float(k @ logs / (k @ k))
    return slope, float(np.abs(logs - logs.mean() - slope * k).max())


def _cycle(paths: TokenPaths, token: int, floor: np.ndarray) -> TokenCourse | None:
    """The shortest period, over at least two rounds, after which the state returns, exactly or ever more closely."""
    steps = paths.steps[:, token]
    for p in range(2, min(LONGEST, len(steps) // 2) + 1):
        back = paths.returned(p)[:, token]
        step = steps[-p:].min()
        if back[-p:].max() > BACK * step:
            continue
        arrived = back <= np.maximum(4 * floor[p - 1 :], 0.0)
        if not arrived[-p:].all() and not _closes(back, steps, p):
            continue
        near = back <= BACK * step
        since = len(near) - int(np.argmin(near[::-1])) if not near.all() else 0
        turn = float(np.nanmean(paths.turns[-p:, token]))
        return TokenCourse(Course.CYCLE, since + paths.begins, period=p, turn=turn)
    return None


def _closes(back: np.ndarray, steps: np.ndarray, p: int) -> bool:
    """True if the gap closes so fast that the steps remain: in a decaying alternation both shrink together."""
    if len(back) < 2 * p or back[-2 * p :].max() > BACK * steps[-p:].min():  # a chaotic orbit comes near for one round
        return False
    now, before = back[-p:].sum(), back[-2 * p : -p].sum()
    shrunk = now / before if before else 0.0
    # in a decaying cycle of two, each state is half a step from the limit
    return bool(shrunk < 0.95 and now * shrunk / (1 - shrunk) < 0.2 * steps[-p:].sum())


def _moving(paths: TokenPaths, token: int, steps: np.ndarray, norms: np.ndarray) -> TokenCourse:
    """The course of a state that does not rest, from the newest half of its steps."""
    count = max(3, len(steps) // 2)
    newest, states = steps[-count:], paths.states[-count - 1 :, token]
    slope, spread = _slope(newest)
    rate = float(np.exp(slope))
    turns = paths.turns[-count + 1 :, token]
    turn = float(np.nanmean(turns)) if np.isfinite(turns).any() else None
    straight = np.linalg.norm(states[-1] - states[0]) / newest.sum()
    steady = spread <= max(SPREAD, 0.3 * abs(slope) * (count - 1))
    power = _power(steps, count)
    falls = newest[-1] <= SHRUNK * newest[0] and (count >= 6 or newest.min() <= steps[:-count].min(initial=np.inf))
    if rate < 1 - LEVEL and steady and falls and not (power is not None and power > -1.05 and straight > STRAIGHT):
        left = float(newest[-1] * rate / (1 - rate)) if power is None else None
        return TokenCourse(Course.CONVERGING, None, None, rate, turn, left)
    grown = float(np.exp(_slope(norms[-count:])[0]))
    polynomial = power is not None and power < HIGHEST
    bounded = norms[-1] <= EXPLOSION_RATIO * norms[:-count].max(initial=0.0)
    relative = newest / norms[-count - 1 : -1]
    if (
        rate > 1 + LEVEL
        and steady
        and grown > 1 + LEVEL
        and relative[-1] > GROWS * relative[0]
        and not (polynomial or bounded)
    ):
        return TokenCourse(Course.EXPLODING, rate=max(grown, rate), turn=turn)
    if straight > STRAIGHT and newest[-1] > 0.5 * newest[0]:
        return TokenCourse(Course.DRIFTING, rate=rate, turn=turn)
    return TokenCourse(Course.WANDERING, rate=rate, turn=turn)


def _power(steps: np.ndarray, count: int) -> float | None:
    """The exponent if the steps follow a power of the loop number better than a factor per loop."""
    first = len(steps) - count + 1
    logs, at = np.log(np.maximum(steps[-count:], 1e-300)), np.log(np.arange(first, len(steps) + 1))
    if count < 5:
        return None
    found = []
    for x in (at, np.arange(count, dtype=float)):
        x = x - x.mean()
        slope = float(x @ logs / (x @ x))
        found.append((slope, float(((logs - logs.mean() - slope * x) ** 2).sum())))
    (exponent, by_power), (_, by_factor) = found
    return exponent if by_power < 0.5 * by_factor else None
