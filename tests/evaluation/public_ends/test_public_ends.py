"""Loops of public threads: how each ended is told as Python ran it."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.evaluation.public_ends.programs import PUBLIC_LOOPS, PublicLoop


@pytest.mark.parametrize("loop", PUBLIC_LOOPS, ids=[f"{p.function.__name__}-{k}" for k, p in enumerate(PUBLIC_LOOPS)])
def test_how_a_loop_of_a_public_thread_ended(loop: PublicLoop):
    with np.errstate(all="ignore"):
        *_, iterations = loop.function(*loop.arguments)
    graph = wb.graph(loop.function).graph_for(*loop.arguments)
    with wb.Session(graph, dict(zip(graph.inputs, loop.arguments, strict=True))) as session:
        ahead = session.termination()
        assert ahead.outcome in ("terminates", None) and not ahead.over
        if ahead.ahead is not None:  # seen before it has run
            assert (ahead.ahead.standing, ahead.ahead.iterations) == (loop.standing, iterations)
        session.run()
        answer = session.termination()
        assert answer.end is not None
        assert (answer.end.standing, answer.end.iterations) == (loop.standing, iterations), answer
        assert loop.words in str(answer), answer
        assert answer.end.headline in wb.analyze(session).report(200)
