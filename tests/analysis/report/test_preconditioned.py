"""Conjugate gradients are recognised with a preconditioner, too, and nothing else is taken for them."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.evaluation.heldout.machines import graph
from tests.evaluation.solver_questions.second.linear import LINEAR


def test_a_preconditioner_stands_between_the_residual_and_the_direction():
    loop = next(x for x in LINEAR if x.name == "preconditioned_conjugate_gradients")
    built, feeds = loop.build()
    with wb.Session(built, feeds) as session:
        session.next_iteration(3)
        method = next(iter(wb.analyze(session).loops.values())).method
    assert method.startswith("conjugate gradients with a preconditioner: x moves along p, r is the residual")
    assert "at most 5 iterations" in method


@pytest.mark.parametrize("other", ["x", "p"])
def test_a_direction_that_is_not_made_of_the_new_residual_has_no_name(other):
    A = np.diag([1.0, 2.0, 5.0])

    def step(x, r, p):
        old = {"x": x, "p": p}[other]
        return {"x": x + 0.1 * p, "r": r - 0.1 * (A @ p), "p": old / np.array([1.0, 2.0, 5.0]) + 0.5 * p}

    start = {name: np.ones(3) for name in "xrp"}
    built, feeds = graph(start, lambda x, r, p: np.sum(r * r) > 1e-8, step)()
    with wb.Session(built, feeds) as session:
        session.next_iteration(3)
        assert not next(iter(wb.analyze(session).loops.values())).method
