"""Loops that do not end, by the mechanism that keeps them from it, each in several forms: other numbers, float32, a
counter beside it, a branch. The truth is written beside each loop; every claim of every answer recomputes itself."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb

F32 = np.float32


@wb.graph
def branch(n, top, step):
    y = top - top
    while y < n:
        if y < top:
            y = y + step
    return y


@wb.graph
def branch_and_counter(n, top, step):
    y = top - top
    k = 0
    while y < n:
        k = k + 1
        if y < top:
            y = y + step
    return y, k


@wb.graph
def mask(n, top, step):
    y = top - top
    while y < n:
        y = y + np.where(y < top, step, top - top)
    return y


@wb.graph
def goes_on(n: int, at: int):
    i = 0
    s = 0
    while i < n:
        if i == at:
            continue
        i += 1
        s += i
    return s


@wb.graph
def halved_above(low, y):
    while y > low / 4:
        if y > low:
            y = y / 2
    return y


@wb.graph
def adaptive(h, x):
    t = h - h
    while t < 1:
        err = abs(np.sqrt(x))
        if err < 1:
            t = t + h
        else:
            h = h * h
    return t


@wb.graph
def clock(stop, step):
    time = step - step
    while time <= stop:
        time = time + step
    return time


@wb.graph
def scaled(limit: int, factor: int):
    i = 0
    while i < limit:
        i = i + limit * (factor - factor)
    return i


@wb.graph
def capped(n: int, top: int):
    i = 0
    while i < n:
        i = min(i + 1, top)
    return i


@wb.graph
def cut(n: int, share: float):
    i = 1
    while i < n:
        i = int(i * share)
    return i


@wb.graph
def wrapping(n: np.int32):
    while n > 0:
        n = n * np.int32(3)
    return n


@wb.graph
def collatz(n: np.int32):
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = np.int32(3) * n + np.int32(1)
    return n


@wb.graph
def leaves(x: float, low: float):
    k = 0
    while True:
        x = x * 0.5 + low
        k += 1
        if x < low:
            break
    return x


@wb.graph
def flagged(x: float, goal: float):
    done = False
    while not done:
        x = 0.5 * x + 1.0
        if x > goal:
            done = True
    return x


def asked(function, feeds):
    with wb.Session(function.graph_for(**feeds), feeds) as session:
        answer = session.termination()
        assert all(claim.check() for claim in answer.claims), answer
        return answer


GUARDS = [
    (branch, {"n": 10.0, "top": 5.0, "step": 1.0}, "y", "y < top", 5),
    (branch, {"n": 100.0, "top": 7.5, "step": 0.5}, "y", "y < top", 15),
    (branch, {"n": F32(10), "top": F32(5), "step": F32(0.25)}, "y", "y < top", 20),
    (branch_and_counter, {"n": 10.0, "top": 5.0, "step": 1.0}, "y", "y < top", 5),
    (mask, {"n": 10.0, "top": 5.0, "step": 0.5}, "y", "y < top", 10),
    (mask, {"n": F32(9), "top": F32(3), "step": F32(0.5)}, "y", "y < top", 6),
    (mask, {"n": 10.0, "top": 600.0, "step": 0.0}, "y", None, 0),
    (goes_on, {"n": 10, "at": 5}, "i", "i == at", 5),
    (goes_on, {"n": 1000, "at": 700}, "i", "i == at", 700),
    (halved_above, {"low": 3.0, "y": 9.0}, "y", "y > low", 2),
    (halved_above, {"low": F32(1), "y": F32(1024)}, "y", "y > low", 10),
    (adaptive, {"h": 0.5, "x": 4.0}, "t", "err < 1", 0),
    (adaptive, {"h": F32(0.5), "x": F32(-1)}, "t", "err < 1", 0),
]


@pytest.mark.parametrize(("function", "feeds", "variable", "predicate", "since"), GUARDS)
def test_the_branch_that_keeps_the_value_is_named(function, feeds, variable, predicate, since):
    answer = asked(function, feeds)
    assert answer.outcome == "never"
    if predicate is None:  # the step itself is 0
        assert answer.reason.slug == "no-effect" and "does not change y" in answer.reason.sentence
        return
    (guard,) = [c for c in answer.claims if c.kind == "guard"]
    assert answer.reason.slug == "guard" and guard.sentence in answer.reason.sentence
    assert (guard.variable, guard.predicate, guard.since) == (variable, predicate, since)
    assert guard.line is not None and "(line" in guard.sentence
    assert "rounding" not in answer.reason.sentence and not any("int64" in fix for fix in answer.fix)


@pytest.mark.parametrize("x", [-1.0, F32(-2)])
def test_an_acceptance_test_that_is_nan_names_the_node_that_made_it(x):
    answer = asked(adaptive, {"h": type(x)(0.5), "x": x})
    kinds = [c.kind for c in answer.claims]
    assert kinds.index("guard") < kinds.index("nan") < kinds.index("origin")
    assert "np.sqrt(x)" in answer.reason.sentence or "sqrt(x)" in answer.reason.sentence


@pytest.mark.parametrize(
    ("stop", "step", "stall"), [(1e17, 1.0, 2.0**53), (F32(1e9), F32(1), 2.0**24), (F32(1e9), F32(2), 2.0**25)]
)
def test_a_counter_stalls_where_its_dtype_has_no_room_for_the_step(stop, step, stall):
    answer = asked(clock, {"stop": stop, "step": step})
    found = [c for c in answer.claims if c.kind in ("stalls", "absorbed")]
    assert answer.outcome == "never" and answer.reason.slug == "absorbed" and found
    assert float(found[0].value if found[0].kind == "stalls" else found[0].operand) == stall
    assert "move the threshold" not in " ".join(answer.fixes_that_help()[:1])


def test_numbers_that_decide_have_the_digits_that_tell_them_apart():
    answer = asked(clock, {"stop": 100.0, "step": 0.01})
    assert answer.remaining == 10_000
    assert answer.clause_when == "time <= stop (false in iteration 10,000: 100.00000000001425 <= 100.0)"


@pytest.mark.parametrize(
    ("function", "feeds", "kind", "words"),
    [
        (scaled, {"limit": 10, "factor": 3}, "neutral", "does not change i"),
        (capped, {"n": 10, "top": 7}, "saturated", "min(i + 1, top) (line 94) holds i at the bound 7"),
        (capped, {"n": 10**6, "top": 5000}, "saturated", "holds i at the bound 5000"),
        (cut, {"n": 10, "share": 1.5}, "truncated", "cuts 1.5 to 1"),
        (leaves, {"x": 1.0, "low": 0.0}, "flag", "left by the break, which takes x < low"),
        (flagged, {"x": 1.0, "goal": 3.0}, "flag", "where done becomes true, which takes x > goal"),
        (flagged, {"x": 1.0, "goal": 2.0}, "flag", "where done becomes true, which takes x > goal"),
    ],
)
def test_the_node_at_which_the_change_is_lost_is_named(function, feeds, kind, words):
    answer = asked(function, feeds)
    assert answer.outcome == "never" and kind in [c.kind for c in answer.claims]
    assert words in answer.reason.sentence


def first_wrap(n: int) -> int:
    k = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        if n >= 2**31:
            return k
        k += 1
    raise ValueError("it does not wrap")


@pytest.mark.parametrize("n", [113383, 159487, 665215, 1212415])
def test_the_first_firing_that_wrapped_is_named(n):
    answer = asked(collatz, {"n": np.int32(n)})
    (wraps,) = [c for c in answer.claims if c.kind == "wraps"]
    assert wraps.iteration == first_wrap(n) and wraps.dtype == "int32" and abs(wraps.exact) >= 2**31
    assert any(fix.kind == "dtype" for fix in answer.fix if hasattr(fix, "kind"))


@wb.graph
def turns_back(k):
    counter = 12
    while counter > 0:
        counter += 1 if k < 1000 else -5
        k += 1
    return counter


@wb.graph
def counts_up(i, one):
    while i > 0:
        i = i + one
    return i


def test_a_counter_that_turns_back_does_not_wrap():
    session = wb.Session(turns_back.graph_for(0), {"k": 0})
    session.next_iteration()
    answer = session.termination()
    assert answer.outcome == "terminates" and "wraps" not in str(answer) and not answer.fix


def test_a_counter_that_ends_by_its_wrap_says_so():
    feeds = {"i": np.int32(1), "one": np.int32(1)}
    session = wb.Session(counts_up.graph_for(*feeds.values()), feeds)
    session.next_iteration()
    assert "It ends only because its int32 wraps around." in str(session.termination())
