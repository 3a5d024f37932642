"""Errors of the workbench in a notebook: the traceback ends at the user's line; the rest is kept for %tb."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout

import pytest

from workbench import tracebacks

InteractiveShell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell

GRAPH = """
import workbench as wb
b = wb.GraphBuilder("newton")
a = b.placeholder("a")
x = b.while_loop(lambda x: x * x - a > 1e-9, lambda x: (x + a / x) * 0.5, {"x": a})
graph = b.build(x)
session = wb.Session(graph, {"a": 2.0})
"""
CASES = {
    "unknown input": ("graph.run(b=1.0)", "has no input"),
    "unknown value": ("session.value('y')", "'y'"),
    "wrong condition": ("session.breakpoints.add('x', when='value <')", "value <"),
    "a file that is not there": ("wb.load('nothing.onnx')", "nothing.onnx"),
    "an edit": ("session.set_value('while/x/Merge', 1.0)", "not open"),
}


@pytest.fixture(scope="module")
def shell():
    shell = InteractiveShell.instance(colors="nocolor")
    shell.set_custom_exc((), None)
    shell.custom_exceptions = ()
    tracebacks.install()
    assert shell.run_cell(GRAPH).success
    yield shell
    shell.user_ns["session"].close()
    InteractiveShell.clear_instance()


def run(shell, cell: str) -> tuple[str, object]:
    said = io.StringIO()
    with redirect_stdout(said):
        result = shell.run_cell(cell)
    return re.sub(r"\x1b\[[0-9;]*m", "", said.getvalue()), result


@pytest.mark.parametrize("case", CASES)
def test_the_traceback_ends_at_the_users_line(shell, case):
    cell, words = CASES[case]
    said, result = run(shell, f"n = 1\n{cell}")
    assert words in said and f"----> 2 {cell}" in said, said
    assert "/workbench/" not in said and len(said.splitlines()) < 20, said
    assert result.error_in_exec is not None
    trace, depth = result.error_in_exec.__traceback__, 0
    while trace is not None:
        trace, depth = trace.tb_next, depth + 1
    assert depth > 2, "the error itself keeps its whole traceback"
    everything, _ = run(shell, "%tb")
    assert len(everything.splitlines()) > len(said.splitlines()), "%tb shows all of it"


def test_lines_of_the_user_between_stay(shell):
    said, _ = run(shell, "def mine():\n    return graph.run(b=1.0)\ndef more():\n    return mine()\nmore()")
    assert "return graph.run(b=1.0)" in said and "return mine()" in said and "/workbench/" not in said


def test_other_errors_and_other_handlers_are_left_alone(shell):
    said, _ = run(shell, "1 / 0")
    assert "ZeroDivisionError" in said
    before = shell.CustomTB
    tracebacks.install()
    assert shell.CustomTB == before
