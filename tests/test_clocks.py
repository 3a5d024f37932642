"""No test is bounded by a clock: on a busy or slow machine it would fail although nothing is wrong. What a call costs
is bounded by counts (``tests/work.py``), and measured by benchmarks. A test may wait for something for a minute or
longer, and fail if it never comes."""

from __future__ import annotations

import ast
from pathlib import Path

HERE = Path(__file__).parent
CLOCKS = set("time monotonic perf_counter process_time thread_time perf_counter_ns monotonic_ns time_ns".split())


def _reads_clock(part: ast.AST) -> bool:
    """True for ``time.perf_counter()`` and the like anywhere in it."""
    calls = [ast.unparse(call.func) for call in ast.walk(part) if isinstance(call, ast.Call)]
    return any(name in CLOCKS - {"time"} or name.removeprefix("time.") in CLOCKS and "." in name for name in calls)


def _names(part: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(part) if isinstance(n, ast.Name)}


def _is_long(part: ast.AST) -> bool:
    """True if the only number in it is of a minute or more."""
    numbers = [n.value for n in ast.walk(part) if isinstance(n, ast.Constant) and isinstance(n.value, int | float)]
    return len(numbers) == 1 and numbers[0] >= 60


def clocked(text: str) -> list[str]:
    """Names of the functions in a module that assert a bound on what they read from a clock."""
    found = []
    tree = ast.parse(text)
    functions = [f for f in ast.walk(tree) if isinstance(f, ast.FunctionDef | ast.AsyncFunctionDef)]
    # functions that give times, and then those that call them
    timed: set[str] = set()
    tainted: dict[str, set[str]] = {}
    for _ in range(3):
        for function in functions:
            names = tainted.setdefault(function.name, set())
            for _ in range(3):
                for part in ast.walk(function):
                    if isinstance(part, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.NamedExpr) and part.value:
                        targets = part.targets if isinstance(part, ast.Assign) else [part.target]
                        if _reads_clock(part.value) or _names(part.value) & (names | timed):
                            names |= {n for t in targets if isinstance(t, ast.Name | ast.Tuple) for n in _names(t)}
                    elif (
                        isinstance(part, ast.Call)
                        and isinstance(part.func, ast.Attribute)
                        and part.func.attr == "append"
                    ):
                        if any(_reads_clock(a) or _names(a) & names for a in part.args):
                            names |= _names(part.func.value)
            returned = [r.value for r in ast.walk(function) if isinstance(r, ast.Return) and r.value is not None]
            if not function.name.startswith("test_") and any(_reads_clock(r) or _names(r) & names for r in returned):
                timed.add(function.name)
    for function in functions:
        names = tainted[function.name] | timed
        guards = {part for loop in ast.walk(function) if isinstance(loop, ast.While) for part in loop.body}
        for part in ast.walk(function):
            if part in guards and isinstance(part, ast.Assert) and _is_long(part.test):
                continue  # the loop waits for something, and gives up if that never comes
            if isinstance(part, ast.Assert) and any(
                isinstance(c, ast.Compare)
                and any(isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in c.ops)
                and (_reads_clock(c) or _names(c) & names)
                for c in ast.walk(part.test)
            ):
                found.append(function.name)
                break
    return found


def test_no_test_is_bounded_by_a_clock() -> None:
    found = set()
    for path in sorted(HERE.rglob("test_*.py")):
        where = path.relative_to(HERE)
        if where.parts[0] not in ("benchmarks", "browser"):  # benches, and pages that wait for a browser
            found |= {f"{where}: {name}" for name in clocked(path.read_text(encoding="utf-8"))}
    assert sorted(found) == []


def test_a_test_that_is_bounded_by_a_clock_is_found() -> None:
    text = """
import time
def seconds(call):
    begin = time.process_time()
    call()
    return time.process_time() - begin
def test_by_itself():
    begin = time.perf_counter()
    assert time.perf_counter() - begin < 5
def test_by_a_list():
    took = []
    took.append(time.monotonic())
    assert sorted(took)[0] < 1
def test_by_a_helper():
    best = min(seconds(print) for _ in range(3))
    assert best < 0.2
def test_in_a_loop_that_does_not_wait_long():
    begin = time.monotonic()
    while not print():
        assert time.monotonic() - begin < 5
def test_that_waits():
    begin = time.monotonic()
    while not print():
        assert time.monotonic() - begin < 60
def test_of_a_count():
    calls = 3
    begin = time.monotonic()
    while time.monotonic() - begin < 1.0:
        calls += 1
    assert len([calls]) < 5
"""
    assert clocked(text) == [
        "test_by_itself",
        "test_by_a_list",
        "test_by_a_helper",
        "test_in_a_loop_that_does_not_wait_long",
    ]
