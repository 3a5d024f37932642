"""The place of a claim's text in the source, and its value in an iteration of plain Python's run."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.evaluation.claim_truth.compare import MIRRORED, OPPOSITE, OPS, picked
from tests.evaluation.claim_truth.dependence import Body
from tests.evaluation.claim_truth.executor import MOST, Recorded, State, value_of
from tests.evaluation.claim_truth.programs import Program

SYMBOLS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


class Unchecked(Exception):
    """A claim that is about what was not recorded, or that stands nowhere in the source."""


class TooFar(Unchecked):
    """A claim about iterations behind those that plain Python is run to at most."""


class Wrong(Exception):
    """A claim that plain Python contradicts."""


def demand(true: Any, what: str) -> None:
    if not true:
        raise Wrong(what)


class Case:
    """A program, what plain Python recorded of it, and what depends on what in it."""

    def __init__(self, program: Program, recorded: Recorded) -> None:
        self.program, self.recorded = program, recorded
        self.body = Body(recorded.loop)
        self.last = len(recorded.states) - 1

    def comparisons(self, text: str, line: int | None = None) -> list[tuple[int, ast.Compare]]:
        """The comparisons of the loop that are written like this, with the lines of their statements."""
        wanted, found = _plain(text), []
        for s, expression in self._expressions():
            for node in ast.walk(expression):
                if isinstance(node, ast.Compare) and len(node.ops) == 1 and line in (None, s.lineno):
                    if any(_plain(way) == wanted for way in _ways(node)):
                        found.append((s.lineno, node))
        return found

    def counter(self) -> tuple[str, int] | None:
        """The variable of ``for i in range(n)``, and n."""
        loop = self.recorded.loop
        if not isinstance(loop, ast.For):
            return None
        return ast.unparse(loop.target), int(ast.literal_eval(loop.iter.args[0]))

    def _expressions(self) -> Iterator[tuple[ast.stmt, ast.expr]]:
        """The expressions that each statement of the loop evaluates itself, not those of its blocks."""
        for s in ast.walk(self.recorded.loop):
            if isinstance(s, ast.stmt):
                for child in ast.iter_child_nodes(s):
                    if isinstance(child, ast.expr):
                        yield s, child
                if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name):
                    yield s, ast.BinOp(ast.Name(s.target.id, ast.Load()), s.op, s.value)

    def nodes(self, line: int, kind: Any) -> list[Any]:
        found = [n for s, e in self._expressions() if s.lineno == line for n in ast.walk(e) if isinstance(n, kind)]
        if not found:
            raise Unchecked(f"no {kind} in line {line}")
        return found

    def states_from(self, first: int, last: int) -> list[State]:
        demand(last >= first >= 0, f"no iterations from {first} to {last}")
        if last > self.last:
            if self.recorded.end is not None:
                raise Wrong(f"iteration {last} of a loop of {self.recorded.end}")
            raise (TooFar if last > MOST else Unchecked)(f"iteration {last} was not run")
        found = self.recorded.states[first : last + 1]
        if not all(found):
            raise Unchecked(f"iterations {first} to {last} were not recorded")
        return found

    def at(self, k: int, line: int | None) -> State:
        self.states_from(k, k)
        if line not in (None, self.recorded.header) and k not in self.recorded.lines:
            raise Unchecked(f"the lines of iteration {k} were not recorded")
        if line is not None and not self.recorded.ran(k, line):
            raise Wrong(f"line {line} does not run in iteration {k}")
        return self.recorded.at(k, line)

    def sides(self, clause: dict[str, Any]) -> Callable[[int], tuple[Any, Any]]:
        """The moving and the other side of a clause in an iteration."""
        op = OPPOSITE[clause["op"]] if clause["negated"] else clause["op"]
        left, right = clause["name"], clause["other"]
        if clause["mirrored"]:
            left, right, op = right, left, MIRRORED[op]
        text, item = f"{left} {op} {right}", clause["item"]
        if item is not None:
            index = "[" + ", ".join(map(str, item)) + "]"
            text = f"{left.replace(index, '')} {op} {right.replace(index, '')}"
        places = self.comparisons(text) or self.comparisons(f"{left} {clause['op']} {right}")
        if not places:
            raise Unchecked(f"{text} stands nowhere")
        line, node = places[0]

        def both(k: int) -> tuple[Any, Any]:
            state = self.at(k, line)
            a, b = (picked(value_of(side, state), item) for side in (node.left, node.comparators[0]))
            return (b, a) if clause["mirrored"] else (a, b)

        return both


def _plain(text: str) -> str:
    try:
        return ast.dump(ast.parse(text, mode="eval"))
    except SyntaxError:
        return text


def _ways(node: ast.Compare) -> list[str]:
    """A comparison as it stands, and with its sides or its truth turned round."""
    left, right, op = ast.unparse(node.left), ast.unparse(node.comparators[0]), SYMBOLS.get(type(node.ops[0]), "?")
    return [
        f"{left} {op} {right}",
        f"{right} {MIRRORED.get(op, '?')} {left}",
        f"{left} {OPPOSITE.get(op, '?')} {right}",
    ]


def compared(node: ast.Compare, state: State, item: Any = None) -> tuple[Any, Any, bool]:
    left, right = (picked(value_of(side, state), item) for side in (node.left, node.comparators[0]))
    with np.errstate(all="ignore"):
        return left, right, bool(np.all(OPS[SYMBOLS[type(node.ops[0])]](left, right)))
