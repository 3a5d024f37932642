"""Loops whose cause was once reported wrongly, each with other parameters, in float32, with an additional counter or
branch, or as an array. Plain Python computes the truth; every claim of every answer is recomputed.
"""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb

F32 = np.float32


def asked(function, *given):
    graph = function.graph_for(*given)
    with wb.Session(graph, dict(zip(graph.inputs, given, strict=True))) as session:
        answer = session.termination()
        assert all(claim.check() for claim in answer.claims), answer
        return answer


# -- Newton's method for a polynomial without a real root wanders, and has no limit ------------------------------------
@wb.graph
def newton(x, c):
    while abs(1 + c * x + 3 * x * x) > c * 1e-9:
        x = x - (1 + c * x + 3 * x * x) / (c + 6 * x)
    return x


@wb.graph
def newton_counted(x, c):
    k = 0
    while abs(1 + c * x + 3 * x * x) > c * 1e-9:
        k += 1
        x = x - (1 + c * x + 3 * x * x) / (c + 6 * x)
    return x, k


@pytest.mark.parametrize(
    ("function", "x", "c"), [(newton, -0.5, 2.0), (newton, 0.7, 2.0), (newton, -0.5, 1.0), (newton_counted, -0.5, 2.0)]
)
def test_what_wanders_is_not_said_to_tend_to_a_limit(function, x, c):
    answer = asked(function, x, c)
    assert answer.outcome != "terminates" and answer.status.name != "PROVED"
    assert not any(word in str(answer) for word in ("tend", "limit of", "comes to rest", "move the threshold"))


@pytest.mark.parametrize(("function", "x", "c"), [(newton, -0.5, 2.0), (newton, 0.7, 2.0), (newton_counted, 0.3, 2.0)])
def test_a_period_in_float32_is_that_of_two_turns(function, x, c):
    x, c = F32(x), F32(c)
    answer = asked(function, x, c)
    seen, k = {}, 0
    while float(x) not in seen:
        seen[float(x)] = k
        x, k = x - (1 + c * x + 3 * x * x) / (c + 6 * x), k + 1
    period = k - seen[float(x)]
    assert (answer.status.name, answer.outcome) == ("PROVED", "never")
    assert [c.n for c in answer.claims if c.kind == "period"] == [period]


# -- a bisection that comes to rest above its tolerance ----------------------------------------------------------------
@wb.graph
def cube_root(a, tol):
    low, high, root = a - a, a, a / 2
    while abs(root**3 - a) >= tol:
        if root**3 < a:
            low = root
        else:
            high = root
        root = (low + high) / 2
    return root


@wb.graph
def cube_root_counted(a, tol):
    low, high, root = a - a, a, a / 2
    count = 0
    while abs(root**3 - a) >= tol:
        count += 1
        if root**3 < a:
            low = root
        else:
            high = root
        root = (low + high) / 2
    return root, count


@wb.graph
def narrowed(a, tol):
    low, high = a - a, a
    while high - low > tol:
        middle = (low + high) / 2
        if middle**3 < a:
            low = middle
        else:
            high = middle
    return low


def at_rest(a, tol) -> tuple[int, int]:
    """The iterations from which on root keeps its value, and low and high do."""
    low, high, root = a - a, a, a / 2
    roots, ends = [root], [(low, high)]
    for _ in range(400):
        low, high = (root, high) if root**3 < a else (low, root)
        root = (low + high) / 2
        roots, ends = [*roots, root], [*ends, (low, high)]
    return since_when(roots), since_when(ends)


def since_when(values) -> int:
    k = len(values) - 1
    while values[k - 1] == values[-1]:
        k -= 1
    assert k < len(values) - 1
    return k


BISECTIONS = [(100.0, 1e-14), (7e30, 1e-7), (F32(100), F32(1e-9))]


@pytest.mark.parametrize("function", [cube_root, cube_root_counted])
@pytest.mark.parametrize(("a", "tol"), BISECTIONS)
def test_a_bisection_at_rest_is_proved_and_told_from_where_on_it_rests(function, a, tol):
    answer = asked(function, a, tol)
    assert (answer.status.name, answer.outcome) == ("PROVED", "never")
    assert answer.first_bad == at_rest(a, tol)[0]


