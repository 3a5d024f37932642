"""A question about a loop whose inner loops end is answered, also where nothing is found: work is bounded."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.evaluation.proof_programs import Program
from workbench.analysis.slicing import work

#: state without a cycle in reach, and an inner loop: the slice counts as slow, and no inner loop hangs
PROGRAM = Program(
    {"x": ("int64", -7), "y": ("uint8", 64)},
    "(((cast(100, 'int64') ^ cast(x, 'int64')) + (y - y)) != 0.9)",
    {"x": "x * 3 + -9223372036854775806", "y": "y % 4 + 10"},
    inner=("j < cast(y, 'int64') % 5", "t + j"),
)


@pytest.mark.parametrize("seconds", [0.02, 0.2])
def test_a_loop_whose_inner_loops_end_is_not_followed_for_ever(seconds):
    graph, feeds = PROGRAM.graph()
    with wb.Session(graph, feeds) as session:
        begin = work.now()
        answer = session.termination(("loop",), seconds)
        assert answer.status.name == "UNKNOWN" and work.now() - begin < 20 * max(seconds, 0.2)
