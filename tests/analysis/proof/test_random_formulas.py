"""Questions about random loops over all ops that formulas have: no error but the workbench's own, and no wrong proof.

A stand is anywhere in a run: in the middle of an iteration, after edits and steps back, whatever the trace keeps.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest

from tests.analysis.proof.check_answers import asked
from tests.analysis.proof.random_formulas import RandomFormulas


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("part", range(2))
def test_random_formulas(part):
    counts = sum((asked(seed) for seed in range(100 * part, 100 * part + 20)), Counter())
    assert counts["PROVED terminates"] >= 5 and counts["PROVED never"] >= 5 and counts["argued"] >= 5, counts


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_random_formulas_in_which_numbers_below_the_normal_range_are_zero():
    counts = sum((asked(seed, flushed=True) for seed in range(400, 440)), Counter())
    assert counts["PROVED terminates"] >= 5 and counts["PROVED never"] >= 5 and counts["argued"] >= 5, counts


@pytest.mark.sweep
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("part", range(4))
def test_random_formulas_swept(part):
    """Fixed seeds; WORKBENCH_SWEEP sets how many."""
    for seed in range(1000 + part, 1000 + int(os.environ.get("WORKBENCH_SWEEP", "240")), 4):
        asked(seed)
        asked(seed, flushed=True)


def test_the_programs_use_the_ops_of_formulas():
    """All that conditions can have: what is drawn over some hundred programs covers them."""
    ops = {node.op for seed in range(250) for node in RandomFormulas(seed).graph.nodes.values()}
    wanted = {
        "less",
        "equal",
        "logical_and",
        "logical_xor",
        "add",
        "multiply",
        "remainder",
        "floor_divide",
        "power",
        "exp",
        "log",
        "sqrt",
        "sin",
        "where",
        "maximum",
        "clip",
        "cast",
        "left_shift",
        "right_shift",
        "bitwise_and",
        "invert",
        "sum",
        "max",
        "any",
        "getitem",
        "gather",
        "setitem",
        "tile",
        "roll",
        "slice",
        "sort",
        "Switch",
    }
    assert wanted <= ops, wanted - ops
    assert len(ops) > 100
