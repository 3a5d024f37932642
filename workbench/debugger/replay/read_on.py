"""Reads one dropped iteration after another: a replay continues where the previous one ended.

A slider that plays the iterations of a large array reads one dropped value after another. Replaying each from the
checkpoint before it would compute the same iterations repeatedly; so the copy of the run in which a value was found is
kept, one for each run, and reused if the next value is later. The copy has the same history only while the edits of the
run stay the same and the run is not put into another state.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

from workbench.execution import Run
from workbench.execution.edits import Edit
from workbench.kernels.machine import Snapshot


class _Kept(NamedTuple):
    fork: Run
    renewed: int
    edits: tuple[Edit, ...]


_KEPT: WeakKeyDictionary[Run, _Kept] = WeakKeyDictionary()


def history_of(run: Run) -> tuple[int, tuple[Edit, ...]]:
    """How often the run was put into another state, and its edits: the same for all copies with one history."""
    return run.renewed, tuple(run.edits)


def take(run: Run, checkpoint: Snapshot) -> Run | None:
    """The kept copy if it is later than a checkpoint and has the same history, otherwise None; the caller owns it from
    then on."""
    kept = _KEPT.pop(run, None)  # in one step: two threads never get the same copy
    if kept is None or kept.renewed != run.renewed or len(kept.edits) != len(run.edits):
        return None
    if any(a is not b for a, b in zip(kept.edits, run.edits, strict=True)):
        return None
    return kept.fork if kept.fork.event > checkpoint.events else None


def give(run: Run, fork: Run, history: tuple[int, tuple[Edit, ...]]) -> None:
    """Keep a copy for the next read; ``history`` is the history at the moment at which the copy was made or taken."""
    _KEPT[run] = _Kept(fork, *history)
