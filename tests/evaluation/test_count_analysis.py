"""The counts of the analysis: what counts as a branch, a threshold and a calibrated number."""

from __future__ import annotations

import ast

import pytest

from tests.evaluation.count_analysis import ROOMS, counted, of_python, sources, table


def test_counts_of_python():
    source = "TABLE = {'a': (0.5, 0.7)}\nLEAST = 8\n"
    source += "def f(x):\n    if x > 3.5 and x != 0:\n        return [y for y in x if y]\n"
    counts = of_python(ast.parse(source))
    assert dict(counts) == {"functions": 1, "ifs": 2, "thresholds": 1, "calibrated": 2, "constants": 1}


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_sources_with_lines(room):
    found = sources(room)
    assert len(found) == len(set(found)) > 8 and all(counted(path)["lines"] >= 0 for path in found)
    assert sum(counted(path)["lines"] for path in found) == table()[room]["lines"] <= table()["all"]["lines"]


def test_kernels_have_branches_and_functions():
    path = next(p for p in sources("labels") if p.suffix == ".pxi")
    assert counted(path)["functions"] > 2 and counted(path)["ifs"] > 5
