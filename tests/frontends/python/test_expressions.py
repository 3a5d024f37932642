"""Python's arithmetic in graphs: random expressions on edge values have Python's results bit for bit, or fail as in
Python.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.frontends.python.expressions import Beyond, expressions, in_python, numbers, run_graph, same
from workbench.errors import WorkbenchError


@pytest.mark.slow
@settings(max_examples=1500, deadline=None)
@given(expression=expressions(3), args=st.lists(numbers, min_size=3, max_size=3))
def test_expressions_give_what_python_gives(expression, args):
    try:
        expected = in_python(expression, args)
    except (ArithmeticError, ValueError, TypeError, Beyond) as error:
        expected = error
    try:
        found = run_graph(expression, args)
    except WorkbenchError as error:
        assert isinstance(expected, Exception), f"Python gives {expected!r}, the graph raises {error}"
        return
    assert not isinstance(expected, Exception), f"Python raises {expected!r}, the graph gives {found!r}"
    assert same(found, expected), (found, expected)
