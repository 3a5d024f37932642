"""Runs the exact look-ahead: single steps that search for a recurrence, and jumps that search for the end."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from workbench.analysis.claims import Claim, period
from workbench.analysis.forecast.monitor import TerminationMonitor
from workbench.analysis.proof.claims import of_bounds, of_identities, of_rays
from workbench.analysis.proof.identities.identity import Kept, identity
from workbench.analysis.proof.lookahead_floor import LOOKS
from workbench.analysis.proof.lookahead_trend import ClauseTrend, clause_trends
from workbench.analysis.proof.rays.of_slice import HasFormulas, body_of, followed
from workbench.analysis.proof.rays.ray import LENGTHS, Continuation
from workbench.analysis.proof.symbolic import ProvedBound, prove
from workbench.analysis.slicing import work
from workbench.analysis.slicing.protocol import CanMove, HasColumns, SliceFailed, SliceRunner, SliceTimeout

#: Number of single steps that the black box observes, at the start and after the look-ahead.
SINGLE_STEPS = 400
#: number of states with which a search for an invariant begins
FIRST_STATES = 64
#: nominal seconds by which one use of the formulas may exceed the cap
ARGUING = 0.1
#: number of iterations beyond which an overflow of 64 bits is reported along with the proof instead of replacing it
NO_RUN = 10**6
#: maximum number of iterations from the last ray to the recurrence after it
NEAR_RECURRENCE = 4096
#: number of further iterations in which a loop that is proved never to end is searched for a recurrence
RETURNS = 2048
#: number of iterations that are searched for a ray at first, and number of iterations ahead from which more are
#: searched
RAY, FAR = 48, 100_000


class CameTo(NamedTuple):
    """A recurrence of the state: ``at`` iterations ahead, with its period.

    ``runner`` is ``before`` iterations before it; ``shift`` converts the iteration indices of that runner to those of
    the runner at the start.
    """

    runner: SliceRunner
    at: int
    period: int
    before: int = 0
    shift: int = 0


class Search:
    """A search that alternates walks and jumps of growing length, under one cost cap.

    A walk takes single steps with Brent's comparison of states; a jump only looks for the end. Each walk starts anew
    where the last jump ended: if a state recurs, it does so after the transient.
    """

    def __init__(self, runner: SliceRunner, seconds: float, iterations: int, left: int | None, base: int = 0) -> None:
        #: the iteration of the runner
        self.base = base
        self.iterations = iterations if left is None else min(iterations, left)
        self.left = left
        self.deadline = work.now() + seconds
        self.arguing = min(ARGUING, seconds / 2)
        self.watch = SINGLE_STEPS if seconds > 0.05 else SINGLE_STEPS // 4
        self.ahead = runner.fork()
        self.begin = runner.clause_values()
        self.count = 0
        self.slot, self.slot_at, self.period, self.power = b"", 0, 0, 1
        self.row: np.ndarray | None = None  # the slot, as a row of columns
        self.by_columns = isinstance(self.ahead, HasColumns)
        #: operands of the clauses, recorded at growing intervals
        self.marks: list[tuple[int, list[tuple[Any, Any]]]] = []
        self.argument: ProvedBound | None = None
        #: the continuation of the loop along rays, from ``followed_from``
        self.followed: Continuation | None = None
        #: the claims that are proved about the loop, and where its state recurs
        self.claims: list[Claim] = []
        self.came_to: CameTo | None = None
        #: comparisons that keep their values for ever, and thereby that of the condition
        self.kept: list[Kept] | None = None
        self.argued_from, self.argue_at, self.argued_at, self.followed_from = 0, 0, -1, 0
        self.trouble: tuple[str, str] = ("", "")
        #: number of whole iterations before the one in which a node fails
        self.fails_after: int | None = None
        self.failure: Exception | None = None
        self.stuck: SliceRunner | None = None  # set if an iteration took too long
        self.monitor = new_monitor(runner)
        self.late = self.monitor  # for the stretch at the end
        self.watched = 0
        show(self.ahead, self.monitor)

    def run(self) -> str:
        """ "ended", "recurs", "argued", "followed", "kept", "limit", "trouble" or "capped"."""
        steps, chunk = 32, 4096
        while True:
            # states in columns are compared about as fast as they are computed, so jumps are not needed
            jump = 0 if self.by_columns and self.count else chunk
            found = self._walk(chunk if not jump else steps) or self._jump(jump) or self._argue()
            self._mark()
            if found:
                return found
            if self.left is not None and self.count >= self.left:
                return "limit"
            if self.count >= self.iterations or work.now() > self.deadline:
                return self._argue_at_the_cap() or "capped"
            steps, chunk = 4 * steps, 2 * chunk

    def _argue(self) -> str:
        """Prove bounds by the formulas from the position of the look-ahead; repeated when it is much farther."""
        if self.count < self.argue_at or not isinstance(self.ahead, HasFormulas) or self.ahead.program is None:
            return ""
        begin = work.now()
        self.argue_at, self.argued_at = 64 * (self.count + 1), self.count
        found = prove(self.ahead.program, self.ahead.values(), self._next_states, self.arguing)
        if self.trouble[0]:
            return "trouble"
        if found is not None:
            self.argument, self.argued_from = found, self.count
        if found is not None and (found.after is None or found.exact):
            if found.after is None and self.came_to is None:
                self._stalls()
            if found.after is None and self.came_to is None and not self._returns():
                self._encloses(found)
            return "argued"
        out = self._follow() or self._identify()
        self.deadline += min(work.now() - begin, 2 * self.arguing)
        return out

    def _follow(self) -> str:
        """Follow the loop along rays, as long as it continues in equal periods."""
        body = body_of(self.ahead)
        length = RAY if self.count < FAR else LENGTHS[-1]
        found = None if body is None else followed(self.ahead, body, self.arguing, length)
        if found is None or found.kind == "open":
            return ""
        self.followed, self.followed_from = found, self.count
        assert body is not None
        self.claims = of_rays(found, body, self.base + self.count)
        if found.kind == "recurs":
            self._came_to(found)
        soon = found.full is not None and found.full < NO_RUN
        if found.kind != "fails" and not (found.kind == "never" and soon):
            return "followed"
        error = SliceFailed(str(found.error), node=found.node)
        self._failed(error, self.count + (found.after if found.kind == "fails" else found.full or 0))
        return "trouble"

    def _stalls(self) -> None:
        """Find the recurrence of the state along rays, for a loop that is proved never to end."""
        body = body_of(self.ahead)
        found = None if body is None else followed(self.ahead, body, self.arguing, RAY)
        if found is not None and found.kind == "recurs":
            self._came_to(found)

    def _returns(self) -> bool:
        """Search a few more iterations for a recurrence of the state in a loop that is proved never to end."""
        ahead, count, trouble, fails = self.ahead.fork(), self.count, self.trouble, self.fails_after
        found = self._walk(RETURNS) if self.by_columns else ""
        found = found if self.by_columns else self._walk(SINGLE_STEPS)
        if found == "recurs":
            self.claims = period(self.ahead, self.period, self.slot_at)
            self.came_to = CameTo(self.ahead, self.slot_at, self.period)
            return True
        self.ahead, self.count, self.trouble, self.fails_after, self.row = ahead, count, trouble, fails, None
        return False

    def _encloses(self, found: ProvedBound) -> None:
        """Claim the bounds that the variables never leave."""
        program = self.ahead.program if isinstance(self.ahead, HasFormulas) else None
        if program is not None and found.boxes is not None:
            states = [self.ahead.values(), *self._next_states()]
            read = [name for lhs, _, rhs in self.ahead.clauses for name in (lhs, rhs)]
            self.claims += of_bounds(program, found.boxes, states, self.base + self.count, read)

    def _came_to(self, found: Continuation) -> None:
        """Move to just before the recurrence to which the rays lead, and check that the state of the slice recurs
        there.
        """
        turn, runner, at, shift = found.after - found.begin, self.ahead.fork(), 0, 0
        if found.stretches:
            last = found.stretches[-1]
            k = max((last.periods or 0) - 1, 0)
            at = last.begin + k * last.period
            if at > found.begin:  # the ray is part of the recurrence
                at = 0
            elif isinstance(self.ahead, CanMove) and (moved := self.ahead.moved_to(last.at(k))) is not None:
                runner, shift = moved, at - 1
            else:
                return
            if _passed(self.begin, runner.clause_values()):
                return  # the only number that ends the loop was passed before
        there = runner.fork()
        if found.begin - at > NEAR_RECURRENCE or self.advance(there, found.begin - at) != found.begin - at:
            return
        claims = period(there, turn, self.count + found.begin)
        if claims:
            self.claims += claims
            self.came_to = CameTo(runner, self.count + found.begin, turn, found.begin - at, shift)

    def _identify(self) -> str:
        """Prove by polynomials that stay zero, or never become zero."""
        body = body_of(self.ahead)
        if body is None:
            return ""
        program = self.ahead.program  # type: ignore[attr-defined]
        state = {name: np.asarray(v) for name, v in self.ahead.values().items()}
        self.kept = identity(program, body, state)
        self.followed_from = self.count
        if self.kept is None:
            return ""
        self.claims = of_identities(self.kept, program, body, state)
        return "kept"

    def _argue_at_the_cap(self) -> str:
        """Try the formulas once more, far ahead, where a term that changed an operand at the start may be absorbed for
        good.
        """
        if self.count <= self.argued_at:
            return ""
        self.argue_at = 0
        return self._argue()

    def trends(self) -> list[ClauseTrend]:
        """The trend of each clause, over the whole look-ahead."""
        return clause_trends(self.marks)

    def follow(self, monitor: TerminationMonitor) -> str:
        """Show the black box the next iterations; this also finds a short period that began recently."""
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
        """Show the black box more of the beginning, for a forecast; ``runner`` is at the start."""
        scout = runner.fork()
        if self.watched >= self.watch or self.advance(scout, self.watched, 0) != self.watched:
            return
        while self.watched < self.watch and self.advance(scout, 1, self.watched) == 1:
            self.watched += 1
            show(scout, self.monitor)

    def sampled(self, runner: SliceRunner, every: int, at: int) -> list[list[tuple[Any, Any]]]:
        """The operands of each clause in every ``every``-th iteration from the runner's position; [] if it ends."""
        scout = runner.fork()
        rows: list[list[tuple[Any, Any]]] = []
        while len(rows) < LOOKS:
            work.charge(work.STEP)
            rows.append([(lhs, rhs) for lhs, _, rhs in scout.clause_values()])
            if self.advance(scout, every, at + len(rows) * every) != every or not scout.cond():
                return []
        return [list(column) for column in zip(*rows, strict=True)]

    def _mark(self) -> None:
        """Record the operands of the clauses whenever the number of iterations has doubled."""
        if self.count > 0 and (not self.marks or self.count >= 2 * self.marks[-1][0]):
            self.marks.append((self.count, [(lhs, rhs) for lhs, _, rhs in self.ahead.clause_values()]))

    def unsettled(self) -> bool:
        """True if an operand keeps growing like the logarithm of the iterations, or faster: without a limit.

        This is judged from three samples at growing distances. An operand that tends to a limit, even as slowly as
        1/k^0.1, changes less, per logarithm of the iteration, from the second to the third than from the first to the
        second.
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
        """The next states, from which the search for an invariant begins."""
        scout = self.ahead.fork()
        states: list[Mapping[str, Any]] = []
        while len(states) < FIRST_STATES and self.advance(scout, 1, self.count + len(states)) == 1:
            states.append(scout.values())
        return states

    def advance(self, runner: SliceRunner, n: int, at: int | None = None) -> int | None:
        """Run iterations and return their number; None after a failure (an error of a node, or a runner that
        contradicts itself).

        ``at``: the runner's position, if it differs from that of the search.
        """
        try:
            done = runner.advance(n)
        except SliceTimeout as slow:
            self.trouble, self.stuck = ("slice-slow", str(slow)), runner
            return None
        except Exception as error:  # user code in the slice may raise any error; the loop itself will raise it too
            self._failed(error, self.count if at is None else at)
            return None
        if not 0 <= done <= n or done < n and runner.cond():
            self.trouble = (
                "slice-inconsistent",
                f"The slice ran {done} of {n} iterations although its condition is true.",
            )
            return None
        return done

    def _jump(self, n: int) -> str:
        n = min(n, self.iterations - self.count)
        while n > 0:
            piece = min(n, 4096, max(64, self.count))  # checks the time often enough for costly slices
            done = self.advance(self.ahead, piece)
            if done is None:
                return "trouble"
            self.count += done
            n -= piece
            if not self.ahead.cond():
                return "ended"
            self._mark()
            if work.now() > self.deadline:
                break
        return ""

    def _walk(self, steps: int) -> str:
        """Brent's search: compare each state with the slot, which moves at powers of two."""
        steps = min(steps, self.iterations - self.count)
        if self.by_columns and self.count:
            return self._stretches(steps)
        self.slot, self.slot_at, self.power = self.ahead.state(), self.count, 1
        for i in range(steps):
            found = self._step()
            if found:
                return found
            if i % 64 == 63 and work.now() > self.deadline:
                break
        return ""

    def _step(self) -> str:
        """Run one iteration and show it to the black box."""
        work.charge(work.STEP)
        if self.advance(self.ahead, 1) is None:
            return "trouble"
        self.count += 1
        if self.watched == self.count - 1 and self.watched < SINGLE_STEPS:
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
        """Run many iterations at once and compare their states, stored as columns."""
        while steps > 0 and work.now() <= self.deadline:
            states = self._columns(min(steps, 4096))
            if self.trouble[0]:
                return "trouble"
            if states is None:
                self.by_columns = False
                return ""
            begin, self.count, steps = self.count, self.count + len(states), steps - len(states)
            if not self.ahead.cond():
                return "ended"
            if self.row is None:  # states before the stretch were not read as columns
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
            self._failed(error, self.count)
        return None

    def _failed(self, error: Exception, at: int) -> None:
        self.fails_after, self.failure = at + (error.done if isinstance(error, SliceFailed) else 0), error
        self.trouble = ("slice-failed", fails_sentence(error, self.fails_after))

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


