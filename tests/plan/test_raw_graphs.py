"""Raw graphs, whatever their frames look like, against the token interpreter; a failing graph is printed as text.

The text that is printed is one that ``workbench.parse`` reads: ``check_run`` asserts it of every graph. Each test draws
graphs through hypothesis, which looks for the smallest one that fails; the sweep of many seeds is in the slow stage.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, note, reject, settings
from hypothesis import strategies as st

from tests.plan import house
from tests.plan.random_raw import RawMaker
from workbench.errors import FrameError
from workbench.execution import Run
from workbench.ir import Graph
from workbench.plan.schedule.split_frames import shown

COMMON = {"deadline": None, "suppress_health_check": list(HealthCheck), "print_blob": True}
#: choices that hypothesis makes one by one and can shrink, or whole graphs from a seed
RANDOM = st.one_of(st.randoms(use_true_random=False), st.integers(0, 1 << 32).map(random.Random))


def drawn(r: random.Random) -> tuple[Run, Graph, dict[str, np.ndarray]]:
    """A raw graph whose run agrees with the reference; those in which an Exit is alive twice end there, and those with
    a NextIteration that could fire for ever are refused as graphs."""
    try:
        graph, feeds = RawMaker(r).make()
    except FrameError as error:
        assert error.slug == "endless-next-iteration", error
        reject()
    note(f"{graph.text()}feeds {feeds}")
    run = house.check_run(graph, feeds)
    assume(run is not None)
    assert run is not None
    return run, graph, feeds


@pytest.mark.parametrize("seed", [1219, 1296])
def test_jumps_to_nodes_without_work(seed):
    """Guards that are jumped over are those decided on every way to them: a node without work, such as a Switch, may
    stand where ways meet, and has no instruction of its own in the fast path."""
    assert house.check_run(*RawMaker(random.Random(seed)).make()) is not None


@pytest.mark.slow
@settings(max_examples=80, **COMMON)
@given(r=RANDOM)
def test_outputs_firings_and_events(r):
    drawn(r)


@pytest.mark.slow
@settings(max_examples=20, **COMMON)
@given(r=RANDOM)
def test_stepping_is_running(r):
    house.check_steps(*drawn(r))


@pytest.mark.slow
@settings(max_examples=16, **COMMON)
@given(r=RANDOM, where=st.floats(0, 1))
def test_replay_is_exact(r, where):
    house.check_replay(*drawn(r), where)


@pytest.mark.slow
@settings(max_examples=16, **COMMON)
@given(r=RANDOM, draw=st.floats(0, 1, exclude_max=True))
def test_sessions(r, draw):
    run, graph, feeds = drawn(r)
    house.check_session(run, graph, feeds, draw)
    house.check_breakpoints(run, graph, feeds, draw)


@pytest.mark.slow
@settings(max_examples=30, **COMMON)
@given(r=RANDOM)
def test_saved_traces(r, tmp_path_factory):
    house.check_file(drawn(r)[0], tmp_path_factory.mktemp("traces") / "t.trace")


@pytest.mark.slow
@settings(max_examples=25, **COMMON)
@given(r=RANDOM)
def test_models_of_views(r):
    house.check_views(*drawn(r)[1:])


@pytest.mark.sweep
@pytest.mark.parametrize("part", range(4))
def test_sweep(part, tmp_path):
    """Fixed seeds, each through all the checks; WORKBENCH_SWEEP sets how many."""
    for seed in range(part, int(os.environ.get("WORKBENCH_SWEEP", "200")), 4):
        graph, feeds = RawMaker(random.Random(seed)).make()
        run, where = house.check_run(graph, feeds), seed % 97 / 97
        if run is not None:
            whole(run, graph, feeds, where, tmp_path)


def whole(run: Run, graph: Graph, feeds: dict[str, np.ndarray], where: float, folder: Path) -> None:
    house.check_steps(run, graph, feeds)
    house.check_replay(run, graph, feeds, where)
    house.check_session(run, graph, feeds, where)
    house.check_breakpoints(run, graph, feeds, where)
    house.check_file(run, folder / "t.trace")
    house.check_views(graph, feeds)


@pytest.mark.slow
def test_what_is_drawn():
    """The graphs hold what they are for: every reason for a raw frame, frames in parts, frames in frames."""
    reasons: Counter[str] = Counter()
    depths: Counter[int] = Counter()
    for seed in range(400):
        graph, feeds = RawMaker(random.Random(seed)).make()
        plan = house.run_of(graph, feeds).plan
        reasons.update({word for why in plan.raw.values() for word in why.split()})
        reasons["in parts"] += any(path != shown(path) for path in plan.blocks)
        depths.update(len(p) for p in graph.frames)
    wanted = ["0", "2", "joins", "leave", "fire", "only", "conditions", "depend", "in parts"]
    assert all(reasons[word] > 1 for word in wanted), "\n".join(f"{word}: {reasons[word]}" for word in wanted)
    assert depths[2] > 30 and depths[3] > 5