@pytest.mark.parametrize(("a", "tol"), [(100.0, 1e-16), (7e30, 1e-7), (F32(100), F32(1e-9))])
def test_the_first_bad_iteration_is_that_from_which_on_both_ends_rest(a, tol):
    answer = asked(narrowed, a, tol)
    assert (answer.status.name, answer.outcome) == ("PROVED", "never")
    assert answer.first_bad == at_rest(a, tol)[1]


# -- numbers that decide have the digits that tell them apart ----------------------------------------------------------
@wb.graph
def clock(time, stop, step):
    while time <= stop:
        time = time + step
    return time


@wb.graph
def clock_counted(time, stop, step):
    k = 0
    while time <= stop:
        time, k = time + step, k + 1
    return time, k


@pytest.mark.parametrize("function", [clock, clock_counted])
@pytest.mark.parametrize("kind", [np.float64, F32])
@pytest.mark.parametrize(("stop", "step"), [(100, 0.01), (10, 0.1), (3, 0.001)])
def test_the_sides_at_the_end_are_told_apart(function, kind, stop, step):
    time, stop, step = kind(0), kind(stop), kind(step)
    answer = asked(function, time, stop, step)
    k = 0
    while time <= stop:
        time, k = time + step, k + 1
    assert answer.remaining == k
    left, _, right = answer.clause_when.rsplit(": ", 1)[1].rstrip(")").partition(" <= ")
    assert float(left) > float(right) == float(stop) and abs(kind(left) - time) <= 1e-8 * time


# -- a sum of an array whose items stall one after the other -----------------------------------------------------------
@wb.graph
def filled(x, one, goal):
    while x.sum() < goal:
        x = x + one
    return x


@wb.graph
def filled_counted(x, one, goal):
    k = 0
    while x.sum() < goal:
        x, k = x + one, k + 1
    return x, k


@pytest.mark.parametrize(
    ("function", "x"), [(filled, [-5e7, 1.0]), (filled, [-6e7, 5.0]), (filled_counted, [-5e7, 1.0])]
)
def test_the_sum_at_which_an_array_stalls_is_told_with_its_iteration(function, x):
    """From -2^25 down the step of 1 is lost at once; the other item counts to 2^24."""
    x = np.array(x, F32)
    answer = asked(function, x, F32(1), F32(10))
    k = int(2**24 - x[1])
    rest = np.where(x > 0, F32(2**24), x).astype(F32).sum()
    assert (answer.status.name, answer.outcome, answer.first_bad) == ("PROVED", "never", k)
    assert float(answer.details["operand_value"]) == float(rest)
    assert "not changed" not in str(answer) and "wrap" not in str(answer)


# -- a counter that goes up for long before it goes down ---------------------------------------------------------------
@wb.graph
def turns_back(k: int, high: int, down: int):
    counter = 1
    while counter > 0:
        counter += 1 if k < high else down
        k += 1
    return counter


@wb.graph
def turns_back_counted(k: int, high: int, down: int):
    counter, trips = 1, 0
    while counter > 0:
        trips += 1
        if k < high:
            counter += 1
        else:
            counter += down
        k += 1
    return counter, trips


@pytest.mark.parametrize("function", [turns_back, turns_back_counted])
@pytest.mark.parametrize(("high", "down"), [(10**7, -5), (10**6, -3), (10**12, -7)])
def test_a_counter_that_turns_back_late_ends_at_its_exact_iteration(function, high, down):
    answer = asked(function, 0, high, down)
    assert (answer.status.name, answer.remaining) == ("PROVED", high + -(-(1 + high) // -down))


# -- the branch that keeps a value, in arrays --------------------------------------------------------------------------
@wb.graph
def masked(y, n, top, step):
    while y.min() < n:
        y = y + np.where(y < top, step, top - top)
    return y


@wb.graph
def masked_counted(y, n, top, step):
    k = 0
    while y.min() < n:
        k += 1
        y = y + np.where(y < top, step, top - top)
    return y, k


@pytest.mark.parametrize("function", [masked, masked_counted])
@pytest.mark.parametrize("kind", [np.float64, F32])
@pytest.mark.parametrize("y", [[0.0, 1.0], [2.0, 0.5, 3.0]])
def test_the_mask_that_keeps_an_array_is_named(function, kind, y):
    answer = asked(function, np.array(y, kind), kind(10), kind(5), kind(0.5))
    assert (answer.status.name, answer.outcome) == ("PROVED", "never")
    assert "rounding" not in answer.reason.sentence and "y < top" in answer.reason.sentence
