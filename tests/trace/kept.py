"""Runs whose rows are retired after a few iterations already, so that small random programs have much to keep."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

from tests.plan.checks import run_of, same
from tests.plan.house import to_end
from workbench.errors import DeadValueError, TraceError
from workbench.execution import Run
from workbench.ir import Graph, Ref
from workbench.kernels import machine
from workbench.plan.lowering import emit
from workbench.trace import Retention, Trace
from workbench.trace.retention import KeptSource, RetentionBackends, make_keeper
from workbench.trace.source import LiveSource

Feeds = dict[str, np.ndarray]


@contextmanager
def chunks_of(rows: int) -> Iterator[None]:
    """Programs that are planned meanwhile have so few rows in a chunk."""

    def program(code: Any, literals: Any, frames: Any, *more: Any) -> machine.Program:
        short = [frames[0], *((bytes_, parent, rows, objects) for bytes_, parent, _, objects in frames[1:])]
        return machine.Program(code, literals, short, *more)

    with mock.patch.object(emit, "machine", mock.Mock(wraps=machine, Program=program)):
        yield


class Watch:
    """The hooks of a keeper, which see that its limit is never exceeded."""

    def __init__(self, keeper: RetentionBackends, limit: int) -> None:
        self.keeper, self.limit, self.most = keeper, limit, 0

    def retire(self, *what: Any) -> None:
        self.keeper.retire(*what)
        self.most = max(self.most, self.keeper.bytes)
        assert self.keeper.bytes <= self.limit, f"{self.keeper.bytes} bytes are held, {self.limit} were allowed"


def kept_run(graph: Graph, feeds: Feeds, policy: Retention, limit: int, rows: int) -> tuple[Run, Trace, Watch]:
    """A run that retires all but the newest rows, the trace of these and of what is kept, and who watches it."""
    with chunks_of(rows):
        run = run_of(graph, feeds, budget=1)
    trace = run.trace
    names = [(ref.node, ref.index) for ref in map(trace.ref, policy.names)]
    keeper = make_keeper(policy, run.plan.layout, limit, run.view.activations, names)
    watch = Watch(keeper, limit)
    run.machine.retire, run.machine.rewind = watch.retire, keeper.rewind
    source = KeptSource(LiveSource(run.view, run.plan.layout, lambda: False), keeper, run.plan.layout)
    return run, Trace(graph, run.plan.layout, source), watch


def check_part(kept: Trace, whole: Trace, ref: Ref) -> int:
    """Checks that the kept part of a series equals that of the whole run, iterations included; returns its length."""
    mine, full = kept[ref], whole[ref]
    wanted = dict(zip(map(tuple, full.iterations.tolist()), full.firings(), strict=True))
    order = {path: k for k, path in enumerate(wanted)}
    paths, values = [tuple(p) for p in mine.iterations.tolist()], mine.firings()
    assert len(paths) == len(values) == len(mine)
    places = [order[p] for p in paths]
    assert all(a < b for a, b in zip(places, places[1:], strict=False)), ref
    for path, value in zip(paths, values, strict=True):
        assert same(value, wanted[path]), (ref, path)
    if len(mine):
        assert same(mine[-1], values[-1]) and same(mine[0], values[0])
        iterations, few = mine.window(0, len(paths), 2)
        assert [tuple(p) for p in iterations.tolist()] == paths[::2] and len(few) == len(paths[::2])
    have = dict(zip(paths, values, strict=True))
    for path, value in list(wanted.items())[:: max(1, len(wanted) // 8)]:
        try:
            assert same(mine.at(path), value)
        except TraceError as error:
            assert error.slug == "not-recorded" and path not in have
        except DeadValueError:
            raise AssertionError(f"{ref} is alive at {path}") from None
    return len(values)


def check_tables(kept: Trace, whole: Trace) -> None:
    """Events and decisions that are kept are those of the whole run, in their order; it is said if some are missing."""
    for mine, full in ((kept.events(), whole.events()), (kept.branches(), whole.branches())):
        all_of_them = list(full)
        assert not full.partial and (mine.partial or list(mine) == all_of_them)
        rest = iter(all_of_them)
        assert all(tag in rest for tag in mine)  # in order
    for node in whole.layout.nodes:
        assert kept.count(node.name) <= whole.count(node.name)
    for path, cover in kept.coverages().items():
        assert cover.whole == (cover.kept == cover.happened) and path in {f.path for f in whole.layout.frames}


__all__ = ["Watch", "check_part", "check_tables", "chunks_of", "kept_run", "same", "to_end"]
