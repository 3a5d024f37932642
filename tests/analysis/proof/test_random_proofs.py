"""Random loops against brute force in the operands' own dtypes: no proof may be wrong, and almost all are found."""

from __future__ import annotations

import random

import pytest

import workbench as wb
from tests.evaluation.random_loops.in_graphs import RandomLoop
from workbench.analysis import Status
from workbench.analysis.termination.proof_cache import TerminationCache

#: iterations that are run to know the truth
LIMIT = 3000


def stops(n: int | None, seed: int) -> list[int]:
    """Iterations at which questions are asked: the first, one in the middle, one near the end."""
    middle = random.Random(seed).randint(1, 40)
    return [0, middle] if n is None else sorted({0, min(n, 1), n // 2, max(n - 1, 0)})


@pytest.mark.slow
@pytest.mark.parametrize("block", range(12))
def test_random_loops(block):
    told = {"ends": 0, "never": 0, "proved": 0}
    for seed in range(block * 25, block * 25 + 25):
        loop = RandomLoop(seed)
        truth, n = loop.truth(LIMIT)
        try:
            graph = loop.graph()
        except wb.WorkbenchError:  # the carried dtype would change
            continue
        with wb.Session(graph, {}) as session:
            for stop in stops(n if truth == "ends" else None, seed):
                session.restart()
                if seed % 2:  # computed again; the other half may keep the proof of the previous stop
                    session._proofs = TerminationCache()
                session.next_iteration(1 + stop)
                if seed % 3 == 0 and session.state == "paused":
                    session.step(3)
                    session.step_back(2)
                if session.state != "paused":
                    continue
                done = max(session.snapshot().iterations[("while",)], 0)
                answer = session.termination()
                proved = answer.status is Status.PROVED
                if truth == "ends":
                    assert answer.outcome == "terminates" and proved, (seed, stop, n, str(answer))
                    assert answer.remaining == n - done, (seed, stop, n, str(answer))
                    told["ends"] += 1
                elif truth == "never":
                    assert answer.outcome != "terminates" or not proved, (seed, stop, str(answer))
                    told["never"] += 1
                    told["proved"] += proved and answer.outcome == "never"
                elif proved and answer.outcome == "terminates":
                    low, high = answer.interval
                    assert high >= LIMIT - done, (seed, stop, str(answer))
    assert told["ends"] >= 15 and told["never"] >= 3
    assert told["proved"] >= 0.95 * told["never"]
