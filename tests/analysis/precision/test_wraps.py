"""The first integer result that wrapped around: against exact integers, in random vectors, loops and cards."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.analysis.precision.wraps import first_wrap
from workbench.widgets.panel.health_model import health_model

EXACT: dict[str, Any] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "negative": lambda x: -x,
    "abs": abs,
    "square": lambda x: x * x,
}
DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", EXACT)
def test_wraps_are_those_of_exact_integers(op: str, dtype: str) -> None:
    """Vectors of the ends of the range and of random numbers, with all pairs; Python's ints give the exact results."""
    rng, limits = np.random.default_rng(0), np.iinfo(dtype)
    ends = [limits.min, limits.min + 1, limits.max - 1, limits.max, 0, 1, 2]
    root = int(limits.max**0.5)
    some = np.array([*ends, root, root + 1, *(int(v) for v in rng.integers(-5, 5, 4) if v >= limits.min)], dtype)
    x, y = (v.ravel() for v in np.meshgrid(some, some))
    b = wb.GraphBuilder(op)
    given = {"x": x} if op in ("negative", "abs", "square") else {"x": x, "y": y}
    values = [b.placeholder(name, dtype, x.shape) for name in given]
    function = EXACT[op]
    exact = [function(*map(int, row)) for row in zip(*given.values(), strict=True)]
    with wb.Session(b.build({"z": b.op(op, *values)}), given) as session:
        session.run()
        result = session.outputs["z"].tolist()
        expected = next((k for k, (e, r) in enumerate(zip(exact, result, strict=True)) if e != r), None)
        found = first_wrap(session)
        assert (None if found is None else found.index) == (None if expected is None else (expected,))
        if found is not None:
            assert found.operands == tuple(int(v[expected]) for v in given.values())
            assert found.value == result[expected] and found.signed == dtype.startswith("i")


def collatz(dtype: str) -> wb.Graph:
    b = wb.GraphBuilder("collatz")
    n = b.placeholder("n", dtype, ())
    one = b.constant(1, dtype)

    def step(n: Any) -> Any:
        odd = b.op("equal", b.op("remainder", n, b.constant(2, dtype)), one)
        up, down = lambda: n * b.constant(3, dtype) + one, lambda: b.op("floor_divide", n, b.constant(2, dtype))
        return b.cond(odd, up, down)

    return b.build(b.while_loop(lambda n: n > one, step, {"n": n}, max_trips=400))


def test_collatz_in_32_bits() -> None:
    """113383 is the first start whose numbers leave int32; in int64 they do not."""
    number, trips = 113383, 0
    while not (number % 2 and 3 * number > 2**31 - 1):
        number, trips = 3 * number + 1 if number % 2 else number // 2, trips + 1
    with wb.Session(collatz("int32"), {"n": 113383}) as session:
        session.run()
        found = first_wrap(session)
        assert found.op == "multiply" and found.iteration == (trips,) and found.operands == (number, 3)
        assert found.formula == f"{number} * 3 = {3 * number - 2**32}" and "int32" in str(found)
        card = health_model(session)
        assert card["node"] == found.node and card["iteration"] == [trips] and "wrap" in card["text"]
        assert "the first to wrap around in int32" in " ".join(wb.analyze(session).report().split())
        out = io.StringIO()
        wb.terminal(session, commands=["nan"], source=io.StringIO(""), out=out)
        assert found.node in out.getvalue() and "wrap" in out.getvalue()
    with wb.Session(collatz("int64"), {"n": 113383}) as session:
        session.run()
        assert first_wrap(session) is None and "finite" in health_model(session)


def test_unsigned_wraps_raise_no_alarm() -> None:
    b = wb.GraphBuilder("hash")
    h = b.while_loop(
        lambda h, i: i < 5,
        lambda h, i: (h * b.constant(16777619, "uint32"), i + 1),
        [b.constant(2166136261, "uint32"), b.constant(0)],
    )[0]
    with wb.Session(b.build({"h": h}), {}) as session:
        session.run()
        assert not first_wrap(session).signed
        card = health_model(session)
        assert "text" not in card and "wrapped" in card["starts"]


def test_python_ints_do_not_wrap() -> None:
    graph = wb.graph(lambda n: n * 3 + 1).graph_for(1)
    with wb.Session(graph, {"n": 2**40}) as session:
        session.run()
        assert first_wrap(session) is None


@pytest.mark.parametrize("narrow", ["int8", "int16", "int32"])
def test_a_cast_wraps(narrow: str) -> None:
    b = wb.GraphBuilder("cast")
    graph = b.build({"y": b.cast(b.placeholder("x", "int64", (3,)), dtype=narrow)})
    top = int(np.iinfo(narrow).max)
    for extra, expected in ((1, (1,)), (0, None)):
        with wb.Session(graph, {"x": np.array([0, top + extra, -5])}) as session:
            session.run()
            found = wb.first_wrap(session)
            assert (None if found is None else found.index) == expected
            assert found is None or (found.operands, found.value) == ((top + 1,), -top - 1)


@pytest.mark.parametrize("seed", range(6))
def test_a_side_that_where_throws_away_does_not_count(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, keep = rng.integers(-128, 128, 8).astype(np.int8), rng.random(8) < 0.5
    b = wb.GraphBuilder("chosen")
    given = b.placeholder("x", "int8", (8,))
    y = b.where(b.placeholder("keep", "bool", (8,)), given + given, given)
    with wb.Session(b.build({"y": y}), {"x": x, "keep": keep}) as session:
        session.run()
        exact = 2 * x.astype(int)
        wrapped = keep & ((exact > 127) | (exact < -128))
        found = wb.first_wrap(session)
        assert (None if found is None else found.index) == ((int(wrapped.argmax()),) if wrapped.any() else None)
