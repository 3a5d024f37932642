"""Which checkpoints stay: gaps in time that are bounded, whatever the speed; bytes that are; the first and the last."""

from __future__ import annotations

import numpy as np
import pytest

from tests.execution.loops import arrays, counter, newton
from tests.plan.checks import run_of
from workbench.execution import Run
from workbench.execution.checkpoints import MAX_CHECKPOINTS, SECONDS_APART, Checkpoints
from workbench.kernels import machine as core


class Clock:
    """A run of which the seconds are told, at so many events a second."""

    def __init__(self, allowed: int) -> None:
        self.run = run_of(counter(1 << 40), {})
        self.kept = Checkpoints(self.run.checkpoints[0], allowed)
        self.seconds = {self.kept.all[0].events: 0.0}

    def go(self, seconds: float, rate: float) -> None:
        """On by an interval at a time, as a run does."""
        now = self.seconds[self.kept.all[-1].events]
        end = now + seconds
        while now < end:
            now += self.kept.interval / rate
            self.run.to_event(self.run.event + 40)  # the machine itself need not go as far
            shot = core.snapshot(self.run.machine, self.run.active_frames())
            self.seconds[shot.events] = now
            self.kept.add(shot, now)
            self.kept.pace(int(now * rate), now)

    def gaps(self) -> np.ndarray:
        return np.diff([self.seconds[c.events] for c in self.kept.all])


@pytest.mark.parametrize("rate", [2e4, 1e6, 1e9])
def test_gaps_are_short_in_seconds_at_any_speed(rate: float) -> None:
    clock = Clock(allowed=1 << 30)
    clock.go(60.0, rate)
    assert clock.gaps().max() < max(2.5 * SECONDS_APART, 4096 / rate * 1.01)
    assert clock.kept.held == sum(c.bytes for c in clock.kept.all)


def test_gaps_stay_even_when_there_are_too_many() -> None:
    clock = Clock(allowed=1 << 30)
    clock.go(600.0, 1e6)  # at 0.05 s each, three times as many as may stay
    assert MAX_CHECKPOINTS // 4 < len(clock.kept.all) <= MAX_CHECKPOINTS
    assert clock.gaps().max() < 0.6
    assert clock.kept.all[0].events == 0


def test_bytes_are_bounded_and_the_gaps_even() -> None:
    clock = Clock(allowed=0)
    clock.kept.allowed = 40 * clock.kept.all[0].bytes
    clock.go(30.0, 1e6)
    assert clock.kept.held <= clock.kept.allowed and 8 <= len(clock.kept.all) <= 40
    assert clock.gaps().max() < 4 * 30.0 / 20


def test_the_first_and_the_last_stay_when_not_even_they_fit() -> None:
    clock = Clock(allowed=1)
    clock.go(2.0, 1e6)
    assert len(clock.kept.all) == 2 and clock.kept.all[0].events == 0
    assert clock.kept.all[-1].events == max(clock.seconds)


def test_the_latest_before_an_event_is_found() -> None:
    clock = Clock(allowed=1 << 30)
    clock.go(1.0, 1e6)
    events = [c.events for c in clock.kept.all]
    for at in (0, 1, events[3], events[3] - 1, events[-1], events[-1] + 5):
        assert clock.kept.before(at).events == max(e for e in events if e <= at)
    clock.kept.forget_after(events[5], 1.0)
    assert [c.events for c in clock.kept.all] == events[:6]


def finish(run: Run) -> Run:
    while run.go() != "halt":
        pass
    return run


@pytest.mark.usefixtures("steady_pace")
@pytest.mark.parametrize("steady_pace", [3e-6], indirect=True)
@pytest.mark.parametrize(
    ("make", "budget"), [(lambda: newton(1_000_000), 1 << 20), (lambda: arrays(3000, 20_000), 4 << 20)]
)
def test_a_run_keeps_a_quarter_of_its_budget_for_them(make, budget: int) -> None:
    run = finish(run_of(make(), {}, budget=budget))
    events = [c.events for c in run.checkpoints]
    held = sum(c.bytes for c in run.checkpoints)
    assert held <= budget // 4 and len(events) >= 4 and events == sorted(events)
    assert max(np.diff([*events, run.event])) < run.event * 0.7
