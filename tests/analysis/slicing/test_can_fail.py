"""Every op of the registry that cannot fail according to the analysis, on random and extreme inputs of its types.

The calls are those of the samples of every op, in other dtypes, with inputs that are constants or come at run time, and
with sizes that the graph does not know.
"""

from __future__ import annotations

import os
from collections import Counter

import numpy as np
import pytest

import workbench as wb
from tests.analysis.intervals.test_interval import interesting
from tests.ops.samples import SAMPLES
from tests.ops.test_agreement import ELEMENTWISE
from workbench import ops
from workbench.analysis.slicing.can_fail import can_fail
from workbench.errors import FeedError
from workbench.execution import prepare_feeds
from workbench.execution.one_shot import plan_for

NUMBERS = ("bool", "int8", "uint8", "int32", "int64", "uint64", "float16", "float32", "float64", "complex64")
SHAPES = ((), (3,), (2, 3), (1, 3))
#: rounds of each op in the slow stage
WIDER = int(os.environ.get("WORKBENCH_SWEEP", "12"))


def extreme(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    count = int(np.prod(shape, dtype=int))
    if dtype == "bool":
        return rng.random(shape) < rng.choice([0.0, 0.5, 1.0])
    if dtype == "complex64":
        parts = [interesting(rng, "float32", count) for _ in range(2)]
        made = np.empty(count, dtype)
        made.real, made.imag = parts
        return made.reshape(shape)
    if rng.random() < 0.2:
        return rng.integers(-2 if not dtype.startswith(("u", "b")) else 0, 4, shape).astype(dtype)
    return interesting(rng, dtype, count).reshape(shape).astype(dtype)


def calls(op: str, rng: np.random.Generator) -> list[tuple[list[np.ndarray], dict]]:
    """Calls of an op that its inference takes: those of its samples, as they are and in another dtype."""
    if op in ELEMENTWISE:
        low, high = ops.lookup(op).arity()
        found = []
        for checked in (False, True) if "checked" in ops.lookup(op).attrs else (False,):
            pool = ("bool", "int64", "float64") if checked else NUMBERS
            dtypes = [str(rng.choice(pool))] * (high or low)
            if rng.random() < 0.4:
                dtypes = [str(rng.choice(pool)) for _ in dtypes]
            shapes = [() if checked else SHAPES[rng.integers(len(SHAPES))] for _ in dtypes]
            attrs = {"checked": True} if checked else {}
            if op == "cast":
                attrs["dtype"] = str(rng.choice(NUMBERS[:-1]))
            found.append(([extreme(rng, d, s) for d, s in zip(dtypes, shapes, strict=True)], attrs))
        return found
    found = []
    for arrays, attrs in SAMPLES[op]:
        found.append((list(arrays), attrs))
        dtype = str(rng.choice(NUMBERS))
        wide = [a.astype(dtype) if isinstance(a, np.ndarray) and a.dtype == np.float32 else a for a in arrays]
        found.append((wide, attrs))
    return found


def tried(op: str, arrays: list, attrs: dict, rng: np.random.Generator, counts: Counter) -> None:
    """One call with inputs that come at run time or are constants, of sizes that are known or not."""
    if not all(isinstance(a, np.ndarray) and a.dtype.name in NUMBERS for a in arrays):
        return
    fixed = [k > 0 and op not in ELEMENTWISE and rng.random() < 0.4 for k in range(len(arrays))]
    blur, other = rng.random() < 0.3, rng.random() < 0.5
    b, inputs = wb.GraphBuilder("call"), []
    for k, (a, constant) in enumerate(zip(arrays, fixed, strict=True)):
        shape = tuple(None if blur and rng.random() < 0.6 else d for d in a.shape)
        inputs.append(b.constant(a) if constant else b.placeholder(f"x{k}", a.dtype.name, shape))
    try:
        made = b.op(op, *inputs, **attrs)
        graph = b.build({f"y{k}": v for k, v in enumerate(made if isinstance(made, tuple) else (made,))})
    except (wb.WorkbenchError, AttributeError):  # not these types; or an op without outputs
        return
    node = next((n for n in graph.nodes.values() if n.op == op), None)
    for turn in range(4):
        feeds = {}
        for k, (a, constant) in enumerate(zip(arrays, fixed, strict=True)):
            if not constant:
                shape = tuple(
                    int(rng.choice([0, 1, 2, 5])) if blur and other and rng.random() < 0.5 else d for d in a.shape
                )
                feeds[f"x{k}"] = a if turn == 0 and shape == a.shape else extreme(rng, a.dtype.name, shape)
        try:
            plan = plan_for(graph, prepare_feeds(graph, feeds), None)
        except FeedError:
            continue
        except wb.WorkbenchError:  # refused before it runs
            continue
        if node is None or can_fail(plan, node):
            counts["may fail"] += 1
            continue
        counts[op] += 1
        with np.errstate(all="ignore"):
            graph.run(feeds)


def swept(names: list[str], rounds: int, seed: int) -> Counter:
    counts: Counter = Counter()
    for op in names:
        rng = np.random.default_rng([seed, *map(ord, op)])
        for _ in range(rounds):
            for arrays, attrs in calls(op, rng):
                tried(op, arrays, attrs, rng, counts)
    return counts


ALL = sorted({*SAMPLES, *ELEMENTWISE} - {"Const", "NoOp", "print", "print_text"})


@pytest.mark.parametrize("part", range(2))
def test_ops_that_cannot_fail_do_not(part):
    counts = swept(ALL[part::2], 1, 0)
    assert len(counts) > 60, counts


@pytest.mark.sweep
@pytest.mark.parametrize("part", range(4))
def test_ops_that_cannot_fail_do_not_wider(part):
    """WORKBENCH_SWEEP sets how many rounds."""
    swept(ALL[part::4], WIDER, 1)
