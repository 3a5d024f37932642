"""The events after which loops become machine code: by the size of the plan, counted over all its runs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import workbench as wb
from tests.benchmarks.machine_code import branches, checked, polynomial
from tests.benchmarks.workloads import collatz, gd, nested
from tests.plan.checks import run_of
from workbench.execution import Run
from workbench.kernels import machine as core
from workbench.plan.native import compile

pytestmark = pytest.mark.watch
FEEDS = {"start": np.int64(27), "n": np.int64(400)}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[core.Program]]:
    """Programs whose loops were compiled; the rule in force, a millionth of its events."""
    programs, before = [], compile.compile_loops

    def noted(program: core.Program) -> dict[int, str]:
        programs.append(program)
        return before(program)

    monkeypatch.setattr(compile, "compile_loops", noted)
    monkeypatch.setattr(compile, "HOT_EVENTS", None)
    monkeypatch.setattr(compile, "BESIDE_RUNS", False)
    monkeypatch.setattr(compile, "EVENTS_OF_A_MILLISECOND", 2)
    compile._llvm()
    yield programs


def milliseconds(graph: wb.Graph, **feeds: object) -> float:
    return compile.milliseconds_of(run_of(graph, {k: np.asarray(v) for k, v in feeds.items()}).plan.program)


def test_a_longer_loop_takes_llvm_longer() -> None:
    small, large = (milliseconds(polynomial(k), n=3) for k in (10, 100))
    assert 20 < small < large < milliseconds(branches(100), n=3)
    assert milliseconds(checked(100), n=3) > 2 * large
    assert milliseconds(nested(), a=0.9, n=3) < 2 * compile.LOOP  # its inner loop alone


def test_what_stays_with_the_interpreter_takes_llvm_nothing() -> None:
    matrix, vector = np.eye(32), np.zeros(32)
    assert milliseconds(gd(), A=matrix, b=vector, x0=vector, n=3) == 0
    assert milliseconds(polynomial(2000), n=3) == 0


@pytest.mark.parametrize("loaded", [True, False])
def test_a_plan_is_compiled_after_as_many_events_as_its_size_says(
    loaded: bool, asked: list[core.Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over all its runs, each of which goes on with the interpreter until then."""
    run = run_of(collatz(), FEEDS)
    takes = compile.milliseconds_of(run.plan.program)
    if not loaded:
        monkeypatch.setattr(compile, "_library", None)
    wanted = compile.PATIENCE * 2 * (takes + (0 if loaded else compile.LOADING))
    behind = []
    for k in range(1000):
        run.go(event=run.event + 10) if k else None
        if asked:
            break
        behind.append(run.plan.native.events)
        if run.finished:
            run = Run(run.plan, FEEDS, 1 << 28)
    assert asked == [run.plan.program]
    assert behind[-1] >= wanted > behind[-2]


def test_a_run_loses_a_fifth_at_most() -> None:
    """The interpreter is as fast as it can be, and the run ends as soon as the loops are compiled."""
    for takes in (20.0, 100.0, 400.0):
        assert takes <= 0.2 * compile.events_before(takes) / compile.EVENTS_OF_A_MILLISECOND


def test_sessions_on_equal_graphs_share_the_machine_code(asked: list[core.Program]) -> None:
    """Made once in a process: the plan is found in the cache, and counts the events of all its runs."""
    seen = []
    for _ in range(6):
        with wb.Session(collatz(), FEEDS) as session:
            session.run()
            seen.append((session.plan.native, session.plan.native.reasons, session.trace["x"].firings()[-1]))
    assert len(asked) == 1 and all(native is seen[0][0] for native, _, _ in seen)
    assert seen[-1][1] is not None and list(seen[-1][1].values()) == [""]
    assert len({str(last) for _, _, last in seen}) == 1
