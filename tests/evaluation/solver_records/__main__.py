"""``.venv-watch/bin/python -m tests.evaluation.solver_records FILE.npz``: runs the solvers, and keeps their records.

``python -m tests.evaluation.ablate_laws FILE.npz`` scores the analysis on them.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from pathlib import Path

from tests.evaluation.solver_records import graphs, jax_solvers, learners, minimisers, roots, systems, torch_optimisers
from tests.evaluation.solver_records.record import records, save

#: Importing a module registers its makers.
SOURCES = (graphs, jax_solvers, learners, minimisers, roots, systems, torch_optimisers)

if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = list(records())
    save(found, Path(sys.argv[1]))
    for kind, count in sorted(Counter(r.kind for r in found).items()):
        truths = Counter(r.meta["truth"] for r in found if r.kind == kind)
        print(f"{kind:44s}{count:3d}  {dict(truths)}")
    print(f"{len({r.kind for r in found})} kinds, {len(found)} records")
