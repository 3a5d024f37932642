"""Bodies of loops that run block by block, held against one instruction after the other;
``python -m tests.plan.block_programs`` runs as many programs as one likes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

import workbench as wb
from tests.plan.block_programs import BlockMaker, check_program
from tests.plan.checks import run_of, same
from workbench.execution import Run
from workbench.ir import Ref
from workbench.kernels import machine
from workbench.plan.fusion import CAUSES


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


@pytest.mark.parametrize("size", [700, 4099, 9001])  # rows of the last are streamed
def test_a_stencil_is_one_group_whose_middle_is_in_no_memory(size):
    u = np.random.default_rng(0).normal(size=size)
    run = run_of(heat(size), {"u": u, "n": np.int64(9)})
    assert run.go() == "halt"
    assert np.array_equal(run.outputs()["x"], plain_heat(u, 9))
    ((first, last, left_out, pairs),) = machine.groups_of(run.machine)
    assert first < last and len(left_out) == 3 and pairs == 2


@pytest.mark.parametrize("seed", range(8))
def test_statistics_taken_in_the_pass_of_an_op_are_those_of_single_instructions(seed):
    graph, feeds = (heat(1500), {"u": np.random.default_rng(3).normal(size=1500), "n": np.int64(4)})
    if seed:
        graph, feeds = BlockMaker(seed).make()
    found = []
    for stepped in (False, True):
        with wb.Session(graph, feeds, trace="stats") as session:
            while stepped and session.step().reason is not wb.StopReason.FINISHED:
                pass
            session.run()
            layout = session.plan.layout.values
            kept = [Ref(*key) for key, value in layout.items() if value.statistics is not None]
            found.append({ref: session.trace[ref].statistics.tobytes() for ref in kept})
    assert found[0] == found[1] and len(found[0]) > 2


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


def plan_of(body: Callable[..., dict[str, wb.Value]], x: np.ndarray) -> tuple[dict[str, tuple[str, str]], Run]:
    """Words of the plan for each value that ``body(b, x)`` names, in a loop that carries those in small letters, and
    the run."""
    b = wb.GraphBuilder("reasons")
    given = b.placeholder("x", str(x.dtype), x.shape)
    names: dict[str, wb.Value] = {}

    def step(i: wb.Value, x: wb.Value, *_: wb.Value) -> tuple[wb.Value, ...]:
        names.update(body(b, x))
        return i + 1, names["x"], *(value for name, value in names.items() if name.islower() and name != "x")

    first = body(b, given)
    start = [b.constant(0, "int64"), given, *(value for name, value in first.items() if name.islower() and name != "x")]
    final = b.while_loop(lambda i, *_: i < 2, step, start)
    run = run_of(b.build({f"out{k}": value for k, value in enumerate(final)}), {"x": x})
    fused = run.plan.fused
    return {name: fused[value.ref.node] for name, value in names.items() if value.ref.node in fused}, run


def test_the_plan_says_what_runs_block_by_block_with_what():
    def body(b, x):
        twice = x * 2.0
        shifted = twice + 1.0
        return {"x": shifted, "TWICE": twice, "mean": b.op("mean", shifted)}

    said, _ = plan_of(body, np.ones(2000))
    assert {name: slug for name, (slug, _) in said.items()} == dict.fromkeys(("x", "TWICE", "mean"), "fused")
    assert "while/mean" in said["TWICE"][1] and "no memory" in said["TWICE"][1] and "no memory" not in said["x"][1]


#: slug -> two bodies that differ in the cause alone: y does not go block by block in the first, and does in the second
REASONS = {
    "whole": (
        lambda b, x: {"y": b.op("matmul", x, b.constant(np.eye(50)))},
        lambda b, x: {"y": b.op("multiply", x, b.constant(np.ones((40, 50))))},
    ),
    "own-order": (lambda b, x: {"y": b.op("prod", x + 1.0)}, lambda b, x: {"y": b.op("sum", x + 1.0)}),
    "may-raise": (
        lambda b, x: {"y": b.op("power", b.op("cast", x, dtype="int64"), 2)},
        lambda b, x: {"y": b.op("multiply", b.op("cast", x, dtype="int64"), 2)},
    ),
    "numpy-loop": (lambda b, x: {"y": b.op("tanh", x + 1.0)}, lambda b, x: {"y": b.op("sqrt", x + 1.0)}),
    "apart": (
        lambda b, x: {"y": (y := (x + 1.0)[:, ::2]), "z": y * 2.0},
        lambda b, x: {"y": (y := (x + 1.0)[:, :25]), "z": y * 2.0},
    ),
}


@pytest.mark.parametrize("slug", REASONS)
def test_what_does_not_go_block_by_block_would_without_its_reason(slug):
    """The two bodies differ in what the reason names, and in nothing else."""
    found = []
    for body in REASONS[slug]:
        said, run = plan_of(lambda b, x, body=body: body(b, x) | {"x": x * 0.5 + 0.25}, np.ones((40, 50)))
        found.append(said["y"])
        assert machine.groups_of(run.machine), "the rest of the body is a group in either"
    assert [its[0] for its in found] == [slug, "fused"]
    assert found[0][1] == CAUSES[slug]


def test_arrays_of_one_block_are_short_and_those_of_one_item_more_are_not():
    for size, slug in ((machine.BLOCK, "short"), (machine.BLOCK + 1, "fused")):
        said, _ = plan_of(lambda b, x: {"x": x * 0.5, "y": x - 1.0}, np.ones(size))
        assert said["y"][0] == slug, size
        assert slug != "short" or str(machine.BLOCK) in said["y"][1]


def test_what_has_no_neighbour_is_fused_once_it_has_one():
    for more, slug in ((0, "no-neighbour"), (1, "fused")):
        said, _ = plan_of(lambda b, x, more=more: {"Y": (y := x * 0.5), "x": y + 0.25 if more else y}, np.ones(2000))
        assert said["Y"][0] == slug, more


@pytest.mark.parametrize("rows", [30, 700])
def test_what_is_computed_again_by_groups_has_the_bits_of_numpy(rows):
    """All of an array, a part of it, one that is read behind a product, and what stands in front of that."""
    b = wb.GraphBuilder("again")
    x, n = b.placeholder("x", "float64", (rows, 40)), b.placeholder("n", "int64")
    weights = np.random.default_rng(3).normal(size=(40, 40)) / 9

    def body(x: wb.Value, i: wb.Value) -> tuple[wb.Value, wb.Value]:
        scaled = b.alias("scaled", x * 0.5 + 0.25)
        part = b.alias("part", scaled[2:-3])
        product = b.alias("product", b.op("matmul", scaled, b.constant(weights)))
        last = b.alias("last", (product - scaled) * 3.0 + b.op("sum", part))
        return b.op("minimum", last, 1.0), i + 1

    final, _ = b.while_loop(lambda x, i: i < n, body, [x, 0])
    at = np.random.default_rng(rows).normal(size=(rows, 40))
    with wb.Session(b.build({"x": final}), {"x": at, "n": np.int64(4)}) as session:
        session.run()
        assert sum(slug == "recomputed" for slug, _ in session.plan.recorded.values()) >= 4
        for k in range(4):
            scaled = at * 0.5 + 0.25
            product = scaled @ weights
            last = (product - scaled) * 3.0 + scaled[2:-3].sum()
            wanted = {"last": last, "part": scaled[2:-3], "scaled": scaled, "product": product}
            assert [name for name, value in wanted.items() if not same(session.value(name, k), value)] == []
            at = np.minimum(last, 1.0)
        assert same(session.outputs["x"], at)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "bool"])
@pytest.mark.parametrize("size", [513, 1031, 8200, 100_001])
def test_reductions_in_groups_have_the_bits_of_numpy(size, dtype):
    """Those of which blocks cannot be joined with the same bits stay alone; NumPy itself is the oracle."""
    draw = np.random.default_rng(size)
    x = (draw.normal(size=size) * 9).astype(dtype)
    ops = ["any", "all"] if dtype == "bool" else ["sum", "mean", "max", "min", "any", "all", "prod"]

    def body(b: wb.GraphBuilder, x: wb.Value) -> dict[str, wb.Value]:
        y = b.op("logical_not", x) if dtype == "bool" else x + x
        return {"x": y} | {op: b.op(op, y) for op in ops}

    said, run = plan_of(body, x)
    assert run.go() == "halt"
    found = dict(zip(("i", "x", *ops), run.outputs().values(), strict=True))
    with np.errstate(over="ignore"):
        assert all(same(found[op], getattr(np, op)(found["x"])) for op in ops), found
    alone = {"prod"} if dtype.startswith("float") else {"mean"} if dtype == "int32" else set()
    assert {op: slug for op, (slug, _) in said.items() if slug != "fused"} == dict.fromkeys(alone, "own-order")


def test_of_zeros_alone_the_greatest_is_0_and_the_smallest_is_minus_0_whatever_holds_them():
    for zeros in ([0.0, -0.0], [-0.0, 0.0], [-0.0, -0.0], [0.0, 0.0]):
        x = np.repeat(zeros, 700)
        for trace in ("all", "off"):
            for fused in (True, False):
                b = wb.GraphBuilder("zeros")
                given = b.placeholder("x", "float64", (1400,) if fused else (None,))

                def body(i, low, high, b=b, given=given):
                    y = given * 1.0
                    return i + 1, b.op("min", y), b.op("max", y)

                _, low, high = b.while_loop(lambda i, low, high: i < 2, body, [0, 0.0, 0.0])
                with wb.Session(b.build({"low": low, "high": high}), {"x": x}, trace=trace) as session:
                    session.run()
                    found = np.signbit(session.outputs["low"]), np.signbit(session.outputs["high"])
                assert found == (np.signbit(zeros).any(), np.signbit(zeros).all()), (zeros, trace, fused)
