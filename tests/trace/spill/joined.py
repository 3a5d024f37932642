"""A run with a budget and a store on disk, held against the same run with all rows in memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tests.plan.checks import run_of
from tests.trace.spill import made
from workbench.execution import Run
from workbench.ir import Graph
from workbench.trace.spill import SpillStore


def spilling(graph: Graph, feeds: Any, folder: Path, budget: int = 1, **options: Any) -> tuple[Run, SpillStore]:
    """A run whose rows go to a store."""
    run = run_of(graph, feeds, budget)
    store = SpillStore(folder, graph, run.plan.layout, run.view.activations, **options)
    run.machine.retire, run.machine.rewind = store.retire, store.rewind
    return run, store


def finish(run: Run) -> Run:
    while run.go() != "halt":
        pass
    return run


def column(run: Run, store: SpillStore, place: Any, rows: np.ndarray) -> list[Any]:
    """Rows of a column: from the disk as far as it goes, then from the machine."""
    border = run.view.rows(place.base - 1)[0]
    older, newer = rows[rows < border], rows[rows >= border]
    live = []
    if len(newer):
        start, items = run.trace.source.column(place, int(newer[0]), int(newer[-1]) + 1)
        assert start == newer[0]
        live = [items[k] for k in newer - start]
    first, items = store.column(place, 0, border)
    assert first == 0 and len(items) == border, (place, first, len(items), border)
    taken = store.take(place, older)
    assert all(made.same(np.asarray(taken[k]), np.asarray(items[older[k]])) for k in range(0, len(older), 97))
    return [*taken, *live]


def check_columns(run: Run, store: SpillStore, whole: Run) -> int:
    """Every value of every loop, firing by firing, bit for bit; returns how many rows stand on the disk."""
    layout, reader = whole.plan.layout, whole.trace.reader
    for value in layout.values.values():
        place = value.place
        if value.kind != "slot" or place is None or place.base < 1 or not value.frame == layout.frame_of(place) > 0:
            continue
        rows = np.asarray(reader.rows_of(reader.node[value.node], value.guard), np.int64)
        if len(rows) == 0:
            continue
        assert run.view.rows(place.base - 1)[1] == whole.view.rows(place.base - 1)[1]
        found = column(run, store, replace(place, shift=0), rows + place.shift)
        wanted = list(reader.values(value, rows))
        if place.dtype is None:
            assert all(made.same(a, b) for a, b in zip(found, wanted, strict=True)), value.node
        else:
            assert np.array(found).tobytes() == np.array(wanted).tobytes(), value.node
    return sum(run.view.rows(s)[0] for s in range(len(layout.stores)))
