"""The run of a program in plain Python: the locals before each line of each iteration, by ``sys.settrace``."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.evaluation.claim_truth.programs import Program

State = dict[str, Any]
#: iterations of which each line is recorded without being asked for, and iterations that are run at most
SEEN, MOST = 600, 160_000


class _Enough(Exception):
    pass


class Recorded:
    """The run of a program.

    ``states[k]`` are the locals when the condition is asked in iteration k (of the first ones and those that are
    ``wanted``, else empty); ``lines[k]`` the locals before each line
    of its body, in order; ``end`` is the number of iterations after which the loop was over, None where it was not;
    ``by`` says how: ``"condition"``, ``"break"`` or ``"error"``, and ``last`` is the line of that break.
    """

    def __init__(self, program: Program, function: Callable[[], Any], wanted: set[int], most: int) -> None:
        self.given = [value for _, value in program.given]
        self.tree = ast.parse(program.text)
        self.header = program.header
        self.loop = next(
            n for n in ast.walk(self.tree) if getattr(n, "lineno", 0) == self.header and hasattr(n, "body")
        )
        self.states: list[State] = []  # those not asked for are empty
        self.lines: dict[int, list[tuple[int, State]]] = {}
        self.wanted, self.most = wanted, min(most, MOST)
        self.end: int | None = None
        self.by, self.error, self.last = "", "", 0
        self._run(function)

    def _run(self, function: Callable[[], Any]) -> None:
        code, first, last = function.__code__, self.header, self.loop.end_lineno
        wanted = self.wanted
        over = None

        def local(frame: Any, event: str, arg: Any) -> Any:
            nonlocal over
            if event != "line":
                return local
            at = frame.f_lineno
            if at == first:
                if len(self.states) > self.most:
                    raise _Enough
                k = len(self.states)
                self.states.append(_copy(frame.f_locals) if k < SEEN or k in wanted else {})
            elif self.states and at <= last:
                k = len(self.states) - 1
                if k < SEEN or k in wanted:
                    self.lines.setdefault(k, []).append((at, _copy(frame.f_locals)))
                over = at
            elif self.states and at > last and self.end is None:
                self._ended(over)
            return local

        def enter(frame: Any, event: str, arg: Any) -> Any:
            return local if frame.f_code is code else None

        before = sys.gettrace()
        sys.settrace(enter)
        try:
            with np.errstate(all="ignore"):
                function(*self.given)
        except _Enough:
            pass
        except (ArithmeticError, ValueError) as error:
            self.by, self.error = "error", str(error)
        finally:
            sys.settrace(before)

    def _ended(self, over: int | None) -> None:
        """A break was taken if the last line of the loop that ran is one; its iteration counts."""
        breaks = {n.lineno for n in ast.walk(self.loop) if isinstance(n, ast.Break)}
        self.by = "break" if over in breaks else "condition"
        self.last = over or 0
        self.end = len(self.states) - (self.by == "condition")

    def at(self, k: int, line: int | None) -> State:
        """The locals before a line in an iteration, when it is run there last; those of the condition for its line."""
        if line is None or line == self.header:
            return self.states[k]
        return [state for at, state in self.lines[k] if at == line][-1]

    def ran(self, k: int, line: int) -> bool:
        return line == self.header or any(at == line for at, _ in self.lines[k])

    def known(self, first: int, last: int) -> list[int]:
        """The iterations in between whose states are recorded."""
        return [k for k in range(first, last + 1) if self.states[k]]

    def statement(self, line: int) -> ast.stmt:
        """The statement of the loop that begins at a line."""
        return next(n for n in ast.walk(self.loop) if isinstance(n, ast.stmt) and n.lineno == line)


def _copy(names: State) -> State:
    return {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in names.items()}


def value_of(text: str | ast.expr, state: State) -> Any:
    """An expression in recorded locals."""
    body = ast.parse(text, mode="eval") if isinstance(text, str) else ast.Expression(text)
    scope = {"np": np, "where": np.where, **state}
    with np.errstate(all="ignore"):
        return eval(compile(ast.fix_missing_locations(body), "claim", "eval"), scope)
