"""Families from outside: their truth is shown again from the values alone, by arguments other than their own.

No question is asked here: an analysis that is wrong about them must not change what is true of them.
"""

from __future__ import annotations

import numpy as np

from tests.evaluation.families.base import HISTORY, WATCHED, C, D, O, S, X, digest, families
from tests.evaluation.heldout.ending import truth
from tests.evaluation.scoring.cases import Case

OUTSIDE, JUDGED, ABROAD, SEALED = THIRDS = 9, 10, 11, 12


def comes_near(case: Case) -> bool:
    """The last tenth lies within a fifth of the way of one point, the limit where it is known; the last fifth rests."""
    v = case.values.reshape(len(case.values), -1).astype(float)
    last, before = v[-max(len(v) // 10, 1) :], v[-max(len(v) // 5, 2) : -max(len(v) // 10, 1)]
    limit = np.full(v.shape[1], case.facts["limit"]) if "limit" in case.facts else np.median(last, axis=0)
    way = np.abs(v - limit).max(axis=0)
    near = np.median(np.abs(last - limit), axis=0) <= 0.2 * way
    rests = np.abs(np.median(last, axis=0) - np.median(before, axis=0)) <= 0.08 * way
    return bool(way.max() > 0 and np.all(near) and np.all(rests))


def goes_beyond(case: Case) -> bool:
    """The second half goes farther from the start than the first half did."""
    away = np.abs(case.values - case.values[0])
    return bool(away[len(away) // 2 :].max() > 1.1 * away[: len(away) // 2].max())


def comes_back(case: Case) -> bool:
    """The second half (all of a short record) repeats itself after the period; if exactly, no shorter one will do."""
    v = case.values[len(case.values) // 2 if len(case.values) > 16 else 0 :]
    if "period" not in case.facts:
        return any(np.array_equal(v[p:], v[:-p]) for p in range(1, len(v) // 2))
    p = case.facts["period"]
    turns = min(range(1, 21), key=lambda k: round(abs(k * p - round(k * p)), 9) if k * p < len(v) / 2 else np.inf)
    lag = round(turns * p)
    alike = np.corrcoef(v[lag:].ravel().astype(float), v[:-lag].ravel().astype(float))[0, 1] > 0.7
    exact = np.array_equal(v[lag:], v[:-lag])
    return bool(alike) and not (exact and any(np.array_equal(v[d:], v[:-d]) for d in range(1, lag) if lag % d == 0))


def keeps_its_spread(case: Case) -> bool:
    """Thirds of the record have one mean and one spread, as far as a third can tell."""
    parts = np.array_split(case.values.astype(float), 3)
    means, spreads = np.array([p.mean() for p in parts]), np.array([p.std() for p in parts])
    return bool(np.ptp(means) < 0.8 * case.values.std() and spreads.max() < 1.6 * spreads.min())


def parts_neighbours(case: Case) -> bool:
    """Bounded, without a recurrence, and most of the nearest states of three values are far apart some steps later."""
    v = case.values.reshape(len(case.values), -1).astype(float)
    state = np.hstack([v[:-32], v[1:-31], v[2:-30]])[-1500:]
    ahead = v[30:][-1500 - 2 : len(v) - 32][-len(state) :]
    gained = []
    for i in range(0, len(state), 10):
        distance = np.abs(state - state[i]).max(axis=1)
        distance[max(i - 40, 0) : i + 40] = np.inf
        near = int(distance.argmin())
        gained.append(np.abs(ahead[near] - ahead[i]).max() / max(distance[near], 1e-300))
    return len(np.unique(v, axis=0)) == len(v) and float(np.median(gained)) > 4


ARGUMENTS = {C: comes_near, D: goes_beyond, O: comes_back, S: keeps_its_spread, X: parts_neighbours}


def shows_its_rate(case: Case) -> bool:
    """The rest of the way (of growth: the size), seen as an envelope, changes by the rate from step to step."""
    v, rate = case.values.reshape(len(case.values), -1).astype(float), case.facts["rate"]
    limit = v[-1] if v.shape[1] > 1 else case.facts.get("limit", 0.0)
    if case.label == D:
        way = np.maximum.accumulate(np.abs(v).max(axis=1))
        seen = np.arange(len(way) // 3, len(way))
    else:
        way = np.maximum.accumulate(np.abs(v - limit).max(axis=1)[::-1])[::-1]
        least = max(1e-9 * np.abs(v).max(), 1e-9 * way[0], 20 * way[0] * rate ** len(v) if v.shape[1] > 1 else 0.0)
        seen = np.flatnonzero((way < 0.02 * way[0]) & (way > least))
    if len(seen) < 6:
        return case.hard or len(v) < 24
    seen = seen[len(seen) // 3 :]
    slope = np.polyfit(seen, np.log(way[seen]), 1)[0]
    return bool(abs(slope - np.log(rate)) < 0.2 * abs(np.log(rate)))


def test_a_coin_parts_them_and_both_halves_are_large():
    for third, side in ((OUTSIDE, 0), (JUDGED, 1), (ABROAD, 0), (SEALED, 1)):
        assert all(digest(f.name) % 2 == side for f in families(thirds=[third]))
        assert len(families(HISTORY, [third])) >= 25 and len(families(WATCHED, [third])) >= 15
    for both in ((OUTSIDE, JUDGED), (ABROAD, SEALED)):
        endless = [f for f in families(WATCHED, both) if f.case(1, 0).n is None]
        assert 16 <= len(endless) <= len(families(WATCHED, both)) - 20


def test_values_alone_show_the_truth_of_histories():
    for f in families(HISTORY, THIRDS):
        case = f.case(5, 1)
        assert ARGUMENTS[case.label](case), f"{f.name}: {case.label}, {case.facts}, n={len(case.values)}"


def test_values_alone_show_the_rate():
    shown = 0
    for f in families(HISTORY, (ABROAD, SEALED)):
        case = f.case(5, 1)
        if "rate" in case.facts:
            shown += 1
            assert shows_its_rate(case), f"{f.name}: {case.facts}, n={len(case.values)}"
    assert shown > 15


def test_loops_end_where_they_say_and_no_sooner():
    """Endless ones hold in a record of hundreds of evaluations and more, which the family itself checks as it draws."""
    for f in families(WATCHED, THIRDS):
        for number in range(3):
            loop = f.case(5, number)
            assert truth(loop.clauses, loop.logic) == loop.n, f.name


def test_the_arguments_can_fail():
    k = np.arange(600.0)
    noise = np.random.default_rng(3).normal(size=600)
    assert not comes_near(Case("", k, C)) and not comes_near(Case("", 0.9**k, C, facts={"limit": 1.0}))
    assert not goes_beyond(Case("", 0.9**k, D)) and not keeps_its_spread(Case("", noise + 0.01 * k, S))
    assert not comes_back(Case("", k % 6, O, facts={"period": 12.0})) and not comes_back(Case("", noise[:, None], O))
    assert not shows_its_rate(Case("", 0.9**k, C, facts={"rate": 0.8, "limit": 0.0}))
    assert not comes_back(Case("", noise, O, facts={"period": 7.0})) and not parts_neighbours(Case("", np.sin(k), X))
