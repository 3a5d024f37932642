"""The exact search of the white box: walks that look for a recurrence, jumps that look for the end."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.analysis.arguments import Argument, HasFormulas, argue
from workbench.analysis.monitor import TerminationMonitor
from workbench.analysis.slice_runner import HasColumns, SliceRunner, SliceTimeout

#: Single steps that are shown to the black box, at the start and after the look-ahead.
WATCHED = 400
#: states that a search for an invariant begins with
SEEN = 64
#: seconds by which one look at the formulas may go over the cap
ARGUING = 0.1


class Search:
    """Walks and jumps in turns, each turn longer than the last, under one cost cap.

    A walk goes by single steps with Brent's comparison; a jump only looks for the end.  Each walk starts afresh where
    the last jump ended: past the transient, where a recurrence is if there is one.
    """

    def __init__(self, runner: SliceRunner, seconds: float, iterations: int, left: int | None) -> None:
        self.iterations = iterations if left is None else min(iterations, left)
        self.left = left
        self.deadline = time.perf_counter() + seconds
        self.arguing = min(ARGUING, seconds / 2)
        self.watch = WATCHED if seconds > 0.05 else WATCHED // 4
        self.ahead = runner.fork()
        self.count = 0
        self.slot, self.slot_at, self.period, self.power = b"", 0, 0, 1
        self.row: np.ndarray | None = None  # the slot, as a row of columns
        self.by_columns = isinstance(self.ahead, HasColumns)
        #: operands of the clauses now and then, ever farther apart
        self.marks: list[tuple[int, list[tuple[Any, Any]]]] = []
        self.argument: Argument | None = None
        self.argued_from, self.argue_at = 0, 0
        self.trouble: tuple[str, str] = ("", "")
        self.stuck: SliceRunner | None = None  # where an iteration took too long
        self.monitor = new_monitor(runner)
        self.watched = 0
        show(self.ahead, self.monitor)

    def run(self) -> str:
        """ "ended", "recurs", "argued", "limit", "trouble" or "capped"."""
        steps, chunk = 32, 4096
        while True:
            # states that can be read as columns are compared about as fast as they are run: then there are no jumps
            jump = 0 if self.by_columns and self.count else chunk
            found = self._walk(chunk if not jump else steps) or self._jump(jump) or self._argue()
            self._mark()
            if found:
                return found
            if self.left is not None and self.count >= self.left:
                return "limit"
            if self.count >= self.iterations or time.perf_counter() > self.deadline:
                return "capped"
            steps, chunk = 4 * steps, 2 * chunk

    def _argue(self) -> str:
        """What the formulas prove from where the look-ahead stands; again when it has gone much farther."""
        if self.count < self.argue_at or not isinstance(self.ahead, HasFormulas) or self.ahead.program is None:
            return ""
        begin = time.perf_counter()
        self.argue_at = 64 * (self.count + 1)
        found = argue(self.ahead.program, self.ahead.values(), self._next_states, self.arguing)
        if self.trouble[0]:
            return "trouble"
        self.deadline += min(time.perf_counter() - begin, self.arguing)
        if found is None:
            return ""
        self.argument, self.argued_from = found, self.count
        return "argued" if found.after is None or found.exact else ""

    def follow(self, monitor: TerminationMonitor) -> str:
        """Show the black box what comes next; a short period that began lately is found on the way, too."""
        show(self.ahead, monitor)
        self.slot, self.slot_at, self.power = self.ahead.state(), self.count, 1
        begin = self.count
        while self.count - begin < self.watch and (self.left is None or self.count < self.left):
            found = self._step()
            if found:
                return found
            show(self.ahead, monitor)
        return ""

    def watch_on(self, runner: SliceRunner) -> None:
        """Show the black box more of the beginning, for a forecast; ``runner`` stands at the start."""
        scout = runner.fork()
        if self.watched >= self.watch or self.advance(scout, self.watched) != self.watched:
            return
        while self.watched < self.watch and self.advance(scout, 1) == 1:
            self.watched += 1
            show(scout, self.monitor)

    def _mark(self) -> None:
        """Note the operands of the clauses, whenever twice as many iterations have been run."""
        if self.count > 0 and (not self.marks or self.count >= 2 * self.marks[-1][0]):
            self.marks.append((self.count, [(lhs, rhs) for lhs, _, rhs in self.ahead.clause_values()]))

    def unsettled(self) -> bool:
        """Whether an operand goes on growing like the logarithm of the iterations, or faster: without a limit.

        From three looks that are ever farther apart. What tends to a limit, be it as slowly as 1/k^0.1 does, moves
        less from the second to the third than from the first to the second, in the logarithm.
        """
        if len(self.marks) < 3:
            return False
        (k, first), (m, second), (n, third) = self.marks[-3:]
        if not 0 < k < m < n:
            return False
        for a, b, c in zip(sum(first, ()), sum(second, ()), sum(third, ()), strict=True):
            try:
                early, late = (float(b) - float(a)) / math.log(m / k), (float(c) - float(b)) / math.log(n / m)
            except (TypeError, ValueError):
                continue
            if early * late > 0 and abs(late) > 0.95 * abs(early):
                return True
        return False

    def _next_states(self) -> list[Mapping[str, Any]]:
        """The states that come next, from which the search for an invariant begins."""
        scout = self.ahead.fork()
        states: list[Mapping[str, Any]] = []
        while len(states) < SEEN and self.advance(scout, 1) == 1:
            states.append(scout.values())
        return states

    def advance(self, runner: SliceRunner, n: int) -> int | None:
        """Iterations run; None after trouble (an error of a node, or a runner that contradicts itself)."""
        try:
            done = runner.advance(n)
        except SliceTimeout as slow:
            self.trouble, self.stuck = ("slice-slow", str(slow)), runner
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
            piece = min(n, 4096, max(64, self.count))  # keeps the cap on time honest for costly slices
            done = self.advance(self.ahead, piece)
            if done is None:
                return "trouble"
            self.count += done
            n -= piece
            if not self.ahead.cond():
                return "ended"
            self._mark()
            if time.perf_counter() > self.deadline:
                break
        return ""

    def _walk(self, steps: int) -> str:
        """Brent: compare each state with the slot, which moves at powers of two."""
        steps = min(steps, self.iterations - self.count)
        if self.by_columns and self.count:
            return self._stretches(steps)
        self.slot, self.slot_at, self.power = self.ahead.state(), self.count, 1
        for i in range(steps):
            found = self._step()
            if found:
                return found
            if i % 64 == 63 and time.perf_counter() > self.deadline:
                break
        return ""

    def _step(self) -> str:
        """One iteration, shown to the black box."""
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
        if self.count - self.slot_at == self.power:
            self.slot, self.slot_at, self.power = state, self.count, 2 * self.power
        return ""

    def _stretches(self, steps: int) -> str:
        """Many iterations at once, their states compared as columns."""
        while steps > 0 and time.perf_counter() <= self.deadline:
            states = self._columns(min(steps, 4096))
            if self.trouble[0]:
                return "trouble"
            if states is None:
                self.by_columns = False
                return ""
            begin, self.count, steps = self.count, self.count + len(states), steps - len(states)
            if not self.ahead.cond():
                return "ended"
            if self.row is None:  # what stood in front of the stretch was not read as columns
                self.row, self.slot_at, self.power = states[0], begin + 1, 1
            k = max(self.slot_at - begin, 0)  # states[k] belongs to iteration begin + 1 + k
            while k < len(states):
                stop = min(self.slot_at + self.power - begin, len(states))
                hits = np.flatnonzero((states[k:stop] == self.row).all(axis=1))
                if len(hits):
                    self.period = begin + 1 + k + int(hits[0]) - self.slot_at
                    self.slot = self.ahead.state()
                    return "recurs" if self._confirmed() else "trouble"
                k = stop
                if stop == self.slot_at + self.power - begin:
                    self.row, self.slot_at, self.power = states[stop - 1], begin + stop, 2 * self.power
        return ""

    def _columns(self, n: int) -> np.ndarray | None:
        try:
            return self.ahead.stretch(n) if isinstance(self.ahead, HasColumns) else None
        except SliceTimeout as slow:
            self.trouble, self.stuck = ("slice-slow", str(slow)), self.ahead
        except Exception as error:  # as in advance
            self.trouble = ("slice-failed", f"The slice fails about {self.count:,} iterations ahead: {error}")
        return None

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
