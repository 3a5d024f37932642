"""Random loops of arrays whose bodies run block by block: the same bits as one instruction after the other.

    python -m tests.plan.block_programs --programs 3000 --seed 0

The oracle carries out every instruction alone and records all arrays. Held against it, at five retentions, are the
values of a fast run, those after going back and on, those of the row in progress where a run stops inside of a group,
and those after an edit there.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.plan.checks import run_of, same_numbers
from tests.plan.recomputed_programs import ALIASES, RECORDED, RETENTIONS, Firings, all_firings, arrays
from workbench.errors import WorkbenchError
from workbench.execution import Run
from workbench.ir import Ref
from workbench.plan.lowering import lowering_state, node_lowering

LENGTHS = (513, 600, 1024, 1025, 2049, 2600, 8200)  # arrays of float64 of the last are streamed into rows
DTYPES = ("float64", "float64", "float64", "float32", "int64", "int32")
#: values that are read of one run
VALUES = 30


class BlockMaker:
    """Draws a loop over arrays of one length, with views and numbers between: ``BlockMaker(seed).make()``."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        self.b = wb.GraphBuilder(f"blocks {seed}")
        self.n = self.r.choice(LENGTHS)

    def array(self, dtype: str, n: int) -> np.ndarray:
        draw = np.random.default_rng(self.r.randrange(1 << 30))
        values = draw.integers(-9, 10, n)
        if not dtype.startswith("float"):
            return values.astype(dtype)
        found = (values / 7).astype(dtype)
        if self.r.random() < 0.3:
            found[draw.integers(n, size=4)] = self.r.choice([np.nan, np.inf, -0.0, np.finfo(dtype).tiny / 4])
        return found

    def make(self) -> tuple[wb.Graph, dict[str, np.ndarray]]:
        b, r = self.b, self.r
        feeds: dict[str, np.ndarray] = {}
        outer: list[wb.Value] = []
        for k in range(r.randint(1, 3)):
            shape: tuple[int, ...] = r.choice([(self.n,), (self.n,), (self.n + 2,), ()])
            dtype = r.choice(DTYPES)
            feeds[f"in{k}"] = self.array(dtype, shape[0]) if shape else self.array(dtype, 1)[0]
            outer.append(b.placeholder(f"in{k}", dtype, shape))
        dtype = r.choice(DTYPES)
        feeds["x"] = self.array(dtype, self.n)
        init = {"x": b.placeholder("x", dtype, (self.n,)), "i": b.constant(0, "int64"), "s": b.constant(0.0, "float64")}
        for value in [v for v in outer if v.shape == (self.n,)][:2]:
            init[f"{r.choice('vvw')}{len(init)}"] = value  # w: handed on unchanged
        trips = r.randint(2, 4)

        def body(**values: wb.Value) -> dict[str, wb.Value]:
            pool = [*outer, *values.values()]
            after = self.block(pool, values, r.randint(4, 14))
            return after | {"i": values["i"] + 1}

        final = b.while_loop(lambda **v: v["i"] < trips, body, init)
        return b.build({k: v for k, v in final.items()}), feeds

    def block(self, pool: list[wb.Value], carried: dict[str, wb.Value], ops: int) -> dict[str, wb.Value]:
        for _ in range(ops):
            pool.append(self.op(pool))
        after = {}
        for name, old in carried.items():
            fitting = [v for v in pool[::-1] if v.dtype == old.dtype and v.shape == old.shape]
            after[name] = self.r.choice(fitting[:3]) if name not in ("i", "s") else old
        floats = [v for v in pool if v.dtype == "float64" and v.shape]
        if floats and "s" in carried:
            after["s"] = carried["s"] + self.b.op(self.r.choice(["sum", "max", "mean"]), floats[-1])
        return after | {name: carried[name] for name in carried if name.startswith("w")}

    def reduced(self, x: wb.Value) -> wb.Value:
        """Of all of an array, or of its rows where it has some, which are of few items or of many."""
        n = (x.shape or (0,))[0] or 0
        rows = [k for k in (2, 4, 5, 25, 300) if n % k == 0]
        if rows and self.r.random() < 0.4:
            x = self.b.op(
                "reshape", x, shape=(rows[-1], n // rows[-1]) if self.r.random() < 0.5 else (rows[0], n // rows[0])
            )
            axis = self.r.choice([-1, -1, -1, 0])
        else:
            axis = None
        names = ["any", "all"] if x.dtype == "bool" else ["sum", "sum", "mean", "max", "min", "prod", "any", "all"]
        return self.b.op(self.r.choice(names), x, axis=axis)

    def op(self, pool: list[wb.Value]) -> wb.Value:
        b, r = self.b, self.r
        x = r.choice([v for v in pool if (v.shape or (0,))[0] > 500][-5:])
        choice = r.random()
        if r.random() < 0.12:
            return self.reduced(x)
        if choice < 0.55:
            return self.pair(pool, x)
        if choice < 0.65:
            names = ["negative", "abs", "square", *(["sqrt", "floor"] if x.dtype.startswith("float") else [])]
            return b.op(r.choice(names), x) if x.dtype != "bool" else b.op("logical_not", x)
        if choice < 0.72:
            to = r.choice([d for d in DTYPES if d.startswith("float")])
            return b.op("cast", x, dtype=to)
        if choice < 0.8:
            tests = [v for v in pool if v.dtype == "bool" and v.shape == x.shape]
            test = tests[-1] if tests else b.op("not_equal", x, x if r.random() < 0.3 else self.partner(pool, x))
            return b.op("where", test, x, self.partner(pool, x))
        size = (x.shape or (0,))[0] or 0
        if choice < 0.9:
            inner = x[1:-1] if r.random() < 0.5 else x[: size - 2] if r.random() < 0.5 else x[2:]
            if r.random() < 0.5 and inner.dtype != "bool":
                inner = self.pair([inner], inner)
            return b.op("pad", inner, pad_width=((1, 1),)) if r.random() < 0.7 else b.concat(x[:1], inner, x[-1:])
        if choice < 0.95:
            return b.op("roll", x, shift=r.choice([-1, 1, 3]), axis=0)
        cut = r.randrange(1, size)
        return b.concat(x[cut:], x[:cut])

    def partner(self, pool: list[wb.Value], x: wb.Value) -> wb.Value:
        fitting = [v for v in pool if v.dtype == x.dtype and v.shape in ((), x.shape)]
        if not fitting or self.r.random() < 0.35:
            return self.b.constant(self.r.choice([2, 3, -1] if x.dtype != "bool" else [True]), x.dtype)
        return self.r.choice(fitting[-5:])

    def pair(self, pool: list[wb.Value], x: wb.Value) -> wb.Value:
        y = self.partner(pool, x)
        if x.dtype == "bool":
            return self.b.op(self.r.choice(["logical_and", "logical_or", "logical_xor"]), x, y)
        x, y = (y, x) if self.r.random() < 0.4 else (x, y)
        if self.r.random() < 0.12:
            return self.b.op(self.r.choice(["less", "greater_equal", "equal"]), x, y)
        names = ["add", "subtract", "multiply"] * 3 + ["minimum", "maximum"]
        return self.b.op(self.r.choice([*names, "divide", "divide"] if x.dtype.startswith("float") else names), x, y)


def alone(graph: wb.Graph, feeds: dict[str, np.ndarray]) -> tuple[Run, Firings]:
    """Every instruction by itself, every array recorded."""
    with arrays(RECORDED):
        run = run_of(graph, feeds, 1 << 29)
        while run.go(1 << 40, exact=True) not in ("halt", "failed"):
            pass
    return run, all_firings(run)


def compare(session: wb.Session, places: list[tuple[Ref, tuple[int, ...], np.ndarray]], what: str) -> int:
    for ref, path, value in places:
        found = session.value(ref, path)
        assert same_numbers(found, value), f"{what}: {ref} at {path} is {found!r}, expected {value!r}"
    return len(places)


def stopped_inside(session: wb.Session, wanted: Firings, what: str, rng: random.Random) -> int:
    """Stop in front of a node of the loop, read what has fired in that iteration, then go on."""
    ops = {n.name: n.op for n in session.plan.layout.nodes}
    places = [
        (r, p) for r, f in wanted.items() if r.index == 0 for p, v in f if p and v.shape and ops[r.node] not in ALIASES
    ]
    if not places:
        return 0
    ref, path = rng.choice(places)
    session.restart()
    session.run_to(ref.node, path[0])
    event, count = session.position.event, 0
    fired = {(t.node, t.iteration) for t in session.trace.events() if t.iteration == path}
    here = [(r, p, v) for r, f in wanted.items() for p, v in f if (r.node, p) in fired and v.shape]
    count += compare(
        session, rng.sample(here, min(len(here), 8)), f"{what}, stopped at event {event} in front of {ref}"
    )
    session.run()
    return count


def edited(session: wb.Session, other: wb.Session, wanted: Firings, rng: random.Random) -> bool:
    """Give a value of the loop new numbers at the same event of a run that steps and of one that does not."""
    ops = {n.name: n.op for n in session.plan.layout.nodes}
    places = [(r, p, v) for r, f in wanted.items() if r.index == 0 for p, v in f if p and v.shape]
    places = [(r, p, v) for r, p, v in places if ops[r.node] not in ALIASES and v.dtype != bool]
    if not places:
        return False
    ref, path, value = rng.choice(places)
    for one in (session, other):
        one.restart()
        one.run_to(ref.node, path[0])
        one.step()
        one.set_value(ref.node, value + value.dtype.type(3))
    session.run()
    while other.position.event < session.position.event:
        other.step(7)
    return True


def check_program(seed: int) -> Counter[str]:
    """Hold one program against the oracle; counts of what was compared. AssertionError if a value differs."""
    rng, counts = random.Random(seed), Counter[str]()
    graph, feeds = BlockMaker(seed).make()
    with handed_on(rng.random() < 0.5):
        return _check(seed, graph, feeds, rng, counts)


@contextmanager
def handed_on(small: bool) -> Iterator[None]:
    """Arrays of these lengths are large ones: what a loop hands on unchanged its rows refer to."""
    with pytest.MonkeyPatch.context() as patch:
        if small:
            for module in (lowering_state, node_lowering):
                patch.setattr(module, "SMALL_BYTES", 1 << 10)
        yield


def _check(
    seed: int, graph: wb.Graph, feeds: dict[str, np.ndarray], rng: random.Random, counts: Counter[str]
) -> Counter[str]:
    run, wanted = alone(graph, feeds)
    everything = [(r, p, v) for r, firings in wanted.items() for p, v in firings if p]
    outputs = run.outputs()
    for trace in RETENTIONS:
        what = f"seed {seed}, {trace!r}"
        with wb.Session(graph, feeds, trace=trace) as session:
            session.run()
            for name, value in outputs.items():
                assert same_numbers(session.outputs[name], value), f"{what}: output {name}"
            counts["values"] += compare(session, rng.sample(everything, min(len(everything), VALUES)), what)
            end = session.position.event
            session.step_back(rng.randrange(1, end))
            session.run()
            counts["values"] += compare(
                session, rng.sample(everything, min(len(everything), 8)), f"{what}, back and on"
            )
            counts["values"] += stopped_inside(session, wanted, what, rng)
            counts["stops"] += 1
            with wb.Session(graph, feeds) as other:
                try:
                    if edited(session, other, wanted, rng):
                        for name, value in other.outputs.items():
                            assert same_numbers(session.outputs[name], value), f"{what}: output {name} after an edit"
                        counts["edits"] += 1
                except WorkbenchError as refused:
                    counts[f"edits refused: {refused.slug}"] += 1
    counts["programs"] += 1
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=100, help="how many (100)")
    parser.add_argument("--seed", type=int, default=0, help="of the first program (0)")
    given: Any = parser.parse_args()
    counts, began = Counter[str](), time.perf_counter()
    for seed in range(given.seed, given.seed + given.programs):
        counts += check_program(seed)
        if seed % 100 == 99:
            print(f"seed {seed}, {time.perf_counter() - began:.0f} s: {dict(counts)}", flush=True)
    print(f"{given.programs} programs, no difference: {dict(counts)}")


if __name__ == "__main__":
    main()
