"""Chaos that may cross its threshold has a probability per iteration; for chaos that cannot, the answer is never."""

import pytest

import workbench as wb
from workbench.analysis.forecast.edge_of_support import together


@wb.graph
def may_come(near: float):
    x = 0.123
    while abs(x - 0.3) > near:
        x = 4.0 * x * (1.0 - x)
    return x


@wb.graph
def may_converge():
    x = 0.5
    while abs(x * x * x - 2.0) > 1e-7:
        x = x - (x * x * x - 2.0) / (0.9 * x * x - 1.9)
    return x


@wb.graph
def stays_below(edge: float):
    x = 0.1
    while x < edge:
        x = 3.9 * x * (1.0 - x)
    return x


def asked(function, **feeds):
    with wb.Session(function.graph_for(**feeds), feeds) as session:
        return session.termination()


@pytest.mark.parametrize("near", [1e-8, 1e-9, 1e-10])
def test_the_chance_is_the_density_at_the_threshold(near):
    answer = asked(may_come, near=near)
    assert (answer.status.name, answer.outcome, answer.reason.slug) == ("UNKNOWN", None, "chance"), answer
    density = 1.0 / (3.141592653589793 * (0.3 * 0.7) ** 0.5)  # of the map x -> 4 x (1 - x), at 0.3
    assert 0.7 < answer.details["chance"] / (2 * near * density) < 1.4


def test_a_wrong_newton_that_may_converge_is_not_told_never_to():
    answer = asked(may_converge)
    assert answer.outcome is None and answer.reason.slug == "chance", answer


def test_a_chance_of_several_clauses_is_told_where_one_that_turns_false_ends_the_loop():
    assert together([(0.1,), None, (0.2,), (None,)], "and") == (0.2,) and together([(0.1,)], "single") == (0.1,)
    assert together([(0.1,), None], "or") is None and together([(0.1,), (0.2,)], "or") == (None,)
    assert together([(0.1,)], "not") == (None,) and together([None], "and") is None


@pytest.mark.parametrize("edge", [0.976, 0.98])
def test_chaos_whose_edge_stays_away_never_crosses(edge):
    assert asked(stays_below, edge=edge).outcome == "never"
