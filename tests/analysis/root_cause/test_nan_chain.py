"""A loop that NaN or an infinity keeps from ending: its cause is the chain that card, pane, terminal and report show,
begun at the side of the condition that is not finite."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from workbench.analysis.precision import first_nonfinite

#: name -> (the bad step of a number, its start and the op that the chain begins with, and ends with)
STEPS: dict[str, tuple[Any, float, str, str]] = {
    "root": (lambda b, x: b.sqrt(x - 2.0), 9.0, "sqrt", "sqrt"),
    "logarithm": (lambda b, x: b.log(x) - 1.0, 3.0, "log", "log"),
    "difference of infinities": (lambda b, x: b.exp(x * 400.0) - b.exp(x * 500.0), 3.0, "subtract", "exp"),
    "zero times infinity": (lambda b, x: (x - x) * b.reciprocal(x - x), 2.0, "multiply", "reciprocal"),
    "quotient of infinities": (lambda b, x: b.exp(x * 900.0) / b.exp(x * 800.0), 1.0, "divide", "exp"),
}


def endless(kind: str) -> wb.Graph:
    """``while not (x < -5)``; y, which x does not read, is NaN from the beginning where ``a`` is negative."""
    b, (step, start, _, _) = wb.GraphBuilder("endless"), STEPS[kind]

    def holds(i: Any, x: Any, y: Any) -> Any:
        return b.logical_not(x < -5.0)

    def body(i: Any, x: Any, y: Any) -> Any:
        return i + 1, step(b, x), y * 0.5

    i, x, y = b.while_loop(holds, body, (b.constant(0), b.constant(start), b.sqrt(b.placeholder("a"))))
    return b.build({"x": x, "y": y})


@pytest.mark.parametrize("decoy", [False, True], ids=["alone", "beside another NaN"])
@pytest.mark.parametrize("at", [0, 1, 9])
@pytest.mark.parametrize("kind", STEPS)
def test_the_cause_is_the_chain_that_every_screen_shows(kind, at, decoy):
    _, _, op, deepest = STEPS[kind]
    with wb.Session(endless(kind), {"a": -1.0 if decoy else 4.0}) as session:
        for _ in range(at):
            session.next_iteration()
        answer = session.termination()
        links = [c for c in answer.claims if c.kind == "origin"]
        assert answer.outcome == "never" and links, str(answer)
        assert [links[0].op, links[-1].op] == [op, deepest], [c.sentence for c in links]
        assert answer.details["origin"] == links[0].node and answer.details["origin_text"] == links[0].sentence
        assert all(c.sentence in answer.reason.sentence for c in links)
        session.next_iteration(links[0].iteration + 3)
        shown = first_nonfinite(session)
        if decoy:
            assert shown.op == "sqrt" and shown.iteration == ()
            return
        for link in links:
            assert (shown.node, shown.iteration) == (link.node, (link.iteration,))
            shown = shown.because
        assert shown is None
