"""Random array programs: arrays that are computed again are those that are recorded elsewhere, bit for bit.

    python -m tests.plan.recomputed_programs --programs 2000 --seed 0

Each program runs twice: with every array of its loops recorded, and with all of them computed again that can be. Then
values of random firings are read, at five retentions, after going back and on, and after an edit in a loop.
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

import workbench as wb
from tests.plan.checks import same
from tests.plan.random_arrays import ArrayMaker
from workbench.errors import WorkbenchError
from workbench.execution import Run
from workbench.ir import Ref
from workbench.plan.lowering import recompute

RETENTIONS: tuple[Any, ...] = ("all", "carried", "stats", "off", wb.Retention("all", memory=1 << 12))
#: an array of at least so many bytes is computed again, and one of at most so many operations a byte
RECORDED, COMPUTED = (1 << 60, 64), (1, 1 << 40)
#: what they give stands where it was computed: an edit of it is one of that
ALIASES = {"Enter", "Exit", "Switch", "Merge", "NextIteration", "Identity"}
VALUES = 80  #: most values that are read of one run
Firings = dict[Ref, list[tuple[tuple[int, ...], np.ndarray]]]


@contextmanager
def arrays(limits: tuple[int, int]) -> Iterator[None]:
    """Plans that are made inside record, or compute again, arrays within these limits."""
    before = recompute.LEAST_BYTES, recompute.DEAR
    recompute.LEAST_BYTES, recompute.DEAR = limits
    wb.plan_cache.clear()
    try:
        yield
    finally:
        recompute.LEAST_BYTES, recompute.DEAR = before
        wb.plan_cache.clear()


def opened(graph: wb.Graph, feeds: dict[str, np.ndarray], limits: tuple[int, int], trace: Any = "all") -> wb.Session:
    with arrays(limits):
        return wb.Session(graph, feeds, trace=trace)


def all_firings(run: wb.Session | Run) -> Firings:
    """Every value of every firing, copied."""
    found: Firings = {}
    for key in run.plan.layout.values:
        series = run.trace[Ref(*key)]
        paths = map(tuple, series.iterations.tolist())
        found[Ref(*key)] = [(p, np.array(v)) for p, v in zip(paths, series.firings(), strict=True)]
    return found


def computed_again(session: wb.Session) -> int:
    """How many nodes have arrays that are computed again."""
    return sum(slug == "recomputed" for slug, _ in session.plan.recorded.values())


def compare(session: wb.Session, wanted: Firings, what: str, rng: random.Random) -> int:
    """Values as one asks for them, of firings in loops above all; how many. What shares the storage of an edited value
    shows the edit while its row is there, and what it had been when it is computed again: it is left out."""
    edited = {tag for written in session._run._edits.written() for tag in written.tags if tag[0] != written.ref}
    places = [(r, p, v) for r, firings in wanted.items() for p, v in firings if p and (r, p) not in edited]
    for ref, path, value in rng.sample(places, min(len(places), VALUES)):
        found = session.value(ref, path)
        assert same(found, value), f"{what}: {ref} at {path} is {found!r}, expected {value!r}"
    return min(len(places), VALUES)


def edit_somewhere(recorded: wb.Session, other: wb.Session, wanted: Firings, rng: random.Random) -> bool:
    """Give a value of a loop new numbers at the same event of both, and run to the end; False if nothing can be."""
    nodes = recorded.plan.layout.nodes
    ops = {n.name: n.op for n in nodes}
    places = [(r, p) for r, firings in wanted.items() if r.index == 0 for p, v in firings if p and v.size > 1]
    places = [(r, p) for r, p in places if ops[r.node] not in ALIASES]
    if not places:
        return False
    ref, path = rng.choice(places)
    value = next(v for p, v in wanted[ref] if p == path)
    new = np.roll(value, 1) if value.dtype == bool else (value + value.dtype.type(3))
    for session in (recorded, other):
        session.restart()
        session.run_to(ref.node, path if len(path) > 1 else path[0])
        session.step()
        session.set_value(ref.node, new)
        session.run()
    return True


def check_program(seed: int) -> Counter[str]:
    """Hold one program against its recorded run; counts of what was compared. AssertionError if a value differs."""
    rng, counts = random.Random(seed), Counter[str]()
    graph, feeds = ArrayMaker(seed).make()
    with opened(graph, feeds, RECORDED) as recorded, opened(graph, feeds, COMPUTED) as first:
        if not computed_again(first):
            return counts
        recorded.run()
        assert not computed_again(recorded)
        wanted = all_firings(recorded)
        counts["programs"] += 1
        for trace in RETENTIONS:
            with opened(graph, feeds, COMPUTED, trace) as session:
                session.run()
                counts["values"] += compare(session, wanted, f"seed {seed}, {trace!r}", rng)
                end = session.position.event
                if end > 2:
                    session.step_back(rng.randrange(1, end))
                    session.run()
                    counts["values"] += compare(session, wanted, f"seed {seed}, {trace!r}, after going back", rng)
                    counts["replays"] += 1
                try:
                    edited = edit_somewhere(recorded, session, wanted, rng)
                except WorkbenchError as refused:
                    counts[f"edits refused: {refused.slug}"] += 1
                    edited = False
                if edited:
                    name = f"seed {seed}, {trace!r}, edited"
                    counts["values"] += compare(session, all_firings(recorded), name, rng)
                    counts["edits"] += 1
                recorded.restart()
                recorded.run()
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=100, help="with an array that is computed again (100)")
    parser.add_argument("--seed", type=int, default=0, help="of the first program (0)")
    given = parser.parse_args()
    counts, seed, began = Counter[str](), given.seed, time.perf_counter()
    while counts["programs"] < given.programs:
        counts += check_program(seed)
        seed += 1
        if seed % 100 == 0:
            print(f"seed {seed}, {time.perf_counter() - began:.0f} s: {dict(counts)}", flush=True)
    print(f"{given.programs} programs of {seed - given.seed} seeds, no difference: {dict(counts)}")


if __name__ == "__main__":
    main()
