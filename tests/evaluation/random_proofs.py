"""``python -m tests.evaluation.random_proofs``: proofs about random programs, held against running on.

Every program is stepped, edited, forked, taken back and restarted at random; ``session.termination`` is asked at each
stop.  A fresh run with the same inputs and edits goes on for ``--bound`` iterations: a proved end must come exactly
there, and a proved "never" must not end within them, nor within two periods of a proved recurrence.  Any error that is
not a ``WorkbenchError`` counts as raised.  ``--only I`` plays program I of this seed again, with its moves.
"""

from __future__ import annotations

import argparse
import random
import re
import secrets
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import workbench as wb
from tests.evaluation.proof_programs import Program, draw_program
from tests.evaluation.running_on import End, Tally, nested_end, run_on
from workbench.errors import WorkbenchError
from workbench.execution import Run

#: iterations that are run on; ten times as many for a recurrence or an end that lies further ahead
BOUND = 20_000
#: answers are printed in one program of so many
PRINTED = 8


class Play:
    """A program in a session, with random moves and a question after each."""

    def __init__(self, program: Program, number: int, r: random.Random, tally: Tally, bound: int = BOUND) -> None:
        self.program, self.number, self.r, self.tally, self.bound = program, number, r, tally, bound
        self.moves: list[str] = []
        self._ends: dict[Any, tuple[Run, End]] = {}  # a fresh run for these edits and inputs, and how it went

    def play(self) -> None:
        """Build, move, ask."""
        counts = self.tally.counts
        counts["programs"] += 1
        try:
            graph, feeds = self.program.graph()
        except (WorkbenchError, ArithmeticError, TypeError, ValueError):
            counts["not built"] += 1
            return
        keep = self.r.choice(["all", "all", "all", "off", "carried", "stats"])
        self.moves.append(f"Session(trace={keep!r})")
        with wb.Session(graph, feeds, trace=keep) as session:
            self._guarded(session, self._moves)

    def _guarded(self, session: wb.Session, action: Callable[[wb.Session], None]) -> None:
        try:
            action(session)
        except WorkbenchError as error:
            self.moves[-1] += f" -> {error.slug}"
        except Exception as error:
            self._note("raised", f"{type(error).__name__}: {error}")

    def _moves(self, session: wb.Session) -> None:
        self._ask(session)
        for _ in range(self.r.choice([1, 2, 2, 3, 4])):
            self._guarded(session, self._move)
            self._guarded(session, self._ask)
            if self.r.random() < 0.08:
                self.moves.append("with fork():")
                with session.fork() as fork:
                    for _ in range(2):
                        self._guarded(fork, self._ask)
                        self._guarded(fork, self._move)
                    self._guarded(fork, self._ask)
                self.moves.append("back in the first session:")

    def _move(self, session: wb.Session) -> None:
        r = self.r
        n = r.choice([1, 1, 2, 3, 5, 20, 100])
        kind = r.choice("step step back next next next previous edit edit edit restart to update run out".split())
        calls: dict[str, tuple[str, Callable[[], Any]]] = {
            "step": (f"step({n})", lambda: session.step(n)),
            "back": (f"step_back({n})", lambda: session.step_back(n)),
            "next": (f"next_iteration({n})", lambda: session.next_iteration(n)),
            "previous": (f"previous_iteration({n % 4 + 1})", lambda: session.previous_iteration(n % 4 + 1)),
            "restart": ("restart()", session.restart),
            "to": (f"run_to('x', {n})", lambda: session.run_to("x", n)),
            "update": (f"update(limit={n}.0)", lambda: self._update(session, n)),
            "run": ("run(wait=False), then termination(), pause()", lambda: self._running(session)),
            "out": ("step_out()", lambda: self._running(session)),
        }
        if kind == "edit":
            self._edit(session)
            return
        text, call = calls[kind]
        self.moves.append(text)
        call()

    def _update(self, session: wb.Session, n: int) -> None:
        """New inputs, of a loop that ends with them; one that hangs could not be waited for."""
        if self.program.limit is None:
            return
        fresh = Run(session.plan, {"limit": np.array(float(n))}, 1 << 24)
        if run_on(fresh, session.plan.numbers[("loop",)], self.bound).how != "open":
            session.update(limit=float(n))

    def _running(self, session: wb.Session) -> None:
        session.run(wait=False)
        try:
            answer = session.termination(("loop",), 0.01)
        finally:
            session.pause()
        self.tally.counts["questions"] += 1
        if answer.status.name == "PROVED" and answer.outcome == "never" and session.state == "finished":
            self._note("wrong", f"proved never to end while it ran, and it is finished: {answer}")

    def _edit(self, session: wb.Session) -> None:
        name = self.r.choice([f"{node}:{k}" for node, k in session.plan.layout.values])
        if self.r.random() < 0.6:
            name = self.r.choice(list(self.program.variables))
        value = self.r.choice([0, 1, -1, 2, 3, 7, 50, 127, 0.5, 1e3])
        self.moves.append(f"set_value({name!r}, {value} in its dtype and shape)")
        old = np.asarray(session.value(name))
        with np.errstate(all="ignore"):
            session.set_value(name, np.full(old.shape, value).astype(old.dtype))

    def _ask(self, session: wb.Session) -> None:
        counts, run = self.tally.counts, session._run
        active = {session.plan.layout.frames[k].path: k for k in run.active_frames()[1:]}
        number = session.plan.numbers[("loop",)]
        frames = list(active) or [("loop",)]
        for frame in [*frames, None]:
            seconds = self.r.choice([None, None, 0.2, 0.02, 1e-4])
            self.moves.append(f"termination({frame}, {seconds})")
            answer = session.termination(frame, seconds)
            answer.table()
            if not self.number % PRINTED:  # which tries fixes in copies
                str(answer)
            counts["questions"] += 1
            counts[answer.status.name] += 1
            if frame is None or (answer.status.name != "PROVED" and "fails_after" not in answer.details):
                self.moves.pop()
                continue
            if not active and run.view.iteration(number) >= 0:  # the loop is behind the run
                end = End("ends", run.view.iteration(number))
            else:
                end = self._end(session, active.get(frame, number), answer)
            gone = (
                max(run.iteration_of(active[frame])[-1], 0) if frame in active else max(run.view.iteration(number), 0)
            )
            self._compare(answer, end, end.iteration - gone)
            self.moves.pop()

    def _compare(self, answer: wb.Termination, end: End, left: int) -> None:
        counts = self.tally.counts
        told = lambda: f"{answer}\nbut running on it {end.how} after {left}"  # noqa: E731
        if answer.status.name != "PROVED":
            failed = answer.details["fails_after"]
            if end.how == "fails" and left != failed or end.how == "ends" or left > failed:
                counts["wrong failures"] += 1
                self.tally.found.append((f"wrong failure, {answer.reason.slug}", self._text(told())))
            return
        low, high = answer.interval or (0, None)
        exact = answer.remaining in (None, left) and low <= left and (high is None or left <= high)
        known = [bound for bound in (answer.remaining, high) if bound is not None]
        if "unless" in answer.details and end.how == "fails":
            counts["conditional"] += 1
        elif (
            answer.outcome == "never"
            and end.how == "open"
            or answer.outcome == "terminates"
            and end.how == "ends"
            and exact
        ):
            counts["confirmed"] += 1
        elif answer.outcome == "terminates" and end.how == "open" and (not known or min(known) >= left):
            counts["beyond the bound"] += 1
        else:
            kind = answer.proof.kind if answer.proof else "none"
            self._note("wrong", told(), f"{kind}, {answer.outcome}, it {end.how}")

    def _end(self, session: wb.Session, number: int, answer: wb.Termination) -> End:
        """How the present activation of a loop goes on, by running with the inputs and edits of the session."""
        run = session._run
        ahead = answer.remaining or 0
        if answer.proof is not None and answer.proof.kind == "recurrence":
            ahead = (
                max((int(k.replace(",", "")) for k in re.findall(r"\+([\d,]+)", answer.proof.checked)), default=0) + 1
            )
        bound = max(self.bound, min(ahead + 1, 10 * self.bound))
        key = (tuple(map(repr, run.edits)), tuple(map(repr, run.feeds.items())))
        fresh, known = self._ends.get(key, (None, None))
        if fresh is None or self.program.inner is not None:
            fresh = Run(session.plan, dict(run.feeds), 1 << 24)
            fresh.edits = list(run.edits)
        if self.program.inner is not None:
            return nested_end(fresh, run, number)
        bound += max(run.view.iteration(number), 0)
        if known is None or known.how == "open" and known.iteration < bound:  # on from where it stands
            known = run_on(fresh, number, bound)
            self._ends[key] = fresh, known
        return known

    def _note(self, what: str, told: str, key: str = "") -> None:
        self.tally.counts[what] += 1
        self.tally.found.append((f"{what}: {key or told.splitlines()[0][:60]}", self._text(told)))

    def _text(self, told: str) -> str:
        return "\n".join([f"program {self.number}:", str(self.program), "moves: " + "; ".join(self.moves), told])


def play(seed: int, number: int, tally: Tally, bound: int = BOUND) -> None:
    """Program ``number`` of a seed, the same each time."""
    r = random.Random(f"{seed} {number}")
    Play(draw_program(r), number, r, tally, bound).play()


def main(arguments: Sequence[str] | None = None) -> Tally:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**31))
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--bound", type=int, default=BOUND, help="iterations that are run on to check a proof")
    parser.add_argument("--first", type=int, default=0, help="number of the first program")
    parser.add_argument("--report", type=Path, help="a file that holds the tally after each program")
    parser.add_argument("--only", type=int, help="play this program alone")
    chosen = parser.parse_args(arguments)
    tally, begin = Tally(), time.monotonic()
    for number in range(chosen.first, chosen.first + chosen.programs) if chosen.only is None else [chosen.only]:
        if time.monotonic() - begin > 60 * chosen.minutes:
            break
        play(chosen.seed, number, tally, chosen.bound)
        if chosen.report is not None:
            chosen.report.write_text(f"seed {chosen.seed}\n{tally.report()}\n")
    print(f"seed {chosen.seed}\n{tally.report()}")
    return tally


if __name__ == "__main__":
    main()
