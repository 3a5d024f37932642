"""Advice in the words of the place where it is read, and names that were probably meant."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.cli import models
from workbench.cli.advice import DEBUGGER, SHELL, error_text
from workbench.cli.inputs import add_inputs, feeds_of
from workbench.cli.terminal.table import COMMANDS
from workbench.errors import FeedError, SessionError, WorkbenchError
from workbench.ir.types import TensorType
from workbench.text import similar_names


def error_of(action) -> WorkbenchError:
    with pytest.raises(WorkbenchError) as caught:
        action()
    return caught.value


@pytest.mark.parametrize("words", [DEBUGGER, SHELL])
def test_no_advice_for_python_where_there_is_none(words):
    with wb.Session(models.newton(), {"a": 2.0}) as session:
        for action in (
            lambda: session.value("nosuch"),
            lambda: session.graph.value("foo"),
            lambda: session.breakpoints.add("nosuch/*"),
            lambda: session.outputs,
            lambda: session.apply_fix(),
        ):
            error = error_of(action)
            assert "()" in (error.fix or "") or "graph." in (error.fix or ""), "advice for Python is there"
            told = error_text(error, words)
            assert error.message in told and f"[{error.slug}]" in told
            if error.slug in words:
                assert "graph." not in told and "session." not in told and words[error.slug] in told


def test_a_name_that_was_meant_stays():
    error = error_of(lambda: models.newton().value("while/divid"))
    assert "did you mean 'while/divide'?" in error_text(error, DEBUGGER)
    assert error_text(ValueError("a\nb"), DEBUGGER) == "a b"
    assert error_text(SessionError("No."), DEBUGGER).startswith("No.")


def test_the_advice_of_the_debugger_names_its_commands():
    for text in DEBUGGER.values():
        assert any(f"{name} " in f"{text} " for name in (*COMMANDS, "go", "start")), text


@pytest.mark.parametrize(
    ("name", "known", "near"),
    [
        ("A", ["a", "start"], ["a"]),
        ("strat", ["a", "start"], ["start"]),
        ("bogus", ["use", "out", "log"], []),
        ("y", ["x", "a"], []),
        ("divide", ["while/divide", "x"], ["while/divide"]),
        ("while/divid", ["while/divide", "while/add", "while/pivot"], ["while/divide"]),
        ("whlie/divide", ["while/divide", "while/add"], ["while/divide"]),
        ("", ["x"], []),
    ],
)
def test_only_near_names_are_proposed(name, known, near):
    assert similar_names(name, known) == near


def feeds(*words: str):
    import argparse

    parser = argparse.ArgumentParser()
    add_inputs(parser)
    b = wb.GraphBuilder("root")
    a, start = b.placeholder("a", "float32", ()), b.placeholder("start", "float32", ())
    return feeds_of(b.build(a / start), parser.parse_args([x for w in words for x in ("-i", w)]))


def test_unknown_inputs_are_named_together_before_missing_ones():
    error = error_of(lambda: feeds("A=2", "bogus=3", "start=1"))
    assert isinstance(error, FeedError) and error.slug == "unknown-feed"
    assert error.message == ("Unknown inputs: 'A' (did you mean 'a'?), 'bogus'. Missing: a (one float32 number).")
    assert error.fix == "write --input a=..."
    error = error_of(lambda: feeds("a=1", "start=1", "b=2"))
    assert error.message == "Unknown input: 'b'." and "start (one float32 number)" in error.fix
    assert error_of(lambda: feeds("a=1")).message == "Missing: start (one float32 number)."


@pytest.mark.parametrize(
    ("dtype", "shape", "words"),
    [
        ("float32", (), "one float32 number"),
        ("float64", (3,), "a list of 3 float64 numbers"),
        ("int64", (1,), "a list of 1 int64 number"),
        ("int64", (None,), "a list of int64 numbers"),
        ("int64", (2, None), "int64 numbers of shape 2 x ?"),
        ("float32", None, "float32 numbers of any shape"),
        ("bool", (), "one bool (true or false)"),
        ("string", (), "one text"),
        ("opaque", None, "one list, map or other object"),
    ],
)
def test_types_in_words(dtype, shape, words):
    assert TensorType(dtype, shape).words == words


def test_a_wrong_shape_is_told_in_words():
    b = wb.GraphBuilder("root")
    graph = b.build(b.placeholder("a", "float32", ()) * 2)
    error = error_of(lambda: graph.run(a=[1, 2]))
    assert "takes one float32 number (float32[]), got a list of 2 float32 numbers (float32[2])" in error.message
    assert error.fix == "feed one float32 number."
