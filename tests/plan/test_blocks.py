"""Bodies of loops that run block by block, held against one instruction after the other;
``python -m tests.plan.block_programs`` runs as many programs as one likes."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import workbench as wb
from tests.plan.block_programs import check_program
from tests.plan.checks import run_of
from workbench.kernels import machine


@pytest.mark.parametrize("seed", range(40))
def test_random_bodies_give_the_same_bits(seed):
    assert check_program(seed)["values"] > 20


@pytest.mark.slow
def test_many_random_bodies_give_the_same_bits():
    counts = Counter[str]()
    for seed in range(1000, 1800):
        counts += check_program(seed)
    assert counts["programs"] == 800 and counts["edits"] > 1300


def heat(size: int) -> wb.Graph:
    b = wb.GraphBuilder("heat")
    u, n = b.placeholder("u", "float64", (size,)), b.placeholder("n", "int64")

    def body(x: wb.Value, i: wb.Value) -> tuple[wb.Value, wb.Value]:
        both = b.alias("both", x[:-2] + x[2:])
        inner = 0.5 * x[1:-1] + b.alias("side", 0.25 * both)
        return b.op("pad", inner, pad_width=((1, 1),)), i + 1

    x, _ = b.while_loop(lambda x, i: i < n, body, [u, 0])
    return b.build({"x": x})


def plain_heat(u: np.ndarray, n: int) -> np.ndarray:
    for _ in range(n):
        inner = 0.5 * u[1:-1] + 0.25 * (u[:-2] + u[2:])
        u = np.pad(inner, 1)
    return u


@pytest.mark.parametrize("size", [700, 4099])
def test_a_stencil_is_one_group_whose_middle_is_in_no_memory(size):
    u = np.random.default_rng(0).normal(size=size)
    run = run_of(heat(size), {"u": u, "n": np.int64(9)})
    assert run.go() == "halt"
    assert np.array_equal(run.outputs()["x"], plain_heat(u, 9))
    ((first, last, left_out, pairs),) = machine.groups_of(run.machine)
    assert first < last and len(left_out) == 3 and pairs == 2


def test_a_stop_inside_of_a_group_shows_what_has_fired():
    u = np.random.default_rng(1).normal(size=900)
    at = plain_heat(u, 4)
    with wb.Session(heat(900), {"u": u, "n": np.int64(9)}) as session:
        session.run_to("side", 4)
        assert np.array_equal(session.value("both", 4), at[:-2] + at[2:])
        session.set_value("both", np.ones(898))
        session.run_to("side", 5)
        assert np.array_equal(session.value("side", 4), np.full(898, 0.25))
        after = np.pad(0.5 * at[1:-1] + 0.25, 1)
        assert np.array_equal(session.value("both", 5), after[:-2] + after[2:])
        session.run()
        assert np.array_equal(session.outputs["x"], plain_heat(after, 4))
        assert (session.value("both", 4) == 1).all(), "an edit stays"


@pytest.mark.parametrize("trace", ["all", "carried", "off"])
def test_a_failure_behind_a_group_shows_what_the_group_has_held(trace):
    """Nothing is armed, so that the group has left its middle out of memory when the node behind it fails."""
    b = wb.GraphBuilder("fails")
    u, n = b.placeholder("u", "float64", (900,)), b.placeholder("n", "int64")

    def body(x: wb.Value, i: wb.Value) -> tuple[wb.Value, wb.Value]:
        both = b.alias("both", x[:-2] + x[2:])
        inner = 0.5 * x[1:-1] + b.alias("side", 0.25 * both)
        return b.op("pad", inner + b.op("gather", b.constant(np.arange(4.0)), i), pad_width=((1, 1),)), i + 1

    x, _ = b.while_loop(lambda x, i: i < n, body, [u, 0])
    at = np.random.default_rng(1).normal(size=900)
    with wb.Session(b.build({"x": x}), {"u": at, "n": np.int64(9)}, trace=trace) as session:
        session.run()
        assert session.state == "failed"
        for k in range(4):
            at = np.pad(0.5 * at[1:-1] + 0.25 * (at[:-2] + at[2:]) + k, 1)
        assert np.array_equal(session.value("both", 4), at[:-2] + at[2:])
        assert np.array_equal(session.value("side", 4), 0.25 * (at[:-2] + at[2:]))


def test_a_group_of_rows_that_lie_apart():
    """A five-point stencil in two dimensions: views that are copied block by block, and a padded result."""
    b = wb.GraphBuilder("plate")
    u, n = b.placeholder("u", "float64", (40, 50)), b.placeholder("n", "int64")

    def body(x: wb.Value, i: wb.Value) -> tuple[wb.Value, wb.Value]:
        around = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
        return b.op("pad", 0.25 * around, pad_width=((1, 1), (1, 1))), i + 1

    x, _ = b.while_loop(lambda x, i: i < n, body, [u, 0])
    at = np.random.default_rng(2).normal(size=(40, 50))
    run = run_of(b.build({"x": x}), {"u": at, "n": np.int64(5)})
    assert run.go() == "halt"
    for _ in range(5):
        at = np.pad(0.25 * (at[:-2, 1:-1] + at[2:, 1:-1] + at[1:-1, :-2] + at[1:-1, 2:]), 1)
    assert np.array_equal(run.outputs()["x"], at)
    ((_, _, left_out, _),) = machine.groups_of(run.machine)
    assert len(left_out) >= 6


def test_the_plan_says_what_is_fused_and_why_the_rest_is_not():
    b = wb.GraphBuilder("reasons")
    x, n = b.placeholder("x", "float64", (2000,)), b.placeholder("n", "int64")
    made: dict[str, str] = {}

    def named(name: str, value: wb.Value) -> wb.Value:
        made[name] = value.ref.node
        return value

    def body(x: wb.Value, i: wb.Value) -> tuple[wb.Value, wb.Value]:
        shifted = named("shifted", named("twice", x * 2.0) + 1.0)
        short = named("short", x[:100] * named("mean", b.op("mean", shifted)))
        return named("next", named("tanh", b.op("tanh", x)) + b.op("sum", short)), i + 1

    final, _ = b.while_loop(lambda x, i: i < n, body, [x, 0])
    with wb.Session(b.build({"x": final}), {"x": np.ones(2000), "n": np.int64(2)}) as session:
        fused = session.plan.fused
    slug, sentence = fused[made["twice"]]
    assert slug == fused[made["shifted"]][0] == "fused"
    assert made["shifted"] in sentence and "no memory" in sentence
    slugs = {"mean": "whole", "short": "short", "tanh": "not-item-by-item", "next": "no-neighbour"}
    assert {name: fused[made[name]][0] for name in slugs} == slugs
