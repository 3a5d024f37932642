"""Hand-written programs: plain Python, graph and stepping agree bit for bit; every node has its source line."""

import inspect

import pytest

import workbench as wb
from tests.frontends.python import programs, programs_more
from tests.frontends.python.agreement import check

CASES = programs.CASES + programs_more.CASES


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=[f"{f.__name__}-{k}" for k, (f, _) in enumerate(CASES)])
def test_program(function, arguments):
    graph = check(function, *arguments)
    lines = function.__code__.co_firstlineno
    for node in graph.nodes.values():
        assert node.source is not None and node.source.file == inspect.getsourcefile(function), node
        assert node.source.line >= 1 and node.source.expression, node
    assert any(node.source.line > lines for node in graph.nodes.values())
    assert wb.parse(graph.text()) == graph
