"""Every test can fail by what it looks at: it asserts something, or calls a function of the tests that does."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).parent

Function = ast.FunctionDef | ast.AsyncFunctionDef


def _called(call: ast.Call) -> str:
    """The last name of what is called: ``raises`` of ``pytest.raises(...)``."""
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _asserts(function: ast.AST, known: Iterable[str] = ()) -> bool:
    """True if it asserts by itself or calls one of the ``known``."""
    for part in ast.walk(function):
        if isinstance(part, ast.Assert):
            return True
        if isinstance(part, ast.Call):
            name = _called(part)
            if name.startswith("assert") or name in ("raises", "warns", "fail") or name in known:
                return True
    return False


def without_assertions(sources: dict[str, str]) -> list[str]:
    """``module: test`` of the tests in these modules (name -> text) that assert nothing."""
    helpers: dict[str, list[Function]] = defaultdict(list)
    tests: list[tuple[str, Function]] = []
    for module, text in sources.items():
        for part in ast.walk(ast.parse(text)):
            if isinstance(part, Function):
                if part.name.startswith("test_"):
                    tests.append((module, part))
                else:
                    helpers[part.name].append(part)
    known: set[str] = set()
    while True:  # helpers call helpers
        found = {name for name, parts in helpers.items() if any(_asserts(p, known) for p in parts)}
        if found == known:
            return sorted(f"{module}: {test.name}" for module, test in tests if not _asserts(test, known))
        known = found


def test_every_test_asserts_something() -> None:
    sources = {str(p.relative_to(HERE)): p.read_text(encoding="utf-8") for p in HERE.rglob("*.py")}
    assert len(sources) > 300
    assert without_assertions(sources) == []


def test_a_test_that_asserts_nothing_is_found() -> None:
    text = """
def helper(x):
    assert x

def other(x):
    return helper(x)

def calm(x):
    return x

def test_itself(): assert True
def test_by_a_helper(): other(1)
def test_an_error():
    with pytest.raises(ValueError):
        int("x")
def test_numbers(): np.testing.assert_allclose(1, 1)
def test_nothing(): calm(1)
"""
    assert without_assertions({"a.py": text}) == ["a.py: test_nothing"]
