"""nan_origin of a session on a loop of PyTorch: causes name only items that the op read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import workbench as wb

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.watch


def cause(step: Callable[[Any, Any], Any], kind: str = "nan") -> str:
    """The line "Cause" for the first bad number that a step makes in the last of four iterations.

    A step has a number, which counts down to 0, and a 2 x 3 array of 0 to 5.
    """
    data = torch.arange(6.0).reshape(2, 3)
    with wb.watch("loop", ops="torch", show=False) as watch:
        for k in range(4):
            out = step(torch.tensor(3.0) - k, data)
            watch(out=out)
    session = watch.session()
    session.run()
    said = str(wb.nan_origin(session, kind=kind))
    return said.partition("Cause: ")[2].partition("\n")[0]


@pytest.mark.parametrize(
    ("step", "kind", "wanted"),
    [
        pytest.param(lambda left, data: torch.log(left), "inf", "is 0: the logarithm of 0 is -inf.", id="log"),
        pytest.param(lambda left, data: left.clone().log_(), "inf", "is 0: the logarithm of 0 is -inf.", id="in place"),
        pytest.param(lambda left, data: data.sum() / left, "inf", "is 0: something is divided by 0.", id="quotient"),
        pytest.param(lambda left, data: torch.sqrt(left - 0.5), "nan", "and has no square root.", id="square root"),
        pytest.param(lambda left, data: left.log() * left, "nan", "is infinite and loop/sub:0 is 0.", id="product"),
    ],
)
def test_a_cause_is_told_as_of_our_own_ops(step, kind, wanted):
    assert cause(step, kind).endswith(wanted)


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        pytest.param(lambda left, data: torch.pow(left, -1.0), "inf", id="exponent in the call"),
        pytest.param(lambda left, data: left / 0.0, "nan", id="denominator in the call"),
        pytest.param(lambda left, data: left / left, "nan", id="one storage read twice"),
    ],
)
def test_where_a_number_is_no_operand_the_operand_is_told_as_it_is(step, kind):
    assert cause(step, kind) == "loop/sub:0 is 0."


def test_an_item_of_a_storage_is_not_taken_for_the_item_at_its_place_of_a_view():
    """The transposed view has its 0 at [1, 1]; at that place the storage has another number."""
    said = cause(lambda left, data: torch.log((data + left - 1.0).t()), "nan")
    assert "logarithm" not in said, said
