"""Random array programs on a device are what they are on the host: every firing, bit for bit, forwards and backwards.

The device's library is NumPy, so that nothing but our own code can make a difference; array-api-strict, which has the
functions of the standard only, runs the rules that CuPy gets. Small products of matrices add up in another order on the
host (compiled) than in a library: programs with one are left out here, large ones are in test_products.
"""

from __future__ import annotations

import functools
import random
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.device.programs import STRICT, TINY, assert_same
from tests.plan.random_arrays import ArrayMaker
from workbench.errors import WorkbenchError
from workbench.execution import Run, prepare_feeds
from workbench.execution.one_shot import plan_for
from workbench.ir import Ref
from workbench.ir.types import TensorType

pytest.importorskip("array_api_strict")


@functools.cache
def program(seed: int) -> tuple[Any, dict[str, Any]] | None:
    graph, feeds = ArrayMaker(seed).make()
    return None if any(n.op in ("matmul", "dot") for n in graph.nodes.values()) else (graph, feeds)


def seeds(count: int, default: int) -> list[Any]:
    found = [s for s in range(count) if program(s) is not None]
    return [*found[:default], *(pytest.param(s, marks=pytest.mark.slow) for s in found[default:])]


def finish(run: Run) -> Run:
    while run.go() != "halt":
        pass
    return run


def runs(seed: int, device: wb.Device) -> tuple[Run, Run]:
    made = program(seed)
    assert made is not None
    arrays = prepare_feeds(*made)
    host, there = (Run(plan_for(made[0], arrays, None, device=d), arrays, 1 << 28) for d in (None, device))
    there.plan.program.verify()
    return there, host


@pytest.mark.parametrize("seed", seeds(60, 5))
def test_there_as_here_forwards_backwards_and_after_edits(seed):
    there, host = runs(seed, TINY)
    draw = random.Random(seed)
    assert_same(finish(there), finish(host))
    for _ in range(3):
        event = draw.randrange(host.event + 1)
        host.seek(event), there.seek(event)
        assert_same(there, host)
    refs = [Ref(*k) for k, v in host.plan.layout.values.items() if v.place is not None and type_of(host, k).is_static]
    for _ in range(3):
        event, ref = draw.randrange(host.event + 1), draw.choice(refs)
        type_ = type_of(host, ref)
        value = np.full(type_.shape, draw.randrange(3)).astype(type_.dtype)
        said = [edited(run, event, ref, value) for run in (host, there)]
        if said[0] == "shared":  # one is a view of the other there; on a device every value is an array of its own
            assert said[1] in ("shared", "edited")
            if said[1] == "edited":
                there.without_edit(there.edits[-1], host.edits)
        else:
            assert said[0] == said[1], ref
        assert_same(there, host)
    assert_same(finish(there), finish(host))


def type_of(run: Run, ref: tuple[str, int] | Ref) -> TensorType:
    node, index = ref
    return run.plan.types[node][index]


def edited(run: Run, event: int, ref: Ref, value: np.ndarray) -> str:
    """The outcome of an edit."""
    run.seek(event, skip_silent=True)
    try:
        run.edit(ref, value)
    except WorkbenchError as error:
        return "shared" if "shares memory" in error.message else error.slug
    return "edited"


@pytest.mark.parametrize("seed", seeds(60, 4))
def test_functions_of_the_standard_are_enough(seed):
    there, host = runs(seed, STRICT)
    assert_same(finish(there), finish(host))


def test_most_nodes_that_work_on_arrays_run_on_the_device():
    plans = [runs(s.values[0] if hasattr(s, "values") else s, STRICT)[0].plan for s in seeds(40, 4)[:6]]
    slugs = [slug for plan in plans for slug, _ in plan.reasons.values()]
    assert slugs.count("device") > 20 > slugs.count("host-no-rule")
