"""Claims about the comparison of a condition and about what comes again, recomputed from plain Python's states."""

from __future__ import annotations

from math import gcd
from typing import Any

import numpy as np

from tests.evaluation.claim_truth.compare import OPS, bits, equal, is_inf, is_nan, number, picked
from tests.evaluation.claim_truth.looked_up import Case, Unchecked, compared, demand

Data = dict[str, Any]


def _pairs(d: Data, case: Case, first: int, last: int) -> list[tuple[Any, Any]]:
    case.states_from(first, last)
    both = case.sides(d["clause"])
    return [both(k) for k in range(first, last + 1)]


def _op(d: Data) -> Any:
    return OPS[d["clause"]["op"]]


def about_compared(d: Data, case: Case) -> None:
    case.states_from(d["iteration"], d["iteration"])
    places = case.comparisons(d["text"])
    counter = case.counter()
    if not places and counter is not None and d["text"].split()[0] == counter[0]:
        left, right = d["iteration"], counter[1]
        demand(left == d["left"] and right == d["right"] and (left < right) == d["holds"], f"it is {left} of {right}")
        return
    if not places:
        raise Unchecked(f"{d['text']} stands nowhere")
    found, k = [], d["iteration"]
    for line, node in places:
        if line == case.recorded.header or k in case.recorded.lines and case.recorded.ran(k, line):
            left, right, true = compared(node, case.at(d["iteration"], line), d["item"])
            found.append(equal(left, d["left"]) and equal(right, d["right"]) and true == d["holds"])
    demand(any(found), f"{d['text']} is otherwise in iteration {d['iteration']}")
    demand(OPS[d["op"]](number(d["left"]), number(d["right"])) == d["holds"], "its numbers compare otherwise")


def about_rests(d: Data, case: Case) -> None:
    last = max(d["last"], min(case.last - 1, 500)) if d["closed"] else d["last"]
    case.states_from(d["first"], d["last"])
    both = case.sides(d["clause"])
    for k in range(d["first"], last + 1):
        if k > d["last"] and k not in case.recorded.lines:
            break
        x, t = both(k)
        demand(equal(x, d["value"]), f"it is {x} in iteration {k}")
        demand(equal(t, d["clause"]["threshold"]), f"the threshold is {t} in iteration {k}")
        demand(_op(d)(x, t), f"the comparison is false in iteration {k}")


def about_circles(d: Data, case: Case) -> None:
    n = d["n"]
    pairs = _pairs(d, case, d["first"], d["first"] + 2 * n - 1)
    xs = [x for x, _ in pairs]
    demand([bits(x) for x in xs[:n]] == [bits(x) for x in xs[n:]], "the values do not repeat")
    demand(equal(min(xs), d["lowest"]) and equal(max(xs), d["highest"]), f"from {min(xs)} to {max(xs)}")
    demand(not d["always"] or all(_op(d)(x, t) for x, t in pairs), "the comparison turns")


def about_observed(d: Data, case: Case) -> None:
    pairs = _pairs(d, case, d["first"], d["last"])
    demand(all(_op(d)(x, t) for x, t in pairs), "the comparison turns")
    nearest = min(abs(float(x) - float(t)) for x, t in pairs)
    demand(nearest == d["nearest"], f"the sides come as near as {nearest}")


def about_steps_over(d: Data, case: Case) -> None:
    (a, s), (b, t) = _pairs(d, case, d["iteration"] - 1, d["iteration"])
    demand(equal(a, d["before"]) and equal(b, d["after"]), f"it goes from {a} to {b}")
    demand(a < s and b > t or a > s and b < t, "it does not pass")
    if d["step"] is not None:
        step = abs(float(number(b)) - float(number(a)))
        demand(abs(step - abs(d["step"])) <= 1e-3 * step, f"its step is {step}")


def about_residue(d: Data, case: Case) -> None:
    pairs = _pairs(d, case, d["first"], d["last"])
    whole = 1 << d["bits"] if d["bits"] else 0
    for (a, _), (b, _) in zip(pairs, pairs[1:], strict=False):
        rest = int(b) - int(a) - d["step"]
        demand(rest % whole == 0 if whole else rest == 0, f"a step is {int(b) - int(a)}")
    way = int(d["clause"]["threshold"]) - int(pairs[-1][0])
    demand(way % gcd(abs(d["step"]), whole) != 0, "the threshold can be met")


def about_every_number(d: Data, case: Case) -> None:
    limits, t = np.iinfo(d["clause"]["dtype"]), int(d["clause"]["threshold"])
    demand(
        d["clause"]["op"] not in ("==", "!=") and _op(d)(int(limits.min), t) and _op(d)(int(limits.max), t), "not all"
    )
    x, _ = case.sides(d["clause"])(0)
    demand(np.asarray(x).dtype == d["clause"]["dtype"], f"the dtype is {np.asarray(x).dtype}")


