"""The compiled kernels stand for the op as its attrs have it, or not at all."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.ir.opspec import REGISTRY
from workbench.kernels import typed
from workbench.kernels.types.ops import OPS
from workbench.ops import lookup


def planned(build, **feeds):
    b = wb.GraphBuilder("one op")
    inputs = [b.placeholder(name, np.asarray(value).dtype, ()) for name, value in feeds.items()]
    with wb.Session(b.build({"y": build(b, *inputs)}), feeds) as session:
        session.run()
        return session.outputs["y"], {slug for slug, _ in session.plan.reasons.values()}


@pytest.mark.parametrize(("decimals", "slug"), [(0, "compiled"), (2, "no-kernel")])
def test_round_to_decimals(decimals, slug):
    y, slugs = planned(lambda b, x: b.op("round", x, decimals=decimals), x=np.float64(2.71828))
    assert y == np.round(2.71828, decimals) and slugs == {slug}


def test_cast_takes_the_dtype_of_its_attr():
    y, slugs = planned(lambda b, x: x.astype("float32"), x=np.float64(1 / 3))
    assert y.dtype == np.float32 and y == np.float32(1 / 3) and slugs == {"compiled"}


def test_kernels_of_the_same_name_are_those_of_the_op():
    """The planner looks kernels up by the name of the op: a kernel's number of inputs must be the op's."""
    shared = {op for op, _, _ in typed.table()} & set(REGISTRY)
    assert {"add", "where", "sum", "matmul"} <= shared
    for op in shared:
        low, high = lookup(op).arity()
        assert low <= OPS[op].inputs <= (high or 99), op
