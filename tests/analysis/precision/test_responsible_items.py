"""The operand of a first NaN or infinity is the item at the bad index; chains go back to it; lists have items."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.analysis.precision.operand_rules import Item, blame

#: op -> (item that makes an infinity or NaN, of a vector of fine ones)
BAD_ITEM = {"exp": 710.5, "log": -0.25, "sqrt": -0.25, "reciprocal": 0.0, "cosh": 711.0, "square": 1e200, "asin": 1.25}


def root(found: Any) -> Any:
    while found.because is not None:
        found = found.because
    return found


@pytest.mark.parametrize("op", BAD_ITEM)
@pytest.mark.parametrize("place", [0, 2, 4])
def test_the_item_at_the_bad_index_is_named(op: str, place: int) -> None:
    """A larger item beside it, which the op takes, is not blamed."""
    fine = {"exp": -864.995, "log": 900.0, "sqrt": 900.0, "reciprocal": 900.0, "cosh": 1.0, "square": 9.0, "asin": 0.5}
    x = np.full(5, fine[op])
    x[place] = BAD_ITEM[op]
    b = wb.GraphBuilder(op)
    graph = b.build({"y": b.op(op, b.placeholder("x", "float64", (5,)))})
    with wb.Session(graph, {"x": x}) as session:
        session.run()
        found = wb.nan_origin(session)
        assert found.index == (place,) and found.responsible.item == BAD_ITEM[op]
        assert f"{BAD_ITEM[op]:.9g}" in found.why


def logistic(seed: int) -> tuple[wb.Graph, dict[str, Any], int]:
    """A mean of p log p where one item of exp overflows: the chain is multiply, log, exp."""
    rng = np.random.default_rng(seed)
    z, place = rng.normal(size=6) * 900.0, int(rng.integers(6))
    z = np.where(np.abs(z) > 600, z / 4, z)
    z[place] = -800.0 - 50 * rng.random()
    z[(place + 1) % 6] = 960.0
    b = wb.GraphBuilder("logistic")
    given = b.placeholder("z", "float64", (6,))

    def body(i: Any, w: Any, loss: Any) -> Any:
        p = 1.0 / (1.0 + b.exp(b.negative(given * w)))
        return i + 1, w * 2.0, b.op("mean", p * b.log(p))

    _, _, loss = b.while_loop(lambda i, w, loss: i < 3, body, [b.constant(0), b.constant(0.5), b.constant(0.0)])
    return b.build({"loss": loss}), {"z": z}, place


@pytest.mark.parametrize("seed", range(20))
def test_every_screen_goes_back_to_the_same_node(seed: int) -> None:
    graph, feeds, place = logistic(seed)
    with wb.Session(graph, feeds) as session:
        session.run()
        found = wb.nan_origin(session)
        assert found.kind == "nan" and found.op == "multiply"
        last = root(found)
        assert (last.op, last.index, last.iteration) == ("exp", (place,), (1,))
        assert last.responsible.item == -feeds["z"][place]


def test_nan_is_never_blamed_on_size() -> None:
    for op in ("sin", "onnx:Unknown", "add"):
        told = blame(op, "nan", [Item("x", np.float64(3.0), np.float64(3.0)), Item("y", np.float64(9.0), None)])
        assert "as large as" not in told[1]
    assert "as large as" in blame("exp", "inf", [Item("x", np.float64(900.0), np.float64(900.0))])[1]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_lists_are_looked_into(bad: float) -> None:
    """A list that is fed with it is the origin; what is pushed into one has its own."""
    b = wb.GraphBuilder("lists")
    x = b.placeholder("x", "float64", (2,))
    held = b.op("sequence_construct", x, b.op("log", x) if bad != bad else b.op("reciprocal", x))
    graph = b.build({"held": held})
    with wb.Session(graph, {"x": np.array([1.0, -1.0 if bad != bad else 0.0])}) as session:
        session.run()
        found = wb.nan_origin(session)
        assert found.op in ("log", "reciprocal")
    b = wb.GraphBuilder("fed")
    first = b.op("sequence_construct", b.placeholder("x", "float64", (2,)), b.placeholder("y", "float64", (2,)))
    with wb.Session(b.build({"held": first}), {"x": np.ones(2), "y": np.array([1.0, bad])}) as session:
        session.run()
        from workbench.analysis.precision.block_scan import is_bad, parts

        value = session.value(session.graph.outputs["held"])
        assert is_bad(value, np.isnan if bad != bad else np.isinf) and len(list(parts(value))) == 2
        assert wb.nan_origin(session).op == "Placeholder"


@pytest.mark.parametrize(
    ("above", "below", "wanted"),
    [
        pytest.param(1.0, 1e-320, "below is as small as", id="tiny denominator"),
        pytest.param(1e308, 0.5, "above is as large as 1e+308", id="large numerator"),
        pytest.param(1e200, 1e-150, "above is as large as 1e+200", id="both, the numerator more"),
        pytest.param(1e150, 1e-200, "below is as small as 1e-200", id="both, the denominator more"),
        pytest.param(3.0, 0.0, "below is 0: something is divided by 0", id="zero"),
    ],
)
def test_a_quotient_that_overflows_blames_the_operand_that_is_farther_from_1(above, below, wanted):
    items = [Item(name, np.float64(x), np.float64(x)) for name, x in (("above", above), ("below", below))]
    told = blame("divide", "inf", items)
    assert told is not None and told[1].startswith(wanted)
