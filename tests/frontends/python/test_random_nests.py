"""Random nests of loops and branches on loop invariants end, with the results of Python and of the token interpreter.

Each program is run with every choice of its invariants. A run that takes more events than any of these programs can
need counts as endless.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.frontends.python.agreement import same
from tests.frontends.python.random_nests import Nests
from tests.frontends.python.random_programs import imported
from tests.plan.checks import check_against_reference, run_of
from tests.plan.reference import Reference
from workbench.errors import WorkbenchError
from workbench.plan.reachability import may_raise

MOST_EVENTS = 60_000
#: errors where a graph needs one type for a variable, and Python does not
REFUSALS = ("carried-type", "branch-dtype")


def check(seed: int, folder: Path, tokens: bool) -> None:
    source, r = Nests(random.Random(seed)).program(), random.Random(seed)
    function = imported(source, folder).f
    captured = wb.graph(function)
    for args in [(p, q, r.randint(0, 4), r.choice([0.5, 2.0])) for p in (False, True) for q in (False, True)]:
        try:
            graph = captured.graph_for(*args)
        except WorkbenchError as error:
            assert error.slug in REFUSALS, source
            return
        feeds = {n: np.asarray(v) for n, v in zip("pqmx", args, strict=True) if n in graph.inputs}
        run = run_of(graph, feeds)
        while not run.finished and run.event < MOST_EVENTS:
            run.go(MOST_EVENTS)
        assert run.finished, f"seed {seed} does not end for {args}\n{source}"
        found = captured(*args)
        assert same(function(*args), found), f"seed {seed} gives {found} for {args}\n{source}"
        if tokens:
            wanted = [*graph.outputs.values(), *may_raise(graph)]
            check_against_reference(run, Reference(graph, feeds, wanted, limit=20_000).run())
            assert wb.parse(graph.text()) == graph


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_they_end_and_agree(part, tmp_path):
    for seed in range(part, 60, 4):
        check(seed, tmp_path, seed % 3 == 0)


@pytest.mark.sweep
@pytest.mark.parametrize("part", range(4))
def test_sweep(part, tmp_path):
    """Fixed seeds; WORKBENCH_SWEEP sets their number."""
    for seed in range(1000 + part, 1000 + int(os.environ.get("WORKBENCH_SWEEP", "400")), 4):
        check(seed, tmp_path, seed % 3 == 0)
