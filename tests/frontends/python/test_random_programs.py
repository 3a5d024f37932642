"""Random loop programs: plain Python, the graph, and the graph step by step agree bit for bit."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.frontends.python.random_programs import imported, programs
from tests.frontends.python.watched import Beyond, watched
from workbench.errors import WorkbenchError
from workbench.frontends.python.decorator import graph

ARGUMENTS = st.tuples(
    st.integers(-5, 50),
    st.integers(-3, 9),
    st.floats(-4, 4),
    st.floats(0, 3),
    st.booleans(),
    st.lists(st.floats(-3, 3), min_size=4, max_size=4).map(np.array),
)
#: slugs of justified refusals: it is unknown whether two names share an array
REFUSALS = ("alias",)
RELAXED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def results(function: Any, args: tuple) -> list[Any] | Exception:
    """Its result as a list, or the exception that it raises."""
    try:
        with np.errstate(all="ignore"):
            found = function(*args)
    except (ArithmeticError, LookupError, ValueError, Beyond, WorkbenchError) as error:
        return error
    return list(found) if isinstance(found, tuple) else [found]


def same(a: Any, b: Any) -> bool:
    """Equal types, shapes and bits; any nan equals any other."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and all(map(same, a.ravel(), b.ravel()))
    if isinstance(a, float):
        return (a != a and b != b) or struct.pack("d", a) == struct.pack("d", b)
    return a == b


def agree(expected: list[Any] | Exception, found: list[Any] | Exception) -> None:
    if isinstance(expected, Exception):
        assert isinstance(found, WorkbenchError), f"Python raises {expected!r}, the graph gives {found}"
    else:
        assert not isinstance(found, Exception), f"Python gives {expected}, the graph raises {found}"
        assert len(expected) == len(found) and all(map(same, expected, found)), (expected, found)


def stepped(built: wb.Graph, feeds: dict[str, Any]) -> dict[str, np.ndarray] | None:
    """The outputs after stepping through every node, or None if a node fails."""
    session = wb.Session(built, feeds)
    for _ in range(1_000_000):
        stop = session.step()
        if stop.reason is wb.StopReason.FAILED:
            return None
        if stop.reason is wb.StopReason.FINISHED:
            # by node, because an input and its changed output may have the same name
            return {name: session.trace[ref][-1] for name, ref in built.outputs.items()}
    raise AssertionError("the program does not end")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


@pytest.mark.slow
@settings(RELAXED, max_examples=60)
@given(source=programs(), args=ARGUMENTS)
def test_random_programs(folder, source, args):
    expected = results(watched(source), args)
    module = imported(source, folder)
    if not isinstance(expected, Exception):  # the watched program is the program
        agree(expected, results(module.f, args))
    captured = graph(module.f)
    found = results(captured, args)
    if isinstance(found, WorkbenchError) and found.slug in REFUSALS:
        return
    agree(expected, found)
    if isinstance(found, Exception) and getattr(found, "node", None) is None:
        return  # refused at capture
    built = captured.graph_for(*args)
    feeds = {n: a for n, a in zip("ijxypv", args, strict=True) if n in built.inputs}
    outputs = stepped(built, feeds)
    assert (outputs is None) == isinstance(expected, Exception)
    if outputs is not None:
        at_once = built.run(feeds)
        assert all(same(np.asarray(at_once[n]), np.asarray(v)) for n, v in outputs.items())