def about_moves_away(d: Data, case: Case) -> None:
    pairs = _pairs(d, case, d["first"], d["last"])
    whole = all(np.asarray(v).dtype.kind in "iu" for pair in pairs[:1] for v in pair)
    kind = int if whole else float
    gaps = [abs(kind(x) - kind(t)) for x, t in pairs]
    demand(equal(pairs[-1][0], d["value"]), f"it is {pairs[-1][0]}")
    demand(all(_op(d)(x, t) for x, t in pairs), "the comparison turns")
    demand(len(gaps) > 1 and all(b > a for a, b in zip(gaps, gaps[1:], strict=False)), "it comes nearer")
    if d["step"] is not None:
        steps = {kind(b[0]) - kind(a[0]) for a, b in zip(pairs, pairs[1:], strict=False)}
        demand(steps == {number(d["step"])}, f"the steps are {sorted(steps)[:3]}")


def about_infinite(d: Data, case: Case) -> None:
    ks = [d["last"], *([d["since"], d["since"] - 1] if d["since"] else [])]
    values = [_pairs(d, case, k, k)[0][0] for k in ks]
    demand(is_inf(values[0]), f"it is {values[0]}")
    if d["since"]:
        demand(is_inf(values[1]) and not is_inf(values[2]) and not is_nan(values[2]), f"not since {d['since']}")


def about_period(d: Data, case: Case) -> None:
    since, n = d["since"], d["n"]
    case.states_from(since, since + 2 * n)
    names = sorted(case.body.of_condition())
    rows = [_row(case, names, k) for k in range(since, since + 2 * n + 1)]
    demand(rows[0] == rows[n] == rows[2 * n], f"the state of {names} does not return")
    demand(rows.index(rows[0], 1) == n, f"it returns after {rows.index(rows[0], 1)}")
    demand(case.recorded.end is None, "the loop ends")


def _row(case: Case, names: list[str], k: int) -> tuple[Any, ...]:
    return tuple(bits(case.recorded.states[k].get(name)) for name in names)


def about_first_bad(d: Data, case: Case) -> None:
    names, k, n = d["names"], d["iteration"], d["n"]
    case.states_from(k, k + 2 * n)
    rows = {j: _row(case, names, j) for j in case.recorded.known(0, case.last)}
    pattern = {rows[j] for j in case.recorded.known(k, k + 2 * n)}
    demand(len(pattern) == n, f"{len(pattern)} different values repeat, not {n}")
    demand(all(row in pattern for j, row in rows.items() if j >= k), "other values come later")
    demand(k == 0 or rows[k - 1] not in pattern, "it was bad before")


def about_overshoots(d: Data, case: Case) -> None:
    states = case.states_from(d["first"], d["last"])
    x = [float(picked(s[d["variable"]], d["item"])) for s in states]
    steps = [b - a for a, b in zip(x, x[1:], strict=False)]
    demand(len(steps) > 2 and all(a * b < 0 for a, b in zip(steps, steps[1:], strict=False)), "signs do not alternate")
    size = abs(steps[-1]) / abs(steps[0])
    demand(size >= 0.9 and (size > 1.5) == d["grows"], f"the steps change by the factor {size}")


def about_sign_flips(d: Data, case: Case) -> None:
    before, now = case.states_from(d["iteration"] - 1, d["iteration"])
    for name in d["names"]:
        a, b = (np.asarray(s[name], np.float64) for s in (before, now))
        demand(np.abs(b).max() > 0 and np.abs(a + b).max() <= 1e-6 * np.abs(b).max(), f"{name} goes from {a} to {b}")


def about_ray(d: Data, case: Case) -> None:
    since, period = d["since"], d["period"]
    last = case.last if d["periods"] is None else min(case.last, since + period * d["periods"])
    if last < since + period:
        raise Unchecked("the ray was not run")
    for k in case.recorded.known(since, last - period):
        now, later = case.recorded.states[k], case.recorded.states[k + period]
        if not later:
            continue
        for name, step in d["steps"].items():
            variable, _, index = name.partition("[")
            if variable not in now:
                raise Unchecked(f"{name} does not stand in the source")
            if (k - since) % period == 0:
                item = tuple(map(int, index.rstrip("]").split(","))) if index else None
                before, after = (picked(s[variable], item) for s in (now, later))
                change = number(after) - number(before)
                demand(change == step, f"{name} changes by {change} from iteration {k}")


def about_bounded(d: Data, case: Case) -> None:
    known = case.recorded.known(d["since"], case.last)
    if not known:
        raise Unchecked(f"iteration {d['since']} was not run")
    for name, (low, high) in d["bounds"].items():
        for k in known:
            if name not in case.recorded.states[k]:
                raise Unchecked(f"{name} does not stand in the source")
            value = np.asarray(case.recorded.states[k][name])
            inside = (low is None or value >= number(low)) & (high is None or value <= number(high))
            demand(np.all(inside | (is_nan(value) and name in d["or_nan"])), f"{name} is {value} in iteration {k}")
    demand(case.recorded.end is None, "the loop ends")


CHECKS = {
    "bounded": about_bounded,
    "compared": about_compared,
    "rests": about_rests,
    "circles": about_circles,
    "observed": about_observed,
    "steps-over": about_steps_over,
    "residue": about_residue,
    "every-number": about_every_number,
    "moves-away": about_moves_away,
    "infinite": about_infinite,
    "period": about_period,
    "first-bad": about_first_bad,
    "overshoots": about_overshoots,
    "sign-flips": about_sign_flips,
    "ray": about_ray,
}
