"""Attributes of a kind that no rule expects are one error with the node's name, whoever wrote the graph."""

from __future__ import annotations

import pytest

from workbench.errors import WorkbenchError
from workbench.ir.text import parse

NODES = {
    "a dtype of half a surrogate pair": '"x" = Placeholder() {"dtype": "\\ud800", "shape": []}',
    "a dtype that is a program": '"x" = Placeholder() {"dtype": ", ", "shape": []}',
    "a dtype that is a record": '"x" = Placeholder() {"dtype": "f4,(2,2)f8", "shape": []}',
    "a dtype that is a list": '"x" = Placeholder() {"dtype": [1, [2]], "shape": []}',
    "an axis of text": '"x" = sum("c:0") {"axis": "first"}',
    "an axis of bytes": '"x" = concat("c:0", "c:0") {"axis": {"bytes": "AA=="}}',
    "a split of nothing": '"x" = split("c:0") {"num": "two"}',
    "a permutation of arrays": '"x" = transpose("c:0") {"axes": [{"array": "int64", "shape": [0], "data": []}]}',
    "an equation of numbers": '"x" = einsum("c:0") {"equation": 5}',
}


@pytest.mark.parametrize("line", NODES.values(), ids=NODES)
def test_senseless_attributes(line):
    text = (
        'graph "g" version 1\nnode "c" = Const() {"value": {"array": "float64", "shape": [2], "data": [1, 2]}}\n'
        f'node {line}\noutput "x" = "x:0"\n'
    )
    with pytest.raises(WorkbenchError) as caught:
        parse(text)
    assert caught.value.slug and caught.value.node == "x"


def test_a_decision_whose_shape_changes_in_the_loop_comes_to_an_end():
    """The condition starts as one bool and comes back as an array of none; inference once went on for ever."""
    start = '{"array": "bool", "shape": [], "data": [true]}'
    text = f"""graph "g" version 1
node "t" = Const() {{"value": {start}}}
node "e" = Enter("t:0") {{"frame_name": "f", "is_constant": false, "parallel_iterations": 10}}
node "m" = Merge("e:0", "n:0")
node "c" = LoopCond("m:0")
node "s" = Switch("m:0", "c:0")
node "none" = Const() ^"s" {{"value": {{"array": "bool", "shape": [0], "data": []}}}}
node "n" = NextIteration("none:0")
node "x" = Exit("s:0")
output "x" = "x:0"
"""
    assert parse(text).nodes["m"].types[0].dtype == "bool"
