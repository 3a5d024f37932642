"""Loops, branches, calls, their gradients, TensorArrays, TensorLists and stacks have TensorFlow's values.

The graphs and values were made by TensorFlow 2.21 (``data/make_control_flow.py``).
"""

from __future__ import annotations

import io
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from workbench.frontends.tf import convert
from workbench.frontends.tf.graphdef import read_graphdef

ARCHIVE = Path(__file__).with_name("data") / "control_flow.zip"
with zipfile.ZipFile(ARCHIVE) as _archive:
    NAMES = sorted({n.rpartition("/")[0] for n in _archive.namelist()})
VARIABLES = {"a": np.array([1, 2], np.float32), "b": np.array([[0.5, 1], [2, 0.25]], np.float32)}


@cache
def source(name: str) -> bytes:
    with zipfile.ZipFile(ARCHIVE) as archive:
        return archive.read(f"{name}/graph.pb")


@cache
def values(name: str) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    with zipfile.ZipFile(ARCHIVE) as archive:
        arrays = np.load(io.BytesIO(archive.read(f"{name}/io.npz")), allow_pickle=False)
    kinds: dict[str, dict[str, np.ndarray]] = {"in": {}, "out": {}}
    for key in arrays.files:
        kind, _, tensor = key.partition(":")
        kinds[kind][tensor] = arrays[key]
    return kinds["in"], kinds["out"]


@cache
def graph(name: str) -> wb.Graph:
    return convert(read_graphdef(source(name)), list(values(name)[1]), name, VARIABLES)


def agree(found: np.ndarray, expected: np.ndarray) -> None:
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_values(name):
    feeds, expected = values(name)
    found = graph(name).run(feeds)
    for tensor, value in expected.items():
        agree(found[tensor], value)
    assert wb.parse(graph(name).text()) == graph(name)


@pytest.mark.parametrize("name", [n for n in NAMES if "gradient" in n])
def test_steps_back_replays_and_forks_are_exact(name):
    """Stacks, arrays and lists are values: recomputed ones equal the first ones."""
    feeds, expected = values(name)
    with wb.Session(graph(name), feeds, trace="all") as session:
        session.run()
        events = session.trace.events()
        first = {t: session.value(t) for t in expected}
        for count in (1, 7, len(events) // 3, len(events)):
            session.step_back(count)
            session.run()
            for tensor, value in expected.items():
                agree(session.value(tensor), value)
                assert session.value(tensor).tobytes() == first[tensor].tobytes()
    with wb.Session(graph(name), feeds, trace="off") as session:
        session.step(len(events) // 2)
        session.step_back(len(events) // 4)
        session.run()
        for tensor in expected:
            assert session.value(tensor).tobytes() == first[tensor].tobytes()


def test_effects_come_in_order_and_only_on_the_way_taken(capsys):
    graph("v2/effects").run(values("v2/effects")[0])
    assert capsys.readouterr().out == "big 2.5 0\nbig 4.5 2\n"


def test_a_loop_of_functions_is_a_frame_under_the_sources_names():
    found = graph("v2/nested")
    inner = "while/body/while/while"
    assert [p for p in found.frames if p] == [("while",), ("while", inner)]
    loop = found.frames[("while",)]
    assert loop.loop_cond == "while/LoopCond"
    assert [v.name for v in loop.variables] == [
        "while/while_while_loop_counter",
        "while/while_placeholder",
        "while/while_placeholder_1",
    ]
    assert found.value("while:3") == found.value("while/Exit_3") and found.nodes["while/Exit_3"].region == "while"
    assert {n.region for n in found.nodes.values() if found.frame_of(n.name) == ("while", inner)} == {inner}
    # a value that a body returns unchanged is an invariant, not a variable
    invariants = [n for n in loop.enters if found.nodes[n].attrs["is_constant"]]
    assert len(invariants) == 2 and found.nodes["x"].region is None


def test_inner_values_can_be_asked_for():
    whole = wb.from_graphdef(source("v2/nested"), ["while/body/while/add_1", "while:2"])
    feeds, _ = values("v2/nested")
    found = whole.run(feeds)
    assert found["while/body/while/add_1:0"].tolist()[-1] == found["while:2"] == 6


def test_values_of_one_trip_equal_tensorflows():
    """The sequence that Collatz' loop goes through, against arithmetic."""
    feeds, expected = values("v2/collatz")
    n, sequence = 27, [27]
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        sequence.append(n)
    with wb.Session(graph("v2/collatz"), feeds, trace="all") as session:
        session.run()
        merge = graph("v2/collatz").frames[("while",)].variables[1]
        assert session.trace[merge.name].values.tolist() == sequence
    assert [int(v) for v in expected.values()] == [1, len(sequence) - 1]


def test_variables_are_read_and_never_changed():
    with pytest.raises(wb.WorkbenchError) as caught:
        convert(read_graphdef(source("v1/variables")), ["out0"], "g")
    assert caught.value.slug == "no-variable-value" and "'a'" in str(caught.value)
    with pytest.raises(wb.WorkbenchError) as caught:
        convert(read_graphdef(source("v1/variables")), ["AssignAddVariableOp"], "g", VARIABLES)
    assert caught.value.slug == "assigns-variable" and "'a'" in str(caught.value)
    with pytest.raises(wb.WorkbenchError) as caught:
        convert(read_graphdef(source("v1/variables")), ["out0"], "g", {**VARIABLES, "a": np.zeros(3, np.float32)})
    assert caught.value.slug == "variable-type"
    # all unread nodes are outputs, except those that restore and train
    assert set(convert(read_graphdef(source("v1/variables")), None, "g", VARIABLES).outputs) >= {"out0:0", "out1:0"}
