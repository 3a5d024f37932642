"""Random commands of the debugger do the same where loops are machine code as where they are the interpreter's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

import workbench as wb
from tests.benchmarks.workloads import collatz, newton
from tests.ir.programs import count, nested
from tests.plan.random_graphs import Maker
from tests.session.random_commands import SETTINGS, Walk
from workbench import StopReason as R
from workbench.plan.native import compile_loops, loop_ends
from workbench.session import run_setup

pytestmark = pytest.mark.watch
COMMANDS = 30


class LoopMaker(Maker):
    """Programs of numbers alone, whose loops have more iterations."""

    shapes, most_trips = ((),), 25


class NativeWalk(Walk):
    """The thin session's innermost loops are machine code, as far as they are loops of numbers; the other's are not."""

    programs: dict[str, Callable[[int], tuple[Any, dict[str, Any]]]] = {
        "numbers": lambda seed: LoopMaker(seed).make(),
        "nested": lambda seed: (nested(6), {"start": 0.0}),
        "count": lambda seed: (count(300.0), {"start": 0.0}),
        "collatz": lambda seed: (collatz(), {"start": seed + 3, "n": 150}),
        "newton": lambda seed: (newton(), {"a": seed + 2.0, "n": 200}),
    }
    settings = [("all", None), ("off", 1 << 13), *SETTINGS]

    def other(self, trace: Any, room: dict[str, int]) -> wb.Session:
        wb.plan_cache.clear()
        session = super().other(trace, room)
        assert session.plan.program is not self.whole.plan.program
        self.reasons = compile_loops(session.plan.program)
        return session


@pytest.fixture
def short_sprints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that may stay unwritten do so in short loops, too."""
    monkeypatch.setattr(loop_ends, "LOOKS", 8)
    monkeypatch.setattr(loop_ends, "LONG", 0)
    monkeypatch.setattr(run_setup, "LEAST_ROWS", 8)


@pytest.mark.parametrize("part", range(2))
def test_walks(part: int, short_sprints: None) -> None:
    outcomes: Counter[str] = Counter()
    compiled = 0
    for seed in range(part, 60, 2):
        with NativeWalk(seed) as walk:
            try:
                walk.walk(COMMANDS)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}, {walk.kind}, {walk.setting}, after {walk.said[-8:]}") from error
            compiled += "" in walk.reasons.values()
            outcomes += walk.outcomes
    assert compiled > 15
    assert min(outcomes[r.name] for r in (R.BREAKPOINT, R.TARGET, R.STEP, R.ITERATION, R.FINISHED, R.EDITED)) > 2, (
        outcomes
    )
