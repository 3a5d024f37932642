"""Random commands of the debugger give the same whatever is kept: stops, places, values, refusals, forks and edits."""

from __future__ import annotations

import os
from collections import Counter

import numpy as np
import pytest

import workbench as wb
from tests.session.random_commands import MOST_EVENTS, Walk
from tests.session.test_recomputed_nested import reading_outer
from workbench import StopReason as R

COMMANDS = 30


def walked(seeds: range) -> Counter[str]:
    outcomes: Counter[str] = Counter()
    for seed in seeds:
        with Walk(seed) as walk:
            try:
                walk.walk(COMMANDS)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}, {walk.kind}, {walk.setting}, after {walk.said[-8:]}") from error
            outcomes += walk.outcomes
    return outcomes


@pytest.mark.slow
@pytest.mark.parametrize("part", range(3))
def test_walks(part):
    outcomes = walked(range(part, 90, 3))
    assert min(outcomes[r.name] for r in (R.BREAKPOINT, R.TARGET, R.STEP, R.ITERATION, R.FINISHED, R.EDITED)) > 2, (
        outcomes
    )
    assert outcomes["answered"] > 100 and MOST_EVENTS > outcomes["refused"] > 10


@pytest.mark.sweep
@pytest.mark.parametrize("part", range(4))
def test_walks_swept(part):
    """Fixed seeds; WORKBENCH_SWEEP sets how many."""
    walked(range(1000 + part, 1000 + int(os.environ.get("WORKBENCH_SWEEP", "400")), 4))


def test_values_that_stand_longer_than_what_says_when_they_fired():
    """A small record drops rows of a loop; what it carries stays a while: asked for in strides, none is left out."""
    for budget in (1 << 12, 1 << 13, 1 << 14):
        with wb.Session(reading_outer(40), {"a": np.arange(40.0)}, memory_budget=budget) as session:
            session.run()
            for name in ("x", "i"):
                for start, step in ((0, 1), (1, 2), (0, 3)):
                    rows, values = session.values(f"outer/{name}/Merge:0", start, None, step)
                    assert rows[:, 0].tolist() == list(range(start, 5, step)) and len(values) == len(rows)
                    assert values.dtype == (np.float64 if name == "x" else np.int64)


def test_the_last_firing_is_found_where_its_rows_are_dropped():
    b = wb.GraphBuilder("once")
    width = b.placeholder("a", "float64", (40,))

    def body(x: wb.Value, i: wb.Value) -> tuple[wb.Value, wb.Value]:
        return b.cond(i < 1, lambda: b.op("negative", x, name="seldom"), lambda: x + 1.0), i + 1

    out = b.while_loop(lambda x, i: i < 30, body, {"x": width, "i": b.constant(0)})
    graph = b.build({"x": out["x"]})
    for trace in ("all", "carried", "off"):
        with wb.Session(graph, {"a": np.arange(40.0)}, trace=trace, memory_budget=1 << 12) as session:
            session.run()
            assert np.array_equal(session.value("seldom"), -np.arange(40.0))


@pytest.mark.parametrize("trace", ["all", "off"])
def test_an_enter_fires_in_the_first_iteration_only(trace):
    with wb.Session(reading_outer(40), {"a": np.arange(40.0)}, trace=trace, memory_budget=1 << 13) as session:
        session.run_to("inner/add", (1, 1))
        at = session.position.event
        stop = session.run_to("inner/s/Enter", (0, 1))
        assert stop.reason is R.NOT_REACHED and stop.event == at and "first iteration" in str(stop)
