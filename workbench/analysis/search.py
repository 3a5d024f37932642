"""The exact search of the white box: walks that look for a recurrence, jumps that look for the end."""

from __future__ import annotations

import time

from workbench.analysis.monitor import TerminationMonitor
from workbench.analysis.slice_runner import SliceRunner, SliceTimeout

#: Single steps that are shown to the black box, at the start and after the look-ahead.
WATCHED = 400


class Search:
    """Walks and jumps in turns, each turn longer than the last, under one cost cap.

    A walk goes by single steps with Brent's comparison; a jump only looks for the end.  Each walk starts afresh where
    the last jump ended: past the transient, where a recurrence is if there is one.
    """

    def __init__(self, runner: SliceRunner, seconds: float, iterations: int, left: int | None) -> None:
        self.iterations = iterations if left is None else min(iterations, left)
        self.left = left
        self.deadline = time.perf_counter() + seconds
        self.ahead = runner.fork()
        self.count = 0
        self.slot, self.slot_at, self.period = b"", 0, 0
        self.trouble: tuple[str, str] = ("", "")
        self.monitor = new_monitor(runner)
        self.watched = 0
        show(self.ahead, self.monitor)

    def run(self) -> str:
        """ "ended", "recurs", "limit", "trouble" or "capped"."""
        steps, chunk = 64, 256
        while True:
            found = self._walk(steps) or self._jump(chunk)
            if found:
                return found
            if self.left is not None and self.count >= self.left:
                return "limit"
            if self.count >= self.iterations or time.perf_counter() > self.deadline:
                return "capped"
            steps, chunk = 2 * steps, 2 * chunk

    def advance(self, runner: SliceRunner, n: int) -> int | None:
        """Iterations run; None after trouble (an error of a node, or a runner that contradicts itself)."""
        try:
            done = runner.advance(n)
        except SliceTimeout as slow:
            self.trouble = ("slice-slow", str(slow))
            return None
        except Exception as error:  # any error of user code in the slice: the loop itself will meet it too
            self.trouble = ("slice-failed", f"The slice fails about {self.count:,} iterations ahead: {error}")
            return None
        if not 0 <= done <= n or done < n and runner.cond():
            self.trouble = (
                "slice-inconsistent",
                f"The slice ran {done} of {n} iterations although its predicate is true.",
            )
            return None
        return done

    def _jump(self, n: int) -> str:
        n = min(n, self.iterations - self.count)
        while n > 0:
            piece = min(n, 4096)  # keeps the cap on time honest for costly slices
            done = self.advance(self.ahead, piece)
            if done is None:
                return "trouble"
            self.count += done
            n -= piece
            if not self.ahead.cond():
                return "ended"
            if time.perf_counter() > self.deadline:
                break
        return ""

    def _walk(self, steps: int) -> str:
        """Brent: compare each state with the slot, which moves at powers of two."""
        self.slot, self.slot_at, power = self.ahead.state(), self.count, 1
        for i in range(min(steps, self.iterations - self.count)):
            if self.advance(self.ahead, 1) is None:
                return "trouble"
            self.count += 1
            if self.watched == self.count - 1 and self.watched < WATCHED:
                self.watched = self.count
                show(self.ahead, self.monitor)
            if not self.ahead.cond():
                return "ended"
            state = self.ahead.state()
            if state == self.slot:
                self.period = self.count - self.slot_at
                return "recurs" if self._confirmed() else "trouble"
            if self.count - self.slot_at == power:
                self.slot, self.slot_at, power = state, self.count, 2 * power
            if i % 64 == 63 and time.perf_counter() > self.deadline:
                break
        return ""

    def _confirmed(self) -> bool:
        """Run the period once more, in one stretch, and compare bit for bit again."""
        again = self.ahead.fork()
        ran = self.advance(again, self.period)
        if ran is None:
            return False
        if ran == self.period and again.cond() and again.state() == self.slot:
            return True
        sentence = (
            f"The state returned after {self.period} iterations but not a second time: the slice is not deterministic."
        )
        self.trouble = ("slice-not-deterministic", sentence)
        return False


def show(runner: SliceRunner, monitor: TerminationMonitor) -> None:
    monitor.observe(runner.values(), runner.cond(), runner.clause_values(), runner.logic)


def new_monitor(runner: SliceRunner, start: int = 0) -> TerminationMonitor:
    """A monitor that begins ``start`` iterations ahead."""
    return TerminationMonitor([(lhs, rhs) for lhs, _, rhs in runner.clauses], start=start)
