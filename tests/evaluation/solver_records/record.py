"""A record of a solver of a library: one value an iteration, and the bound at which the run counts as done.

What it leads to follows from the values: it *ends* at the first one below the bound; it *never* ends if it stops coming
nearer long before the budget is used up; else it is *open*, and nobody is asked about it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

#: Shorter runs have too little of a first third.
SHORTEST = 16
#: Iterations without an improvement by this share, at least, and as a share of the record, of a run that never ends.
RESTS, IMPROVED, REST_SHARE = 60, 0.01, 0.5

Maker = Callable[[], Iterable["SolverRecord"]]
MAKERS: list[Maker] = []


class SolverRecord(NamedTuple):
    """``kind`` is the solver with what is watched; ``name`` the problem."""

    kind: str
    name: str
    values: np.ndarray
    bound: float

    @property
    def meta(self) -> dict[str, Any]:
        """Told to a scorer: truth, end, and from where on it is evident that there is none."""
        below = np.flatnonzero(self.values < self.bound)
        out = {"kind": self.kind, "name": self.name, "bound": self.bound, "end": None, "evident": None}
        if below.size:
            return out | {"truth": "ends", "end": int(below[0])}
        best = np.minimum.accumulate(self.values)
        evident = int(np.flatnonzero(best <= best[-1] * (1.0 + IMPROVED))[0])
        rests = len(best) - evident >= max(RESTS, REST_SHARE * len(best))
        return out | {"truth": "never" if rests else "open", "evident": evident if rests else None}


def maker(make: Maker) -> Maker:
    """Registers a function that yields records."""
    MAKERS.append(make)
    return make


def record(kind: str, name: str, values: Iterable[Any], bound: float) -> SolverRecord:
    """A record up to its first value that is not finite."""
    v = np.array([float(x) for x in values])
    bad = np.flatnonzero(~np.isfinite(v))
    return SolverRecord(kind, name, v[: bad[0]] if bad.size else v, bound)


def usable(r: SolverRecord) -> bool:
    """Long enough to be asked about, and above its bound for some time."""
    end = r.meta["end"]
    return len(r.values) >= SHORTEST and (end is None or end >= SHORTEST)


def records() -> Iterator[SolverRecord]:
    """The usable records of all makers."""
    for make in MAKERS:
        yield from filter(usable, make())


def save(found: Iterable[SolverRecord], file: Path) -> None:
    """As the scorers read them: ``v0``, ``v1`` ... and ``meta`` as JSON."""
    listed = list(found)
    arrays: dict[str, Any] = {f"v{i}": r.values for i, r in enumerate(listed)}
    np.savez_compressed(file, meta=np.array(json.dumps([r.meta for r in listed])), **arrays)
