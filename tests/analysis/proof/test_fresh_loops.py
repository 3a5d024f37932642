"""Loops of known truth, and proofs about them by rays, identities and parts."""

import pytest

import workbench as wb
from tests.analysis.proof.fresh_loops import FRESH
from tests.analysis.proof.public_loops import PUBLIC
from workbench.analysis import Status


def asked(function):
    with wb.Session(wb.graph(function).graph_for(), {}) as session:
        return session.termination()


@pytest.mark.slow
@pytest.mark.parametrize("function", [*FRESH.never, *PUBLIC.never], ids=lambda f: f.__name__)
def test_a_loop_that_never_ends_is_proved(function):
    if function.__name__ == "inner_of_growing_length":
        pytest.xfail("the loop inside gets longer, and no iteration is like the one before")
    answer = asked(function)
    assert (answer.status, answer.outcome) == (Status.PROVED, "never"), answer


@pytest.mark.parametrize(
    ("function", "count"), [*FRESH.counted, *PUBLIC.counted], ids=lambda x: getattr(x, "__name__", "")
)
def test_an_end_is_exact(function, count):
    answer = asked(function)
    assert (answer.status, answer.outcome, answer.remaining) == (Status.PROVED, "terminates", count), answer