def _passed(begin: list[tuple[Any, str, Any]], end: list[tuple[Any, str, Any]]) -> bool:
    """True if the sides of a ``!=`` are in a different order at the end than at the start, or unordered."""
    pairs = zip(begin, end, strict=True)
    try:
        return any(op in ("!=", "not_equal") and np.any((a < b) != (c < d)) for (a, op, b), (c, _, d) in pairs)
    except TypeError:
        return True


def fails_sentence(error: Exception, iterations: int) -> str:
    """The sentence that states which node fails, and when."""
    node = error.node if isinstance(error, SliceFailed) else None
    return f"{node or 'A node'} fails {when_it_fails(iterations)}, and with it the loop: {error}"


def when_it_fails(iterations: int) -> str:
    """The number of whole iterations before the failure, in words."""
    if not iterations:
        return "in this iteration"
    return f"after {iterations:,} more whole iteration{'s' if iterations != 1 else ''}"


def show(runner: SliceRunner, monitor: TerminationMonitor) -> None:
    monitor.observe(runner.values(), runner.cond(), runner.clause_values(), runner.logic)


def new_monitor(runner: SliceRunner, start: int = 0) -> TerminationMonitor:
    """A monitor that begins ``start`` iterations ahead."""
    return TerminationMonitor([(lhs, rhs) for lhs, _, rhs in runner.clauses], start=start)
