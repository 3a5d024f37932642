"""Every claim of every answer about random loops holds when plain Python runs the loop again."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from tests.analysis.claims.random_loops import captured, loops, wrong


def counted(seeds, folder) -> tuple[Counter, list[str]]:
    """Kinds of claims that plain Python checked, and the wrong ones."""
    seen, found = Counter(), []
    for seed in seeds:
        loop = loops(np.random.default_rng(seed))
        states = loop.states()
        graph = wb.graph(captured(loop, folder)).graph_for()
        with wb.Session(graph, {}) as session:
            answer = session.termination()
            for claim in answer.claims:
                assert claim.check(), (loop.body, claim)
                verdict = wrong(loop, states, claim)
                seen[claim.kind] += verdict is not None
                if verdict:
                    found.append(f"{seed} {loop.cond} {loop.body}: {claim.sentence} {claim.data}")
    return seen, found


@pytest.mark.slow
def test_plain_python_finds_no_wrong_claim(tmp_path):
    seen, found = counted(range(40), tmp_path)
    assert not found, found
    assert {"guard", "rests", "period", "first-bad", "wraps", "saturated", "nan"} <= set(+seen), seen


@pytest.mark.sweep
def test_plain_python_finds_no_wrong_claim_in_thousands(tmp_path):
    seen, found = counted(range(3000), tmp_path)
    assert not found, found
    assert sum(seen.values()) > 9000, seen


#: kind -> the change that makes it wrong
FAULTS = {
    "guard": lambda c: replace(c, since=(c.since or 0) + 1),
    "rests": lambda c: replace(c, value=c.value * type(c.value)(2) + type(c.value)(1)),
    "period": lambda c: replace(c, n=c.n + 1),
    "first-bad": lambda c: replace(c, iteration=c.iteration + 1),
    "wraps": lambda c: replace(c, exact=c.exact + 1),
    "saturated": lambda c: replace(c, bound=c.bound + type(c.bound)(1)),
    "absorbed": lambda c: replace(c, step=c.step * type(c.step)(64)),
    "stalls": lambda c: replace(c, value=c.value / 4),
    "fixed-point": lambda c: replace(c, value=c.value + type(c.value)(1)),
    "compared": lambda c: replace(c, holds=not c.holds),
    "overshoots": lambda c: replace(c, first=c.first, grows=not c.grows),
}


def test_a_claim_with_another_number_does_not_hold(tmp_path):
    """Each kind once with a fault, which the check of the claim detects."""
    missed, met = [], set()
    for seed in range(40):
        loop = loops(np.random.default_rng(seed))
        with wb.Session(wb.graph(captured(loop, tmp_path)).graph_for(), {}) as session:
            for claim in session.termination().claims:
                if claim.kind in FAULTS:
                    met.add(claim.kind)
                    changed = FAULTS[claim.kind](claim)
                    try:
                        held = changed.check()
                    except (LookupError, ValueError, wb.WorkbenchError):
                        held = False
                    if held and not (claim.kind == "period" and claim.n == 1):
                        missed.append((seed, claim.kind, claim.data, changed.data))
    assert not missed, missed
    assert len(met) >= 8, met
