"""Transients and periods of thousands of iterations are run to their end and proved, also with counters."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb


def asked(function, *values):
    graph = wb.graph(function).graph_for(*values)
    with wb.Session(graph, dict(zip(graph.inputs, values, strict=True))) as session:
        return session.termination()


def newton_without_a_root(x):
    while abs(np.float32(1) + np.float32(2) * x + np.float32(3) * x * x) > np.float32(1e-6):
        x = x - (np.float32(1) + np.float32(2) * x + np.float32(3) * x * x) / (np.float32(2) + np.float32(6) * x)
    return x


def logistic(rate):
    x = np.float32(0.3)
    while x < np.float32(1.5):
        x = rate * x * (np.float32(1) - x)
    return x


def swept(x, m):
    n = 0
    while x != 0:
        s = 0
        for i in range(5):
            s = (s + x * i) % m
        x = (7 * x + 3 + s) % m
        n += 1
    return n


@pytest.mark.parametrize(
    ("function", "values", "period"),
    [
        (newton_without_a_root, (np.float32(-0.5),), 1013),
        (logistic, (np.float32(3.99),), 1577),
        (swept, (1, 4523), 2261),
    ],
)
def test_a_period_of_thousands_is_proved(function, values, period):
    answer = asked(function, *values)
    assert (answer.status.name, answer.outcome) == ("PROVED", "never"), answer
    (claim,) = [c for c in answer.claims if c.kind == "period"]
    assert claim.n == period and claim.check()


def bisected(goal, high, tolerance):
    low, count = 0.0, 0
    while high - low > tolerance:
        middle = (low + high) / 2
        if middle * middle * middle > goal:
            high = middle
        else:
            low = middle
        count += 1
    return count


@pytest.mark.parametrize(("goal", "tolerance"), [(1e-115, 1e-200), (1e-200, 1e-100), (1e-290, 1e-130)])
def test_a_bisection_rests_from_the_iteration_in_which_both_its_bounds_do(goal, tolerance):
    low, high, rests = 0.0, 1e37, 0
    for k in range(1, 2000):
        middle = (low + high) / 2
        before = low, high
        low, high = (low, middle) if middle * middle * middle > goal else (middle, high)
        rests = rests if (low, high) == before else k
    answer = asked(bisected, goal, 1e37, tolerance)
    assert (answer.status.name, answer.outcome, answer.first_bad) == ("PROVED", "never", rests), answer


def fails_in_the_period(x, m):
    y = 0
    while x != m + 1:
        x = (7 * x + 3) % m
        y = 10 // (x - 4000)
    return y


def test_a_node_that_fails_within_the_period_is_told():
    x, n = 1, 0
    while (x := (7 * x + 3) % 4523) != 4000:
        n += 1
    answer = asked(fails_in_the_period, 1, 4523)
    assert answer.outcome is None and answer.details["fails_after"] == n, answer
