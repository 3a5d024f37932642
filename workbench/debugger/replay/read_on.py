"""Reading one dropped iteration after the other: a replay goes on from where the last one ended.

A slider that plays the iterations of a large array asks for one dropped value after the other. Each replay from the
checkpoint before it would compute the same iterations again and again; so the copy in which a value was found is kept,
one for each run, and serves the next question if that lies further on. It is the same history only as long as the run
has the same edits and was not put into another state.
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
    """Times that the run was put into another state, and its edits: the same for all copies of one history."""
    return run.renewed, tuple(run.edits)


def take(run: Run, checkpoint: Snapshot) -> Run | None:
    """The copy that is further on than a checkpoint, and now the caller's; None if there is none of this history."""
    kept = _KEPT.pop(run, None)  # in one step: two threads never have the same copy
    if kept is None or kept.renewed != run.renewed or len(kept.edits) != len(run.edits):
        return None
    if any(a is not b for a, b in zip(kept.edits, run.edits, strict=True)):
        return None
    return kept.fork if kept.fork.event > checkpoint.events else None


def give(run: Run, fork: Run, history: tuple[int, tuple[Edit, ...]]) -> None:
    """Keep a copy for the next question; ``history`` is that of the moment at which the copy was made or taken."""
    _KEPT[run] = _Kept(fork, *history)
