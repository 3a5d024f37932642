"""Sixty loops of known truth, and what rays, identities and parts prove of them."""

import pytest

import workbench as wb
from tests.analysis.proof.fresh_loops import ENDLESS, ENDS
from workbench.analysis import Status


def asked(function):
    with wb.Session(wb.graph(function).graph_for(), {}) as session:
        return session.termination()


@pytest.mark.parametrize("function", ENDLESS, ids=lambda f: f.__name__)
def test_a_loop_that_never_ends_is_proved(function):
    answer = asked(function)
    assert (answer.status, answer.outcome) == (Status.PROVED, "never"), answer


@pytest.mark.parametrize(("function", "count"), ENDS, ids=lambda x: getattr(x, "__name__", ""))
def test_an_end_is_exact(function, count):
    answer = asked(function)
    assert (answer.status, answer.outcome, answer.remaining) == (Status.PROVED, "terminates", count), answer
