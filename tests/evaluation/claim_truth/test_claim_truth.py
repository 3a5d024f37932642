"""Every claim of every answer about random loops holds in plain Python, and a fault in any kind of claim is found."""

from __future__ import annotations

import pytest

from tests.evaluation.claim_truth.judged import CHECKS, Counts, judge
from tests.evaluation.claim_truth.mechanisms import MECHANISMS
from tests.evaluation.claim_truth.programs import program
from workbench.analysis.claims.sentences import SENTENCES

#: kinds that are no property of a program that plain Python runs, and why
ELSEWHERE = {
    "about-to-begin": "it is about where a session stands: plain Python does not stand still before a condition",
    "stopped-by-caller": "a loop that was recorded is given up by its caller, not by the program",
    "edited": "a value was written by hand in the session",
}


def judged(seeds: range, folder) -> Counts:
    counts = Counts()
    for seed in seeds:
        judge(program(seed), folder, counts)
    print(counts)
    assert not counts.wrong, "\n".join(counts.wrong)
    assert not counts.missed, "\n".join(counts.missed)
    return counts


@pytest.mark.slow
def test_no_claim_is_wrong_in_plain_python(tmp_path):
    counts = judged(range(len(MECHANISMS)), tmp_path)
    assert sum(counts.recomputed.values()) > 200
    assert len(counts.unchecked) <= 0.02 * sum(counts.claims.values()), counts.unchecked
    assert sum(counts.far.values()) <= 0.05 * sum(counts.claims.values()), counts.far
    found = {fault.split()[0] for fault in counts.faults}
    assert {"guard", "absorbed", "saturated", "wraps", "nan", "origin", "period", "first-bad"} <= found, found


@pytest.mark.sweep
def test_no_claim_of_thousands_of_programs_is_wrong(tmp_path):
    counts = judged(range(len(MECHANISMS), 3000), tmp_path)
    assert len(counts.unchecked) <= 0.01 * sum(counts.claims.values()), counts.unchecked
    met = {kind for kind, n in counts.recomputed.items() if n} - {"verdict"}
    unfound = met - {fault.split()[0] for fault in counts.faults}
    assert not unfound, f"no fault was found in claims of the kinds {unfound}"


def test_each_kind_of_claim_is_recomputed_here_or_named():
    assert set(SENTENCES) - set(CHECKS) == set(ELSEWHERE)
