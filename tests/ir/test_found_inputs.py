"""Inputs of the wrong kind, as a new user gives them: one clear error each."""

from __future__ import annotations

import pytest

import workbench as wb


def graph() -> wb.Graph:
    b = wb.GraphBuilder("count")
    return b.build(b.while_loop(lambda i: i < 3, lambda i: i + 1, {"i": 0}))


@pytest.mark.parametrize(
    ("call", "slug"),
    [
        (lambda: graph().run(5), "feeds-type"),
        (lambda: wb.Session("graph"), "not-a-graph"),
        (lambda: wb.GraphBuilder("b").while_loop(lambda st: st, lambda st: st, {"i": 0}), "loop-parameters"),
    ],
)
def test_one_clear_error(call, slug):
    with pytest.raises(wb.WorkbenchError) as caught:
        call()
    assert caught.value.slug == slug and caught.value.fix


def test_bitwise_connectives_of_conditions():
    b = wb.GraphBuilder("either")
    i, j = b.while_loop(lambda i, j: (i < 10) | (j < 5), lambda i, j: (i + 1, j), [0, 0])
    with wb.Session(b.build([i, j])) as session:
        session.next_iteration()
        answer = session.termination()
    assert answer.outcome == "never" and answer.blocking_clause.startswith("j < 5") and answer.root[0] == "j"
