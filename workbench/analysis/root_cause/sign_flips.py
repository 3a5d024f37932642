"""Iterates that turn into their own negatives: converged up to the sign, with a change that never shrinks.

Such are those of a power method whose dominant eigenvalue is negative.
"""

from __future__ import annotations

import numpy as np

from workbench.analysis.root_cause.blocking_clauses import Suspect
from workbench.analysis.root_cause.loop_samples import LoopSamples
from workbench.ir.node import Ref
from workbench.trace.aligned_columns import origin

#: share of a vector by which it may differ from its own negative
FLIPPED = 1e-6


def flipping_variables(found: LoopSamples, worst: Suspect) -> list[str]:
    """Normalised variables behind a distance that does not shrink, if each turns into its own negative every time."""
    if worst.cause.slug not in ("limit-beyond", "floor", "cycle", "sign-flips") or worst.op not in (">", ">="):
        return []
    names = []
    for name in worst.root[1:]:
        if name not in found.loop.variables or found.loop.copies(name):
            continue
        if origin(found.loop.graph, found.loop.update(name)).op != "divide":
            return []  # not a normalised iterate: a step that overshoots flips the sign, too, and has not converged
        _, values = found.at_the_end(Ref(found.loop.variables[name].merge))
        if len(values) < 3 or values.dtype.kind != "f":
            return []
        before, now = values[-2].astype(np.float64), values[-1].astype(np.float64)
        size = float(np.abs(now).max(initial=0.0))
        if not 0.0 < size < np.inf or float(np.abs(now + before).max()) > FLIPPED * size:
            return []
        names.append(name)
    return names


__all__ = ["flipping_variables"]
