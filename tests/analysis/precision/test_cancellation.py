"""Digits lost at subtractions, on the textbook cases, and none where nothing is lost that matters."""

from __future__ import annotations

import math

import numpy as np
import pytest

import workbench as wb
from workbench.analysis import cancellations


@wb.graph
def one_minus_cos(x: float, n: int) -> float:
    value = 0.0
    i = 0
    while i < n:
        value = (1.0 - np.cos(x)) / (x * x)
        x = x / 10.0
        i = i + 1
    return value


@wb.graph
def one_minus_cos_well(x: float, n: int) -> float:
    value = 0.0
    i = 0
    while i < n:
        half = np.sin(x / 2.0) / (x / 2.0)
        value = 0.5 * half * half
        x = x / 10.0
        i = i + 1
    return value


@wb.graph
def quadratic(a: float, b: float, c: float) -> float:
    return (-b + np.sqrt(b * b - 4.0 * a * c)) / (2.0 * a)


@wb.graph
def quadratic_well(a: float, b: float, c: float) -> float:
    return (2.0 * c) / (-b - np.sqrt(b * b - 4.0 * a * c))


@wb.graph
def derivative(x: float, n: int) -> float:
    h = 0.1
    slope = 0.0
    i = 0
    while i < n:
        slope = (np.exp(x + h) - np.exp(x)) / h
        h = h / 10.0
        i = i + 1
    return slope


@wb.graph
def newton(a: float) -> float:
    x = a
    while abs(x * x - a) > 1e-12:
        x = x - (x * x - a) / (2.0 * x)
    return x


def ran(function, *arguments):
    graph = function.graph_for(*arguments)
    session = wb.Session(graph, dict(zip(graph.inputs, arguments, strict=True)))
    session.run()
    return session


def test_one_minus_cosine():
    """The loss is log10(1 / (1 - cos x)), about 2 log10(1/x) + 0.3 digits."""
    with ran(one_minus_cos, 1.0, 8) as session:
        found = cancellations(session)
        assert len(found) == 1
        first = found[0]
        assert first.source.expression == "1.0 - np.cos(x)" and first.sink == "value"
        assert first.frame == session.graph.frame_of(first.node) and len(first.frame) == 1
        assert first.iteration == (7,) and first.digits == pytest.approx(-math.log10(1 - math.cos(1e-7)), abs=1e-6)
        assert first.first == (4,) and first.count == 4  # half of the 15.65 digits are gone from 1e-4 on
        assert "loses 14.3 of 15.7 digits in iteration 7" in str(first)
    with ran(one_minus_cos_well, 1.0, 8) as session:
        assert cancellations(session, harmless=True) == []


def test_quadratic_formula():
    with ran(quadratic, 1.0, 1e8, 1.0) as session:
        (found,) = cancellations(session)
        true_root = -1e-8
        assert abs(session.outputs["result"] / true_root - 1) > 0.2, "the root itself is wrong by a quarter"
        assert found.source.expression == "-b + np.sqrt(b * b - 4.0 * a * c)" and found.sink == "result"
        assert found.digits > 15 and found.frame == () and found.iteration == ()
    with ran(quadratic_well, 1.0, 1e8, 1.0) as session:
        assert cancellations(session, harmless=True) == []
        assert session.outputs["result"] == pytest.approx(-1e-8, rel=1e-15)
    with ran(quadratic, 1.0, 3.0, 1.0) as session:
        assert cancellations(session) == []


@pytest.mark.parametrize(("dtype", "offset"), [(np.float64, 1e6), (np.float32, 1e3)])
def test_variance_by_the_difference_of_means(dtype, offset):
    b = wb.GraphBuilder("variance")
    x = b.placeholder("x", np.dtype(dtype).name, (9,))
    graph = b.build({"v": b.mean(x * x) - b.mean(x) * b.mean(x)})
    data = (offset + np.linspace(0, 1, 9)).astype(dtype)
    with wb.Session(graph, {"x": data}) as session:
        session.run()
        (found,) = cancellations(session)
        size, true = float(np.mean(data.astype(float) ** 2)), float(np.var(data.astype(float)))
        assert found.digits > math.log10(size / true) - 1 and found.sink == "v"
    with wb.Session(graph, {"x": np.linspace(0, 1, 9).astype(dtype)}) as session:
        session.run()
        assert cancellations(session) == []


def test_a_derivative_with_a_shrinking_step():
    with ran(derivative, 1.0, 13) as session:
        found = cancellations(session)
        assert [c.source.expression for c in found] == ["np.exp(x + h) - np.exp(x)"]
        assert found[0].iteration == (12,) and found[0].sink == "slope"
        assert found[0].digits == pytest.approx(13, abs=0.1)
        (loop,) = found[0].frame
        assert cancellations(session, loop) == found == cancellations(session, (loop,))
        assert cancellations(session, ()) == []


def test_a_correction_that_shrinks_is_harmless():
    """Newton subtracts ever closer numbers, and x is right to the last digit."""
    with ran(newton, 2.0) as session:
        assert cancellations(session) == []
        listed = cancellations(session, harmless=True)
        assert {c.source.expression for c in listed} == {"x * x - a"} and not any(c.matters for c in listed)


def test_exact_differences_are_no_cancellation():
    b = wb.GraphBuilder("countdown")
    out = b.while_loop(lambda x: x > 0.0, lambda x: x - 0.25, {"x": 1000.0})
    with wb.Session(b.build(out)) as session:
        session.run()
        assert cancellations(session, harmless=True) == []
